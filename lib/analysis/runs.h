/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Executions from branch records: straight runs of instructions that were seen in bursts, at random
 * moments of a run's time.
 *
 * Where bursts were timed, the mean rate of a run is how often it was executed, whatever else is
 * known: bursts begin uniformly in time and are short against what a program does.  Flow goes
 * through a burst without loss, so it does so through their mean.  What is off is so by chance of
 * two kinds: runs that are seldom met scatter by themselves, and runs that are met in the same
 * bursts scatter together, as do all of those that pass one place.
 *
 * Without rates how often runs were seen says less than it seems: bursts begin where time is spent,
 * and are too short to leave some loops.  But which way is taken at the end of a run does not
 * depend on that. So frequencies are those that flow on for ever with these shares: the stationary
 * distribution of a Markov chain, whose states are places where runs begin, of all images together.
 * It is found by elimination without subtractions (Grassmann, Taksar and Heyman, Operations
 * Research 33, 1985), which is exact however seldom parts of a program are left for others.
 *
 * Parts between which no way was seen are tied by a weak rule: where a burst ends, another begins,
 * as if that was a way taken LINK times.
 *
 * What is known besides, how often places were passed in windows of time and how many samples they
 * have for the cycles that they take at least, moves parts against each other as far as the ways
 * between them are few: logarithms of frequencies are a Gaussian field over the graph.
 */
#ifndef ANALYSIS_RUNS_H
#define ANALYSIS_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct analysis_run {
	uint64_t begin, end; /* addresses of its first and last instruction */
	uint64_t to;         /* where it went */
	uint32_t image, to_image;
	uint64_t count;
	/* How often it was executed in the whole as timed bursts say, in any unit, and the variance
	 * of that.  0 of all runs: no burst was timed. */
	double rate, variance;
};

struct analysis_runs;

#define ANALYSIS_RUNS_NONE UINT32_MAX

/* Runs that make no sense (an end before the begin) are left out.  NULL with *e set when memory is
 * out. */
struct analysis_runs *analysis_runs_new(
	const struct analysis_run *runs, size_t count, struct error *e);
void analysis_runs_free(struct analysis_runs *r);

/* The segment that this instruction is in: what lies between two places where runs begin.  Or
 * ANALYSIS_RUNS_NONE: no run passed it. */
uint32_t analysis_runs_segment(const struct analysis_runs *r, uint32_t image, uint64_t address);
uint32_t analysis_runs_count(const struct analysis_runs *r);

/* Do frequencies come from rates?  Then they are in their unit, and what follows on segments, on
 * evidence and on settling is not for them. */
bool analysis_runs_rated(const struct analysis_runs *r);

struct analysis_passage {
	double flow;      /* how often it was executed */
	double deviation; /* standard deviation of the logarithm of that */
	uint64_t seen;    /* how often runs passed it; 0: in no run */
};

/* Of an instruction. */
struct analysis_passage analysis_runs_at(
	const struct analysis_runs *r, uint32_t image, uint64_t address);
/* Of the way from one instruction to another, or on to what lies behind it. */
struct analysis_passage analysis_runs_edge(
	const struct analysis_runs *r, uint32_t image, uint64_t from, uint64_t to, bool falls);
/* Of a segment: how often it was executed, and left in runs. */
double analysis_runs_flow(const struct analysis_runs *r, uint32_t segment);
uint64_t analysis_runs_taken(const struct analysis_runs *r, uint32_t segment);

/* Evidence of a segment: the logarithm of what its frequency should be multiplied by, with
 * 1 / variance. */
void analysis_runs_tell(
	struct analysis_runs *r, uint32_t segment, double log_factor, double weight);
/* Multiplies all. */
void analysis_runs_scale(struct analysis_runs *r, double factor);
/* Takes what was told into account and forgets it; finds deviations, too, if wanted, with what was
 * told last.  -1 when memory is out. */
int analysis_runs_settle(struct analysis_runs *r, bool deviations);

#endif
