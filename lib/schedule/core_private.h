/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the readers of core descriptions. */
#ifndef SCHEDULE_CORE_PRIVATE_H
#define SCHEDULE_CORE_PRIVATE_H

#include "schedule/core.h"

#define WORDS_MAX 64 /* of a line */

struct core_reader {
	struct core *core;
	const char *name;
	unsigned line;
	char section[24];
	unsigned depth;
	struct error *e;
};

/* core_words.c. Sets the error, with the current line. -1. */
int core_fail(struct core_reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Splits at blanks, in place. */
size_t core_split(char *text, char **words, size_t room);
/* A whole number up to limit. */
int core_read_number(struct core_reader *r, const char *word, unsigned limit, unsigned *to);
/* A name of [ports]; NULL: there is none.  Then core_unknown_group sets the error. */
const struct core_group *core_find_group(const struct core *c, const char *name);
int core_unknown_group(struct core_reader *r, const char *name);

/* core_rules.c: a line of [instructions]. */
int core_read_instruction(struct core_reader *r, char *line);

#endif
