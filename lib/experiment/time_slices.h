/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The coarse times of samples: how many samples of a row fell into each slice of the run.
 *
 * Slices are 2^shift ns wide and counted from the beginning of the run; there are at most
 * EXPERIMENT_SLICES of them. If a run grows longer, slices are added up in pairs, so their room is
 * bounded and all widths fit into each other: a sum of runs has the widest slices of them.
 *
 * A file has as wide slices as it needs to be at most twice as large as without (time_slices_fit):
 * rows with few samples are free, and the bits of all others may take what `room` says. The room of
 * a sum is that of the file with the least; so the width, like all else in a file, does not depend
 * on the order or the grouping of what was added up.
 *
 * Samples of the model and of older files have no times, so a row may have more samples than its
 * slices have.
 */
#ifndef EXPERIMENT_TIME_SLICES_H
#define EXPERIMENT_TIME_SLICES_H

#include "experiment/experiment.h"

enum {
	EXPERIMENT_SLICE_LEVELS = 8, /* slices are halves of halves ...: as many times */
	EXPERIMENT_SLICES_MOST = 1 << EXPERIMENT_SLICE_LEVELS,
};

struct experiment_slice { /* table entry */
	struct {
		uint32_t sample; /* row of the samples */
		uint32_t slice;
	} key;
	uint64_t count; /* of its samples, at most all */
};

static inline const struct experiment_slice *experiment_slice_at(
	const struct experiment *x, size_t i)
{
	return (const struct experiment_slice *)(const void *)x->slices.entries + i;
}

/* As experiment_add, of samples at a time, ns since the run began. */
int experiment_add_at(struct experiment *x, const struct experiment_sample *sample, uint64_t time);
/* The same, of samples that are spread evenly from begin to end. */
int experiment_add_between(
	struct experiment *x, const struct experiment_sample *sample, uint64_t begin, uint64_t end);
/* ns from the beginning of the run to the end of the last slice with a sample; 0: no sample has a
 * time. */
uint64_t experiment_slices_end(const struct experiment *x);

#endif
