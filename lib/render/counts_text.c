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
	TIME_WIDTH = 12,
	BAR_WIDTH = 24,
	CAUSE_WIDTH = 45,
};

static void counts_text_rule(struct strbuf *out, int width)
{
	strbuf_repeat(out, '=', (size_t)width);
	strbuf_putc(out, '\n');
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

static void event_name(struct strbuf *out, const struct event_row *row)
{
	size_t start = out->length;

	if (row->number >= 0)
		shown_printf(out, "%3d %s", row->number, row->name);
	else
		shown_printf(out, "  - %s", row->name);
	if (out->length - start > NAME_WIDTH)
		out->length = start + NAME_WIDTH - 2; /* and two dots */
	dots_to(out, start, NAME_WIDTH);
}

/* The count right-aligned, then its label and interval: never one without the other. */
static void event_count(struct strbuf *out, const struct count *c)
{
	struct strbuf cell = {0};

	if (c->quantity.label == LABEL_NONE) {
		shown_printf(out, " not counted: %s", c->why);
		return;
	}
	number_figure(&cell, c->quantity.value, NUMBER_COUNT);
	right(out, &cell, COUNT_WIDTH);
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

static void end_line(struct strbuf *out)
{
	while (out->length && out->data[out->length - 1] == ' ')
		out->length--;
	strbuf_putc(out, '\n');
}

static void plain_rows(const struct counts_report *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->event_count; i++) {
		event_name(out, &r->events[i]);
		event_count(out, &r->events[i].count);
		remarks(out, &r->events[i].count);
		end_line(out);
	}
}

/* Our own tables without the path to where we are installed. */
static const char *short_origin(const char *origin)
{
	const char *ours = strstr(origin, "share/perfex/costs/");

	return ours && !strchr(origin, ' ') ? ours : origin;
}

static void cost_rows(const struct counts_report *r, struct strbuf *out)
{
	enum { WIDTH = NAME_WIDTH + COUNT_WIDTH + 11 + 3 * TIME_WIDTH };
	size_t *order = counts_report_by_cost(r);
	int decimals;
	double largest = 0;

	for (size_t i = 0; i < r->event_count; i++)
		largest = r->events[i].costed ? fmax(largest, r->events[i].typical) : largest;
	decimals = decimals_for(largest);
	shown_printf(out, "Costs of events, estimated with %s", short_origin(r->cost_table));
	strbuf_putc(out, '\n');
	if (r->cost_provenance[0]) {
		shown_printf(out, "(rows: %s)", r->cost_provenance);
		strbuf_putc(out, '\n');
	}
	for (size_t i = 0; i < r->cost_source_count; i++) {
		shown_printf(out, "(%s: %s)", r->cost_source[i].tag, r->cost_source[i].text);
		strbuf_putc(out, '\n');
	}
	strbuf_printf(out, "%*s%*s%*s%*s\n", NAME_WIDTH + COUNT_WIDTH + 11, "", TIME_WIDTH,
		"Typical", TIME_WIDTH, "Minimum", TIME_WIDTH, "Maximum");
	strbuf_printf(out, "%-*s%*s  %-9s%*s%*s%*s\n", NAME_WIDTH, "Event Counter Name",
		COUNT_WIDTH, "Counter Value", "", TIME_WIDTH, "Time (sec)", TIME_WIDTH,
		"Time (sec)", TIME_WIDTH, "Time (sec)");
	counts_text_rule(out, WIDTH);
	for (size_t i = 0; order && i < r->event_count; i++) {
		const struct event_row *row = &r->events[order[i]];
		struct strbuf more = {0};

		event_name(out, row);
		event_count(out, &row->count);
		if (row->costed) {
			seconds(out, row->typical, decimals, TIME_WIDTH);
			seconds(out, row->minimum, decimals, TIME_WIDTH);
			seconds(out, row->maximum, decimals, TIME_WIDTH);
			if (row->cost_from && strcmp(row->cost_from, "measured") != 0)
				strbuf_printf(out, "  %s", row->cost_from);
		}
		remarks(&more, &row->count);
		if (more.length)
			strbuf_printf(out, "%*s  %s", row->costed ? 0 : 3 * TIME_WIDTH, "",
				strbuf_text(&more));
		strbuf_fini(&more);
		end_line(out);
	}
	free(order);
}

static void counts_text_statistics(const struct counts_report *r, struct strbuf *out)
{
	enum { STATISTIC_WIDTH = 64 };

	if (r->statistic_count == 0)
		return;
	strbuf_puts(out, "\nStatistics\n");
	counts_text_rule(out, STATISTIC_WIDTH + 24);
	for (size_t i = 0; i < r->statistic_count; i++) {
		const struct statistic *s = &r->statistics[i];
		struct strbuf cell = {0};
		size_t start = out->length;

		strbuf_puts(out, s->name);
		if (s->unit[0] && !strchr(s->name, '('))
			strbuf_printf(out, " (%s)", s->unit);
		dots_to(out, start, STATISTIC_WIDTH);
		number_figure(&cell, s->quantity.value, NUMBER_RATIO);
		right(out, &cell, 12);
		strbuf_printf(out, "  %s", label_name(s->quantity.label));
		strbuf_fini(&cell);
		end_line(out);
	}
}

static void cause_line(
	struct strbuf *out, const char *name, double value, double share, int decimals)
{
	size_t start = out->length;
	int bar = (int)(share * BAR_WIDTH + 0.5);

	strbuf_puts(out, name);
	dots_to(out, start, CAUSE_WIDTH);
	seconds(out, value, decimals, TIME_WIDTH);
	strbuf_printf(out, " s %6.1f%%  ", 100 * share);
	strbuf_repeat(out, '#', (size_t)(bar < 0 ? 0 : bar > BAR_WIDTH ? BAR_WIDTH : bar));
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
static void counts_text_breakdown(const struct counts_report *r, struct strbuf *out)
{
	double total = 0, rest = 0, rest_share = 0;
	int decimals = decimals_for(r->divided.value);
	size_t lesser = 0;
	char name[48];

	if (r->cause_count == 0) {
		if (r->divided.label == LABEL_NONE)
			strbuf_puts(out, "No breakdown: neither cycles nor task clock were counted "
					 "(add -e cy)\n\n");
		return;
	}
	strbuf_puts(out, "Where the time goes: ");
	number_figure(out, r->divided.value, NUMBER_SECONDS);
	strbuf_printf(out, " s on the processor (%s), divided by %s (%s)\n",
		label_name(r->divided.label),
		r->clocked ? "what cycles waited for" : "counts and costs of events",
		label_name(r->causes[0].share_label));
	counts_text_rule(out, 84);
	for (size_t i = 0; i < r->cause_count; i++) {
		const struct cause *c = &r->causes[i];

		total += c->seconds.value;
		if (!c->rest && c->share < 0.001) {
			rest += c->seconds.value;
			rest_share += c->share;
			lesser++;
			continue;
		}
		cause_line(out, c->name, c->seconds.value, c->share, decimals);
	}
	if (lesser) {
		snprintf(name, sizeof(name), "%zu lesser cause%s", lesser, lesser == 1 ? "" : "s");
		cause_line(out, name, rest, rest_share, decimals);
	}
	strbuf_printf(out, "%-45s", "total");
	seconds(out, total, decimals, TIME_WIDTH);
	strbuf_puts(out, " s  100.0%\n");
	beyond(r, out, decimals);
	strbuf_putc(out, '\n');
}

static void counts_text_threads(const struct counts_report *r, struct strbuf *out)
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
			event_name(out, &r->events[i]);
			event_count(out, &row->counts[i]);
			remarks(out, &row->counts[i]);
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

void render_counts_text(const struct counts_report *r, struct strbuf *out)
{
	counts_head(r, out);
	if (r->costs) {
		counts_text_breakdown(r, out);
		cost_rows(r, out);
		counts_text_statistics(r, out);
	} else {
		plain_rows(r, out);
	}
	counts_text_threads(r, out);
	notes(r, out);
	counts_text_uncounted(r, out);
}

void render_readout_text(
	double seconds, const struct event_spec *specs, const struct reading *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->count; i++) {
		struct event_row row = {.number = specs[i].event ? specs[i].event->number : -1,
			.name = specs[i].event ? specs[i].event->name : specs[i].name};

		if (r->counts[i].quantity.label == LABEL_NONE)
			continue;
		strbuf_printf(out, "%10.3f ", seconds);
		event_name(out, &row);
		event_count(out, &r->counts[i]);
		remarks(out, &r->counts[i]);
		end_line(out);
	}
}
