/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Ranks of MPI: their files have names of their own. */
#ifndef PROCESS_RANK_H
#define PROCESS_RANK_H

#include <stdbool.h>

/* The MPI rank by the environment; -1: none. */
int rank_here(void);
/* Is it one of several? True where the environment has a rank and not their number. */
bool rank_of_several(void);

#endif
