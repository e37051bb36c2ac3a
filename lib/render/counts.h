/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct counts_report as text, JSON ("perfex.counts/1"), CSV, and a gnuplot script.
 */
#ifndef RENDER_COUNTS_H
#define RENDER_COUNTS_H

#include "base/strbuf.h"
#include "report/counts.h"

struct render_options {
	bool ascii; /* no Unicode */
	int width;  /* columns of the terminal; 0: 80 */
};

void render_counts_text(const struct counts_report *r, struct strbuf *out);
/* One object, one line, newline-terminated. */
int render_counts_json(const struct counts_report *r, struct strbuf *out, struct error *e);
/* Header line and one line an event, then an event and thread. */
void render_counts_csv(const struct counts_report *r, struct strbuf *out);
/*
 * A self-contained gnuplot script that draws the breakdown as bars, or the events' typical, minimum
 * and maximum times where there is no breakdown, into `picture` (PNG or SVG by its suffix; "-": the
 * terminal).
 */
/* gnuplot's terminal for it; NULL with *e set where the name does not tell. */
const char *render_plot_kind(const char *picture, struct error *e);
int render_counts_plot(
	const struct counts_report *r, const char *picture, struct strbuf *out, struct error *e);

/* One read-out of -p: a line a counted event: seconds, number, name, count and label. */
void render_readout_text(double seconds, const struct event_spec *specs, const struct reading *r,
	struct strbuf *out);

#endif
