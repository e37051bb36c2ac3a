/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments in the formats of other tools.
 *
 * The export has every sample that the request selects (-only, -exclude, -calipers): a sample is
 * selected by its innermost function, and the sums of each metric are those of prof's own reports.
 * Addresses are those found. Flat profiles are stacks of one frame.
 */
#ifndef EXPORT_EXPORT_H
#define EXPORT_EXPORT_H

#include <stdio.h>

#include "base/progress.h"
#include "profile/places.h"
#include "report/report_rows.h"

struct export_request {
	const char *creator;        /* program and version */
	const char *const *metrics; /* names of those wanted, NULL-terminated; NULL or none: all */
	struct progress *progress;  /* may be NULL */
};

struct export_profile;

struct export_format {
	const char *name, *help;
	bool binary; /* not for a terminal */
	bool one;    /* has room for one metric: the first that is wanted */
	bool bare;   /* has no field for labels: the command must print them elsewhere */
	bool merged; /* without threads */
	bool stacks; /* it has all functions of each path: deep ones are cut, without -whole */
	int (*write)(const struct export_profile *x, FILE *out, struct error *e);
};
extern const struct export_format export_formats[]; /* ends with name NULL */
/* Call paths for a flame graph, as JSON: not a format for users, the page of lib/page draws it. */
extern const struct export_format export_format_paths;
/* NULL with *e set: unknown format. */
const struct export_format *export_format_find(const char *name, struct error *e);

/*
 * Names everything in d for this format; d must live as long. d's names are set, nothing else was
 * asked of it. NULL with *e set.
 */
struct export_profile *export_new(struct prof_data *d, const struct export_request *request,
	const struct export_format *format, struct error *e);
void export_free(struct export_profile *x);
/* Writes it; the stream has errors of writing. */
int export_write(const struct export_profile *x, FILE *out, struct error *e);

/* What is missing in it (lines of `notes`, and `incomplete`), as after prof's reports. */
const struct report_table *export_notes(const struct export_profile *x);
/* "CPU time (time): 995 samples of 1000003 ns, measured by os", of each metric exported. */
size_t export_metrics(const struct export_profile *x);
const char *export_metric_text(const struct export_profile *x, size_t metric);
uint64_t export_metric_samples(const struct export_profile *x, size_t metric);

#endif
