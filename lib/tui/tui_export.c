/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Action: writes the current page to a file, in prof's own formats. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tui/actions.h"

static bool tui_export_ends(const char *text, const char *end)
{
	size_t n = strlen(text), k = strlen(end);

	return n >= k && strcmp(text + n - k, end) == 0;
}

static int render(const struct report_table *t, const char *path, bool intervals,
	struct strbuf *out, struct error *e)
{
	const struct prof_style style = {.intervals = intervals};

	if (tui_export_ends(path, ".json"))
		return render_prof_json(t, out, e);
	if (tui_export_ends(path, ".csv"))
		render_prof_csv(t, out);
	else
		render_prof_text(t, &style, out);
	return out->failed ? error_nomem(e) : 0;
}

/* Where rows are sorted or filtered, the table with those alone: cells and texts are the same. */
static int render_shown(const struct tui_page *p, const char *path, bool intervals,
	struct strbuf *out, struct error *e)
{
	struct report_table shown = *p->table;
	bool chosen = p->rows.index && (p->sort >= 0 || p->filter);
	int rc;

	if (!chosen)
		return render(p->table, path, intervals, out, e);
	shown.rows.data = calloc(p->rows.count + 1, sizeof(*shown.rows.data));
	shown.rows.count = p->rows.count;
	if (!shown.rows.data)
		return error_nomem(e);
	for (size_t i = 0; i < p->rows.count; i++) {
		shown.rows.data[i] = p->table->rows.data[p->rows.index[i]];
		shown.rows.data[i].parent = -1;
	}
	rc = render(&shown, path, intervals, out, e);
	free(shown.rows.data);
	return rc;
}

static void tui_export_forget(struct tui *t)
{
	free(t->export_path);
	free(t->export_text);
	t->export_path = t->export_text = NULL;
}

static void write_it(struct tui *t, bool replace);

static void tui_export_answer(struct tui *t, const char *text)
{
	if (strcmp(text, "y") == 0 || strcmp(text, "yes") == 0) {
		write_it(t, true);
		return;
	}
	tui_say(t, "nothing was written");
	tui_export_forget(t);
}

static void write_it(struct tui *t, bool replace)
{
	struct error e = {0};

	if (!t->export_path || !t->export_text)
		return;
	if (t->source.ops->write(t->source.context, t->export_path, t->export_text,
		    strlen(t->export_text), replace, &e) == 0) {
		tui_say(t, "written to %.300s", t->export_path);
	} else if (e.code == ERR_CONFLICT && !replace) {
		tui_prompt_open(t, "the file exists: replace it (y)? ", NULL, tui_export_answer);
		return;
	} else {
		tui_say_error(t, &e);
	}
	tui_export_forget(t);
}

static void export(struct tui *t, const char *path)
{
	const struct tui_page *p = tui_top(t);
	struct strbuf out = {0};
	struct error e = {0};

	tui_export_forget(t);
	if (!*path || p->kind != TUI_PAGE_REPORT || !p->table)
		return;
	if (render_shown(p, path, t->intervals, &out, &e)) {
		tui_say_error(t, &e);
		strbuf_fini(&out);
		return;
	}
	t->export_path = strdup(path);
	t->export_text = strbuf_take(&out);
	if (t->export_path && t->export_text)
		write_it(t, false);
	else
		tui_say(t, "out of memory");
}

void tui_do_export(struct tui *t)
{
	const struct tui_page *p = tui_top(t);
	char name[80];

	if (p->kind != TUI_PAGE_REPORT || !p->table) {
		tui_say(t, "no report to write");
		return;
	}
	if (p->preliminary) {
		tui_say(t, "not yet: these are the first samples only");
		return;
	}
	snprintf(name, sizeof(name), "prof.%.40s.txt", t->source.reports[p->ask.report].name);
	tui_prompt_open(t, "write to (.txt, .csv, .json): ", name, export);
}
