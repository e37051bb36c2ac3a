/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arguments of commands, as processes of an experiment have them: few, and short. */
#ifndef COLLECT_PROCESS_ARGUMENTS_H
#define COLLECT_PROCESS_ARGUMENTS_H

#include <sys/types.h>

#include "experiment/experiment.h"

/* Replaces *to, which is allocated, by the words that follow the command of the process, cut after
 * 160 bytes; "" if it has ended. -1 when memory is out. */
int process_arguments_read(pid_t pid, char **to);
/* If very many processes have some, those of processes with fewest samples go. -1 when memory is
 * out. */
int process_arguments_limit(struct experiment *x);

#endif
