/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Timing probes on a machine that runs other programs as well.
 *
 * Every run of a probe is between two runs of a chain of one-cycle adds, which give the current
 * length of a core cycle. Runs with a longer yardstick than others at that time are discarded: the
 * clock changed, or another program ran. Disturbances only lengthen a run, so the lowest decile of
 * a round's runs counts. Rounds are spread over the whole time; the lower quartile of a probe's
 * rounds is its figure, and the scatter of differences within rounds the spread.
 */
#ifndef KERNELS_SAMPLE_H
#define KERNELS_SAMPLE_H

#include "base/progress.h"
#include "kernels/probe.h"

#define ROUNDS_MAX 15

struct samples {
	int rounds;
	double value[PROBE_COUNT]
		    [ROUNDS_MAX]; /* cycles or nanoseconds each; NaN where it could not be run */
	double clock_hz[ROUNDS_MAX];
};

/* A sum of probes' figures. */
struct figure {
	double value;        /* NaN: not measured */
	double spread;       /* third less first quartile over rounds */
	double least_spread; /* median less first quartile: of the rounds that others did not
				disturb */
};

/* count probes, those in the array; others have no figures. seconds: time for all; rounds: 0 for as
 * many as fit into it well, else up to ROUNDS_MAX. progress may be NULL. */
int samples_take(struct samples *s, struct rig *r, const int *probes, int count, int rounds,
	double seconds, struct progress *progress, struct error *e);
/* (a - b) - (c - d); b, c and d may be -1. */
struct figure samples_difference(const struct samples *s, int a, int b, int c, int d);
double samples_clock(const struct samples *s);

#endif
