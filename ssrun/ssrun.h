/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of ssrun; each returns the exit status. */
#ifndef SSRUN_COMMAND_H
#define SSRUN_COMMAND_H

#include "options.h"

int do_run(struct options *o);
int do_list(const struct options *o);
int do_completion(void);

#endif
