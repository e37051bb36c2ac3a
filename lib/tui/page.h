/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One view on the stack: a report with its position, or a list of texts (help, menus). Its lines
 * are the visible rows, then texts: notes, facts, or an error.
 */
#ifndef TUI_PAGE_H
#define TUI_PAGE_H

#include "tui/rows.h"
#include "tui/source.h"

enum tui_page_kind {
	TUI_PAGE_REPORT,
	TUI_PAGE_HELP,
	TUI_PAGE_REPORTS,  /* a menu of them */
	TUI_PAGE_COLUMNS,  /* of the page below, to hide and show */
	TUI_PAGE_SWITCHES, /* the switches of its report, in the same way */
	TUI_PAGE_ACTIONS,  /* a menu of what can be done with the row, over the report */
};

/* A line of TUI_PAGE_ACTIONS. */
struct tui_item {
	int key; /* that does the same in the report; 0: it is one of these: */
	const struct tui_choice *choice; /* to limit all reports to; NULL: a menu of choices: */
	enum tui_choice_kind kind;
};

/* Where to be once a table is there. */
struct tui_focus {
	bool set;
	bool costliest;         /* if there is no such line, to the most costly one */
	char *procedure, *file; /* NULL: does not matter */
	unsigned line;
	char *image;      /* of the address; NULL: none is known */
	uint64_t address; /* of an instruction: all else may differ */
};

struct tui_page {
	enum tui_page_kind kind;
	struct tui_ask ask;
	uint64_t ticket;
	bool waiting, preliminary, failed;
	const struct report_table *table; /* NULL: none yet, or none ever */
	struct tui_rows rows;
	prof_strips strips;
	bool *hidden; /* [strip] */
	double bar_most;
	VEC(char *) lines;
	VEC(struct tui_item) items; /* [line] */
	size_t width;               /* of texts, columns */
	size_t cursor, top;         /* lines */
	bool centred; /* the cursor went where it was asked to: rows around it are to be seen */
	size_t skip;  /* columns of the place that are scrolled out */
	char *filter;
	long sort; /* strip; strips.count: by name; -1: as reported */
	bool reverse;
	struct tui_focus focus;
	struct { /* bins of a timeline: the cursor; the selection, [begin, end) */
		size_t at, begin, end;
	} time;
};

struct tui_page *tui_page_new(enum tui_page_kind kind);
/* The caller releases the table first, to its source. */
void tui_page_free(struct tui_page *p);

/* Lines in all. */
static inline size_t tui_page_count(const struct tui_page *p)
{
	return p->rows.count + p->lines.count;
}
/* The row of the table at a line; -1: it is a text. */
static inline long tui_page_row(const struct tui_page *p, size_t line)
{
	return line < p->rows.count ? (long)tui_rows_at(&p->rows, line) : -1;
}
/* The row under the cursor; NULL: none. */
const struct report_row *tui_page_current(const struct tui_page *p);
/* The procedure of a row, or of the one above that begins the group; NULL: none. */
const char *tui_page_procedure(const struct tui_page *p, long row);

/* Takes a new table: rows, columns, notes in lines of `width` columns. The caller gets back the old
 * one. -1: memory. */
int tui_page_take(
	struct tui_page *p, const struct report_table *table, size_t width, bool intervals);
/* Makes the columns again, with all visible. */
int tui_page_strips(struct tui_page *p, bool intervals);
/* Shows an error instead. */
int tui_page_fail(struct tui_page *p, const struct error *e, size_t width);
/* Makes notes and facts again, in lines of `width` columns. */
int tui_page_texts(struct tui_page *p, size_t width);
__attribute__((format(printf, 2, 3))) int tui_page_line(
	struct tui_page *p, const char *format, ...);
void tui_page_clear_lines(struct tui_page *p);

/* Chooses the rows again, after a change of filter, order or collapsed rows. */
int tui_page_arrange(struct tui_page *p);
/* Only rows that hold the text; "": all. */
int tui_page_filter(struct tui_page *p, const char *text);
/* The share of a line in the first column that has one, percent; below 0: it is none of the list.
 */
double tui_page_share(const struct tui_page *p, size_t line);
/* Of a tree that is new: hides what is below its branches, but for its trunk, and for the focus.
 * -1: memory. */
int tui_page_fold(struct tui_page *p);
/* Opens branches from a row on, as long as there is one way only, or one that has nearly all of the
 * percent above. */
void tui_page_open_trunk(struct tui_page *p, size_t row, double above);
/* Moves the cursor to the next row of the table from here on with a text, among those that are
 * hidden below branches. False: there is none. */
bool tui_page_unfold_match(struct tui_page *p, const char *text);
/* How well a row of the table is what the focus is about; 0: it is not. */
int tui_page_fits(const struct tui_page *p, size_t row);
/* Moves the cursor to the focus, if there is such a row; then the focus is cleared. */
void tui_page_find_focus(struct tui_page *p);
/* Sets the focus to the row of the cursor. */
int tui_page_keep_focus(struct tui_page *p);
/* -1: memory.  Any text may be NULL. */
int tui_focus_set(struct tui_focus *f, const char *procedure, const char *file, unsigned line);
void tui_focus_clear(struct tui_focus *f);

#endif
