/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures this machine's costs with small kernels, by time alone (no counters needed), in half
 * a minute.
 */
#ifndef COSTS_COSTS_CALIBRATE_H
#define COSTS_COSTS_CALIBRATE_H

#include "base/progress.h"
#include "costs/costs.h"
#include "machine/machine.h"

struct calibration_row {
	int number;    /* event */
	double spread; /* (third - first quartile) / median of repeated measurements of the typical
			  cost, [0,inf) */
	const char *how; /* static: "pointer chase in 512 KiB minus the same in 16 KiB" */
};

struct calibration {
	struct cost_table table;
	struct calibration_row
		row[EVENT_LIMIT]; /* valid where table.cost[].known and how is not NULL */
};

/* seconds: at most this long (25 for the command).  host gives geometries.  progress may be NULL.
 */
int calibrate(const struct machine *host, double seconds, struct calibration *c,
	struct progress *progress, struct error *e);
/* The cost file, each row with its spread and how as comments. */
void calibrate_print(const struct calibration *c, struct strbuf *out);

#endif
