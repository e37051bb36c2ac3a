/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The classic calls of libperfex: two events of one loop.
 *
 *     classic [EVENT0 [EVENT1]]       numbers as `perfex -list` shows them; 69 and 65: CPU time and
 * page faults
 *
 * T5_EVENT0 and T5_EVENT1 name other events without touching the program.  Where this machine has
 * no counters, run it as `perfex -source model classic 17 25`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "perfex.h"

static double work(size_t n)
{
	double *at = malloc(n * sizeof(*at)), sum = 0;

	for (size_t i = 0; at && i < n; i++)
		at[i] = (double)i;
	for (size_t i = 0; at && i < n; i++)
		sum += at[i * 7919 % n];
	free(at);
	return sum;
}

static int failed(const char *what)
{
	const struct perfex_error *e = perfex_last_error();

	fprintf(stderr, "classic: %s: %s\n", what, e->message);
	if (e->hint[0])
		fprintf(stderr, "classic: %s\n", e->hint);
	return 1;
}

int main(int argc, char **argv)
{
	int e0 = argc > 1 ? atoi(argv[1]) : 69, e1 = argc > 2 ? atoi(argv[2]) : 65;
	long long c0, c1;
	double sum;

	if (start_counters(e0, e1) < 0)
		return failed("start_counters");
	sum = work(1 << 20);
	if (read_counters(e0, &c0, e1, &c1) < 0)
		return failed("read_counters");
	printf("sum %.0f\n", sum);
	if (print_counters(e0, c0, e1, c1) < 0)
		return failed("print_counters");
	if (print_costs(e0, c0, e1, c1) < 0)
		return failed("print_costs");
	return 0;
}
