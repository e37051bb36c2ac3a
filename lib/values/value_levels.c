/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Patterns of levels, from times of loads of known levels. */
#include <math.h>
#include <string.h>

#include "values/latencies.h"

#define OVERLAP    0.92 /* of patterns: levels that are more alike are one */
#define LEAST      0.02 /* of memory's loads */
#define SPREAD     200  /* a part of memory's loads, at each of its times */
#define SURE_LEAST 1e-3 /* of a pattern: nothing is impossible */

static double pattern_total(const uint32_t bins[LATENCY_BINS])
{
	double all = 0;

	for (int b = 0; b < LATENCY_BINS; b++)
		all += bins[b];
	return all;
}

/* How well a bin, or a class of some, distinguishes levels: shares of levels in it. */
struct class_shares {
	double of[LATENCY_FORMS * LEVELS];
	double all;
};

static double loss_of_joining(const struct class_shares *a, const struct class_shares *b)
{
	double sum = 0;

	for (int i = 0; i < LATENCY_FORMS * LEVELS; i++) {
		double x = a->all > 0 ? a->of[i] / a->all : 0,
		       y = b->all > 0 ? b->of[i] / b->all : 0;

		sum += (x - y) * (x - y);
	}
	return sum * (a->all * b->all) / (a->all + b->all + 1e-9);
}

/* Neighbours are joined that differ least, until there are as few as classes. */
static void choose_classes(struct latency_levels *l, const latency_counts counts)
{
	struct class_shares s[LATENCY_BINS] = {{{0}, 0}};
	unsigned first[LATENCY_BINS], n = LATENCY_BINS;

	for (unsigned b = 0; b < LATENCY_BINS; b++) {
		first[b] = b;
		for (int i = 0; i < LATENCY_FORMS * LEVELS; i++) {
			const uint32_t *bins = counts[i / LEVELS][i % LEVELS];
			double all = pattern_total(bins);

			s[b].of[i] = all > 0 ? bins[b] / all : 0;
			s[b].all += s[b].of[i];
		}
	}
	while (n > LATENCY_CLASSES) {
		unsigned best = 0;

		for (unsigned i = 1; i + 1 < n; i++)
			if (loss_of_joining(&s[i], &s[i + 1]) <
				loss_of_joining(&s[best], &s[best + 1]))
				best = i;
		for (int i = 0; i < LATENCY_FORMS * LEVELS; i++)
			s[best].of[i] += s[best + 1].of[i];
		s[best].all += s[best + 1].all;
		n--;
		memmove(&s[best + 1], &s[best + 2], (n - best - 1) * sizeof(*s));
		memmove(&first[best + 1], &first[best + 2], (n - best - 1) * sizeof(*first));
	}
	for (unsigned b = 0, class = 0; b < LATENCY_BINS; b++) {
		while (class + 1 < n && b >= first[class + 1])
			class ++;
		l->class_of[b] = (uint8_t) class;
	}
}

static void fill_pattern(struct latency_levels *l, double pattern[LATENCY_CLASSES],
	const uint32_t bins[LATENCY_BINS])
{
	double all = pattern_total(bins);

	for (int c = 0; c < LATENCY_CLASSES; c++)
		pattern[c] = 0;
	for (int b = 0; b < LATENCY_BINS; b++)
		pattern[l->class_of[b]] += bins[b];
	for (int c = 0; c < LATENCY_CLASSES; c++)
		pattern[c] = ((all > 0 ? pattern[c] / all : 0) + SURE_LEAST) /
			     (1 + LATENCY_CLASSES * SURE_LEAST);
}

/* Of all forms, the greatest. */
static double pattern_overlap(const struct latency_levels *l, int a, int b)
{
	double most = 0;

	for (int f = 0; f < LATENCY_FORMS; f++) {
		double sum = 0;

		for (int c = 0; c < LATENCY_CLASSES; c++)
			sum += fmin(l->pattern[f][a][c], l->pattern[f][b][c]);
		most = fmax(most, sum);
	}
	return most;
}

/* Level k belongs to the first one as well, with which others may be one already. */
static void join_patterns(struct latency_levels *l, int first, int k)
{
	double before = k - first;

	for (int f = 0; f < LATENCY_FORMS; f++)
		for (int c = 0; c < LATENCY_CLASSES; c++)
			l->pattern[f][first][c] =
				(before * l->pattern[f][first][c] + l->pattern[f][k][c]) /
				(before + 1);
}

/*
 * Loads from caches that take longer than half of what memory takes at least are from memory: a
 * neighbour has put their lines out of the last cache. How long memory takes depends on what else
 * uses it, so any such time may be its.
 */
static void divide_at_memory(uint32_t bins[LEVELS][LATENCY_BINS])
{
	double all = pattern_total(bins[LEVEL_MEMORY]), sum = 0;
	unsigned from = 0;

	for (; from + 1 < LATENCY_BINS && sum + bins[LEVEL_MEMORY][from] < LEAST * all; from++)
		sum += bins[LEVEL_MEMORY][from];
	from = latencies_bin((double)latencies_bin_ns(from) / 2);
	for (unsigned b = 0; b < LATENCY_BINS; b++)
		for (int k = 0; k < LEVELS; k++) {
			if (k == LEVEL_MEMORY ? b < from : b >= from && from)
				bins[k][b] = 0;
			if (k == LEVEL_MEMORY && b >= from)
				bins[k][b] += (uint32_t)(all / SPREAD);
		}
}

int values_levels_learn(struct latency_levels *l, const latency_counts measured, struct error *e)
{
	latency_counts counts;
	int first = LEVEL_L1;

	memcpy(counts, measured, sizeof(counts));
	for (int f = 0; f < LATENCY_FORMS; f++)
		divide_at_memory(counts[f]);
	choose_classes(l, counts);
	for (int f = 0; f < LATENCY_FORMS; f++)
		for (int k = 0; k < LEVELS; k++)
			fill_pattern(l, l->pattern[f][k], counts[f][k]);
	for (int k = 0; k < LEVELS; k++) {
		double all = pattern_total(measured[0][k]);

		l->mean_ns[k] = 0;
		for (unsigned b = 0; b < LATENCY_BINS && all > 0; b++)
			l->mean_ns[k] += measured[0][k][b] * (double)latencies_bin_ns(b) / all;
		if (k != LEVEL_L1)
			l->mean_ns[k] -= l->mean_ns[LEVEL_L1];
		if (pattern_overlap(l, first, k) < OVERLAP)
			first = k;
		l->last[k] = 0;
		l->last[first] = (uint8_t)(k + 1);
		if (k > first)
			join_patterns(l, first, k);
	}
	l->mean_ns[LEVEL_L1] = 0;
	if (first == LEVEL_MEMORY && l->mean_ns[LEVEL_MEMORY] > l->mean_ns[LEVEL_LAST])
		return 0;
	error_set(
		e, ERR_UNSUPPORTED, "loads from memory take no longer here than those from caches");
	return -1;
}
