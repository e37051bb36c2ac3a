/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof block: the blocks of experiments. */
#ifndef PROF_BLOCK_H
#define PROF_BLOCK_H

#include "blockbench/block_items.h"

/* Those with most samples, at most `top`, without calls and branches; writes to stderr how many
 * were left out for lack of code. */
int blocks_from_experiment(block_items *items, const char *path, size_t top, struct error *e);

#endif
