/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where loads get their data from, by the time they take.
 *
 * At first, loads are timed whose level is known: how often each time occurs is the level's
 * pattern. Patterns overlap: some processors' time-stamp counters go in steps of 10 ns, so that a
 * hit of L1 takes 10 ns or 20 ns by it, and one of L2 20 or 30. So no single load is given a level.
 * The shares of levels at one place are those with which the patterns add up to its times best
 * (maximum likelihood), and their errors follow from the scatter between bursts. Levels whose
 * patterns are much alike are taken as one.
 *
 * A page walk is part of the load's time; what it adds is not distinguished from the scatter of
 * memory's.
 */
#ifndef VALUES_LATENCIES_H
#define VALUES_LATENCIES_H

#include "base/error.h"
#include "base/table.h"
#include "experiment/values.h"

enum { LEVEL_L1, LEVEL_L2, LEVEL_LAST, LEVEL_MEMORY, LEVELS };

/* Times are sorted into bins of ns beyond the least: 1 ns up to 8, then four a doubling. */
#define LATENCY_BINS 56
/* And for shares of levels into fewer, by which levels differ. */
#define LATENCY_CLASSES 8
/* Longer ones have been interrupted. */
#define LATENCY_NS_MAX 20000
#define LATENCY_FORMS  2 /* of loads: enum branch_load_form */

/* Loads of known levels. */
struct latency_levels {
	double tick_ns;
	uint32_t
		floor[LATENCY_FORMS]; /* ticks of a load from L1, on average: times are beyond it */
	uint32_t least[LATENCY_FORMS]; /* and what hardly any takes less than: of patterns */
	double mean_ns[LEVELS];        /* beyond L1's */
	/* Levels that are hardly distinguished are one: of the first of them, the number
	 * of the last, from 1 on; of the others, 0. */
	uint8_t last[LEVELS];
	double pattern[LATENCY_FORMS][LEVELS][LATENCY_CLASSES]; /* shares */
	uint8_t class_of[LATENCY_BINS];
};

struct latencies {
	struct latency_levels levels;
	struct table sites;
};

/* Numbers of loads by form, level and bin of the time beyond the least. */
typedef uint32_t latency_counts[LATENCY_FORMS][LEVELS][LATENCY_BINS];

/* ---- levels.c: measured on this host, some 20 ms: the tick, floor and least of *l, and counts.
 * -1: that is not possible here. */
int values_levels_measure(struct latency_levels *l, latency_counts counts, struct error *e);

/* ---- value_levels.c: the rest of *l. -1: memory and L1 do not differ. */
int values_levels_learn(struct latency_levels *l, const latency_counts measured, struct error *e);

/* ---- latencies.c */
/* The bin of a time, and the time that a bin stands for, ns. */
unsigned latencies_bin(double ns);
uint64_t latencies_bin_ns(unsigned bin);
/* Of the ticks of a load beyond `from`; negative: it is left out. */
int latencies_bin_of(const struct latency_levels *l, uint32_t from, uint64_t ticks);
/* The shares of levels that explain these counts best. */
void latencies_shares(const struct latency_levels *l, uint32_t form,
	const double counts[LATENCY_CLASSES], double shares[LEVELS]);
/* Weights of classes: a sum of weights over loads is the number of loads of that level. */
void latencies_weights(const struct latency_levels *l, uint32_t form, const double shares[LEVELS],
	double weights[LEVELS][LATENCY_CLASSES]);

void latencies_init(struct latencies *l);
void latencies_fini(struct latencies *l);
/* A load at an address of an image, in a burst (bursts come one after the other). -1: memory is
 * out. */
int latencies_add(struct latencies *l, uint32_t image, uint64_t address, uint32_t form,
	uint64_t burst, uint64_t ticks);
/* Puts rows of all into the experiment: of VALUE_LATENCY, ns by
 * bins; of VALUE_LEVEL, VALUE_LEVELS of levels from 1 on. -1: memory is out. */
int latencies_put(struct latencies *l, struct experiment *x);

#endif
