/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first table of a large file, of what was read of it in the first moments: functions and their
 * samples, without lines.  It is preliminary; the one of the whole file takes its place.
 */
#ifndef PROF_TUI_GLANCE_H
#define PROF_TUI_GLANCE_H

#include "experiment/glance.h"
#include "report.h"

struct tui_glance {
	struct experiment_glance *g;
	struct prof_input input;
	struct prof_request request;
	struct prof_images_search search;
	struct prof_data data; /* images only */
	struct prof_images *images;
};

/* Is it worth it for this file? */
bool tui_glance_wanted(const struct options *o, const struct arguments *a);
/* -1: there will be no first table; nothing is to be told, since reading the file will. */
int tui_glance_open(struct tui_glance *g, const struct options *o, const struct arguments *a);
/* After some more reading (ns of each kind): fills an empty table, whose texts live in g and in
 * what comes with it.  1: there is more to come; 0: that was all; -1: nothing was made. */
int tui_glance_table(struct tui_glance *g, uint64_t budget, struct experiment *functions,
	struct prof_data *data, struct prof_table *t);
void tui_glance_close(struct tui_glance *g);

/* Names without lines, which take long, on top of others. */
struct tui_bare_names {
	struct prof_names under;
};
extern const struct prof_names_ops tui_bare_ops;

#endif
