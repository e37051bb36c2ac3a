/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The command that prints what -tui shows. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "options.h"
#include "profile/entities.h"
#include "tui_command.h"

/* A word, quoted for the shell. */
static void put_word(struct strbuf *out, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "_-+=./:,@%^";

	strbuf_putc(out, ' ');
	if (*word && strspn(word, safe) == strlen(word)) {
		strbuf_puts(out, word);
		return;
	}
	strbuf_putc(out, '\'');
	for (; *word; word++)
		if (*word == '\'')
			strbuf_puts(out, "'\\''");
		else
			strbuf_putc(out, *word);
	strbuf_putc(out, '\'');
}

static void put_option(struct strbuf *out, const char *option, const char *word)
{
	if (!word)
		return;
	strbuf_printf(out, " -%s", option);
	put_word(out, word);
}

static void put_options(struct strbuf *out, const char *option, const word_list *words)
{
	for (size_t i = 0; i < words->count && words->data[i]; i++)
		put_option(out, option, words->data[i]);
}

/* A name as a pattern that fits it alone. */
static void put_name(struct strbuf *out, const char *name)
{
	char *glob = profile_only_name(name);

	put_word(out, glob ? glob : "");
	out->failed = out->failed || !glob;
	free(glob);
}

static void put_quit(struct strbuf *out, const struct prof_quit *q)
{
	if (q->rows)
		strbuf_printf(out, " -q %lu", q->rows);
	if (q->percent > 0)
		strbuf_printf(out, " -q %g%%", q->percent);
	if (q->cumulative > 0)
		strbuf_printf(out, " -q %gcum%%", q->cumulative);
}

char *tui_command(const void *options, const struct tui_report *report, const struct tui_ask *ask,
	const struct tui_switch *table)
{
	const struct options *o = options;
	const struct tui_part *part = &ask->part;
	bool zoomed = part->from[0];
	struct strbuf out = {0};

	strbuf_puts(&out, "prof");
	if (o->diff)
		strbuf_puts(&out, " -diff");
	if (o->request.shares)
		strbuf_puts(&out, " -share");
	strbuf_printf(&out, " -%s", report->name);
	if (ask->procedure) {
		if (!report->procedure)
			strbuf_puts(&out, " -only");
		put_name(&out, ask->procedure);
	} else if (part->image[0]) {
		put_option(&out, "only", part->image);
	} else {
		put_options(&out, "only", &o->only);
	}
	if (part->whom[0])
		put_option(&out, "only", part->whom);
	else
		put_options(&out, "only", &o->only_whom);
	for (int i = 0; table[i].name; i++)
		if (ask->switches >> i & 1)
			strbuf_printf(&out, " -%s", table[i].name);
	if (o->compare)
		strbuf_puts(&out, " -compare");
	put_options(&out, "exclude", &o->exclude);
	put_options(&out, "exclude", &o->exclude_whom);
	put_option(&out, "calipers", part->phase[0] ? part->phase : o->request.calipers);
	put_option(&out, "from", zoomed ? part->from : o->request.from);
	put_option(&out, "to", zoomed ? part->to : o->request.to);
	put_quit(&out, &o->request.quit);
	put_option(&out, "core", o->request.core);
	put_options(&out, "source-path", &o->sources);
	put_options(&out, "archive", &o->archives);
	put_option(&out, "root", o->root);
	put_option(&out, "debug-dir", o->debug_directory);
	if (o->debuginfod)
		strbuf_puts(&out, " -debuginfod");
	for (size_t i = 0; o->files[i]; i++)
		put_word(&out, o->files[i]);
	return strbuf_take(&out);
}
