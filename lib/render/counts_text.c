/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "render/counts.h"
#include "render/counts_head.h"
#include "render/number.h"

enum {
	NAME_WIDTH = 52, /* dots fill up to here */
	COUNT_WIDTH = 17,
	LABEL_WIDTH = 11,
	TIME_WIDTH = 12,
	BAR_WIDTH = 24,
	CAUSE_WIDTH = 45,
	SHARE_WIDTH = 12,
	STATISTIC_WIDTH = 64,
	RATIO_WIDTH = 24,
	COSTS_WIDTH = NAME_WIDTH + COUNT_WIDTH + LABEL_WIDTH + 3 * TIME_WIDTH,
};

struct columns_layout {
	size_t width; /* of the terminal; 0: all of it is shown */
	bool narrow;  /* costs without ranges */
	size_t name, count, bar, statistic;
};

static struct columns_layout layout_for(unsigned width)
{
	enum { LEAST = 72, NARROW_COUNT = 14 };
	struct columns_layout l = {
		width, false, NAME_WIDTH, COUNT_WIDTH, BAR_WIDTH, STATISTIC_WIDTH};

	if (!width || width >= COSTS_WIDTH)
		return l;
	if (width < LEAST)
		l.width = width = LEAST;
	l.narrow = true;
	l.count = NARROW_COUNT;
	l.name = width - NARROW_COUNT - LABEL_WIDTH - 1 - TIME_WIDTH; /* "estimated" */
	if (width < CAUSE_WIDTH + TIME_WIDTH + SHARE_WIDTH + BAR_WIDTH)
		l.bar = width - CAUSE_WIDTH - TIME_WIDTH - SHARE_WIDTH;
	if (width < STATISTIC_WIDTH + RATIO_WIDTH)
		l.statistic = width - RATIO_WIDTH;
	if (l.name > NAME_WIDTH)
		l.name = NAME_WIDTH;
	return l;
}

static void counts_text_rule(struct strbuf *out, const struct columns_layout *l, size_t width)
{
	strbuf_repeat(out, '=', l->width && l->width < width ? l->width : width);
	strbuf_putc(out, '\n');
}

/* Empties the line. */
static void wrapped_line(struct strbuf *out, const struct columns_layout *l, struct strbuf *line)
{
	if (l->width)
		strbuf_wrap(out, strbuf_text(line), 1, l->width);
	else
		strbuf_printf(out, "%s\n", strbuf_text(line));
	line->length = 0;
}

static void dots_to(struct strbuf *out, size_t start, size_t width)
{
	size_t used = out->length - start;

	strbuf_repeat(out, '.', used < width ? width - used : 1);
}

static void right(struct strbuf *out, struct strbuf *cell, size_t width)
{
	if (cell->length < width)
		strbuf_repeat(out, ' ', width - cell->length);
	strbuf_add(out, strbuf_text(cell), cell->length);
	cell->length = 0;
}

/* As many decimals as give the largest time of a table five significant digits. */
static int decimals_for(double largest)
{
	int digits = largest > 0 ? 4 - (int)floor(log10(largest)) : 6;

	return digits < 2 ? 2 : digits > 9 ? 9 : digits;
}

static void seconds(struct strbuf *out, double value, int decimals, size_t width)
{
	struct strbuf cell = {0};

	strbuf_printf(&cell, "%.*f", decimals, value);
	right(out, &cell, width);
	strbuf_fini(&cell);
}

static void event_name(
	struct strbuf *out, const struct columns_layout *l, const struct event_row *row)
{
	size_t start = out->length;

	if (row->number >= 0)
		shown_printf(out, "%3d %s", row->number, row->name);
	else
		shown_printf(out, "  - %s", row->name);
	if (out->length - start > l->name)
		out->length = start + l->name - 2; /* and two dots */
	dots_to(out, start, l->name);
}

/* The count right-aligned, then its label and interval: never one without the other. */
static void event_count(struct strbuf *out, const struct columns_layout *l, const struct count *c)
{
	struct strbuf cell = {0};

	if (c->quantity.label == LABEL_NONE) {
		shown_printf(out, " not counted: %s", c->why);
		return;
	}
	number_figure(&cell, c->quantity.value, NUMBER_COUNT);
	right(out, &cell, l->count);
	strbuf_printf(out, "  %-8s ", label_name(c->quantity.label));
	strbuf_fini(&cell);
}

/* The interval and other remarks on a number. */
static void remarks(struct strbuf *out, const struct count *c)
{
	if (c->quantity.label == LABEL_NONE)
		return;
	number_interval(out, &c->quantity);
	if (c->clamped)
		strbuf_puts(out, " clamped");
	if (c->short_run)
		strbuf_puts(out, " short run");
	if (c->why[0])
		shown_printf(out, " (%s)", c->why);
}

/* On a line of their own if there is no room for them in this one. */
static void fitted_remarks(
	struct strbuf *out, const struct columns_layout *l, size_t start, const struct count *c)
{
	struct strbuf more = {0};

	remarks(&more, c);
	if (more.length && l->narrow && out->length - start + more.length > l->width)
		strbuf_puts(out, "\n    ");
	strbuf_puts(out, strbuf_text(&more));
	strbuf_fini(&more);
}

static void end_line(struct strbuf *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->length--;
	strbuf_putc(out, '\n');
}

static void plain_rows(
	const struct counts_report *r, const struct columns_layout *l, struct strbuf *out)
{
	for (size_t i = 0; i < r->event_count; i++) {
		size_t start = out->length;

		event_name(out, l, &r->events[i]);
		event_count(out, l, &r->events[i].count);
		fitted_remarks(out, l, start, &r->events[i].count);
		end_line(out);
	}
}

/* Our own tables without the path to where we are installed. */
static const char *short_origin(const char *origin)
{
	const char *ours = strstr(origin, "share/perfex/costs/");

	return ours && !strchr(origin, ' ') ? ours : origin;
}

static void costs_head(
	const struct counts_report *r, const struct columns_layout *l, struct strbuf *out)
{
	struct strbuf line = {0};

	shown_printf(out, "Costs of events, estimated with %s", short_origin(r->cost_table));
	strbuf_putc(out, '\n');
	if (r->cost_provenance[0]) {
		shown_printf(&line, "(rows: %s)", r->cost_provenance);
		wrapped_line(out, l, &line);
	}
	for (size_t i = 0; i < r->cost_source_count; i++) {
		shown_printf(&line, "(%s: %s)", r->cost_source[i].tag, r->cost_source[i].text);
		wrapped_line(out, l, &line);
	}
	if (l->narrow)
		strbuf_printf(out,
			"(ranges of costs, and where each is from: on %d columns, or -o FILE)\n",
			COSTS_WIDTH);
	strbuf_fini(&line);
	strbuf_printf(
		out, "%*s%*s", (int)(l->name + l->count + LABEL_WIDTH), "", TIME_WIDTH, "Typical");
	if (!l->narrow)
		strbuf_printf(out, "%*s%*s", TIME_WIDTH, "Minimum", TIME_WIDTH, "Maximum");
	strbuf_printf(out, "\n%-*s%*s  %-9s%*s", (int)l->name, "Event Counter Name", (int)l->count,
		"Counter Value", "", TIME_WIDTH, "Time (sec)");
	if (!l->narrow)
		strbuf_printf(out, "%*s%*s", TIME_WIDTH, "Time (sec)", TIME_WIDTH, "Time (sec)");
	strbuf_putc(out, '\n');
	counts_text_rule(out, l, COSTS_WIDTH);
}

static void costs_row(struct strbuf *out, const struct columns_layout *l,
	const struct event_row *row, int decimals)
{
	struct strbuf more = {0};

	event_name(out, l, row);
	event_count(out, l, &row->count);
	if (row->costed)
		seconds(out, row->typical, decimals, TIME_WIDTH);
	if (row->costed && !l->narrow) {
		seconds(out, row->minimum, decimals, TIME_WIDTH);
		seconds(out, row->maximum, decimals, TIME_WIDTH);
		if (row->cost_from && strcmp(row->cost_from, "measured") != 0)
			strbuf_printf(out, "  %s", row->cost_from);
	}
	remarks(&more, &row->count);
	if (more.length && l->narrow)
		strbuf_printf(out, "\n     %s", strbuf_text(&more));
	else if (more.length)
		strbuf_printf(
			out, "%*s  %s", row->costed ? 0 : 3 * TIME_WIDTH, "", strbuf_text(&more));
	strbuf_fini(&more);
	end_line(out);
}

static void cost_rows(
	const struct counts_report *r, const struct columns_layout *l, struct strbuf *out)
{
	size_t *order = counts_report_by_cost(r);
	double largest = 0;
	int decimals;

	for (size_t i = 0; i < r->event_count; i++)
		largest = r->events[i].costed ? fmax(largest, r->events[i].typical) : largest;
	decimals = decimals_for(largest);
	costs_head(r, l, out);
	for (size_t i = 0; order && i < r->event_count; i++)
		costs_row(out, l, &r->events[order[i]], decimals);
	free(order);
}

static void counts_text_statistics(
	const struct counts_report *r, const struct columns_layout *l, struct strbuf *out)
{
	if (r->statistic_count == 0)
		return;
	strbuf_puts(out, "\nStatistics\n");
	counts_text_rule(out, l, STATISTIC_WIDTH + RATIO_WIDTH);
	for (size_t i = 0; i < r->statistic_count; i++) {
		const struct statistic *s = &r->statistics[i];
		struct strbuf cell = {0};
		size_t start = out->length;

		strbuf_puts(out, s->name);
		if (s->unit[0] && !strchr(s->name, '('))
			strbuf_printf(out, " (%s)", s->unit);
		dots_to(out, start, l->statistic);
		number_figure(&cell, s->quantity.value, NUMBER_RATIO);
		right(out, &cell, 12);
		strbuf_printf(out, "  %s", label_name(s->quantity.label));
		strbuf_fini(&cell);
		end_line(out);
	}
}

static void cause_line(struct strbuf *out, const struct columns_layout *l, const char *name,
	double value, double share, int decimals)
{
	size_t start = out->length;
	int most = (int)l->bar, bar = (int)(share * most + 0.5);

	strbuf_puts(out, name);
	dots_to(out, start, CAUSE_WIDTH);
	seconds(out, value, decimals, TIME_WIDTH);
	strbuf_printf(out, " s %6.1f%%  ", 100 * share);
	strbuf_repeat(out, '#', (size_t)(bar < 0 ? 0 : bar > most ? most : bar));
	end_line(out);
}

static void not_divided(struct strbuf *out, const char *name, double value, int decimals)
{
	size_t start = out->length;

	strbuf_puts(out, name);
	dots_to(out, start, CAUSE_WIDTH);
	seconds(out, value, decimals, TIME_WIDTH);
	strbuf_puts(out, " s\n");
}

/* What the runs without the model took beyond the time that is divided. */
static void beyond(const struct counts_report *r, struct strbuf *out, int decimals)
{
	double processor = r->native.user.value + r->native.system.value;
	double system = processor - r->divided.value;
	double idle = r->native.elapsed.value - processor;

	if (r->divided.label != LABEL_MEASURED)
		return;
	if (system > 0.5e-6)
		not_divided(out, "and system time, not divided", system, decimals);
	if (idle > 0.02 * r->native.elapsed.value)
		not_divided(out, "and time not on a processor", idle, decimals);
}

/* Causes under a thousandth of the whole share a line. */
static void counts_text_breakdown(
	const struct counts_report *r, const struct columns_layout *l, struct strbuf *out)
{
	double total = 0, rest = 0, rest_share = 0;
	struct strbuf line = {0};
	int decimals = decimals_for(r->divided.value);
	size_t lesser = 0;
	char name[48];

	if (r->cause_count == 0) {
		if (r->divided.label == LABEL_NONE)
			strbuf_puts(out, "No breakdown: neither cycles nor task clock were counted "
					 "(add -e cy)\n\n");
		return;
	}
	strbuf_puts(&line, "Where the time goes: ");
	number_figure(&line, r->divided.value, NUMBER_SECONDS);
	strbuf_printf(&line, " s on the processor (%s), divided by %s (%s)",
		label_name(r->divided.label),
		r->clocked ? "what cycles waited for" : "counts and costs of events",
		label_name(r->causes[0].share_label));
	wrapped_line(out, l, &line);
	strbuf_fini(&line);
	counts_text_rule(out, l, 84);
	for (size_t i = 0; i < r->cause_count; i++) {
		const struct cause *c = &r->causes[i];

		total += c->seconds.value;
		if (!c->rest && c->share < 0.001) {
			rest += c->seconds.value;
			rest_share += c->share;
			lesser++;
			continue;
		}
		cause_line(out, l, c->name, c->seconds.value, c->share, decimals);
	}
	if (lesser) {
		snprintf(name, sizeof(name), "%zu lesser cause%s", lesser, lesser == 1 ? "" : "s");
		cause_line(out, l, name, rest, rest_share, decimals);
	}
	strbuf_printf(out, "%-45s", "total");
	seconds(out, total, decimals, TIME_WIDTH);
	strbuf_puts(out, " s  100.0%\n");
	beyond(r, out, decimals);
	strbuf_putc(out, '\n');
}

static void counts_text_threads(
	const struct counts_report *r, const struct columns_layout *l, struct strbuf *out)
{
	for (size_t t = 0; t < r->thread_count; t++) {
		const struct thread_row *row = &r->threads[t];

		strbuf_putc(out, '\n');
		if (row->tid)
			shown_printf(out, "thread %d of process %d (%.15s)", (int)row->tid,
				(int)row->pid, row->command);
		else
			shown_printf(out, "threads of process %d that ended early on (%.15s)",
				(int)row->pid, row->command);
		strbuf_putc(out, '\n');
		for (size_t i = 0; i < r->event_count; i++) {
			size_t start = out->length;

			event_name(out, l, &r->events[i]);
			event_count(out, l, &row->counts[i]);
			fitted_remarks(out, l, start, &row->counts[i]);
			end_line(out);
		}
	}
}

static void counts_text_uncounted(const struct counts_report *r, struct strbuf *out)
{
	size_t column = 0;

	if (r->uncounted_count == 0)
		return;
	strbuf_puts(out, "\nNot counted here (perfex -explain EVENT says why):\n ");
	for (size_t i = 0; i < r->uncounted_count; i++) {
		const struct uncounted_row *row = &r->uncounted[i];
		size_t start = out->length;

		strbuf_printf(out, " %d %s%s", row->number, row->short_name,
			i + 1 < r->uncounted_count ? "," : "");
		column += out->length - start;
		if (column > 72 && i + 1 < r->uncounted_count) {
			strbuf_puts(out, "\n ");
			column = 0;
		}
	}
	strbuf_putc(out, '\n');
}

static void notes(const struct counts_report *r, struct strbuf *out)
{
	bool any = false;

	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];

		if (!row->note)
			continue;
		strbuf_puts(out, any ? "" : "\nOn this processor:\n");
		shown_printf(out, "%3d %s", row->number, row->note);
		strbuf_putc(out, '\n');
		any = true;
	}
}

/* Lines that are too long for the terminal are wrapped. */
static void fitted(struct strbuf *out, const struct columns_layout *l, struct strbuf *text)
{
	const char *end;

	for (const char *line = strbuf_text(text); *line; line = end + 1) {
		struct strbuf one = {0};

		end = strchr(line, '\n');
		if (!end)
			break;
		strbuf_add(&one, line, (size_t)(end - line));
		if (one.length > l->width)
			wrapped_line(out, l, &one);
		else
			strbuf_printf(out, "%s\n", strbuf_text(&one));
		strbuf_fini(&one);
	}
	strbuf_fini(text);
}

void render_counts_text(const struct counts_report *r, unsigned width, struct strbuf *out)
{
	const struct columns_layout l = layout_for(width);
	struct strbuf text = {0};

	counts_head(r, &text);
	fitted(out, &l, &text);
	if (r->costs) {
		counts_text_breakdown(r, &l, out);
		cost_rows(r, &l, out);
		counts_text_statistics(r, &l, out);
	} else {
		plain_rows(r, &l, out);
	}
	counts_text_threads(r, &l, out);
	notes(r, &text);
	fitted(out, &l, &text);
	counts_text_uncounted(r, out);
}

void render_readout_text(
	double seconds, const struct event_spec *specs, const struct reading *r, struct strbuf *out)
{
	const struct columns_layout l = layout_for(0);

	for (size_t i = 0; i < r->count; i++) {
		struct event_row row = {.number = specs[i].event ? specs[i].event->number : -1,
			.name = specs[i].event ? specs[i].event->name : specs[i].name};

		if (r->counts[i].quantity.label == LABEL_NONE)
			continue;
		strbuf_printf(out, "%10.3f ", seconds);
		event_name(out, &l, &row);
		event_count(out, &l, &r->counts[i]);
		remarks(out, &r->counts[i]);
		end_line(out);
	}
}
