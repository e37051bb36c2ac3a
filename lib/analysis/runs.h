/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions from branch records: straight runs of instructions that were seen in bursts, at
 * random moments of a run's time.
 *
 * If bursts were timed, the mean rate of a run gives its executions without further knowledge:
 * bursts begin uniformly in time and are short compared with the program. Flow is conserved within
 * a burst, and so in the mean of bursts. Errors are of two kinds: rare runs vary by themselves,
 * and runs that occur in the same bursts vary together, as do all runs through one place.
 *
 * Without rates, the number of times that a run was seen is biased: bursts begin where time is
 * spent, and are too short to leave some loops. But the direction taken at the end of a run does
 * not depend on that. So frequencies are the stationary distribution of a Markov chain with these
 * shares, whose states are the places where runs begin, of all images together. It is found by
 * elimination without subtractions (Grassmann, Taksar and Heyman, Operations Research 33, 1985),
 * which is exact even if parts of a program are seldom left for others.
 *
 * Parts without an observed edge between them are joined by a weak one: an edge from the end of a
 * burst to the beginning of another, as if it was taken LINK times.
 *
 * Other evidence (executions counted in windows, samples divided by the least cycles that a
 * segment takes) moves parts against each other as far as the edges between them are few:
 * logarithms of frequencies are a Gaussian field over the graph.
 */
#ifndef ANALYSIS_RUNS_H
#define ANALYSIS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct analysis_run {
	uint64_t begin, end; /* addresses of its first and last instruction */
	uint64_t to;         /* the next address */
	uint32_t image, to_image;
	uint64_t count;
	/* Its executions in the whole by timed bursts, in any unit, and their variance. 0 of all
	 * runs: no burst was timed. */
	double rate, variance;
};

struct analysis_runs;

#define ANALYSIS_RUNS_NONE UINT32_MAX

/* Invalid runs (an end before the beginning) are left out. NULL with *e set when memory is out. */
struct analysis_runs *analysis_runs_new(
	const struct analysis_run *runs, size_t count, struct error *e);
void analysis_runs_free(struct analysis_runs *r);

/* The segment that contains this instruction: the code between two places where runs begin.
 * ANALYSIS_RUNS_NONE: no run passed it. */
uint32_t analysis_runs_segment(const struct analysis_runs *r, uint32_t image, uint64_t address);
uint32_t analysis_runs_count(const struct analysis_runs *r);

/* Do frequencies come from rates? Then they are in the rates' unit, and the functions below on
 * segments, evidence and settling do not apply. */
bool analysis_runs_rated(const struct analysis_runs *r);

struct analysis_passage {
	double flow;      /* how often it was executed */
	double deviation; /* standard deviation of the logarithm of that */
	uint64_t seen;    /* runs that passed it; 0: in no run */
};

/* Of an instruction. */
struct analysis_passage analysis_runs_at(
	const struct analysis_runs *r, uint32_t image, uint64_t address);
/* Of the edge from one instruction to another, or to the one after it. */
struct analysis_passage analysis_runs_edge(
	const struct analysis_runs *r, uint32_t image, uint64_t from, uint64_t to, bool falls);
/* Of a segment: its executions, and how often runs left it. */
double analysis_runs_flow(const struct analysis_runs *r, uint32_t segment);
uint64_t analysis_runs_taken(const struct analysis_runs *r, uint32_t segment);

/* Adds evidence on a segment: the logarithm of the factor for its frequency, with 1 / variance. */
void analysis_runs_observe(
	struct analysis_runs *r, uint32_t segment, double log_factor, double weight);
/* Multiplies all. */
void analysis_runs_scale(struct analysis_runs *r, double factor);
/* Applies and drops the evidence; finds deviations, too, if wanted, with the evidence of the last
 * call. -1 when memory is out. */
int analysis_runs_settle(struct analysis_runs *r, bool deviations);

#endif
