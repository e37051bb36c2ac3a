/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of a table of places: for each metric the place's own samples and, with -inclusive,
 * those of its callees as well; then its executions, if they were counted exactly; then ratios.
 */
#ifndef REPORT_REPORT_COLUMNS_H
#define REPORT_REPORT_COLUMNS_H

#include "report/report_beside.h"
#include "report/report_entity.h"

struct report_ratio {
	size_t column;
	size_t over, under; /* metrics */
	double scale;       /* of over's unit to the one shown; 1, or cycles per second */
};

struct report_columns { /* arrays live until report_finish */
	struct report_table *table;
	const struct prof_data *data;
	size_t *own;     /* column of each metric */
	long *inclusive; /* likewise; -1 if there is none */
	struct report_ratio *ratios;
	size_t ratio_count;
	bool *shown;                 /* each metric, to people */
	long second;                 /* instructions of a second run; -1: none */
	long executions;             /* column; -1: none */
	size_t exact;                /* its metric */
	struct report_beside beside; /* of report_list: what a second run waited for */
};

enum report_columns_flag { REPORT_COLUMNS_INCLUSIVE = 1, REPORT_COLUMNS_TREE = 2 };

/* -compare: ".before" or ".after" of a metric that two runs have, else "". */
const char *report_column_side(const struct prof_data *d, size_t metric);

/* Adds columns to an empty table, the metrics to its experiments, and the lines about both above
 * the rows. executions names that column ("calls", "executions"), NULL: no such column. -1 when
 * memory is out. */
int report_columns_init(struct report_columns *c, struct report_table *t, const struct prof_data *d,
	unsigned flags, const char *executions, struct error *e);

/* The cells of a row.  inclusive may be NULL; own too: then only inclusive ones are filled. */
void report_columns_fill(const struct report_columns *c, size_t row, const uint64_t *own,
	const uint64_t *inclusive, uint64_t executions);
/* Adds the row of the whole run. */
void report_columns_total(const struct report_columns *c);

/* Executions of entities: of a function, of its first instruction; of a line, of that of its
 * instructions that was executed most. [entity], to be freed by the caller; NULL when memory is
 * out. */
uint64_t *report_executions(const struct report_columns *c, const struct prof_sums *s);

/* report_head.c: "value: label" lines on the run and its metrics; coverage, below. */
/* The lines about branch records. */
void report_describe_bursts(struct report_table *t, const struct experiment *x);
/* Those about values. */
void report_describe_values(struct report_table *t, const struct experiment *x);
void report_describe(struct report_table *t, const struct prof_data *d);
/* The head in brief: all of it, or what it says of the first run, and of the samples. */
void report_brief_all(struct report_table *t, const struct prof_data *d);
void report_brief_run(struct report_table *t, const struct prof_data *d);
void report_brief_samples(struct report_table *t, const struct prof_data *d);
void report_coverage(struct report_table *t, const struct prof_data *d);
/* Where the samples of lines or inlined functions are (explain/unskid.h). */
void report_unskid_note(struct report_table *t, const struct prof_data *d, bool moved);
/* Notes on code that a runtime generated or interpreted (node, java ...), and how it gets names. */
void report_runtimes(struct report_table *t, const struct prof_data *d);

/* The metric's name within a sentence. */
const char *report_metric_name(const struct experiment_metric *m);
/* What one metric is, for the list of the table's experiments. */
void report_experiment_add(struct report_table *t, const struct prof_data *d, size_t metric);
/* Facts of a run that heads show: key and label; ends with NULL. */
extern const char *const report_facts[][2];

/* report_both.c: the question of ssrun -both, answered below the rows. */
int report_both(struct report_table *t, const struct prof_data *d, const struct prof_sums *s,
	enum prof_grain grain, struct error *e);

/* A report of places at a grain: names, columns, sums, then the rows that `add` makes of them, the
 * total and the lines below. */
typedef void report_list_rows(struct report_columns *c, struct prof_sums *s, enum prof_grain grain);
int report_list(struct prof_data *d, struct report_table *t, enum prof_grain grain,
	const char *executions, report_list_rows *add, struct error *e);

/* -q, on shares in falling order. */
struct report_cut {
	struct prof_quit quit;
	size_t shown;
	double cumulative; /* percent, of the shown rows */
	bool usual;        /* by default, not by -q */
};
/* usual: the default if the request has no -q. */
struct report_cut report_cut_of(const struct prof_data *d, struct prof_quit usual);
/* For report_left_out: the option that left rows out, or that shows more of them. */
const char *report_cut_why(const struct report_cut *cut);
/* Is a row of that share left out, and all that follow?  Else it counts as shown. */
bool report_cuts(struct report_cut *cut, double percent);
/* A long list for people ends before its rows of one sample each or below REPORT_FOLDED percent,
 * unless -whole or -q was given. */
#define REPORT_FOLDED 0.1
struct report_fold {
	bool on;
	const struct prof_data *of; /* samples are those of its metrics; NULL: of something else */
	bool many;                  /* a row of more than a sample is left out */
	size_t shown, left;
	uint64_t samples; /* of the rows left out, of the first metric */
};
struct report_fold report_fold_of(const struct prof_data *d);
/* The same of rows whose samples are those of the metrics of d. */
struct report_fold report_fold_samples(const struct prof_data *d);
/* Is a row of these samples left out?  Else it counts as shown. */
bool report_folds(struct report_fold *fold, const uint64_t *samples, size_t metrics);
/* "n more rows of one sample each are left out (-whole)"; all: samples of the run, 0: no share is
 * said. */
void report_folded(
	struct report_table *t, const struct report_fold *fold, const char *what, uint64_t all);
/* "n more rows are left out (-q)", where there are any; why: "-q". */
void report_left_out(struct report_table *t, size_t n, const char *what, const char *why);
/* The N of a column "name.N", with the suffix after it, from 2 on; 1: it is named otherwise. */
int report_column_number(const char *column, const char *name, const char *suffix);
/* n of all, in percent; 0 where there is nothing. */
double report_percent(double n, double all);

#endif
