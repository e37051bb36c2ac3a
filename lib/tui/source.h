/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the interface has its reports from: prof, which makes them beside it (browse/browse.c),
 * or a test.  The interface asks and goes on; answers come when they are ready, several to one
 * question where a first one is preliminary.  A table that was answered stays as it is until it is
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

/* What a report can be asked for with or without; prof's options. */
struct tui_switch {
	const char *name, *help;
	char key; /* that turns it; 0: the list of switches does */
};

struct tui_ask {
	size_t report;
	char *procedure;   /* alone; NULL: all */
	uint32_t switches; /* bit i: switch i is on */
};

struct tui_answer {
	uint64_t ticket;
	const struct report_table *table; /* NULL: see error */
	struct error error;
	bool preliminary; /* a better one follows */
};

struct tui_source_ops {
	/* Begins to make a report; -1 with *e where that is not possible. */
	int (*ask)(void *context, const struct tui_ask *ask, uint64_t ticket, struct error *e);
	/* Nobody waits for this one any more. */
	void (*drop)(void *context, uint64_t ticket);
	/* The next answer that is ready; false: none is. */
	bool (*answer)(void *context, struct tui_answer *answer);
	void (*release)(void *context, const struct report_table *table);
	/* The command that prints the same.  Yours to free; NULL when memory is out. */
	char *(*command)(void *context, const struct tui_ask *ask);
	/* What is being done for who waits: "reading app.exp: 40%". */
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
