/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/completion.h"

#include <stdlib.h>
#include <string.h>

#include "base/completion_private.h"

static const struct {
	const char *argument;
	enum completion_kind kind;
} known[] = {
	{"FILE", COMPLETION_FILE},
	{"PICTURE", COMPLETION_FILE},
	{"ELF", COMPLETION_FILE},
	{"DIR", COMPLETION_DIRECTORY},
	{"PID", COMPLETION_PROCESS},
	{"SIGNAL", COMPLETION_SIGNAL},
	{"SHELL", COMPLETION_SHELL},
};

void completion_add(struct completion_words *w, const char *word, const char *help)
{
	struct completion_word *own = vec_push(&w->all);

	if (own) {
		own->word = strdup(word);
		own->help = strdup(help);
	}
	if (!own || !own->word || !own->help)
		w->failed = true;
}

void completion_words_fini(struct completion_words *w)
{
	for (size_t i = 0; i < w->all.count; i++) {
		free(w->all.data[i].word);
		free(w->all.data[i].help);
	}
	vec_fini(&w->all);
}

enum completion_kind completion_kind_of(
	const struct completion *c, const char *argument, const struct completion_value **value)
{
	*value = NULL;
	for (const struct completion_value *v = c->values; v && v->argument; v++)
		if (strcmp(v->argument, argument) == 0) {
			*value = v;
			return COMPLETION_WORDS;
		}
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].argument, argument) == 0)
			return known[i].kind;
	if (strchr(argument, '|') && !argument[strspn(argument, "abcdefghijklmnopqrstuvwxyz-|")])
		return COMPLETION_ONE_OF;
	return COMPLETION_ANYTHING;
}

void completion_one_of(struct strbuf *out, const char *argument)
{
	for (; *argument; argument++)
		strbuf_putc(out, *argument == '|' ? ' ' : *argument);
}

bool completion_repeats(const struct option_row *table, const struct option_row *row)
{
	for (; table < row; table++)
		if (table->argument && strcmp(table->argument, row->argument) == 0)
			return true;
	return false;
}

void completion_function(struct strbuf *out, const char *program, const struct completion *c)
{
	strbuf_printf(out, "_%s%s%s", program, c->sub ? "_" : "", c->sub ? c->sub : "");
}

int completion_write(const char *program, const char *shell, const struct completion *list,
	size_t count, struct strbuf *out, struct error *e)
{
	static const struct {
		const char *name;
		int (*write)(const char *program, const struct completion *list, size_t count,
			struct strbuf *out);
	} shells[] = {{"bash", completion_bash}, {"zsh", completion_zsh}};

	for (size_t i = 0; i < sizeof(shells) / sizeof(shells[0]); i++)
		if (strcmp(shells[i].name, shell) == 0)
			return shells[i].write(program, list, count, out) || out->failed
				       ? error_nomem(e)
				       : 0;
	error_set(e, ERR_RANGE, "-completion takes bash or zsh, not '%s'", shell);
	return error_hint(e, "for bash: source <(%s -completion bash)", program);
}
