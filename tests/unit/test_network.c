/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Flows that cost least, against plain elimination in a matrix, on random networks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "analysis/network.h"
#include "flow_walks.h"

enum { ROOM = 64 };

static struct analysis_pair arcs[400000];
static double weight[400000], target[400000], flow[400000];

/* A ring, so that all is connected, and arcs between any two. */
static void random_network(uint32_t nodes, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		arcs[i].from = i < nodes ? i : dice(nodes);
		arcs[i].to = i < nodes ? (i + 1) % nodes : dice(nodes);
		weight[i] = exp((double)dice(2000) / 100 - 10);
		target[i] = dice(1000);
	}
}

/* Potentials by elimination: matrix[nodes][nodes + 1], node 0 left out. */
static void solve_plainly(uint32_t nodes, uint32_t count, double *x)
{
	static double m[ROOM][ROOM + 1];
	double potential[ROOM] = {0};

	memset(m, 0, sizeof(m));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t a = arcs[i].from, b = arcs[i].to;

		m[a][a] += 1 / weight[i];
		m[b][b] += 1 / weight[i];
		m[a][b] -= 1 / weight[i];
		m[b][a] -= 1 / weight[i];
		m[a][nodes] -= target[i];
		m[b][nodes] += target[i];
	}
	for (uint32_t k = 1; k < nodes; k++)
		for (uint32_t i = k + 1; i < nodes; i++) {
			double f = m[i][k] / m[k][k];

			for (uint32_t j = k; j <= nodes; j++)
				m[i][j] -= f * m[k][j];
		}
	for (uint32_t k = nodes - 1; k > 0; k--) {
		potential[k] = m[k][nodes];
		for (uint32_t j = k + 1; j < nodes; j++)
			potential[k] -= m[k][j] * potential[j];
		potential[k] /= m[k][k];
	}
	for (uint32_t i = 0; i < count; i++)
		x[i] = target[i] + (potential[arcs[i].from] - potential[arcs[i].to]) / weight[i];
}

/* The largest part of what passes a node that is lost there. */
static double loss(uint32_t nodes, uint32_t count)
{
	double *left = calloc(nodes, sizeof(*left)), *all = calloc(nodes, sizeof(*all)), most = 0;

	for (uint32_t i = 0; i < count; i++) {
		left[arcs[i].from] -= flow[i];
		left[arcs[i].to] += flow[i];
		all[arcs[i].from] += fabs(flow[i]);
		all[arcs[i].to] += fabs(flow[i]);
	}
	for (uint32_t i = 1; i < nodes; i++)
		most = fmax(most, fabs(left[i]) / fmax(all[i], 1));
	free(left);
	free(all);
	return most;
}

static void test_small(void)
{
	double worst = 0, lost = 0;

	for (int i = 0; i < 400; i++) {
		uint32_t nodes = 2 + dice(ROOM - 2), count = nodes + dice(3 * nodes);
		double plain[ROOM * 4], scale = 0;
		struct analysis_network *n;

		random_network(nodes, count);
		n = analysis_network_new(nodes, arcs, count);
		analysis_network_solve(n, weight, target, flow);
		analysis_network_solve(n, weight, target, flow); /* nothing is left of the first */
		solve_plainly(nodes, count, plain);
		for (uint32_t k = 0; k < count; k++)
			scale = fmax(scale, fabs(plain[k]));
		for (uint32_t k = 0; k < count; k++)
			worst = fmax(worst, fabs(plain[k] - flow[k]) / scale);
		lost = fmax(lost, loss(nodes, count));
		analysis_network_free(n);
	}
	ok(worst < 1e-6, "flows are those of plain elimination (off by %.1e)", worst);
	ok(lost < 1e-6, "and nothing is lost at a node (%.1e)", lost);
}

/* A graph with no narrow places, whose factor would be as large as a matrix. */
static void test_wide(void)
{
	enum { NODES = 6000, ARCS = 24000 };
	struct analysis_network *n;

	random_network(NODES, ARCS);
	for (uint32_t i = 0; i < ARCS; i++)
		weight[i] = 1 + dice(100);
	n = analysis_network_new(NODES, arcs, ARCS);
	analysis_network_solve(n, weight, target, flow);
	analysis_network_free(n);
	ok(loss(NODES, ARCS) < 1e-4, "a large graph without narrow places is solved as well (%.1e)",
		loss(NODES, ARCS));
}

/* Everything meets at two nodes, as in a switch of many cases. */
static void test_star(void)
{
	enum { CASES = 100000 };
	struct analysis_network *n;

	for (uint32_t i = 0; i < CASES; i++) {
		arcs[2 * i] = (struct analysis_pair){1, 3 + i};
		arcs[2 * i + 1] = (struct analysis_pair){3 + i, 2};
		weight[2 * i] = weight[2 * i + 1] = 1;
		target[2 * i] = target[2 * i + 1] = i % 2;
	}
	arcs[2 * CASES] = (struct analysis_pair){0, 1};
	arcs[2 * CASES + 1] = (struct analysis_pair){2, 0};
	weight[2 * CASES] = weight[2 * CASES + 1] = 1e-12;
	target[2 * CASES] = target[2 * CASES + 1] = 0;
	n = analysis_network_new(3 + CASES, arcs, 2 * CASES + 2);
	analysis_network_solve(n, weight, target, flow);
	ok(fabs(flow[2 * CASES] - CASES / 2.0) < 1,
		"a switch of %d cases is entered by all of them", CASES);
	analysis_network_free(n);
}

int main(void)
{
	test_small();
	test_wide();
	test_star();
	return done();
}
