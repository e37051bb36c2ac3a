/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/tui.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/clock.h"
#include "report/report_names.h"
#include "tui/panes.h"

void tui_say(struct tui *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(t->message, sizeof(t->message), format, ap);
	va_end(ap);
	t->wrong = false;
}

void tui_say_error(struct tui *t, const struct error *e)
{
	tui_say(t, "%.250s%s%.250s", e->message, e->hint[0] ? "; " : "", e->hint);
	t->wrong = true;
}

static void say_memory(struct tui *t)
{
	tui_say(t, "out of memory");
	t->wrong = true;
}

/* Releases the page's table to the source. */
static void leave(struct tui *t, struct tui_page *p)
{
	if (p->waiting)
		t->source.ops->drop(t->source.context, p->ticket);
	p->waiting = false;
	if (p->table)
		t->source.ops->release(t->source.context, p->table);
	p->table = NULL;
}

void tui_close(struct tui *t, struct tui_page *p)
{
	leave(t, p);
	tui_page_free(p);
}

void tui_fini(struct tui *t)
{
	for (size_t i = 0; i < tui_page_total(t); i++)
		tui_close(t, tui_page_at(t, i));
	vec_fini(&t->pages);
	for (size_t i = 0; i < t->hidden.count; i++)
		free(t->hidden.data[i]);
	vec_fini(&t->hidden);
	vec_fini(&t->held);
	free(t->search.text);
	free(t->export_path);
	free(t->export_text);
	tui_screen_fini(&t->screen);
}

long tui_report_find(const struct tui *t, const char *name)
{
	for (size_t i = 0; t->source.reports[i].name; i++)
		if (strcmp(t->source.reports[i].name, name) == 0)
			return (long)i;
	return -1;
}

const char *tui_short_name(const char *name, struct strbuf *room)
{
	enum { MOST = 60 };

	report_name_put(room, name ? name : "",
		name && strlen(name) > MOST ? NAMES_ENDS : NAMES_FULL, MOST);
	return strbuf_text(room);
}

void tui_title(const struct tui *t, const struct tui_page *p, char *room, size_t size)
{
	static const char *const titles[] = {
		[TUI_PAGE_REPORT] = "",
		[TUI_PAGE_HELP] = "keys",
		[TUI_PAGE_REPORTS] = "reports",
		[TUI_PAGE_COLUMNS] = "columns",
		[TUI_PAGE_SWITCHES] = "switches",
		[TUI_PAGE_ACTIONS] = "menu",
	};
	const struct tui_part *part = &p->ask.part;
	struct strbuf name = {0};
	const char *of = tui_short_name(p->ask.procedure, &name);
	if (p->kind != TUI_PAGE_REPORT)
		snprintf(room, size, "%s%s%s", titles[p->kind], of[0] ? ": " : "", of);
	else
		snprintf(room, size, "%s%s%s%s%s%s%s%.10s%s%.10s%s",
			t->source.changes ? "changes of " : "",
			t->source.reports[p->ask.report].name, of[0] ? " of " : "", of,
			part->name[0] ? ", " : "", part->name, part->from[0] ? ", " : "",
			part->from, part->from[0] ? " to " : "", part->to,
			part->from[0] ? " s" : "");
	strbuf_fini(&name);
}

struct tui_page *tui_push(struct tui *t, enum tui_page_kind kind)
{
	struct tui_page **slot, *p;

	if (t->pages.count >= TUI_PAGES_MAX) {
		tui_say(t, "too many open views: go back first");
		return NULL;
	}
	p = tui_page_new(kind);
	slot = vec_push(&t->pages);
	if (!slot || !p) {
		t->pages.count -= slot != NULL;
		tui_page_free(p);
		say_memory(t);
		return NULL;
	}
	*slot = p;
	t->search.active = false;
	t->hottest = 0;
	return p;
}

void tui_pop(struct tui *t)
{
	t->search.active = false;
	t->hottest = 0;
	if (t->pages.count == 1) {
		t->quit = true;
		return;
	}
	tui_close(t, tui_top(t));
	t->pages.count--;
	tui_settle(t);
}

void tui_ask(struct tui *t, struct tui_page *p)
{
	struct error e = {0};

	if (p->waiting)
		t->source.ops->drop(t->source.context, p->ticket);
	p->ticket = ++t->ticket;
	p->waiting = true;
	if (t->source.ops->ask(t->source.context, &p->ask, p->ticket, &e) == 0)
		return;
	p->waiting = false;
	if (p->table)
		t->source.ops->release(t->source.context, p->table);
	if (tui_page_fail(p, &e, tui_text_width(t, p)))
		say_memory(t);
}

/* The report that it is, without its rows. */
static void be_report(struct tui *t, struct tui_page *p, size_t report, const char *procedure)
{
	p->ask.report = report;
	p->ask.switches = t->switches;
	p->ask.part = t->part;
	p->ask.procedure = procedure ? strdup(procedure) : NULL;
	if (procedure && !p->ask.procedure)
		say_memory(t);
	tui_ask(t, p);
}

struct tui_page *tui_open(struct tui *t, size_t report, const char *procedure)
{
	struct tui_page *p = tui_push(t, TUI_PAGE_REPORT);

	if (p)
		be_report(t, p, report, procedure);
	return p;
}

struct tui_page *tui_page_ask(struct tui *t, size_t report, const char *procedure)
{
	struct tui_page *p = tui_page_new(TUI_PAGE_REPORT);

	if (p)
		be_report(t, p, report, procedure);
	else
		say_memory(t);
	return p;
}

/* All open reports, the visible one last: it is made first. */
void tui_limit(struct tui *t, const struct tui_part *part)
{
	t->part = *part;
	for (size_t i = 0; i < t->pages.count; i++) {
		struct tui_page *p = t->pages.data[i];

		if (p->kind != TUI_PAGE_REPORT)
			continue;
		p->ask.part = *part;
		memset(&p->time, 0, sizeof(p->time));
		tui_ask(t, p);
	}
}

char *tui_strip_name(const struct tui *t, const struct tui_page *p, size_t strip)
{
	const struct prof_strip *s = &p->strips.data[strip];
	char *name;

	if (asprintf(&name, "%s:%s:%d", t->source.reports[p->ask.report].name,
		    p->table->columns.data[s->column].name, (int)s->part) < 0)
		return NULL;
	return name;
}

static void hide_strips(struct tui *t, struct tui_page *p)
{
	for (size_t i = 0; i < p->strips.count && t->hidden.count; i++) {
		char *name = tui_strip_name(t, p, i);

		for (size_t k = 0; name && k < t->hidden.count; k++)
			p->hidden[i] = p->hidden[i] || strcmp(name, t->hidden.data[k]) == 0;
		free(name);
	}
}

void tui_show_intervals(struct tui *t, bool intervals)
{
	t->intervals = intervals;
	for (size_t i = 0; i < tui_page_total(t); i++) {
		struct tui_page *p = tui_page_at(t, i);

		if (p->kind != TUI_PAGE_REPORT || !p->table)
			continue;
		/* Columns have other numbers then. */
		if (p->sort >= 0) {
			p->sort = -1;
			if (tui_page_arrange(p))
				say_memory(t);
		}
		if (tui_page_strips(p, intervals))
			say_memory(t);
		else
			hide_strips(t, p);
	}
}

static struct tui_page *find_page(struct tui *t, uint64_t ticket)
{
	for (size_t i = 0; i < tui_page_total(t); i++)
		if (tui_page_at(t, i)->waiting && tui_page_at(t, i)->ticket == ticket)
			return tui_page_at(t, i);
	return NULL;
}

static void tui_take(struct tui *t, const struct tui_answer *a)
{
	struct tui_page *p = find_page(t, a->ticket);
	const struct report_table *old;
	bool keeps;

	if (!p) {
		if (a->table)
			t->source.ops->release(t->source.context, a->table);
		return;
	}
	old = p->table;
	t->second_of = NULL;
	p->waiting = a->preliminary;
	p->preliminary = a->preliminary;
	/* If the cursor was moved, it stays on its row; otherwise it stays at the top. */
	keeps = old && !p->focus.set && p->cursor;
	if (keeps && tui_page_keep_focus(p))
		say_memory(t);
	if (a->table ? tui_page_take(p, a->table, tui_text_width(t, p), t->intervals)
		     : tui_page_fail(p, &a->error, tui_text_width(t, p)))
		say_memory(t);
	if (old)
		t->source.ops->release(t->source.context, old);
	if (a->table && a->table->layout == REPORT_TREE && tui_page_fold(p))
		say_memory(t);
	if (a->table)
		hide_strips(t, p);
	if (!tui_rows_busy(&p->rows))
		tui_page_find_focus(p);
}

static bool look(struct tui *t, struct tui_page *p, size_t line)
{
	long row = tui_page_row(p, line);

	if (row >= 0)
		return tui_row_matches(p->table, (size_t)row, t->search.text);
	return strcasestr(p->lines.data[line - p->rows.count], t->search.text) != NULL;
}

/* True: there is more to do. */
static bool search_on(struct tui *t, uint64_t end)
{
	struct tui_page *p = tui_top(t);
	struct tui_search *s = &t->search;
	size_t count = tui_page_count(p);

	while (s->left && count) {
		size_t line = s->at < count ? s->at : 0;

		if (look(t, p, line)) {
			p->cursor = line;
			p->centred = true;
			s->active = false;
			t->message[0] = '\0';
			return false;
		}
		s->at = s->backward ? (line ? line - 1 : count - 1) : line + 1;
		if (--s->left % 64 == 0 && end != UINT64_MAX && clock_ns() >= end)
			return true;
	}
	s->active = false;
	if (tui_page_unfold_match(p, s->text)) {
		t->message[0] = '\0';
		return false;
	}
	tui_say(t, "'%s' not found", s->text);
	return false;
}

void tui_search_start(struct tui *t, bool backward)
{
	const struct tui_page *p = tui_top(t);
	struct tui_search *s = &t->search;
	size_t count = tui_page_count(p);

	if (!s->text || !*s->text || !count) {
		tui_say(t, s->text && *s->text ? "nothing to search" : "no search text: press /");
		return;
	}
	s->active = true;
	s->backward = backward;
	s->left = count;
	s->at = backward ? (p->cursor ? p->cursor - 1 : count - 1) : p->cursor + 1;
	tui_say(t, "searching for '%s'", s->text);
}

bool tui_work(struct tui *t, uint64_t budget)
{
	uint64_t end = budget == UINT64_MAX ? UINT64_MAX : clock_ns() + budget;
	struct tui_page *p = tui_top(t);
	struct tui_answer a;
	bool more = false;

	memset(&a, 0, sizeof(a));
	while (t->source.ops->answer(t->source.context, &a)) {
		tui_take(t, &a);
		memset(&a, 0, sizeof(a));
	}
	if (tui_rows_busy(&p->rows)) {
		int rc = tui_rows_work(&p->rows, budget);

		if (rc < 0)
			say_memory(t);
		more = rc > 0;
		if (!more)
			tui_page_find_focus(p);
	}
	if (!more && t->search.active)
		more = search_on(t, end);
	if (!more && t->held.count) {
		t->release(t);
		more = t->search.active || tui_rows_busy(&tui_top(t)->rows);
	}
	t->follow(t);
	tui_settle(t);
	return more;
}

bool tui_busy(const struct tui *t)
{
	const struct tui_page *p = tui_top(t);

	return p->waiting || tui_rows_busy(&p->rows) || t->search.active ||
	       (t->second && t->second->waiting);
}

static void settle_page(struct tui_page *p, size_t rows)
{
	size_t count = tui_page_count(p);

	if (p->cursor >= count)
		p->cursor = count ? count - 1 : 0;
	/* In the middle, unless it is on the screen already. */
	if (p->centred && (p->cursor < p->top || p->cursor >= p->top + rows))
		p->top = p->cursor > rows / 2 ? p->cursor - rows / 2 : 0;
	p->centred = false;
	if (p->top > p->cursor)
		p->top = p->cursor;
	if (p->cursor >= p->top + rows)
		p->top = p->cursor - rows + 1;
	if (p->top + rows > count)
		p->top = count > rows ? count - rows : 0;
}

void tui_settle(struct tui *t)
{
	struct tui_pane panes[TUI_PANES];
	int count = tui_panes(t, panes);

	for (int i = 0; i < count; i++)
		settle_page(panes[i].page, (size_t)tui_pane_body(&panes[i]));
}

int tui_resize(struct tui *t, int rows, int columns)
{
	if (tui_screen_resize(&t->screen, rows, columns)) {
		say_memory(t);
		return -1;
	}
	for (size_t i = 0; i < tui_page_total(t); i++)
		if (tui_page_texts(tui_page_at(t, i), tui_text_width(t, tui_page_at(t, i))))
			say_memory(t);
	tui_settle(t);
	t->redraw = true;
	return 0;
}

void tui_prompt_open(struct tui *t, const char *label, const char *text,
	void (*done)(struct tui *t, const char *text))
{
	t->prompt.label = label;
	t->prompt.done = done;
	snprintf(t->prompt.text, sizeof(t->prompt.text), "%s", text ? text : "");
	t->prompt.length = strlen(t->prompt.text);
	t->prompt.offered = t->prompt.length > 0;
}

void tui_wheel(struct tui *t, int lines)
{
	struct tui_page *p = tui_top(t);
	size_t count = tui_page_count(p);

	if (t->prompt.label)
		return;
	if (lines < 0)
		p->cursor -= p->cursor < (size_t)-lines ? p->cursor : (size_t)-lines;
	else
		p->cursor = p->cursor + (size_t)lines < count ? p->cursor + (size_t)lines
			    : count                           ? count - 1
							      : 0;
	tui_settle(t);
}
