/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first table of a large file, from the part that was read in the first moments: functions and
 * their samples, without lines. It is preliminary; the table of the whole file replaces it.
 */
#ifndef BROWSE_FIRST_TABLE_H
#define BROWSE_FIRST_TABLE_H

#include "browse/browse.h"
#include "experiment/glance.h"

struct first_table {
	struct experiment_glance *g;
	struct prof_input input;
	struct prof_request request;
	struct prof_data data; /* images only */
	struct prof_images *images;
};

/* Is it useful for this request? */
bool first_table_wanted(const struct browse_request *r);
/* -1: there will be no first table; without an error, as reading the file will report it. */
int first_table_open(struct first_table *g, const struct browse_request *r);
/* After some more reading (ns of each kind): fills an empty table, whose texts live in g and in
 * the data with it. 1: there is more; 0: the end; -1: nothing was made. */
int first_table_fill(struct first_table *g, uint64_t budget, struct experiment *functions,
	struct prof_data *data, struct report_table *t);
void first_table_close(struct first_table *g);

/* Adds names without lines, which take long, to others. */
struct browse_bare_names {
	struct prof_names under;
};
extern const struct prof_names_ops browse_bare_ops;

#endif
