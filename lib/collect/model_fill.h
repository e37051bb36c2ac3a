/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts the model's profile of a run (sources/profile.h) to an experiment. */
#ifndef COLLECT_MODEL_FILL_H
#define COLLECT_MODEL_FILL_H

#include "collect/experiments.h"
#include "experiment/experiment.h"
#include "sources/profile.h"

/*
 * Makes x, which is described and has no rows, of p, which is finished and loses its experiment.
 * x's metrics are those of m, in order. totals: of the run, EVENT_LIMIT of them; clock_hz: of the
 * modelled machine, for the times of points.
 *
 * Sampled metrics have threads and phases. Exact ones are of all threads and phases together
 * (thread 0, phase 0), unless they have call paths: then each occurrence is a sample.
 */
int model_fill(struct experiment *x, const struct collect_metrics *m, struct profile *p,
	const uint64_t *totals, uint64_t clock_hz, struct error *e);

/* Does this metric consist of samples? Else of counts by instruction. */
bool model_samples(const struct collect_metric *m);

#endif
