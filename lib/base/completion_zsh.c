/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "base/completion_private.h"

/* Within [...] of a specification of _arguments, and within quotes of the shell. */
static void put_help(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("[]\\", *text))
			strbuf_putc(out, '\\');
		if (*text == '\'')
			strbuf_puts(out, "'\\''");
		else
			strbuf_putc(out, *text);
	}
}

/* A word of _describe: ':' ends it. */
static void put_word(struct strbuf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == ':')
			strbuf_putc(out, '\\');
		if (*text == '\'')
			strbuf_puts(out, "'\\''");
		else
			strbuf_putc(out, *text);
	}
}

/* "_perfex_EVENT" */
static void put_helper(
	struct strbuf *out, const char *program, const struct completion *c, const char *argument)
{
	completion_function(out, program, c);
	strbuf_putc(out, '_');
	for (; *argument; argument++)
		strbuf_putc(out, *argument == ':' ? '_' : *argument);
}

static int put_values(struct strbuf *out, const char *program, const struct completion *c,
	const struct completion_value *v)
{
	struct completion_words words = {0};
	bool colon = strchr(v->argument, ':');

	v->words(&words);
	put_helper(out, program, c, v->argument);
	strbuf_puts(out, "() {\n\tlocal -a list\n\tlist=(\n");
	for (size_t i = 0; i < words.all.count && !words.failed; i++) {
		strbuf_puts(out, "\t\t'");
		put_word(out, words.all.data[i].word);
		if (words.all.data[i].help[0]) {
			strbuf_putc(out, ':');
			put_word(out, words.all.data[i].help);
		}
		strbuf_puts(out, "'\n");
	}
	strbuf_printf(out, "\t)\n\t_describe -V '%s' list%s\n", v->argument, colon ? " -S :" : "");
	if (v->files)
		strbuf_puts(out, "\t_files\n");
	strbuf_puts(out, "}\n\n");
	completion_words_fini(&words);
	return words.failed ? -1 : 0;
}

static void put_action(
	struct strbuf *out, const char *program, const struct completion *c, const char *argument)
{
	static const char *const actions[] = {
		[COMPLETION_ANYTHING] = " ",
		[COMPLETION_FILE] = "_files",
		[COMPLETION_DIRECTORY] = "_files -/",
		[COMPLETION_PROCESS] = "_pids",
		[COMPLETION_SIGNAL] = "_signals -a",
		[COMPLETION_SHELL] = "(bash zsh)",
	};
	const struct completion_value *value;
	enum completion_kind kind = completion_kind_of(c, argument, &value);

	if (kind == COMPLETION_WORDS) {
		put_helper(out, program, c, argument);
	} else if (kind == COMPLETION_ONE_OF) {
		strbuf_putc(out, '(');
		completion_one_of(out, argument);
		strbuf_putc(out, ')');
	} else {
		strbuf_puts(out, actions[kind]);
	}
}

static void put_row(struct strbuf *out, const char *program, const struct completion *c,
	const struct option_row *row)
{
	strbuf_printf(out, "\t\t'%s-%s[", row->kind == OPTION_CALL ? "*" : "", row->name);
	put_help(out, row->help);
	strbuf_putc(out, ']');
	if (row->argument) {
		strbuf_putc(out, ':');
		put_word(out, row->argument);
		strbuf_putc(out, ':');
		put_action(out, program, c, row->argument);
	}
	strbuf_puts(out, "' \\\n");
}

/* What is no option. */
static void put_rest(struct strbuf *out, const struct completion *list, size_t at, size_t count,
	const char *program)
{
	const struct completion *c = &list[at];

	if (c->rest == COMPLETION_COMMAND)
		strbuf_puts(out, "\t\t'(-)1:command: _command_names -e' \\\n"
				 "\t\t'*::arguments: _normal'\n");
	else if (c->rest == COMPLETION_FILES) {
		if (!c->sub && count > 1) {
			strbuf_puts(out, "\t\t'1: :{_alternative \"commands:command:(");
			for (size_t i = 1; i < count; i++)
				strbuf_printf(out, "%s%s", i > 1 ? " " : "", list[i].sub);
			strbuf_puts(out, ")\" \"files:file:");
			completion_function(out, program, c);
			strbuf_puts(out, "_files\"}' \\\n");
		}
		strbuf_puts(out, "\t\t'*:file:");
		completion_function(out, program, c);
		strbuf_puts(out, "_files'\n");
	} else {
		strbuf_puts(out, "\t\t'*: : '\n");
	}
}

/* Files by their first bytes. */
static void put_files(struct strbuf *out, const char *program, const struct completion *c)
{
	completion_function(out, program, c);
	strbuf_puts(out, "_is() {\n"
			 "\tsetopt localoptions nomultibyte\n"
			 "\tlocal magic begins\n"
			 "\tread -r -u 0 -k 6 begins 2>/dev/null <$REPLY\n"
			 "\tfor magic in");
	for (const char *const *magic = c->magic; *magic; magic++)
		strbuf_printf(out, " $'%s'", *magic);
	strbuf_puts(out, "; do\n"
			 "\t\t[[ $begins == ${magic}* ]] && return 0\n"
			 "\tdone\n"
			 "\treturn 1\n"
			 "}\n\n");
	completion_function(out, program, c);
	strbuf_puts(out, "_files() {\n\t_files -g '*(-.+");
	completion_function(out, program, c);
	strbuf_puts(out, "_is)'\n}\n\n");
}

static int put_function(struct strbuf *out, const struct completion *list, size_t at, size_t count,
	const char *program)
{
	const struct completion *c = &list[at];

	for (const struct completion_value *v = c->values; v && v->argument; v++)
		if (put_values(out, program, c, v))
			return -1;
	if (c->rest == COMPLETION_FILES)
		put_files(out, program, c);
	completion_function(out, program, c);
	strbuf_puts(out, "() {\n");
	for (size_t i = 1; i < count && !c->sub; i++) {
		strbuf_printf(out,
			"\tif ((CURRENT > 2)) && [[ $words[2] == %s ]]; then\n"
			"\t\tshift words\n\t\t((CURRENT -= 1))\n\t\t",
			list[i].sub);
		completion_function(out, program, &list[i]);
		strbuf_puts(out, "\n\t\treturn\n\tfi\n");
	}
	strbuf_puts(out, "\t_arguments \\\n");
	for (const struct option_row *row = c->table; row->name; row++)
		put_row(out, program, c, row);
	put_rest(out, list, at, count, program);
	strbuf_puts(out, "}\n\n");
	return 0;
}

int completion_zsh(
	const char *program, const struct completion *list, size_t count, struct strbuf *out)
{
	strbuf_printf(out,
		"#compdef %s\n# zsh completion for %s(1), printed by: %s -completion zsh\n\n",
		program, program, program);
	for (size_t i = count; i-- > 0;)
		if (put_function(out, list, i, count, program))
			return -1;
	/* read as a function of its own name, or by source and eval */
	strbuf_printf(out,
		"if [[ $funcstack[1] == _%s ]]; then\n"
		"\t_%s \"$@\"\n"
		"elif ((${+functions[compdef]})); then\n"
		"\tcompdef _%s %s\n"
		"fi\n",
		program, program, program, program);
	return 0;
}
