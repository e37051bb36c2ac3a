/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How usual each cause is in one program. The search begins with the usual costs of loads,
 * branches and lines of code. The share of possible waits that were observed gives this program's
 * factors. If few of the loads that could miss wait, those that do probably wait for something
 * else: so instructions that did not wait are evidence, too.
 *
 * Expectation maximisation: waits are divided by the current factors. Each cause's next factor is
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
/* Adds the result for one procedure, found with survey and without factors. -1: memory is out. */
int culprits_learn_add(struct culprits_learn *l, const struct culprits *c, struct error *e);
/* Of each cause, and of the schedule. */
void culprits_learn_factors(struct culprits_learn *l, double factor[CULPRITS + 1]);

#endif
