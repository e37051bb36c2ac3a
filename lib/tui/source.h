/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The source of the interface's reports: prof, which makes them in another thread
 * (browse/browse.c), or a test. Requests do not wait; answers come when they are ready, several to
 * one request if the first is preliminary. A table in an answer does not change until it is
 * released.
 */
#ifndef TUI_SOURCE_H
#define TUI_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "report/report_rows.h"

struct tui_report {
	const char *name, *help; /* "procedures"; one line */
	bool procedure;          /* is about one procedure, always */
};

/* The switches of a report; prof's options. */
struct tui_switch {
	const char *name, *help;
	char key; /* that turns it; 0: the list of switches does */
};

/* The part of the run, as -from and -to take it; "": all that was asked for first. */
struct tui_times {
	char from[24], to[24];
};

struct tui_ask {
	size_t report;
	char *procedure;   /* alone; NULL: all */
	uint32_t switches; /* bit i: switch i is on */
	struct tui_times times;
};

struct tui_answer {
	uint64_t ticket;
	const struct report_table *table; /* NULL: see error */
	struct error error;
	bool preliminary; /* a better one follows */
};

struct tui_source_ops {
	/* Begins to make a report; -1 with *e if that is not possible. */
	int (*ask)(void *context, const struct tui_ask *ask, uint64_t ticket, struct error *e);
	/* This request is not needed any more. */
	void (*drop)(void *context, uint64_t ticket);
	/* The next answer that is ready; false: none. */
	bool (*answer)(void *context, struct tui_answer *answer);
	void (*release)(void *context, const struct report_table *table);
	/* The command that prints the same. To be freed by the caller; NULL when memory is out. */
	char *(*command)(void *context, const struct tui_ask *ask);
	/* The current work, for display: "reading app.exp: 40%". */
	void (*progress)(void *context, char *room, size_t size);
	/* Writes a file; ERR_CONFLICT where there is one and replace is not set. */
	int (*write)(void *context, const char *path, const char *text, size_t length, bool replace,
		struct error *e);
};

struct tui_source {
	const struct tui_source_ops *ops;
	void *context;
	const struct tui_report
		*reports; /* the first is what Enter begins with; ends with name NULL */
	const struct tui_switch *switches; /* likewise; at most 32 */
	const char *title;                 /* the experiment's name */
	bool changes;                      /* reports are of differences */
	int wake; /* readable when answers wait; -1: there is none to wait for */
};

#endif
