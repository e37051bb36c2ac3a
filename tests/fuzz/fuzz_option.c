/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Words of a command line against a table with options of every kind: they are taken or refused
 * with a message, and the words that are left are among those that were given. NUL separates words.
 * They are help texts, too: these are written in lines that fit.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/option.h"
#include "base/strbuf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS = 32 };
struct values {
	bool flag;
	const char *text;
	unsigned long count;
	double seconds;
	word_list list;
	size_t items;
};

static int take_item(void *target, const char *item, struct error *e)
{
	struct values *v = target;

	v->items += strlen(item);
	return strcmp(item, "refused") == 0 ? error_set(e, ERR_PARSE, "refused") : 0;
}

static int take_list(void *target, const char *argument, struct error *e)
{
	return argument ? option_list(argument, take_item, target, e) : 0;
}

static const struct option_row table[] = {
	{.name = "flag", .help = "a flag", .offset = offsetof(struct values, flag)},
	{"flags", "TEXT", "text", OPTION_STRING, offsetof(struct values, text), NULL},
	{"count", "N", "a number", OPTION_COUNT, offsetof(struct values, count), NULL},
	{"cost", "S", "seconds", OPTION_SECONDS, offsetof(struct values, seconds), NULL},
	{"w", "WORD", "words", OPTION_WORDS, offsetof(struct values, list), NULL},
	{"e", "ITEMS", "a list", OPTION_CALL, 0, take_list},
	{"maybe", NULL, "perhaps", OPTION_MAYBE, 0, take_list},
	{.name = "help", .help = "help", .offset = offsetof(struct values, flag)},
	{0},
};

static bool is_given(const char *word, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (argv[i] == word)
			return true;
	return false;
}

static void parse_all(int argc, char **argv)
{
	struct values v = {0};
	word_list words = {0};
	struct error e = {0};
	int first = option_parse(table, &v, argc, argv, &e);

	if (first > argc || first == 0 || (first < 0) != (e.code != ERR_NONE))
		abort();
	vec_fini(&v.list);
	v = (struct values){0};
	e = (struct error){0};
	if (option_parse_among(table, &v, argc, argv, &words, &e)) {
		if (e.code == ERR_NONE || !e.message[0])
			abort();
	} else {
		for (size_t i = 0; i + 1 < words.count; i++)
			if (!is_given(words.data[i], argc, argv))
				abort();
	}
	vec_fini(&v.list);
	vec_fini(&words);
}

static void complete_all(int argc, char **argv)
{
	struct strbuf printed = {0};
	struct error e = {0};

	option_print_words(&printed, "ARGUMENT", (const char *const *)argv);
	strbuf_fini(&printed);
	if (option_completion_alone(NULL, &e) || option_completion_alone(argv[argc - 1], &e) == 0)
		abort();
}

/* Words without newlines are broken into lines of at most 80 characters. */
static void describe_all(int argc, char **argv)
{
	struct option_row rows[WORDS + 2] = {{0}};
	struct strbuf printed = {0};
	size_t length = 0;
	char *usage = NULL;
	FILE *out = open_memstream(&usage, &length);

	for (int i = 1; i < argc; i++)
		rows[i - 1] = (struct option_row){.name = i % 3 ? "w" : "longer-name",
			.argument = i % 2 ? NULL : "ARGUMENT-OF-MANY-CHARACTERS",
			.help = argv[i],
			.kind = i % 4 ? OPTION_CALL : OPTION_STRING};
	if (!out)
		return;
	if (option_usage("", rows, out) || fclose(out))
		abort();
	for (char *at = usage, *end; at && (end = strchr(at, '\n')); at = end + 1)
		if (end - at > 80)
			abort();
	option_print(rows, &printed);
	strbuf_fini(&printed);
	free(usage);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), *argv[WORDS + 2] = {(char *)"fuzz"};
	int argc = 1;

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	for (char *at = text; at <= text + size && argc <= WORDS; at += strlen(at) + 1)
		argv[argc++] = at;
	parse_all(argc, argv);
	complete_all(argc, argv);
	describe_all(argc, argv);
	free(text);
	return 0;
}
