/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Initialisers of a struct experiment_metric: the kernel's clock, and secondary data cache misses.
 */
#ifndef TESTS_METRICS_H
#define TESTS_METRICS_H

#include "experiment/experiment.h"

#define METRIC_TIME(flags_)                                                                        \
	{                                                                                          \
		.event = -1, .name = (char *)"CPU time", .short_name = (char *)"time",             \
		.unit = (char *)"ns", .source = (char *)"os", .note = (char *)"",                  \
		.label = LABEL_MEASURED, .flags = METRIC_CLOCK | (flags_), .period = 1000003       \
	}
#define METRIC_MISSES(source_, note_, label_, flags_, period_)                                     \
	{                                                                                          \
		.event = 26, .name = (char *)"Secondary data cache misses",                        \
		.short_name = (char *)"dsc", .unit = (char *)"misses",                             \
		.source = (char *)(source_), .note = (char *)(note_), .label = (label_),           \
		.flags = (flags_), .period = (period_)                                             \
	}

#endif
