/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ADI: sweeps along the three directions of a grid, and what their strides do to caches and TLBs.
 *
 *     adi [-fixed] [N [STEPS]]
 *
 * After the second case study of Zagha et al. (section 4), an alternating-direction implicit
 * method: each step solves along X, then along Y, then along Z.  Along a line, each point needs the
 * one before; lines are independent of each other.  The grid is stored with X contiguous, so
 * neighbours along Y are a row apart and along Z a plane.
 *
 * As written first, every sweep follows one line from end to end before it turns to the next.  The
 * Z sweep then touches a new page with every point, and with N a power of two all points of a line
 * fall into a few sets of the caches and of the TLB: they push each other out before the next line
 * could use the rest of what was fetched.
 *
 *     perfex -a -y adi             cache and TLB misses
 *     perfex -a -y adi -fixed      mostly arithmetic
 *
 * The fix does two things.  Rows and planes get some elements that are never used, so that they
 * start in different sets.  And the loops of the Y and Z sweeps change places: the innermost one
 * runs along X, over many lines at once, and uses all of each cache line and page while it is
 * there.  The order of the operations on each point stays, and so do the results, to the last bit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct grid {
	size_t n, row, plane; /* points a side; distance of neighbours along Y and along Z */
	double *at;
};

static bool grid_init(struct grid *g, size_t n, bool padded)
{
	g->n = n;
	g->row = n + (padded ? 8 : 0);
	g->plane = g->row * (n + (padded ? 1 : 0));
	g->at = malloc(g->plane * n * sizeof(*g->at));
	if (!g->at)
		return false;
	for (size_t z = 0; z < n; z++)
		for (size_t y = 0; y < n; y++)
			for (size_t x = 0; x < n; x++)
				g->at[z * g->plane + y * g->row + x] =
					1.0 + (double)((x * 7 + y * 13 + z * 29) % 97) / 97.0;
	return true;
}

/* One line: each point relaxes towards the one before it. */
static void line(double *at, size_t n, size_t stride)
{
	for (size_t i = 1; i < n; i++)
		at[i * stride] = 0.75 * at[i * stride] + 0.25 * at[(i - 1) * stride];
}

static __attribute__((noinline)) void sweep_x(struct grid *g)
{
	for (size_t z = 0; z < g->n; z++)
		for (size_t y = 0; y < g->n; y++)
			line(g->at + z * g->plane + y * g->row, g->n, 1);
}

static __attribute__((noinline)) void sweep_y(struct grid *g)
{
	for (size_t z = 0; z < g->n; z++)
		for (size_t x = 0; x < g->n; x++)
			line(g->at + z * g->plane + x, g->n, g->row);
}

static __attribute__((noinline)) void sweep_z(struct grid *g)
{
	for (size_t y = 0; y < g->n; y++)
		for (size_t x = 0; x < g->n; x++)
			line(g->at + y * g->row + x, g->n, g->plane);
}

/* One step along Y or Z of all lines that start in a row: contiguous reads and writes. */
static void step_row(double *to, const double *from, size_t n)
{
	for (size_t x = 0; x < n; x++)
		to[x] = 0.75 * to[x] + 0.25 * from[x];
}

static __attribute__((noinline)) void sweep_y_by_rows(struct grid *g)
{
	for (size_t z = 0; z < g->n; z++)
		for (size_t y = 1; y < g->n; y++) {
			double *row = g->at + z * g->plane + y * g->row;

			step_row(row, row - g->row, g->n);
		}
}

static __attribute__((noinline)) void sweep_z_by_rows(struct grid *g)
{
	for (size_t y = 0; y < g->n; y++)
		for (size_t z = 1; z < g->n; z++) {
			double *row = g->at + z * g->plane + y * g->row;

			step_row(row, row - g->plane, g->n);
		}
}

static double sum(const struct grid *g)
{
	double total = 0;

	for (size_t z = 0; z < g->n; z++)
		for (size_t y = 0; y < g->n; y++)
			for (size_t x = 0; x < g->n; x++)
				total += g->at[z * g->plane + y * g->row + x];
	return total;
}

static size_t number(const char *text, size_t limit)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && value <= limit ? value : 0;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && strcmp(argv[1], "-fixed") == 0;
	char **argument = argv + 1 + fixed;
	int left = argc - 1 - fixed;
	size_t n = left > 0 ? number(argument[0], 1024) : 128;
	size_t steps = left > 1 ? number(argument[1], 1000000) : 2;
	struct grid g;

	if (!n || !steps || left > 2) {
		fprintf(stderr, "usage: adi [-fixed] [N [STEPS]]\n");
		return 2;
	}
	if (!grid_init(&g, n, fixed)) {
		fprintf(stderr, "adi: out of memory for %zu points a side\n", n);
		return 1;
	}
	for (size_t i = 0; i < steps; i++) {
		sweep_x(&g);
		(fixed ? sweep_y_by_rows : sweep_y)(&g);
		(fixed ? sweep_z_by_rows : sweep_z)(&g);
	}
	printf("%zu steps on %zu points, sum %.10g\n", steps, n * n * n, sum(&g));
	free(g.at);
	return 0;
}
