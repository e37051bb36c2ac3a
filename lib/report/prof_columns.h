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
	size_t column;
	size_t over, under; /* metrics */
	double scale;       /* of over's unit to the one shown; 1, or cycles a second */
};

struct prof_columns { /* arrays live until prof_finish */
	struct prof_table *table;
	const struct prof_data *data;
	size_t *own;     /* column of each metric */
	long *inclusive; /* likewise; -1 where there is none */
	struct prof_ratio *ratios;
	size_t ratio_count;
	long executions; /* column; -1: none */
	size_t exact;    /* metric that it comes from */
};

enum prof_columns_flag { PROF_COLUMNS_INCLUSIVE = 1, PROF_COLUMNS_TREE = 2 };

/* Adds columns to an empty table, the metrics to its experiments, and what is to be said of both
 * above the rows.  executions names that column ("calls", "executions"), NULL: it makes no sense
 * here.  -1 when memory is out. */
int prof_columns_init(struct prof_columns *c, struct prof_table *t, const struct prof_data *d,
	unsigned flags, const char *executions, struct error *e);

/* The cells of a row.  inclusive may be NULL; own too: then only inclusive ones are filled. */
void prof_columns_fill(const struct prof_columns *c, size_t row, const uint64_t *own,
	const uint64_t *inclusive, uint64_t executions);
/* Adds the row of the whole run. */
void prof_columns_total(const struct prof_columns *c);

/* Executions of entities: of a function, of its first instruction; of a line, of that of its
 * instructions that was executed most.  [entity], yours to free; NULL when memory is out. */
uint64_t *prof_executions(const struct prof_columns *c, const struct prof_sums *s);

/* prof_head.c: "value: label" lines on the run and its metrics; coverage, below. */
/* The part of it that is about branch records. */
void prof_describe_bursts(struct prof_table *t, const struct experiment *x);
void prof_describe(struct prof_table *t, const struct prof_data *d);
void prof_coverage(struct prof_table *t, const struct prof_data *d);

/* What one metric is, for the list of the table's experiments. */
void prof_experiment_add(struct prof_table *t, const struct prof_data *d, size_t metric);
/* Facts of a run that heads show: key and what it is called; ends with NULL. */
extern const char *const prof_facts[][2];

/* prof_both.c: what ssrun -both asked, answered below the rows. */
int prof_both(struct prof_table *t, const struct prof_data *d, const struct prof_sums *s,
	enum prof_grain grain, struct error *e);

/* A report of places at a grain: names, columns, sums, then the rows that add makes of them, the
 * total and what is to be said below. */
typedef void prof_list_rows(struct prof_columns *c, struct prof_sums *s, enum prof_grain grain);
int prof_list(struct prof_data *d, struct prof_table *t, enum prof_grain grain,
	const char *executions, prof_list_rows *add, struct error *e);

/* -q, on shares in falling order. */
struct prof_cut {
	struct prof_quit quit;
	size_t shown;
	double cumulative; /* percent, of what is shown */
};
/* usual: what holds where the request says nothing. */
struct prof_cut prof_cut_of(const struct prof_data *d, struct prof_quit usual);
/* Is a row of that share left out, and all that follow?  Else it counts as shown. */
bool prof_cuts(struct prof_cut *cut, double percent);
/* "n more rows are left out (-q)", where there are any; why: "-q". */
void prof_left_out(struct prof_table *t, size_t n, const char *what, const char *why);
/* n of all, in percent; 0 where there is nothing. */
double prof_percent(double n, double all);

#endif
