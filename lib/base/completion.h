/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Completions for shells, printed from the tables that parse the options: what begins with a dash
 * are the table's rows, what an argument may be is told by what the row calls it.
 */
#ifndef BASE_COMPLETION_H
#define BASE_COMPLETION_H

#include "base/error.h"
#include "base/option.h"
#include "base/strbuf.h"
#include "base/vec.h"

struct completion_word {
	char *word, *help; /* help may be "" */
};
struct completion_words {
	VEC(struct completion_word) all;
	bool failed; /* memory is out */
};
void completion_add(struct completion_words *w, const char *word, const char *help);

/* What an argument may be.  Files, directories, processes and signals are known without, by the
 * names FILE, PICTURE, ELF, DIR, PID, SIGNAL and SHELL; of "a|b|c" the words. */
struct completion_value {
	const char *argument; /* as rows call it; where it holds ':', that stands behind words */
	void (*words)(struct completion_words *w);
	bool files; /* or a file */
};

enum completion_rest {
	COMPLETION_NOTHING,
	COMPLETION_COMMAND, /* a command with its own arguments; no options behind it */
	COMPLETION_FILES,   /* files that begin with one of `magic`; options anywhere */
};

struct completion {
	const char *sub; /* subcommand, or NULL: the program itself, which comes first */
	const struct option_row *table;
	const struct completion_value *values; /* ends with argument NULL */
	enum completion_rest rest;
	const char *const *magic; /* of COMPLETION_FILES: first bytes of files, as the body of a
				     $'...' string; NULL-terminated */
	/* Rows of the table that are offered only when a letter more than the dash is there; may be
	 * NULL. */
	bool (*rare)(const struct option_row *row);
};

/* Appends a script for `shell` ("bash" or "zsh") that completes `program`. */
int completion_write(const char *program, const char *shell, const struct completion *list,
	size_t count, struct strbuf *out, struct error *e);

#endif
