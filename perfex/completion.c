/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -completion: what arguments of options may be. */
#include "base/completion.h"

#include "perfex.h"
#include "say.h"

static void events(struct completion_words *w)
{
	size_t count;
	const struct event *table = event_table(&count);

	for (size_t i = 0; i < count; i++)
		completion_add(w, table[i].short_name, table[i].name);
}

static void add_name(const char *name, void *words)
{
	completion_add(words, name, "");
}

static void machines(struct completion_words *w)
{
	struct error e = {0};

	add_name("host", w);
	if (machine_walk(add_name, w, &e))
		say_error(&e);
}

static void source_names(struct completion_words *w)
{
	add_name("auto", w);
	for (const struct source_ops *const *s = sources; *s; s++)
		add_name((*s)->name, w);
}

static void clocks(struct completion_words *w)
{
	for (const char *const *name = clock_names; *name; name++)
		add_name(*name, w);
}

int do_completion(const struct options *o)
{
	static const struct completion_value values[] = {
		{"EVENT", events, false},
		{"EVENT:PERIOD", events, false},
		{"MACHINE", machines, true},
		{"SOURCE", source_names, false},
		{"CLOCK", clocks, false},
		{NULL, NULL, false},
	};
	const struct completion all = {
		.table = option_table, .values = values, .rest = COMPLETION_COMMAND};
	struct strbuf text = {0};
	struct error e = {0};
	int rc = completion_write("perfex", o->completion, &all, 1, &text, &e);

	if (rc == 0)
		rc = output(o, &text, stdout, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	return rc ? EXIT_OURS : 0;
}
