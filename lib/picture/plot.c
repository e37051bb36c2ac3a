/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/plot.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Distinguishable with all kinds of colour vision, and when printed in grey. */
static const char *const colours[] = {
	"#4472a8", "#d1812c", "#5a9e4b", "#b5477a", "#7a6fb0", "#8c6d46", "#3fa7a7", "#888888"};
enum {
	COLOURS = sizeof(colours) / sizeof(colours[0]),
	WIDTH = 900,    /* of a picture, pixels */
	ROW = 24,       /* of a bar */
	FRAME = 120,    /* titles and axes around bars */
	CURVES = 420,   /* height of a panel */
	LETTER = 7,     /* width of one, in the font of source lines */
	TEXT_MOST = 72, /* letters of a source line */
	KEY_MOST = 60,  /* of a series' name */
	TERMINAL = 79,  /* columns, where they are not known */
	TERMINAL_LEAST = 40,
	TERMINAL_CURVES = 24, /* lines of a panel */
	TOP = 4,              /* of them, above bars */
	MARGINS = TOP + 4,    /* and above and below */
};

struct drawing {
	const struct picture *picture;
	const struct plot_output *to;
	struct strbuf *out;
	const struct kind *kind;
	bool terminal;
};

static const struct kind {
	const char *suffix, *terminal, *unit;
	double scale; /* of a pixel */
} kinds[] = {
	{".png", "pngcairo noenhanced font 'sans,10'", "", 1},
	{".svg", "svg noenhanced background rgb 'white' font 'sans-serif,12'", "", 1},
	{".pdf", "pdfcairo noenhanced font 'sans,10'", "in", 0.01},
	{"-", "dumb nofeed noenhanced", "", 1},
};

static const struct kind *find_kind(const char *path)
{
	size_t length = strlen(path);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		size_t n = strlen(kinds[i].suffix);

		if (length >= n && strcmp(path + length - n, kinds[i].suffix) == 0 &&
			(n > 1 || length == 1))
			return &kinds[i];
	}
	return NULL;
}

/* Bytes of the printable UTF-8 character at text; 0: it is none. */
static size_t character(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	unsigned long value = n == 1 ? s[0] : s[0] & (0xffu >> (n + 1));

	if (s[0] < ' ' || s[0] == 0x7f || (s[0] >= 0x80 && s[0] < 0xc2) || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		value = value << 6 | (s[i] & 0x3f);
	}
	if ((n == 2 && value < 0xa0) || (n == 3 && value < 0x800) ||
		(value >= 0xd800 && value < 0xe000) || (n == 4 && value < 0x10000) ||
		value > 0x10ffff || value == 0xfffe || value == 0xffff)
		return 0;
	return n;
}

/* A name that gnuplot can be given as it is. */
static bool plain_path(const char *path)
{
	for (size_t n; *path; path += n) {
		n = character((const unsigned char *)path);
		if (!n || *path == '`')
			return false;
	}
	return true;
}

int plot_check(const char *path, struct error *e)
{
	if (!find_kind(path)) {
		error_set(e, ERR_UNSUPPORTED, "unknown kind of picture '%s'", path);
		return error_hint(
			e, "end its name in .png, .svg or .pdf, or use - for the terminal");
	}
	if (plain_path(path))
		return 0;
	error_set(e, ERR_UNSUPPORTED, "gnuplot cannot take this file name: %s", path);
	return error_hint(e, "avoid backquotes, control characters and invalid UTF-8");
}

/* Columns that plot_quoted's text takes. */
static size_t plot_text_width(const char *text)
{
	size_t width = 0, n;

	for (; *text; text += n ? n : 1, width++)
		n = character((const unsigned char *)text);
	return width;
}

/* Nothing is expanded between single quotes, but a doubled quote there ends the string in some
 * cases. So a text with quotes is put together from several strings. A backquote has no effect; it
 * is removed anyway. */
static void quoted_part(struct strbuf *out, const char *text, bool utf8, size_t most)
{
	strbuf_putc(out, '\'');
	for (size_t width = 0; *text && width < most; width++) {
		size_t n = character((const unsigned char *)text);

		if (*text == '\'' || *text == '`')
			strbuf_puts(out, "'.\"'\".'");
		else if (n == 1 || (n > 1 && utf8))
			strbuf_add(out, text, n);
		else
			strbuf_putc(out, '?');
		text += n ? n : 1;
	}
	strbuf_putc(out, '\'');
}

void plot_quoted(struct strbuf *out, const char *text, bool utf8)
{
	quoted_part(out, text, utf8, SIZE_MAX);
}

static bool utf8(const struct drawing *g)
{
	return !g->terminal || g->to->utf8;
}

static unsigned plot_width(const struct drawing *g)
{
	unsigned columns = g->to->columns ? g->to->columns : TERMINAL;

	return !g->terminal ? WIDTH : columns < TERMINAL_LEAST ? TERMINAL_LEAST : columns;
}

/* Of a series: a longer one would leave no room for the plot. */
static void key_title(const struct drawing *g, const char *name)
{
	size_t most = g->terminal ? plot_width(g) / 2 : KEY_MOST;

	strbuf_puts(g->out, " title ");
	quoted_part(g->out, name, utf8(g), most);
	if (plot_text_width(name) > most)
		strbuf_puts(g->out, ".'...'");
}

static void quoted_of_plot(const struct drawing *g, const char *text)
{
	plot_quoted(g->out, text, utf8(g));
}

static void setting(const struct drawing *g, const char *name, const char *text)
{
	if (!text)
		return;
	strbuf_printf(g->out, "set %s ", name);
	quoted_of_plot(g, text);
	strbuf_putc(g->out, '\n');
}

/* ---- sizes ---- */

static size_t rows_of(const struct picture_panel *p)
{
	size_t series = p->series.count ? p->series.count : 1;

	return p->categories.count * series;
}

static bool is_bars(const struct picture_panel *p)
{
	return p->shape == PICTURE_BARS || p->shape == PICTURE_LISTING;
}

/* Rows from one category to the next in the terminal: with several series one is left empty. */
static unsigned step(const struct picture_panel *p)
{
	return p->series.count > 1 ? (unsigned)p->series.count + 1 : 1;
}

/* Between the axes there, a row above and one below the bars. */
static unsigned bar_rows(const struct picture_panel *p)
{
	return ((unsigned)p->categories.count - 1) * step(p) + (unsigned)p->series.count + 1;
}

static unsigned panel_height(const struct drawing *g, const struct picture_panel *p)
{
	unsigned rows = (unsigned)rows_of(p);

	if (g->terminal)
		return is_bars(p) ? bar_rows(p) + MARGINS : TERMINAL_CURVES;
	return is_bars(p) ? FRAME + ROW * (rows < 4 ? 4 : rows) : CURVES;
}

/* Pixels of a picture. */
static unsigned height(const struct drawing *g)
{
	unsigned sum = 40;

	for (size_t i = 0; i < g->picture->panels.count; i++)
		sum += panel_height(g, &g->picture->panels.data[i]);
	return sum;
}

/* Panels share a picture, and follow each other on the terminal. */
static bool shared(const struct drawing *g)
{
	return g->picture->panels.count > 1 && !g->terminal;
}

static void main_title(const struct drawing *g)
{
	quoted_of_plot(g, g->picture->title);
	if (g->picture->subtitle) {
		strbuf_puts(g->out, ".\"\\n\".");
		quoted_of_plot(g, g->picture->subtitle);
	}
}

static void terminal(const struct drawing *g, unsigned lines)
{
	const struct kind *k = g->kind;

	strbuf_printf(g->out, "set terminal %s size %g%s,%g%s\n", k->terminal,
		k->scale * plot_width(g), k->unit, k->scale * lines, k->unit);
}

static void plot_begin(const struct drawing *g)
{
	strbuf_puts(g->out, "# Drawn by: gnuplot THIS_FILE\n");
	if (!g->terminal) {
		terminal(g, height(g));
		setting(g, "output", g->to->path);
	}
	strbuf_puts(g->out, "set encoding utf8\nset datafile missing 'NaN'\n");
	if (shared(g)) {
		strbuf_printf(
			g->out, "set multiplot layout %zu,1 title ", g->picture->panels.count);
		main_title(g);
		strbuf_putc(g->out, '\n');
	}
}

/* Undoes the settings of the panel before. */
static void begin_panel(const struct drawing *g, size_t i)
{
	const struct picture_panel *panel = &g->picture->panels.data[i];

	strbuf_puts(g->out, "\n");
	if (i)
		strbuf_puts(g->out, "unset lmargin\nunset tmargin\nunset bmargin\n"
				    "set xtics autofreq\nset ytics autofreq\n"
				    "unset xlabel\nunset ylabel\nunset label\nset key default\n");
	if (g->terminal)
		terminal(g, panel_height(g, panel));
	strbuf_puts(g->out, "set title ");
	if (shared(g))
		quoted_of_plot(g, panel->title ? panel->title : "");
	else if (i == 0)
		main_title(g);
	if (g->terminal && panel->title && g->picture->panels.count > 1) {
		strbuf_puts(g->out, i ? "" : ".\"\\n\".");
		quoted_of_plot(g, panel->title);
	}
	strbuf_putc(g->out, '\n');
}

/* ---- data ---- */

static void plot_number(struct strbuf *out, double value)
{
	if (isfinite(value))
		strbuf_printf(out, " %.9g", value);
	else
		strbuf_puts(out, " NaN");
}

/* x, y, low, high; of areas also the sum of those below. */
static void data(const struct drawing *g, size_t panel)
{
	const struct picture_panel *p = &g->picture->panels.data[panel];

	for (size_t i = 0; i < p->series.count; i++) {
		const struct picture_series *s = &p->series.data[i];

		strbuf_printf(g->out, "# ");
		quoted_of_plot(g, s->name);
		strbuf_printf(g->out, ": x, y, low, high\n$data%zu_%zu << EOD\n", panel, i);
		for (size_t k = 0; k < s->points.count; k++) {
			const struct picture_point *at = &s->points.data[k];
			bool interval = isfinite(at->low) && isfinite(at->high);

			plot_number(g->out, at->x);
			plot_number(g->out, at->y);
			plot_number(g->out, interval ? at->low : NAN);
			plot_number(g->out, interval ? at->high : NAN);
			strbuf_putc(g->out, '\n');
		}
		strbuf_puts(g->out, "EOD\n");
	}
}

struct range {
	double low, high;
	bool intervals; /* some point has one */
};

static void plot_extend(struct range *r, double value)
{
	if (!isfinite(value))
		return;
	r->low = fmin(r->low, value);
	r->high = fmax(r->high, value);
}

/* Of the values, always with 0. */
static struct range values_of(const struct picture_panel *p)
{
	struct range r = {0, 0, false};

	for (size_t i = 0; i < p->series.count; i++)
		for (size_t k = 0; k < p->series.data[i].points.count; k++) {
			const struct picture_point *at = &p->series.data[i].points.data[k];

			plot_extend(&r, at->y);
			plot_extend(&r, at->low);
			plot_extend(&r, at->high);
			r.intervals |= isfinite(at->low) && at->high > at->low;
		}
	return r;
}

static struct range span_of(const struct picture_panel *p)
{
	struct range r = {INFINITY, -INFINITY, false};

	for (size_t i = 0; i < p->series.count; i++)
		for (size_t k = 0; k < p->series.data[i].points.count; k++)
			plot_extend(&r, p->series.data[i].points.data[k].x);
	return r;
}

static void range(const struct drawing *g, const char *axis, double low, double high)
{
	strbuf_printf(g->out, "set %srange [%.9g:%.9g]\n", axis, low, high > low ? high : low + 1);
}

/* ---- bars ---- */

static size_t longest(const struct picture_panel *p)
{
	size_t most = 0;

	for (size_t i = 0; i < p->categories.count; i++)
		most = plot_text_width(p->categories.data[i]) > most
			       ? plot_text_width(p->categories.data[i])
			       : most;
	return most < TEXT_MOST ? most : TEXT_MOST;
}

/* Room for the names, which is calculated: gnuplot would estimate it from another font. */
static size_t name_width(const struct drawing *g, const struct picture_panel *p)
{
	size_t most = longest(p);

	return g->terminal && most > plot_width(g) / 2 ? plot_width(g) / 2 : most;
}

/* Labels are used instead of tics, because tics are formats, and end after fifty characters. Lines
 * of source are left-aligned, in a font of fixed width. */
static void names(const struct drawing *g, const struct picture_panel *p)
{
	size_t most = name_width(g, p);
	bool left = p->shape == PICTURE_LISTING;

	strbuf_puts(g->out, "unset ytics\n");
	for (size_t i = 0; i < p->categories.count; i++) {
		strbuf_puts(g->out, "set label ");
		quoted_part(g->out, p->categories.data[i], utf8(g), most);
		strbuf_printf(g->out, " at %s, first %zu %s%s\n",
			!left         ? "graph 0"
			: g->terminal ? "character 1"
				      : "screen 0.01",
			i, left ? "left" : "right offset -1,0",
			left && !g->terminal ? " font 'monospace,9'" : "");
	}
	if (g->terminal)
		strbuf_printf(g->out, "set lmargin %zu\n", most + 3);
	else
		strbuf_printf(g->out, "set lmargin at screen %.3f\n",
			fmin(0.7, (double)(most * LETTER + 25) / WIDTH));
}

/* A terminal writes in one direction only, and has room for the number after its bar. */
static void terminal_bar(const struct drawing *g, size_t panel, size_t i, bool intervals)
{
	const struct picture_panel *p = &g->picture->panels.data[panel];
	double shift = ((double)i - ((double)p->series.count - 1) / 2) / step(p);

	strbuf_printf(g->out, "$data%zu_%zu using (0):($1%+.5f):2:(0) with vectors nohead lt %zu",
		panel, i, shift, i + 1);
	if (p->series.count > 1) {
		key_title(g, p->series.data[i].name);
	} else {
		strbuf_puts(g->out, " notitle");
	}
	strbuf_printf(g->out,
		", \\\n     $data%zu_%zu using ($2 > 0 ? $2 : 0):($1%+.5f):(sprintf(%s)) with "
		"labels left "
		"offset 2,0 notitle",
		panel, i, shift,
		intervals ? "valid(3) ? '%.3g (%.3g to %.3g)' : '%.3g', $2, $3, $4" : "'%.3g', $2");
}

static void picture_bar(const struct drawing *g, size_t panel, size_t i, bool intervals)
{
	const struct picture_panel *p = &g->picture->panels.data[panel];
	double n = (double)p->series.count, size = 0.8 / n,
	       shift = ((double)i - (n - 1) / 2) * size;

	strbuf_printf(g->out,
		"$data%zu_%zu using 2:1:(0):2:($1%+.3f):($1%+.3f) with boxxyerror fs solid 0.75 "
		"border -1 lc rgb '%s'",
		panel, i, shift - size / 2, shift + size / 2, colours[i % COLOURS]);
	if (n > 1) {
		key_title(g, p->series.data[i].name);
	} else {
		strbuf_puts(g->out, " notitle");
	}
	if (intervals)
		strbuf_printf(g->out,
			", \\\n     $data%zu_%zu using 2:($1%+.3f):3:4 with xerrorbars pt 0 lw 1.5 "
			"lc "
			"rgb 'black' notitle",
			panel, i, shift);
}

/* The axis of values; in the terminal, with room for numbers after the bars. Returns whether there
 * are intervals to show, and room for them. */
static bool value_axis(const struct drawing *g, const struct picture_panel *p)
{
	enum { FIGURE = 10, FIGURES = 29 };
	struct range v = values_of(p);
	double bars = (double)(plot_width(g) - name_width(g, p)) - 6, room = 0.04;
	bool intervals = v.intervals && (!g->terminal || bars > FIGURES + 12);

	if (g->terminal)
		room = (intervals ? FIGURES : FIGURE) / (bars - (intervals ? FIGURES : FIGURE));
	room *= v.high > v.low ? v.high - v.low : 1;
	range(g, "x", v.low < 0 ? v.low - 0.04 * (v.high - v.low) : 0, v.high + room);
	return intervals;
}

static void bars(const struct drawing *g, size_t panel)
{
	const struct picture_panel *p = &g->picture->panels.data[panel];
	double n = (double)p->categories.count, edge = 0.6;
	bool intervals;

	setting(g, "xlabel", p->x_label);
	names(g, p);
	if (p->series.count > 1)
		strbuf_puts(g->out,
			g->terminal ? "set key bottom right\n"
				    : "set key outside bottom center horizontal height 1.5\n");
	strbuf_puts(g->out, "set xtics nomirror\nset border 3\n");
	if (g->terminal) {
		strbuf_printf(g->out, "set tmargin %d\nset bmargin 3\n", TOP);
		edge = (((double)p->series.count - 1) / 2 + 1) / step(p);
	} else {
		strbuf_puts(g->out, "set grid xtics\n");
	}
	intervals = value_axis(g, p);
	strbuf_printf(g->out, "set yrange [%.5f:%.5f]\n", n - 1 + edge, -edge);
	for (size_t i = 0; i < p->series.count; i++) {
		strbuf_puts(g->out, i ? ", \\\n     " : "plot ");
		(g->terminal ? terminal_bar : picture_bar)(g, panel, i, intervals);
	}
	strbuf_putc(g->out, '\n');
}

/* ---- curves ---- */

static void curve(const struct drawing *g, size_t panel, size_t i, const char *separator)
{
	const struct picture_series *s = &g->picture->panels.data[panel].series.data[i];
	/* over areas, a colour that contrasts with all of them */
	const char *colour = s->line ? "black" : colours[i % COLOURS];
	bool intervals = false;

	for (size_t k = 0; k < s->points.count; k++)
		intervals |= s->points.data[k].high > s->points.data[k].low;
	strbuf_printf(g->out, "%s $data%zu_%zu using 1:2 with linespoints", separator, panel, i);
	if (!g->terminal)
		strbuf_printf(g->out, " lw 2 pt %zu lc rgb '%s'", 4 + i % 8, colour);
	key_title(g, s->name);
	if (intervals && !g->terminal)
		strbuf_printf(g->out,
			", \\\n     $data%zu_%zu using 1:2:3:4 with yerrorbars pt 0 lc rgb '%s' "
			"notitle",
			panel, i, colour);
}

/* The series on top first, so that those below are painted over it. */
static void areas(const struct drawing *g, size_t panel)
{
	const struct picture_panel *p = &g->picture->panels.data[panel];
	const char *separator = "plot";

	for (size_t i = p->series.count; i-- > 0;) {
		if (p->series.data[i].line)
			continue;
		strbuf_printf(g->out, "%s $data%zu_%zu using %s", separator, panel, i,
			g->terminal ? "1:4 with lines" : "1:3:4 with filledcurves");
		if (!g->terminal)
			strbuf_printf(g->out, " fs solid 0.75 border -1 lc rgb '%s'",
				colours[i % COLOURS]);
		key_title(g, p->series.data[i].name);
		separator = ", \\\n    ";
	}
	for (size_t i = 0; i < p->series.count; i++)
		if (p->series.data[i].line) {
			curve(g, panel, i, separator);
			separator = ", \\\n    ";
		}
}

static void curves(const struct drawing *g, size_t panel)
{
	const struct picture_panel *p = &g->picture->panels.data[panel];
	struct range values = values_of(p), span = span_of(p);
	double room = 0.05 * (values.high - values.low), side = 0.03 * (span.high - span.low);

	setting(g, "xlabel", p->x_label);
	setting(g, "ylabel", p->y_label);
	strbuf_puts(g->out, "set xtics nomirror\nset ytics nomirror\nset grid\nset border 3\n");
	strbuf_puts(g->out, "set key outside bottom center horizontal height 1.5\n");
	range(g, "y", values.low < 0 ? values.low - room : 0, values.high + room);
	range(g, "x", span.low - (side > 0 ? side : 1), span.high + (side > 0 ? side : 1));
	if (p->shape == PICTURE_AREAS)
		areas(g, panel);
	else
		for (size_t i = 0; i < p->series.count; i++)
			curve(g, panel, i, i ? ", \\\n    " : "plot");
	strbuf_putc(g->out, '\n');
}

int plot_script(
	const struct picture *p, const struct plot_output *to, struct strbuf *out, struct error *e)
{
	struct drawing g = {p, to, out, find_kind(to->path), strcmp(to->path, "-") == 0};

	if (plot_check(to->path, e) || !g.kind)
		return -1;
	for (size_t i = 0; i < p->panels.count; i++)
		if (!p->panels.data[i].series.count ||
			!p->panels.data[i].series.data[0].points.count)
			return error_set(e, ERR_NOT_FOUND, "nothing to draw");
	if (!p->panels.count)
		return error_set(e, ERR_NOT_FOUND, "nothing to draw");
	plot_begin(&g);
	for (size_t i = 0; i < p->panels.count; i++)
		data(&g, i);
	for (size_t i = 0; i < p->panels.count; i++) {
		begin_panel(&g, i);
		if (is_bars(&p->panels.data[i]))
			bars(&g, i);
		else
			curves(&g, i);
	}
	if (shared(&g))
		strbuf_puts(out, "unset multiplot\n");
	return out->failed ? error_nomem(e) : 0;
}
