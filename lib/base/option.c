/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/option.h"

#include <float.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/habits.h"
#include "base/nearest.h"
#include "base/numeral.h"
#include "base/strbuf.h"

int option_words_add(word_list *list, const char *word, struct error *e)
{
	const char **slot = vec_push(list);

	if (!slot)
		return error_nomem(e);
	*slot = word;
	return 0;
}

/* "-pid PID" */
static int option_name(const struct option_row *row, char *text, size_t size)
{
	return snprintf(text, size, "-%s%s%s", row->name, row->argument ? " " : "",
		row->argument ? row->argument : "");
}

static const struct option_row *exact_row(
	const struct option_row *table, const char *name, size_t length)
{
	for (; table->name; table++)
		if (strncmp(table->name, name, length) == 0 && table->name[length] == '\0')
			return table;
	return NULL;
}

/* The command whose options these are, or NULL. */
static const char *option_command(const struct option_row *table)
{
	while (table->name)
		table++;
	return table->help;
}

/* The hint for a name that no row has or begins with. One letter is too little to guess by. Of a
 * subcommand, the habit may be one of its program. */
static void hint_unknown(
	const struct option_row *table, const char *word, const char *name, struct error *e)
{
	const char *command = option_command(table), *space = command ? strchr(command, ' ') : NULL;
	const char *instead;
	struct nearest near;
	char program[16];

	if (space) {
		snprintf(program, sizeof(program), "%.*s", (int)(space - command), command);
		instead = habit_instead(program, word);
		if (instead) {
			error_hint(e, "of %s without %s: %s", program, space + 1, instead);
			return;
		}
	}
	nearest_init(&near, name);
	near.prefix = "-";
	for (const struct option_row *row = table; name[0] && name[1] && row->name; row++)
		nearest_offer(&near, row->name);
	nearest_hint(&near, e, "-help lists all options");
}

/* The only row whose name begins so. */
static const struct option_row *abbreviated(const struct option_row *table, const char *word,
	const char *name, size_t length, struct error *e)
{
	const struct option_row *found = NULL, *first = NULL;
	struct strbuf all = {0};
	char copy[64];
	int matches = 0;

	for (const struct option_row *row = table; row->name; row++) {
		if (strncmp(row->name, name, length) != 0)
			continue;
		strbuf_printf(&all, "%s-%s", matches ? ", " : "", row->name);
		found = row;
		first = first ? first : row;
		matches++;
	}
	if (matches != 1) {
		snprintf(copy, sizeof(copy), "%.*s", (int)(length < 60 ? length : 60), name);
		if (matches > 1) {
			error_set(e, ERR_NOT_FOUND, "option -%s could be any of %s", copy,
				strbuf_text(&all));
			option_name(first, copy, sizeof(copy));
			error_hint(e, "%s: %s", copy, first->help);
		} else {
			error_set(e, ERR_NOT_FOUND, "no option -%s", copy);
			hint_unknown(table, word, copy, e);
		}
		found = NULL;
	}
	strbuf_fini(&all);
	return found;
}

/* The row that `name` (length bytes) of the word means: an exact match, or the only one that begins
 * so. What is a habit from another tool is not taken for a short form. */
static const struct option_row *option_find_row(const struct option_row *table, const char *word,
	const char *name, size_t length, struct error *e)
{
	const struct option_row *row = exact_row(table, name, length);
	const char *command = row ? NULL : option_command(table);
	const char *instead = command ? habit_instead(command, word) : NULL;

	if (!instead)
		return row ? row : abbreviated(table, word, name, length, e);
	error_set(e, ERR_NOT_FOUND, "no option %.*s", (int)strcspn(word, "="), word);
	error_hint(e, "%s", instead);
	return NULL;
}

/* -h, -? and --help ask for the table's row h, or where there is none for help. */
static const char *asked_for_help(const struct option_row *table, const char *word)
{
	if (strcmp(word, "-h") != 0 && strcmp(word, "-?") != 0 && strcmp(word, "--help") != 0)
		return NULL;
	for (; table->name; table++)
		if (strcmp(table->name, "h") == 0)
			return table->name;
	return "help";
}

static int store(const struct option_row *row, void *target, const char *argument, struct error *e)
{
	void *place = (char *)target + row->offset;
	uint64_t count;
	double seconds;

	if ((row->kind == OPTION_STRING || row->kind == OPTION_WORDS) && !*argument)
		return error_set(e, ERR_PARSE,
			"-%s: its argument is empty: give one, or leave -%s out", row->name,
			row->name);
	switch (row->kind) {
	case OPTION_FLAG:
		*(bool *)place = true;
		return 0;
	case OPTION_STRING:
		*(const char **)place = argument;
		return 0;
	case OPTION_COUNT:
		if (!numeral_whole(argument, 1, ULONG_MAX, &count))
			return error_set(e, ERR_RANGE,
				"-%s takes a whole number of at least 1, not '%s'", row->name,
				argument);
		*(unsigned long *)place = (unsigned long)count;
		return 0;
	case OPTION_SECONDS:
		if (!numeral_real(argument, NULL, 0, DBL_MAX, &seconds) || seconds == 0)
			return error_set(e, ERR_RANGE,
				"-%s takes a number of seconds above 0, not '%s'", row->name,
				argument);
		*(double *)place = seconds;
		return 0;
	case OPTION_WORDS:
		return option_words_add(place, argument, e);
	case OPTION_CALL:
	case OPTION_MAYBE:
		return row->call(target, argument, e);
	}
	return -1;
}

int option_parse(
	const struct option_row *table, void *target, int argc, char **argv, struct error *e)
{
	int i;

	for (i = 1; i < argc; i++) {
		const struct option_row *row;
		const char *word = argv[i], *name, *equals, *argument = "";
		size_t length;

		if (word[0] != '-' || word[1] == '\0')
			break;
		if (strcmp(word, "--") == 0)
			return i + 1;
		name = asked_for_help(table, word);
		if (!name)
			name = word + (word[1] == '-' ? 2 : 1);
		equals = strchr(name, '=');
		length = equals ? (size_t)(equals - name) : strlen(name);
		row = option_find_row(table, word, name, length, e);
		if (!row)
			return -1;
		if (row->argument) {
			if (!equals && i + 1 == argc)
				return error_set(e, ERR_PARSE, "-%s needs an argument: -%s %s",
					row->name, row->name, row->argument);
			argument = equals ? equals + 1 : argv[++i];
		} else if (row->kind == OPTION_MAYBE) {
			argument = equals ? equals + 1 : NULL;
		} else if (equals) {
			return error_set(e, ERR_PARSE, "-%s takes no argument", row->name);
		}
		if (store(row, target, argument, e))
			return -1;
	}
	return i;
}

int option_parse_among(const struct option_row *table, void *target, int argc, char **argv,
	word_list *words, struct error *e)
{
	for (int at = 0; at < argc;) {
		int rest = option_parse(table, target, argc - at, argv + at, e);

		if (rest < 0)
			return -1;
		at += rest;
		if (at < argc && option_words_add(words, argv[at], e))
			return -1;
	}
	return option_words_add(words, NULL, e);
}

/* Ends the item at *rest, and moves *rest to the next one, NULL: there is none. Commas between two
 * slashes are part of the item, as in perf's cpu/event=0xc0,umask=0x0/. */
static char *list_item(char **rest)
{
	char *item = *rest, *at = item + strcspn(item, ",/"), *close;

	while (*at == '/') {
		close = strchr(at + 1, '/');
		at = (close ? close : at) + 1;
		at += strcspn(at, ",/");
	}
	*rest = *at ? at + 1 : NULL;
	*at = '\0';
	return item;
}

int option_list(const char *argument, int (*call)(void *target, const char *thing, struct error *e),
	void *target, struct error *e)
{
	char *copy = strdup(argument), *rest = copy, *thing;
	int bad = 0;

	if (!copy)
		return error_nomem(e);
	while (!bad && rest) {
		thing = list_item(&rest);
		if (*thing)
			bad = call(target, thing, e);
		else
			bad = *argument ? error_set(e, ERR_PARSE, "'%s': missing word at a comma",
						  argument)
					: error_set(e, ERR_PARSE,
						  "a list is empty: give a word, or several with "
						  "commas between");
	}
	free(copy);
	return bad;
}

int option_usage(const char *head, const struct option_row *table, FILE *out)
{
	enum { INDENT = 24, WIDTH = 79 };

	fputs(head, out);
	for (const struct option_row *row = table; row && row->name; row++) {
		const char *text = row->help;
		int column = fprintf(out, "  -%s%s%s", row->name, row->argument ? " " : "",
			row->argument ? row->argument : "");

		if (column >= INDENT) {
			putc('\n', out);
			column = 0;
		}
		while (*text) {
			size_t room = WIDTH - INDENT, length = strlen(text);

			if (length > room) {
				length = room;
				while (length > 0 && text[length] != ' ')
					length--;
				if (length == 0)
					length = room;
			}
			fprintf(out, "%*s%.*s\n", INDENT - column, "", (int)length, text);
			text += length;
			while (*text == ' ')
				text++;
			column = 0;
		}
	}
	return 0;
}

void option_print(const struct option_row *table, struct strbuf *out)
{
	for (; table->name; table++)
		strbuf_printf(out, "option\t%s-%s\t%s\t%s\n",
			table->kind == OPTION_CALL || table->kind == OPTION_WORDS ? "*" : "",
			table->name, table->argument ? table->argument : "-", table->help);
}

int option_rules(const struct option_rule *rules, size_t count, struct error *e)
{
	for (size_t i = 0; i < count; i++) {
		const char *hint = rules[i].broken ? strchr(rules[i].message, '\n') : NULL;

		if (!rules[i].broken)
			continue;
		error_set(e, ERR_CONFLICT, "%.*s", (int)strcspn(rules[i].message, "\n"),
			rules[i].message);
		return hint ? error_hint(e, "%s", hint + 1) : -1;
	}
	return 0;
}

void option_print_word(struct strbuf *out, const char *argument, const char *word, const char *help)
{
	strbuf_printf(out, "word\t%s\t%s\t%s\n", argument, word, help);
}

void option_print_words(struct strbuf *out, const char *argument, const char *const *words)
{
	for (; *words; words++)
		option_print_word(out, argument, *words, "");
}

int option_completion_alone(const char *word, struct error *e)
{
	if (!word)
		return 0;
	error_set(e, ERR_CONFLICT, "-completion takes no argument: %s", word);
	return error_hint(e, "scripts for bash and zsh are installed below share/");
}
