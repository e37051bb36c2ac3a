/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct counts_report as text, JSON ("perfex.counts/1"), CSV, OpenMetrics, and a gnuplot script.
 */
#ifndef RENDER_COUNTS_H
#define RENDER_COUNTS_H

#include "base/strbuf.h"
#include "picture/plot.h"
#include "report/counts.h"

/* width: columns of the terminal, 0 for all of it; of fewer columns than the table of costs has,
 * the range of each cost and where it is from are left out. */
void render_counts_text(const struct counts_report *r, unsigned width, struct strbuf *out);
/* One object, one line, newline-terminated. */
int render_counts_json(const struct counts_report *r, struct strbuf *out, struct error *e);
/* Header line and one line per event, then an event and thread. */
void render_counts_csv(const struct counts_report *r, struct strbuf *out);
/* Metrics of a finished run, or of one as it is now. */
void render_counts_openmetrics(const struct counts_report *r, struct strbuf *out);
/* A gnuplot script that draws what events cost (picture/picture_costs.h). */
int render_counts_plot(const struct counts_report *r, const struct plot_output *to,
	struct strbuf *out, struct error *e);

/* One read-out of -p: a line a counted event: seconds, number, name, count and label. */
void render_readout_text(double seconds, const struct event_spec *specs, const struct reading *r,
	struct strbuf *out);

#endif
