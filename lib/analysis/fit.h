/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Frequencies that fit all blocks of a procedure and flow through it without loss.
 *
 * A class of blocks that was executed F times took S = F * T samples, T cycles each time: Mi, and
 * its usual waits. S differs from this for three reasons: it is a random number of samples; some
 * samples are at a neighbour, because retirement comes in bursts; and T differs from the usual. The
 * first two are symmetric errors, the third is a factor. So the cost of F is half the square of the
 * distance of S / (F * T) from 1, divided by the variance of all three, on a scale that is linear
 * where displacement dominates and logarithmic where T does. Large excesses are cut, because stalls
 * only ever add.
 *
 * For a block that is entered by an unlikely edge, part of a mispredicted branch belongs to T.
 *
 * Edges have no samples. An edge costs a little where it leaves its usual share of its block: edges
 * back to the head of a loop are likely, others are equally likely.
 *
 * The cost is minimised by Newton steps over the whole procedure (analysis/network.h); T is
 * computed again from the flows before each. Each step is linear.
 */
#ifndef ANALYSIS_FIT_H
#define ANALYSIS_FIT_H

#include "analysis/frequency.h"

struct analysis_fit;

/* Needs only samples and mi by block of the input: all of it may be freed when this returns. NULL
 * when memory is out. */
struct analysis_fit *analysis_fit_new(const struct analysis_input *in);
void analysis_fit_free(struct analysis_fit *t);
/* One step towards the minimum. */
void analysis_fit_step(struct analysis_fit *t);

/* The result so far, in samples per cycle. */
double analysis_fit_block(const struct analysis_fit *t, uint32_t block);
/* How often the procedure is entered at its first block from outside. */
double analysis_fit_entered(const struct analysis_fit *t);

/* Of all edges; to be freed by the caller. NULL when memory is out. */
double *analysis_fit_edges(const struct analysis_fit *t);
/* Frees f. */
void analysis_fit_fill(const struct analysis_fit *t, struct analysis_frequencies *q);

/* From elsewhere: in the next step the block's (FLOW_NONE: the entry's) frequency should be this,
 * with a weight of 1 / variance. */
void analysis_fit_pull(struct analysis_fit *t, uint32_t block, double target, double weight);

#endif
