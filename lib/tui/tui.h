/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface as a whole: a stack of pages over a source of reports. Keys change it, tui_work
 * does long work in slices, tui_draw draws on a screen of cells; the terminal itself is in another
 * file.
 */
#ifndef TUI_TUI_H
#define TUI_TUI_H

#include "tui/keys.h"
#include "tui/page.h"
#include "tui/screen.h"

enum { TUI_PROMPT_SIZE = 256, TUI_PAGES_MAX = 40 };

struct tui;

/* A question in the last line. */
struct tui_prompt {
	const char *label; /* NULL: no question */
	char text[TUI_PROMPT_SIZE];
	size_t length;
	bool offered; /* text is a proposal, which the first character replaces */
	void (*done)(struct tui *t, const char *text); /* with Enter */
};

/* A search from line to line, in slices. */
struct tui_search {
	char *text;
	bool active, backward;
	bool upward;     /* the requested direction, which n repeats */
	size_t at, left; /* next line; lines still to be looked at */
};

/* A second view that follows the cursor of the first. */
enum tui_split {
	TUI_SPLIT_NONE,
	TUI_SPLIT_LINES, /* source; of source, or without lines: instructions */
	TUI_SPLIT_CODE,  /* instructions */
	TUI_SPLITS
};

struct tui {
	struct tui_source source;
	struct tui_screen screen;
	VEC(struct tui_page *) pages; /* the last one is shown; never empty */
	struct tui_prompt prompt;
	struct tui_search search;
	char message[512]; /* in the last line, until the next key */
	bool wrong;        /* it is an error */
	bool quit, redraw;
	bool intervals;                     /* are shown */
	bool mouse;                         /* wanted */
	bool unicode;                       /* the terminal can; screen.unicode: it is enabled */
	uint64_t ticket;                    /* the last one given out */
	uint32_t switches;                  /* for later reports */
	struct tui_part part;               /* likewise */
	enum tui_split split;               /* what is wanted beside the report */
	struct tui_page *second;            /* the view there; NULL: none now */
	const struct report_row *second_of; /* the row of the report that it shows */
	VEC(char *) hidden;                 /* columns: "report:name:part" */
	const struct tui_action *actions;   /* all that keys do; ends with name NULL */
	const struct tui_action *action;    /* that runs */
	int key;                            /* that it runs for */
	char *export_path, *export_text;
	VEC(int) held; /* keys for a view that is being made */
	/* Of the layer above (interface.c). Does what held keys ask for, as far as there are rows
	 * now; makes the second view of the row under the cursor, or drops it. */
	void (*release)(struct tui *t);
	void (*follow)(struct tui *t);
	size_t hottest; /* rank of the row that `hottest` went to last */
};

/* Begins with the requested report. The source must outlive t; -1 when memory is out. */
int tui_init(struct tui *t, const struct tui_source *source, size_t report, uint32_t switches,
	int rows, int columns, bool unicode);
void tui_fini(struct tui *t);

/* A key for rows that are still being made is held until there are some. */
void tui_key(struct tui *t, int key);
/* A click; with `twice`, also what Enter does. */
void tui_click(struct tui *t, int row, int column, bool twice);
void tui_wheel(struct tui *t, int lines);
int tui_resize(struct tui *t, int rows, int columns);
/* Takes answers and works for about `budget` ns. True: there is more work to do at once. */
bool tui_work(struct tui *t, uint64_t budget);
/* Is something under way, here or at the source? */
bool tui_busy(const struct tui *t);
void tui_draw(struct tui *t);

static inline struct tui_page *tui_top(const struct tui *t)
{
	return t->pages.data[t->pages.count - 1];
}

/* ---- for the actions ---- */

__attribute__((format(printf, 2, 3))) void tui_say(struct tui *t, const char *format, ...);
void tui_say_error(struct tui *t, const struct error *e);
/* Pushes an empty page; NULL (with a message) when there are too many. */
struct tui_page *tui_push(struct tui *t, enum tui_page_kind kind);
/* Drops the last page, or quits. */
void tui_pop(struct tui *t);
/* A page beside the open ones: requests a report; NULL (with a message): memory. */
struct tui_page *tui_page_ask(struct tui *t, size_t report, const char *procedure);
/* Gives back its table, and frees it. */
void tui_close(struct tui *t, struct tui_page *p);
/* Pushes a report; procedure (copied) may be NULL. */
struct tui_page *tui_open(struct tui *t, size_t report, const char *procedure);
/* Requests the page's report again. */
void tui_ask(struct tui *t, struct tui_page *p);
/* Index of a report; -1. */
long tui_report_find(const struct tui *t, const char *name);
/* "lines of main" */
/* The name of a function as titles and menus have it, perhaps in room; "" for NULL. */
const char *tui_short_name(const char *name, struct strbuf *room);
void tui_title(const struct tui *t, const struct tui_page *p, char *room, size_t size);
/* With each figure its 95% interval, or without. */
void tui_show_intervals(struct tui *t, bool intervals);
/* All open reports are of this part of the run from now on. */
void tui_limit(struct tui *t, const struct tui_part *part);
/* Open views, and after these the second one. */
size_t tui_page_total(const struct tui *t);
struct tui_page *tui_page_at(const struct tui *t, size_t i);
/* Rows that fit. */
int tui_body_rows(const struct tui *t);
void tui_prompt_open(struct tui *t, const char *label, const char *text,
	void (*done)(struct tui *t, const char *text));
/* The cursor back among the lines, and these into view. */
void tui_settle(struct tui *t);
/* Starts a search at the cursor; it visits each line once. */
void tui_search_start(struct tui *t, bool backward);
/* The name under which a strip is hidden in t->hidden. */
char *tui_strip_name(const struct tui *t, const struct tui_page *p, size_t strip);
/* The lines of the menus, for the current page. */
void tui_fill_menu(struct tui *t, struct tui_page *p);

#endif
