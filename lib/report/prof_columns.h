/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a table of places: for each metric what is the place's own and, with -inclusive,
 * what it called as well; then how often it was executed, where that was counted exactly; then
 * ratios.
 */
#ifndef REPORT_PROF_COLUMNS_H
#define REPORT_PROF_COLUMNS_H

#include "report/prof_entity.h"

struct prof_ratio {
	long column;
	size_t over, under; /* metrics */
	double scale;       /* of over's unit to the one shown; 1, or cycles a second */
};

struct prof_columns {
	struct prof_table *table;
	const struct prof_data *data;
	VEC(long) own, inclusive; /* column of a metric; inclusive: -1 where there is none */
	VEC(struct prof_ratio) ratios;
	long executions; /* column; -1: none */
	size_t exact;    /* metric that it comes from */
};

enum prof_columns_flag { PROF_COLUMNS_INCLUSIVE = 1, PROF_COLUMNS_TREE = 2 };

/* Adds columns to an empty table, the metrics to its experiments, and what is to be said of both
 * above the rows.  executions names that column ("calls", "executions"), NULL: it makes no sense
 * here. */
int prof_columns_init(struct prof_columns *c, struct prof_table *t, const struct prof_data *d,
	unsigned flags, const char *executions, struct error *e);
void prof_columns_fini(struct prof_columns *c);

/* The cells of a row.  inclusive may be NULL. */
void prof_columns_fill(const struct prof_columns *c, size_t row, const uint64_t *own,
	const uint64_t *inclusive, uint64_t executions);
/* Adds the row of the whole run. */
int prof_columns_total(const struct prof_columns *c);

/* Executions of entities: of a function, of its first instruction; of a line, of that of its
 * instructions that was executed most.  [entity], yours to free; NULL when memory is out. */
uint64_t *prof_executions(const struct prof_columns *c, const struct prof_sums *s);

/* prof_head.c: "value: label" lines on the run and its metrics; coverage, below. */
/* The part of it that is about branch records. */
int prof_describe_bursts(struct prof_table *t, const struct experiment *x);
int prof_describe(struct prof_table *t, const struct prof_data *d, struct error *e);
int prof_coverage(struct prof_table *t, const struct prof_data *d, struct error *e);

/* What one metric is, for the list of the table's experiments. */
int prof_experiment_add(struct prof_table *t, const struct prof_data *d, size_t metric);
/* Facts of a run that heads show: key and what it is called; ends with NULL. */
extern const char *const prof_facts[][2];

/* prof_both.c: what ssrun -both asked, answered below the rows. */
int prof_both(struct prof_table *t, const struct prof_data *d, const struct prof_sums *s,
	enum prof_grain grain, struct error *e);

/* -q, on numbers in falling order: is the row at this index the first that is left out? */
bool prof_quits(const struct prof_quit *q, size_t index, double percent, double cumulative_before);

#endif
