/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How usual each cause is in one program.  What loads, branches and lines of code cost elsewhere
 * is where the search begins; how much of what could have been waited was waited for tells what
 * they do here.  Where few loads wait that could miss, those that do are rather waiting for
 * something else: instructions that did not wait are witnesses, too.
 *
 * Expectation maximisation: waits are divided by the factors so far; each cause's next factor is
 * the share that it got of all that was possible, drawn towards 1 by the weight of a few
 * instructions.
 *
 * Memory: some bytes for each culprit of each wait.
 */
#ifndef ANALYSIS_CULPRITS_LEARN_H
#define ANALYSIS_CULPRITS_LEARN_H

#include "analysis/culprits.h"

struct culprits_learn;
struct culprits_learn *culprits_learn_new(struct error *e);
void culprits_learn_free(struct culprits_learn *l);
/* What was found with survey and without factors, of one procedure.  -1: memory is out. */
int culprits_learn_add(struct culprits_learn *l, const struct culprits *c, struct error *e);
/* Of each cause, and of the schedule. */
void culprits_learn_factors(struct culprits_learn *l, double factor[CULPRITS + 1]);

#endif
