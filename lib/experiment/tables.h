/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of an experiment as rows (lib/rows): their kinds, and their numbers, by which rows
 * refer to each other.  tables.c says which there are.
 */
#ifndef EXPERIMENT_TABLES_H
#define EXPERIMENT_TABLES_H

#include "experiment/experiment.h"
#include "rows/rows.h"

/*
 * What rows refer to, by number: first what is no table of rows (lists), then the tables, in the
 * order in which they lie in a file, settle and are merged.  So each comes after those that it
 * refers to.  A new table is a number here, a table in struct experiment, and its kind.
 */
enum experiment_rows {
	EXPERIMENT_FACTS = ROW_NUMBER + 1,
	EXPERIMENT_IMAGES,
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

/* Adds rows of a table of that kind to x's, with references as n says; to (may be NULL) says where
 * they went.  -1 when memory is out. */
int experiment_merge_table(struct experiment *x, int which, const struct table *from,
	const struct row_numbers *n, uint32_t *to);

#endif
