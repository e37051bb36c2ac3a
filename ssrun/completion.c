/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -completion: what arguments of options may be. */
#include "base/completion.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"
#include "ssrun.h"

static void add_name(const char *name, void *words)
{
	completion_add(words, name, "");
}

static void add_all(struct completion_words *w, const char *const *names)
{
	for (; *names; names++)
		add_name(*names, w);
}

static void events(struct completion_words *w)
{
	size_t count;
	const struct event *table = event_table(&count);

	for (size_t i = 0; i < count; i++)
		completion_add(w, table[i].short_name, table[i].name);
}

static void machines(struct completion_words *w)
{
	struct error e = {0};

	add_name("host", w);
	if (machine_walk(add_name, w, &e))
		say_error(&e);
}

static void sources(struct completion_words *w)
{
	add_all(w, source_names);
}

static void clocks(struct completion_words *w)
{
	add_all(w, clock_names);
}

static void stacks(struct completion_words *w)
{
	add_all(w, stack_names);
}

/* Experiments of single events: there are hundreds. */
static bool rare(const struct option_row *row)
{
	return strstr(row->name, "_hwc");
}

int do_completion(const struct options *o)
{
	static const struct completion_value values[] = {
		{"EVENT:PERIOD", events, false},
		{"MACHINE", machines, true},
		{"SOURCE", sources, false},
		{"CLOCK", clocks, false},
		{"HOW", stacks, false},
		{NULL, NULL, false},
	};
	struct whole_table *table = whole_table();
	struct completion all = {.values = values, .rest = COMPLETION_COMMAND, .rare = rare};
	struct strbuf text = {0};
	struct error e = {0};
	int rc;

	all.table = table ? table->rows : option_table;
	rc = table ? completion_write("ssrun", o->completion, &all, 1, &text, &e) : error_nomem(&e);
	if (rc)
		say_error(&e);
	else
		rc = fputs(strbuf_text(&text), stdout) < 0 || fflush(stdout);
	strbuf_fini(&text);
	free(table);
	return rc ? EXIT_OURS : 0;
}
