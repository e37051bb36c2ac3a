/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Command line options from one table. The table parses options, prints the usage, gives near
 * names for typos, and shell completions and the manual page are checked against it;
 * getopt_long_only does none of the last three. As in perfex and SpeedShop, long names have a
 * single dash and may be abbreviated when unambiguous (a double dash is accepted). Parsing stops
 * at the first word that is not an option; it begins the command to run. -h, -? and --help are the
 * option h of the table, or help where it has no h.
 */
#ifndef BASE_OPTION_H
#define BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "base/vec.h"

enum option_kind {
	OPTION_FLAG,    /* bool at offset := true; the default of a row */
	OPTION_STRING,  /* const char * at offset := argument, borrowed from argv */
	OPTION_COUNT,   /* unsigned long at offset := argument, a whole number >= 1 */
	OPTION_SECONDS, /* double at offset := argument, seconds > 0 */
	OPTION_WORDS,   /* appends to the word_list at offset, borrowed from argv */
	OPTION_CALL,    /* call(target, argument, e): for options that repeat or need a check */
	OPTION_MAYBE,   /* the same; an argument follows "=" only, else it is NULL; `argument` of
			   the row is NULL */
};

typedef VEC(const char *) word_list;
int option_words_add(word_list *list, const char *word, struct error *e);

struct option_row {
	const char *name;     /* without dashes; NULL ends the table */
	const char *argument; /* the argument's name in usage; NULL for none */
	const char *help;     /* one line; of the row that ends the table, the command whose
				 habits (base/habits.h) are known, or NULL */
	enum option_kind kind;
	size_t offset; /* into the target structure */
	int (*call)(void *target, const char *argument, struct error *e);
};

/*
 * Parses argv[1..argc) into target.  Returns the index of the first argument that is not an option,
 * or -1 with *e set: unknown options name the nearest ones, ambiguous ones all that they could be.
 */
int option_parse(
	const struct option_row *table, void *target, int argc, char **argv, struct error *e);

/* For commands whose options may come between their words: parses all of argv[1..argc), and appends
 * the words and a NULL to `words`, borrowed from argv. -1 with *e set as above. */
int option_parse_among(const struct option_row *table, void *target, int argc, char **argv,
	word_list *words, struct error *e);

/* For options with several items in one argument: call(target, item, e) for each; the item is
 * valid during the call. Commas between two slashes (cpu/event=0xc0,umask=0x0/) do not separate.
 * -1 with *e: from call, or there is nothing between two commas. */
int option_list(const char *argument, int (*call)(void *target, const char *thing, struct error *e),
	void *target, struct error *e);

/* Options that exclude each other, or need one another. */
struct option_rule {
	bool broken;
	const char *message; /* and a hint, in a second line, if it does not say what to do */
};

/* -1 with the first broken rule in *e (ERR_CONFLICT). */
int option_rules(const struct option_rule *rules, size_t count, struct error *e);

/* head, then one line per option of the table (NULL: none), wrapped for 80 columns.  Returns 0, for
 * a command to exit with.
 */
int option_usage(const char *head, const struct option_row *table, FILE *out);

/*
 * A program's lines for completions of shells (docs/completions), with fields separated by tabs:
 *   option  NAME  ARGUMENT  HELP   NAME with its dash, and "*" before it if it may be repeated; "-"
 *                                  for no argument
 *   word  ARGUMENT  WORD  HELP     a possible argument of that name; HELP may be empty
 *   command  NAME                  the options that follow are those of the subcommand NAME
 */
struct strbuf;
void option_print(const struct option_row *table, struct strbuf *out);
void option_print_word(
	struct strbuf *out, const char *argument, const char *word, const char *help);
/* words ends with NULL. */
void option_print_words(struct strbuf *out, const char *argument, const char *const *words);

/* -completion takes no argument (it once named a shell): -1 with *e set where word is not NULL. */
int option_completion_alone(const char *word, struct error *e);

#endif
