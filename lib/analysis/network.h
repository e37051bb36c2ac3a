/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flows through a network that cost least: x of each arc minimises the sum of weight * (x -
 * target)^2, and flow is conserved at each node but node 0, the outside, which takes the rest.
 *
 * By duality the potentials of nodes solve a Laplacian system with conductances 1 / weight. It is
 * factored in an order of least degree, found once per network. Graphs of structured code are
 * narrow, and the factor is about as long as the graph. Where it would grow beyond a multiple of
 * that, the excess is dropped and conjugate gradients correct the result. So a solution costs a
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
/* Of a node, in the last solution: flow of an arc is target + (potential of its first node -
 * potential of its second) / weight; that of node 0 is 0. */
double analysis_network_potential(const struct analysis_network *n, uint32_t node);

#endif
