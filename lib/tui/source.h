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

enum { TUI_WORD = 120 };

struct tui_report {
	const char *name, *help; /* "procedures"; one line */
	bool procedure;          /* is about one procedure, always */
};

/* The switches of a report; prof's options. */
struct tui_switch {
	const char *name, *help;
	char key; /* that turns it; 0: the list of switches does */
};

/* The part of the run that reports are about, in words of prof's options; "": all that was asked
 * for first. */
struct tui_part {
	char from[24], to[24]; /* -from, -to */
	char whom[TUI_WORD];   /* -only thread:4712 */
	char image[TUI_WORD];  /* -only libc.so.6 */
	char phase[TUI_WORD];  /* -calipers */
	char name[TUI_WORD];   /* of all these but the times, for people */
};

enum tui_choice_kind {
	TUI_CHOICE_THREAD,
	TUI_CHOICE_PROCESS,
	TUI_CHOICE_COMMAND,
	TUI_CHOICE_CPU,
	TUI_CHOICE_IMAGE,
	TUI_CHOICE_PHASE,
	TUI_CHOICES
};

/* A thread, process ... that the reports can be limited to. */
struct tui_choice {
	enum tui_choice_kind kind;
	char word[TUI_WORD]; /* as in struct tui_part */
	char name[TUI_WORD]; /* "thread 4712 worker" */
	double percent;      /* of the samples of the first metric */
};

struct tui_ask {
	size_t report;
	char *procedure;   /* alone; NULL: all */
	uint32_t switches; /* bit i: switch i is on */
	struct tui_part part;
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
	/* What reports can be limited to, by kind, the busiest first; none while files are read.
	 * The list does not change. */
	size_t (*choices)(void *context, const struct tui_choice **choices);
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
