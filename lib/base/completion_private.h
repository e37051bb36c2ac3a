/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_COMPLETION_PRIVATE_H
#define BASE_COMPLETION_PRIVATE_H

#include "base/completion.h"

enum completion_kind {
	COMPLETION_ANYTHING, /* nothing is known */
	COMPLETION_FILE,
	COMPLETION_DIRECTORY,
	COMPLETION_PROCESS,
	COMPLETION_SIGNAL,
	COMPLETION_SHELL,
	COMPLETION_WORDS,
	COMPLETION_ONE_OF, /* "a|b|c": the words themselves */
};
enum completion_kind completion_kind_of(
	const struct completion *c, const char *argument, const struct completion_value **value);
/* "_prof_block" */
void completion_function(struct strbuf *out, const char *program, const struct completion *c);
/* The words of COMPLETION_ONE_OF, between blanks. */
void completion_one_of(struct strbuf *out, const char *argument);
void completion_words_fini(struct completion_words *w);
/* The row of an earlier option has the same argument: it was dealt with there. */
bool completion_repeats(const struct option_row *table, const struct option_row *row);

int completion_bash(
	const char *program, const struct completion *list, size_t count, struct strbuf *out);
int completion_zsh(
	const char *program, const struct completion *list, size_t count, struct strbuf *out);

#endif
