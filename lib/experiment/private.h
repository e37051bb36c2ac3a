/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the files of this directory share.
 */
#ifndef EXPERIMENT_PRIVATE_H
#define EXPERIMENT_PRIVATE_H

#include "experiment/file.h"
#include "rows/rows.h"

#define CODING_MAGIC   "\x89SSEXP\r\n"
#define CODING_MAJOR   1
#define CODING_DATA    1     /* minor version of files with data space */
#define CODING_MINOR   3     /* of files with branch records; with neither, 0 */
#define CODING_PREFIX  12    /* bytes: magic, major, minor */
#define CODING_SECTION 12    /* bytes: type, length of what follows, checksum */
#define CODING_CHUNK   65536 /* bytes from which on a long table goes on in another section */

/* ---- tables: tables.c says which there are ---- */

/*
 * What rows refer to, by number: first what is no table of rows (lists), then the tables, in the
 * order in which they lie in a file, settle and are merged.  So each comes after those that it
 * refers to.  A new table is a number here, a table in struct experiment, and its kind.
 */
enum experiment_rows {
	EXPERIMENT_IMAGES = ROW_NUMBER + 1,
	EXPERIMENT_METRICS,
	EXPERIMENT_PROCESSES,
	EXPERIMENT_THREADS,
	EXPERIMENT_PHASES,
	EXPERIMENT_DATA_METRICS,
	EXPERIMENT_LISTS, /* up to here */
	EXPERIMENT_SYMBOLS = EXPERIMENT_LISTS,
	EXPERIMENT_NODES,
	EXPERIMENT_SAMPLES,
	EXPERIMENT_EDGES,
	EXPERIMENT_OBJECTS,
	EXPERIMENT_PLACES,
	EXPERIMENT_TOUCHES,
	EXPERIMENT_LINES,
	EXPERIMENT_ENDS,
	EXPERIMENT_RUNS,
	EXPERIMENT_RATES,
	EXPERIMENT_TALLIES,
	EXPERIMENT_TABLES, /* up to here */
};

extern const struct row_kind experiment_symbols_kind, experiment_nodes_kind,
	experiment_samples_kind, experiment_edges_kind, experiment_objects_kind,
	experiment_places_kind, experiment_touches_kind, experiment_lines_kind,
	experiment_ends_kind, experiment_runs_kind, experiment_rates_kind, experiment_tallies_kind;
/* Runs as files of minor version 2 have them, without rates. */
extern const struct row_kind experiment_runs_alone_kind;

const struct row_kind *experiment_kind(int which);
struct table *experiment_table(const struct experiment *x, int which);
/* Limits of references: how many there are of each. */
void experiment_limits(const struct experiment *x, struct row_numbers *n);

void experiment_metric_fini(struct experiment_metric *m);
/* Adds the counts of b to those of a, which is the same metric, and takes the lesser note; b is
 * what it was, but its note may be exchanged for a's.  counted: has it samples?  (A total of 0 is
 * one that is not known where there are samples, and then the sum is not known either.) */
void experiment_metric_sum(
	struct experiment_metric *a, bool a_counted, struct experiment_metric *b, bool b_counted);

/* Likewise what comes before nodes, samples and edges, and where they begin.  Damage is an error.
 */
int experiment_parse_head(
	struct experiment *x, const void *data, size_t size, size_t *at, struct error *e);

/* A buffer for one file after the other. */
struct experiment_bytes {
	char *data; /* yours to free */
	size_t count, capacity;
};
int experiment_load(const char *path, struct experiment_bytes *bytes, struct error *e);
/* Puts the name of the file in front of the message. */
void experiment_name_error(struct error *e, const char *path);

#endif
