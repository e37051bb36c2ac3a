/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of all reports of prof: columns of numbers (and of text), rows of places in the
 * program, and lines above and below. Reports fill it; lib/render writes it as text, JSON or CSV
 * and decides nothing, so that the formats always agree.
 *
 * Texts are borrowed: those made for a table are in its arena; names of functions and files are in
 * their images, which outlive it.
 *
 * Functions that add to a table do not return errors: when memory is out, `failed` is set,
 * additions may be missing or overwritten, and report_finish returns the error at the end.
 */
#ifndef REPORT_REPORT_ROWS_H
#define REPORT_REPORT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "events/label.h"

/* How text is laid out; JSON and CSV do not care. */
enum report_layout {
	REPORT_LIST,      /* numbers, then the place: procedures, lines, images */
	REPORT_SOURCE,    /* files as headings, numbers and a bar beside the source text */
	REPORT_TREE,      /* places indented by depth */
	REPORT_BUTTERFLY, /* callers, the function, its callees */
	REPORT_FACTS,     /* only the lines of `head`, no rows */
	REPORT_CODE,      /* numbers beside text columns: disassembly */
	REPORT_CAUSES,    /* shares from..to beside their causes, with subtotals */
};

enum report_column_kind {
	REPORT_COUNT, /* something counted, in units of its event */
	REPORT_RATIO, /* one column by another */
	REPORT_TEXT,  /* cells are text */
};

enum report_column_flag {
	REPORT_PERCENT = 1 << 0,    /* has a share of the whole run */
	REPORT_CUMULATIVE = 1 << 1, /* and the sum of shares down to the row */
	REPORT_SAMPLES = 1 << 2,    /* and has the number of its samples */
	REPORT_BAR = 1 << 3,        /* and is drawn as a bar if there is room */
	REPORT_SECONDS = 1 << 4,    /* its unit is seconds */
	REPORT_EXACT = 1 << 5,      /* all occurrences were counted: there are no samples */
	REPORT_SCRIPTS = 1 << 6,    /* in JSON and CSV only */
	REPORT_MARGIN = 1 << 7,     /* a drawing (flow/arrows.h), for people only */
	REPORT_KEY = 1 << 8,        /* in JSON by its name as well */
	REPORT_CHANGE = 1 << 9,     /* a difference: with its sign, and its interval as it is */
	REPORT_FINE = 1 << 10,      /* seconds, each with microseconds */
	REPORT_BESIDE = 1 << 11,    /* a text about the column before it: people see it there */
	REPORT_SHARE = 1 << 12,     /* a ratio from 0 to 1, for people in percent */
};

struct report_column {
	enum report_column_kind kind;
	unsigned flags;
	const char *name;    /* for scripts: "time", "dsc", "dsc/gi" */
	const char *heading; /* for people; NULL: name */
	const char *unit;    /* plural; "" */
	long experiment;     /* index in experiments; -1: made of several */
	enum label label;    /* of its cells, for headings; cells have their own */
};

struct report_cell {
	struct quantity quantity; /* LABEL_NONE: there is none */
	double percent, cumulative;
	uint64_t samples; /* of the value */
	bool weak;        /* too few of them to mean anything */
	bool unsure;      /* the interval is too wide for a figure: text shows "?" */
	const char *text; /* of a REPORT_TEXT column; may be NULL */
};

/* One of the frequent values of an instruction. */
struct report_value {
	const char *text;      /* as people read it */
	uint64_t value;        /* as it is; of addresses in images, relative to them */
	bool rank;             /* the value is not known, but its rank by frequency */
	struct quantity share; /* [0,1] */
};

enum report_role {
	REPORT_ROW,         /* one of the list */
	REPORT_TOTAL,       /* the whole run */
	REPORT_HEAD,        /* begins a group: a file of -lines, the function of -butterfly */
	REPORT_CALLER,      /* of the REPORT_HEAD that follows */
	REPORT_CALLEE,      /* of the REPORT_HEAD before */
	REPORT_GAP,         /* something was left out here; note: what */
	REPORT_SOURCE_LINE, /* of what follows, in a disassembly */
	REPORT_SUBTOTAL,    /* of the rows above it */
	REPORT_BUBBLE,      /* the wait of the instruction that follows */
};

/* One possible cause of an instruction's wait. */
struct report_culprit {
	const char *cause;      /* for scripts */
	struct quantity cycles; /* low..high: bounds */
	uint64_t blame;         /* address of the instruction that caused it */
	bool blamed;            /* there is one */
};

struct report_row {
	enum report_role role;
	const char *procedure; /* NULL if rows have none; the same for the next ones */
	const char *shown;     /* its short form (report_names.h); NULL: the name itself */
	const char *image, *file, *thread;
	const char *group; /* beside the thread where its rows begin: its share; NULL: none */
	const char *note;  /* after the place: "inlined in main" */
	const char *text;  /* a line of source */
	unsigned line;     /* 0: none */
	uint64_t address;  /* of the image */
	bool addressed;    /* there is one */
	bool joined;       /* its figures are those of the row above: lists leave them out */
	unsigned depth;    /* of a tree */
	long parent;       /* row index; -1: none */
	size_t first_cell; /* in the table's cells; one a column */
	size_t first_culprit, culprits; /* in the table's */
	size_t first_value, values;     /* likewise */
};

/* From one row to another, where rows are a graph. */
struct report_arc {
	size_t from, to;
	const char *kind; /* "fall", "taken", "jump", "table" */
	bool back;        /* closes a loop */
	struct quantity executions;
};

/* The numbers of one metric and their origin: one per metric of a file. */
struct report_experiment {
	const char *file, *type;
	const char *event, *short_name, *unit, *source, *note;
	uint64_t period; /* units per sample (of clocks: ns) */
	uint32_t flags;  /* enum experiment_metric_flag */
	enum label label;
	uint64_t samples, lost, throttled, unattributed;
	uint64_t total; /* units counted beside the samples; 0: not known */
};

/* Two metrics that are one event at two periods: do their profiles agree? */
struct report_agreement {
	size_t first, second; /* experiments */
	const char *by;       /* "function", "line" */
	uint32_t cells;       /* below 2: there was nothing to compare */
	double statistic, p;  /* chi-square with cells - 1 degrees of freedom; its probability */
	double difference;    /* typical relative one of shares, beyond chance */
	bool differs;
};

/* Of -timeline: when its columns are. */
struct report_times {
	double begin, width; /* seconds, of the first bin and of each */
	size_t bins;         /* 0: the report has no times */
	size_t column;       /* the first drawing */
};

/* A name and its value above the rows, or a line of text below (then label is NULL). */
struct report_line {
	const char *label, *value;
};

struct report_table {
	const char *report; /* "procedures", "lines" ... */
	const char *title;  /* one line above the rows */
	const char *schema; /* of its JSON; NULL: "prof.rows/1" */
	enum report_layout layout;
	const char *places; /* heading of the rows; NULL: "function (dso: file, line)" */
	VEC(struct report_column) columns;
	VEC(struct report_row) rows;
	VEC(struct report_cell) cells;
	VEC(struct report_culprit) culprits;
	VEC(struct report_value) values;
	VEC(struct report_arc) arcs;
	struct report_times times;
	VEC(struct report_experiment) experiments;
	VEC(struct report_agreement) agreements;
	VEC(struct report_line) brief;   /* the head in at most five lines; empty: there is none */
	VEC(struct report_line) head;    /* of the run */
	VEC(struct report_line) summary; /* of the metrics */
	VEC(struct report_line) notes;   /* coverage, warnings: below the rows */
	VEC(char *) arena;
	VEC(void *) scratch; /* of report_scratch */
	bool unsampled;  /* its figures are of no samples: it does not matter if there are none */
	bool incomplete; /* something could not be read or named: exit status */
	bool failed;     /* memory was out: something is missing */
};

void report_table_fini(struct report_table *t);
/* Ends a report that was filled with these: frees what report_scratch gave.  rc where it is not 0;
 * else 0, or -1 with *e set if memory was out on the way. */
int report_finish(struct report_table *t, int rc, struct error *e);

/* A zeroed array that lives until report_finish; NULL when memory is out. */
void *report_scratch(struct report_table *t, size_t count, size_t size);
/* A text that lives as long as the table. */
const char *report_text(struct report_table *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* Index of the new column, or of the first of several. All columns must be added before all rows,
 * and rows need t->failed to be false when all columns are added. unit NULL: "". */
size_t report_column_add(struct report_table *t, const struct report_column *column);
/* The same for columns that do not belong to one experiment. */
size_t report_columns_add(
	struct report_table *t, const struct report_column *columns, size_t count);
/* Columns of measured counts; of percents and other ratios. `heading` NULL: the name. */
struct report_column report_count_column(
	unsigned flags, const char *name, const char *heading, const char *unit);
struct report_column report_ratio_column(
	unsigned flags, const char *name, const char *heading, const char *unit, enum label label);
/* Index of the new row, with its cells empty. */
size_t report_row_add(struct report_table *t, const struct report_row *row);
/* The cells of a row; they move when a row is added. */
static inline struct report_cell *report_cells(const struct report_table *t, size_t row)
{
	return t->cells.data + t->rows.data[row].first_cell;
}
/* None of a row's cells has a share. */
void report_no_shares(const struct report_table *t, size_t row);
/* A line of the head or summary; of the notes, without label. */
void report_head(struct report_table *t, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void report_summary(struct report_table *t, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A line of the head in brief. If there are too many, they take the place of REPORT_RUN_ON. */
#define REPORT_BRIEF_LINES 5
#define REPORT_RUN_ON      "Run on"
/* Characters beside the usual labels on a line of 79: what is longer is cut. */
#define REPORT_BRIEF_ROOM 67
void report_brief(struct report_table *t, const char *label, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void report_note(struct report_table *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
