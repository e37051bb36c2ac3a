/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Event costs as bars, after figures 2 and 8 of Zagha et al.: one bar a cause, in seconds, the
 * longest first; where there is no breakdown, typical times with whiskers from minimum to maximum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/counts.h"
#include "render/number.h"

enum { BARS_MAX = 14 };

/* Text inside gnuplot's double quotes: no quotes, escapes or enhanced-text marks get through. */
static void quoted(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '"' || *text == '\\' || *text == '`' || (unsigned char)*text < 0x20)
			strbuf_putc(out, '\'');
		else
			strbuf_putc(out, *text);
}

const char *render_plot_kind(const char *picture, struct error *e)
{
	static const struct {
		const char *suffix, *terminal;
	} kinds[] = {
		{".png", "pngcairo size 900,480 noenhanced font 'sans,11'"},
		{".svg", "svg size 900,480 noenhanced font 'sans,12'"},
		{".pdf", "pdfcairo size 9in,4.8in noenhanced"},
		{"-", "dumb 79 24 noenhanced"},
	};
	size_t length = strlen(picture);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].suffix);

		if (length < n || strcmp(picture + length - n, kinds[i].suffix) != 0 ||
			(n == 1 && length != 1))
			continue;
		return kinds[i].terminal;
	}
	error_set(
		e, ERR_UNSUPPORTED, "cannot tell from '%s' what kind of picture to draw", picture);
	error_hint(e, "end its name in .png, .svg or .pdf, or use - for the terminal");
	return NULL;
}

static int terminal(const char *picture, struct strbuf *out, struct error *e)
{
	const char *kind = render_plot_kind(picture, e);

	if (!kind)
		return -1;
	strbuf_printf(out, "set terminal %s\n", kind);
	if (strcmp(picture, "-") != 0) {
		strbuf_puts(out, "set output \"");
		quoted(out, picture);
		strbuf_puts(out, "\"\n");
	}
	return 0;
}

static void bars_of_causes(const struct counts_report *r, struct strbuf *out)
{
	for (size_t i = 0; i < r->cause_count && i < BARS_MAX; i++) {
		const struct cause *c = &r->causes[i];

		strbuf_puts(out, "\"");
		quoted(out, c->name);
		strbuf_puts(out, "\" ");
		number_figure(out, c->seconds.value, NUMBER_SECONDS);
		strbuf_puts(out, " ");
		number_figure(out, c->seconds.low, NUMBER_SECONDS);
		strbuf_puts(out, " ");
		number_figure(out, c->seconds.high, NUMBER_SECONDS);
		strbuf_puts(out, "\n");
	}
}

static void bars_of_events(const struct counts_report *r, struct strbuf *out)
{
	size_t *order = counts_report_by_cost(r);

	for (size_t i = 0; order && i < r->event_count && i < BARS_MAX; i++) {
		const struct event_row *row = &r->events[order[i]];

		if (!row->costed)
			continue;
		strbuf_puts(out, "\"");
		quoted(out, row->name);
		strbuf_puts(out, "\" ");
		number_figure(out, row->typical, NUMBER_SECONDS);
		strbuf_puts(out, " ");
		number_figure(out, row->minimum, NUMBER_SECONDS);
		strbuf_puts(out, " ");
		number_figure(out, row->maximum, NUMBER_SECONDS);
		strbuf_puts(out, "\n");
	}
	free(order);
}

static void draw_standing(struct strbuf *out, const char *label, bool whiskers)
{
	strbuf_printf(out, "set ylabel \"seconds (%s)\"\n", label);
	strbuf_puts(out, "set style fill solid 0.7 border -1\nset boxwidth 0.7\n"
			 "set xtics rotate by -35 left\nset grid ytics\nset key off\n"
			 "set bmargin 10\nset rmargin 20\n"
			 "set xrange [-0.7:*]\nset yrange [0:*]\n"
			 "plot $bars using 0:2:xtic(1) with boxes lc rgb \"#4472a8\"");
	if (whiskers)
		strbuf_puts(out, ", $bars using 0:2:3:4 with yerrorbars lc rgb \"black\" pt 0");
	strbuf_putc(out, '\n');
}

/* In a terminal, which writes in one direction only. */
static void draw_lying(struct strbuf *out, const char *label)
{
	strbuf_printf(out, "set xlabel \"seconds (%s)\"\n", label);
	strbuf_puts(out, "set key off\nset format x \"%.2g\"\n"
			 "stats $bars using 2 nooutput\n"
			 "set xtics nomirror 0, STATS_max / 3\nset ytics nomirror\n"
			 "set xrange [0:*]\nset yrange [STATS_records - 0.3:-0.7]\n"
			 "plot $bars using (0):0:2:(0):ytic(1) with vectors nohead\n");
}

int render_counts_plot(
	const struct counts_report *r, const char *picture, struct strbuf *out, struct error *e)
{
	bool causes = r->cause_count > 0;
	const char *label;

	if (!r->costs)
		return error_set(e, ERR_CONFLICT, "a picture of costs needs costs: add -y");
	strbuf_puts(out, "# Drawn by: gnuplot THIS_FILE\n");
	if (terminal(picture, out, e))
		return -1;
	strbuf_puts(out, "$bars << EOD\n");
	if (causes)
		bars_of_causes(r, out);
	else
		bars_of_events(r, out);
	strbuf_puts(out, "EOD\nset title \"");
	for (size_t i = 0; r->command && r->command[i]; i++) {
		quoted(out, i ? " " : "");
		quoted(out, r->command[i]);
	}
	strbuf_printf(out, " on %s (%s)\"\n", r->machine,
		causes ? label_name(r->causes[0].seconds.label) : label_name(LABEL_ESTIMATED));
	label = causes ? label_name(r->causes[0].seconds.label) : label_name(LABEL_ESTIMATED);
	if (strcmp(picture, "-") == 0)
		draw_lying(out, label);
	else
		draw_standing(out, label, !causes);
	return 0;
}
