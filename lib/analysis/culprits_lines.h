/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The probability that lines and pages of code miss when they are needed, from execution counts
 * alone.
 *
 * After Che, Tung and Wang ("Hierarchical Web caching systems", JSAC 2002): in a cache of C lines
 * with independent requests, line i with rate r(i) misses with probability exp(-r(i) T), where T
 * is such that C lines are expected in the cache. Requests of programs are more local than that: a
 * loop without calls that fits requests its lines once per entry. If all executed code fits,
 * nothing misses.
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
/* To be called after the last culprits_lines_add. */
void culprit_lines_settle(struct culprit_lines *l);
/* For each instruction, the probability that its line and its page miss per fetch; [0, 1]. 1 for
 * code that was never added. */
void culprit_lines_misses(const struct culprit_lines *l, uint32_t image, const struct flow *f,
	double *lines, double *pages);

#endif
