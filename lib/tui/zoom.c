/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: the part of the run that reports are of, selected on its timeline. */
#include <stdio.h>
#include <string.h>

#include "tui/actions.h"

bool tui_has_times(const struct tui *t)
{
	const struct tui_page *p = tui_top(t);

	return p->kind == TUI_PAGE_REPORT && p->table && p->table->times.bins;
}

bool tui_has_zoom(const struct tui *t)
{
	return t->part.from[0] || t->part.name[0];
}

/* The page with a timeline; NULL, with a message. */
static struct tui_page *zoom_page(struct tui *t)
{
	if (tui_has_times(t))
		return tui_top(t);
	tui_say(t, "times are selected in the timeline: T");
	return NULL;
}

static double zoom_time(const struct tui_page *p, size_t bin)
{
	return p->table->times.begin + (double)bin * p->table->times.width;
}

static void zoom_say(struct tui *t, const struct tui_page *p)
{
	if (p->time.end > p->time.begin)
		tui_say(t, "%.4g to %.4g s are selected: z shows only these",
			zoom_time(p, p->time.begin), zoom_time(p, p->time.end));
	else
		tui_say(t, "%.4g s: [ begins a selection, ] ends it", zoom_time(p, p->time.at));
}

void tui_do_timeline(struct tui *t)
{
	long report = tui_report_find(t, "timeline");

	if (report < 0)
		tui_say(t, "changes have no timeline");
	else if (tui_top(t)->kind == TUI_PAGE_REPORT)
		tui_open(t, (size_t)report, NULL);
}

void tui_do_time_left(struct tui *t)
{
	struct tui_page *p = zoom_page(t);

	if (!p)
		return;
	p->time.at -= p->time.at > 0;
	zoom_say(t, p);
}

void tui_do_time_right(struct tui *t)
{
	struct tui_page *p = zoom_page(t);

	if (!p)
		return;
	p->time.at += p->time.at + 1 < p->table->times.bins;
	zoom_say(t, p);
}

void tui_do_time_begin(struct tui *t)
{
	struct tui_page *p = zoom_page(t);

	if (!p)
		return;
	p->time.begin = p->time.at;
	if (p->time.end <= p->time.begin)
		p->time.end = p->table->times.bins;
	zoom_say(t, p);
}

void tui_do_time_end(struct tui *t)
{
	struct tui_page *p = zoom_page(t);

	if (!p)
		return;
	p->time.end = p->time.at + 1;
	if (p->time.begin >= p->time.end)
		p->time.begin = 0;
	zoom_say(t, p);
}

void tui_do_zoom(struct tui *t)
{
	struct tui_page *p = zoom_page(t);
	struct tui_part part = t->part;

	if (!p)
		return;
	if (p->time.end <= p->time.begin) {
		tui_say(t, "nothing is selected: ( and ) move, [ begins a selection, ] ends it");
		return;
	}
	snprintf(part.from, sizeof(part.from), "%.9g", zoom_time(p, p->time.begin));
	snprintf(part.to, sizeof(part.to), "%.9g", zoom_time(p, p->time.end));
	tui_limit(t, &part);
	tui_say(t, "all reports are of %.10s to %.10s s; Z: of the whole run", part.from, part.to);
}

void tui_do_unzoom(struct tui *t)
{
	if (!tui_has_zoom(t)) {
		tui_say(t, "reports are of the whole run already");
		return;
	}
	tui_limit(t, &(struct tui_part){.from = ""});
	tui_say(t, "all reports are of the whole run");
}

/* Below the axis: where the cursor is, and what is selected. */
void tui_times_text(const struct tui_page *p, char *room, size_t size)
{
	size_t bins = p->table->times.bins < size ? p->table->times.bins : size - 1;

	for (size_t i = 0; i < bins; i++) {
		bool in = i >= p->time.begin && i < p->time.end;

		room[i] = in ? '=' : ' ';
		if (in && i == p->time.begin)
			room[i] = '[';
		if (in && i + 1 == p->time.end)
			room[i] = ']';
		if (i == p->time.at)
			room[i] = '^';
	}
	room[bins] = '\0';
}
