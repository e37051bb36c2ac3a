/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How likely the lines and pages of a program's code are to be missing when they are needed, from
 * how often they are executed alone.
 *
 * After Che, Tung and Wang ("Hierarchical Web caching systems", JSAC 2002): in a cache of C lines
 * that are asked for independently, line i with rate r(i) is missing with probability
 * exp(-r(i) T), where T is such that C lines are expected to be there.  Programs are kinder than
 * that, so loops without calls that fit ask for their lines once each time they are entered.
 * Where all code that is executed fits, nothing misses.
 *
 * Cost: O(n log n) of n lines.
 */
#ifndef ANALYSIS_CULPRITS_LINES_H
#define ANALYSIS_CULPRITS_LINES_H

#include "analysis/culprits.h"

struct culprit_lines;
struct culprit_lines *culprit_lines_new(const struct culprits_machine *m, struct error *e);
void culprit_lines_free(struct culprit_lines *l);

/* The code of one procedure of an image; of in, flow, core, machine, executions and edges are used.
 * -1 with *e set when memory is out. */
int culprit_lines_add(
	struct culprit_lines *l, uint32_t image, const struct culprits_input *in, struct error *e);
/* All is added. */
void culprit_lines_settle(struct culprit_lines *l);
/* Of each instruction, that its line and its page are missing when it is fetched anew; [0, 1].
 * What was never added is missing always. */
void culprit_lines_misses(const struct culprit_lines *l, uint32_t image, const struct flow *f,
	double *lines, double *pages);

#endif
