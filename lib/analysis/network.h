/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows through a network that cost least: x of each arc minimises the sum of weight * (x -
 * target)^2, and what enters a node leaves it (node 0, the world outside, is whatever is left).
 *
 * By duality one number a node solves a Laplacian system, whose conductances are 1 / weight: it is
 * factored along an order of least degree, found once for a network.  Graphs of structured code are
 * narrow, and the factor is about as long as the graph; where it would grow beyond a multiple of
 * that, what exceeds it is dropped and conjugate gradients make up for it.  So a solution costs a
 * constant times arcs.
 */
#ifndef ANALYSIS_NETWORK_H
#define ANALYSIS_NETWORK_H

#include "analysis/classes.h"

struct analysis_network;

/* arcs between nodes [0, nodes); copied.  NULL when memory is out. */
struct analysis_network *analysis_network_new(
	uint32_t nodes, const struct analysis_pair *arcs, uint32_t count);
void analysis_network_free(struct analysis_network *n);

/* weight[i] > 0.  Fills flow. */
void analysis_network_solve(
	struct analysis_network *n, const double *weight, const double *target, double *flow);
/* Of a node, as the last solution has it: flow of an arc is target + (potential of its first node -
 * potential of its second) / weight; that of node 0 is 0. */
double analysis_network_potential(const struct analysis_network *n, uint32_t node);

#endif
