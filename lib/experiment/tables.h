/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of an experiment as rows (lib/rows): their list, their kinds, and the numbers by which
 * rows refer to each other.
 */
#ifndef EXPERIMENT_TABLES_H
#define EXPERIMENT_TABLES_H

#include "rows/rows.h"

/*
 * All tables, in their order in a file, in settling and in merging: each follows those
 * that it refers to.  A table is a line here and its row_kind, experiment_NAME_kind; from
 * this follow EXPERIMENT_NUMBER, by which rows refer to it, and the member NAME of struct
 * experiment.
 */
#define EXPERIMENT_TABLE_LIST(TABLE)                                                               \
	TABLE(SYMBOLS, symbols)                                                                    \
	TABLE(NODES, nodes)                                                                        \
	TABLE(SAMPLES, samples)                                                                    \
	TABLE(SLICES, slices)                                                                      \
	TABLE(EDGES, edges)                                                                        \
	TABLE(OBJECTS, objects)                                                                    \
	TABLE(PLACES, places)                                                                      \
	TABLE(TOUCHES, touches)                                                                    \
	TABLE(LINES, lines)                                                                        \
	TABLE(ENDS, ends)                                                                          \
	TABLE(RUNS, branch_runs)                                                                   \
	TABLE(RATES, branch_rates)                                                                 \
	TABLE(TALLIES, branch_tallies)                                                             \
	TABLE(WAITS, waits)                                                                        \
	TABLE(VALUE_SITES, value_sites)                                                            \
	TABLE(VALUES, values)                                                                      \
	TABLE(VALUE_TALLIES, value_tallies)                                                        \
	TABLE(OBSTACLES, obstacles)                                                                \
	TABLE(PAUSES, pauses)

/* Targets of references, by number: first lists, which are not tables of rows, then the tables. */
enum experiment_rows {
	EXPERIMENT_FACTS = ROW_NUMBER + 1,
	EXPERIMENT_IMAGES,
	EXPERIMENT_METRICS,
	EXPERIMENT_PROCESSES,
	EXPERIMENT_THREADS,
	EXPERIMENT_PHASES,
	EXPERIMENT_DATA_METRICS,
	EXPERIMENT_LISTS,                            /* up to here */
	EXPERIMENT_LAST_LIST = EXPERIMENT_LISTS - 1, /* the tables count on from it */
#define EXPERIMENT_NUMBER(number, name) EXPERIMENT_##number,
	EXPERIMENT_TABLE_LIST(EXPERIMENT_NUMBER) EXPERIMENT_TABLES, /* up to here */
};

#define EXPERIMENT_KIND(number, name) extern const struct row_kind experiment_##name##_kind;
EXPERIMENT_TABLE_LIST(EXPERIMENT_KIND)
/* Runs in files of minor version 2, without rates. */
extern const struct row_kind experiment_runs_alone_kind;

struct experiment;

const struct row_kind *experiment_kind(int which);
struct table *experiment_table(const struct experiment *x, int which);
/* Adds a row of that table to the one with its key, and copies its texts; its number, -1 when
 * memory is out. */
long experiment_row(struct experiment *x, int which, const void *row);
/* Limits of references: the number of rows of each. */
void experiment_limits(const struct experiment *x, struct row_numbers *n);

#endif
