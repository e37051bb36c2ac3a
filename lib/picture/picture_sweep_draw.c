/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The contents of a sweep: curves of events, or areas of their costs. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "picture/picture_sweep_private.h"

enum scale { PLAIN, COST /* seconds that events typically cost */, TIME /* seconds of cycles */ };

struct term { /* of -y */
	const char *text;
	bool costs;
	const struct sweep_event *over, *under; /* under NULL: by nothing, or by a power of x */
	int power;
	enum scale scale;
};

typedef VEC(struct term) terms;

enum { CURVES_MAX = 12, POWER_MAX = 9 };

/* ---- -y ---- */

static const struct sweep_event *find_event(
	const struct sweep *s, const char *name, struct error *e)
{
	struct strbuf all = {0};

	for (size_t i = 0; i < s->events.count; i++)
		if (strcmp(s->events.data[i].short_name, name) == 0)
			return &s->events.data[i];
	for (size_t i = 0; i < s->events.count; i++)
		strbuf_printf(&all, "%s%s", i ? ", " : "", s->events.data[i].short_name);
	error_set(e, ERR_NOT_FOUND, "no event '%s' in these files", name);
	error_hint(e, "there are %.400s", strbuf_text(&all));
	strbuf_fini(&all);
	return NULL;
}

/* "x", "x^3" */
static int power_of(const char *text)
{
	if (strcmp(text, "x") == 0)
		return 1;
	if (strncmp(text, "x^", 2) == 0 && text[2] >= '1' && text[2] <= '0' + POWER_MAX && !text[3])
		return text[2] - '0';
	return 0;
}

static int parse_term(struct sweep *s, char *word, terms *list, struct error *e)
{
	struct term *t = vec_push(list);
	char *slash = strchr(word, '/');

	if (!t)
		return error_nomem(e);
	t->text = picture_text(s->picture, "%s", word);
	if (slash)
		*slash = '\0';
	t->costs = strcmp(word, "costs") == 0;
	if (!t->costs) {
		t->over = find_event(s, word, e);
		if (!t->over)
			return -1;
	}
	t->power = slash ? power_of(slash + 1) : 0;
	if (!slash || t->power)
		return 0;
	if (t->costs) {
		error_set(e, ERR_PARSE, "-y costs is divided by x or a power of it, not by '%s'",
			slash + 1);
		return error_hint(e, "use -y costs, -y costs/x or -y costs/x^3");
	}
	t->under = find_event(s, slash + 1, e);
	return t->under ? 0 : -1;
}

static int parse_terms(struct sweep *s, terms *list, struct error *e)
{
	char *text = strdup(s->request->y), *rest = text;
	int rc = text ? 0 : error_nomem(e);

	while (rc == 0 && rest) {
		char *word = strsep(&rest, ",");

		rc = parse_term(s, word, list, e);
	}
	free(text);
	return rc;
}

static int all_events(struct sweep *s, terms *list, struct error *e)
{
	enum { FEW = 6 };

	if (s->events.count > FEW) {
		error_set(e, ERR_CONFLICT, "%zu events are too many for one picture",
			s->events.count);
		return error_hint(e, "choose some with -y EVENT,...");
	}
	for (size_t i = 0; i < s->events.count; i++) {
		const struct term t = {
			.text = s->events.data[i].short_name, .over = &s->events.data[i]};

		if (vec_add(list, t))
			return error_nomem(e);
	}
	return 0;
}

/* ---- values ---- */

static struct quantity divide(struct quantity a, struct quantity b)
{
	double r = a.value > 0 ? (a.high - a.low) / (2 * a.value) : 0,
	       q = b.value > 0 ? (b.high - b.low) / (2 * b.value) : 0, factor = exp(hypot(r, q));
	struct quantity out = {.label = label_join(a.label, b.label)};

	if (a.label == LABEL_NONE || b.label == LABEL_NONE || b.value <= 0)
		return (struct quantity){.label = LABEL_NONE};
	out.value = a.value / b.value;
	out.low = out.value / factor;
	out.high = a.value > 0 ? out.value * factor : a.high / b.value;
	return out;
}

static struct quantity scaled(struct quantity q, double by)
{
	return isfinite(by) ? (struct quantity){q.value * by, q.low * by, q.high * by, q.label}
			    : (struct quantity){.label = LABEL_NONE};
}

static struct quantity event_value(
	const struct sweep *s, size_t run, size_t row, const struct sweep_event *event)
{
	return s->values[(run * s->rows.count + row) * s->events.count +
			 (size_t)(event - s->events.data)];
}

static double picture_sweep_draw_cost_of(
	const struct sweep *s, size_t run, const struct sweep_event *event)
{
	return s->costs[run * s->events.count + (size_t)(event - s->events.data)];
}

static struct quantity value_of(const struct sweep *s, const struct term *t, size_t run, size_t row)
{
	struct quantity q = event_value(s, run, row, t->over);
	double by = 1;

	if (t->under)
		return divide(q, event_value(s, run, row, t->under));
	if (t->scale == COST && q.label != LABEL_NONE) {
		/* with a count of 0: the cost is unknown, and does not matter */
		by = isfinite(picture_sweep_draw_cost_of(s, run, t->over))
			     ? picture_sweep_draw_cost_of(s, run, t->over)
			     : 0;
		q.label = LABEL_ESTIMATED;
	} else if (t->scale == TIME && !t->over->clock) {
		by = 1 / s->runs.data[run].clock_hz;
	}
	return scaled(q, by / (t->power ? pow(s->runs.data[run].x, t->power) : 1));
}

/* Runs at one x: their mean, with the interval of their differences. */
static struct quantity mean_of(const double *values, size_t n, struct quantity first)
{
	double mean, half;

	if (n < 2)
		return first;
	mean = stats_mean(values, n);
	half = stats_t95((double)n - 1) * stats_stddev(values, n) / sqrt((double)n);
	return (struct quantity){mean, mean - half, mean + half, first.label};
}

/* A point for each x of the variant that has a value. */
static void add_curve(struct sweep *s, struct picture_series *series, const struct term *t,
	size_t row, size_t variant)
{
	double *values = calloc(s->runs.count + 1, sizeof(*values)), x = 0;
	struct quantity first = {.label = LABEL_NONE};
	size_t n = 0;

	s->picture->failed |= !values;
	for (size_t i = 0; i <= s->runs.count && values; i++) {
		const struct sweep_run *run = i < s->runs.count ? &s->runs.data[s->order[i]] : NULL;
		struct quantity q;

		if (run && run->variant != variant)
			continue;
		if (n && (!run || run->x != x)) {
			q = mean_of(values, n, first);
			picture_point_add(s->picture, series, x, q.value, q.low, q.high);
			n = 0;
		}
		q = run ? value_of(s, t, s->order[i], row) : first;
		if (!run || q.label == LABEL_NONE || !isfinite(q.value))
			continue;
		first = n ? first : q;
		x = run->x;
		values[n++] = q.value;
	}
	free(values);
}

/* ---- curves ---- */

static const char *curve_name(
	struct sweep *s, const char *term, size_t row, size_t variant, bool rows)
{
	struct strbuf b = {0};
	const char *name;

	if (term)
		strbuf_puts(&b, term);
	if (rows)
		strbuf_printf(&b, "%s%s", b.length ? ", " : "", s->rows.data[row]);
	if (s->variants.count > 1)
		strbuf_printf(&b, "%s%s", b.length ? ", " : "", s->variants.data[variant]);
	name = picture_text(s->picture, "%s", b.length ? strbuf_text(&b) : s->rows.data[row]);
	strbuf_fini(&b);
	return name;
}

static const char *power_text(struct sweep *s, int power)
{
	return power == 0 ? "" : power == 1 ? " / x" : picture_text(s->picture, " / x^%d", power);
}

static const char *term_label(struct sweep *s, const struct term *t)
{
	if (t->under)
		return picture_text(s->picture, "%s for each of %s (%s)", t->over->unit,
			t->under->unit, label_name(label_join(t->over->label, t->under->label)));
	return picture_text(s->picture, "%s%s (%s)", t->over->unit, power_text(s, t->power),
		label_name(t->over->label));
}

static void add_term(struct sweep *s, struct picture_panel *panel, const struct term *t, bool named)
{
	bool rows = s->rows.count > 1;

	for (size_t row = 0; row < s->rows.count; row++)
		for (size_t v = 0; v < s->variants.count && panel->series.count < CURVES_MAX; v++) {
			struct picture_series *series = picture_series_add(s->picture, panel,
				curve_name(s, named ? t->text : NULL, row, v, rows));

			add_curve(s, series, t, row, v);
			if (!series->points.count && !s->picture->failed)
				panel->series.count--;
		}
}

/* One panel of several events, if they are of one row; else one each. */
static void add_panels(struct sweep *s, const terms *list)
{
	bool together = s->rows.count == 1 && list->count > 1;
	struct picture_panel *panel = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct term *t = &list->data[i];

		if (t->costs)
			continue;
		if (!panel || !together) {
			panel = picture_panel_add(s->picture, PICTURE_CURVES);
			panel->x_label = s->x_label;
			panel->title = together ? "Events" : t->under ? t->text : t->over->name;
			panel->y_label = term_label(s, t);
		}
		if (together && i && strcmp(t->over->unit, list->data[0].over->unit) != 0)
			panel->y_label =
				picture_text(s->picture, "events (%s)", label_name(t->over->label));
		add_term(s, panel, t, together);
	}
}

/* ---- areas ---- */

static bool picture_sweep_draw_is_time(const struct sweep_event *event)
{
	return event->clock || event->number == EV_CYCLES || event->number == EV_CYCLES_16;
}

static const struct sweep_event *time_event(const struct sweep *s)
{
	for (size_t i = 0; i < s->events.count; i++)
		if (picture_sweep_draw_is_time(&s->events.data[i]))
			return &s->events.data[i];
	return NULL;
}

static bool costs_something(const struct sweep *s, const struct sweep_event *event)
{
	for (size_t i = 0; i < s->runs.count; i++)
		if (picture_sweep_draw_cost_of(s, i, event) > 0)
			return !picture_sweep_draw_is_time(event);
	return false;
}

/* Stacks a series on those below it: low, high become its lower and upper edge. */
static void pile_up(struct picture_series *series, double *heights)
{
	for (size_t i = 0; i < series->points.count; i++) {
		struct picture_point *at = &series->points.data[i];

		at->low = heights[i];
		at->high = heights[i] += at->y;
	}
}

/* The time, and as an area its difference to the sum of its parts; if they overlap, nothing. */
static void add_time(struct sweep *s, struct picture_panel *panel, const struct term *t, size_t row,
	size_t variant, double *heights)
{
	struct picture_series *rest =
		picture_series_add(s->picture, panel, "other (what is left of the time)");
	struct picture_series *all;

	add_curve(s, rest, t, row, variant);
	if (!rest->points.count && !s->picture->failed) {
		panel->series.count--;
		return;
	}
	for (size_t i = 0; i < rest->points.count; i++)
		rest->points.data[i].y = fmax(0, rest->points.data[i].y - heights[i]);
	pile_up(rest, heights);
	all = picture_series_add(s->picture, panel,
		picture_text(s->picture, "all (%s)", label_name(t->over->label)));
	all->line = true;
	add_curve(s, all, t, row, variant);
}

static void fill_areas(struct sweep *s, struct picture_panel *panel, const struct term *t,
	size_t row, size_t variant, double *heights)
{
	struct term part = {.power = t->power, .scale = COST};

	for (size_t i = 0; i < s->events.count; i++) {
		struct picture_series *series;

		part.over = &s->events.data[i];
		if (!costs_something(s, part.over))
			continue;
		series = picture_series_add(s->picture, panel, part.over->name);
		add_curve(s, series, &part, row, variant);
		pile_up(series, heights);
	}
	part.over = time_event(s);
	part.scale = TIME;
	if (part.over)
		add_time(s, panel, &part, row, variant, heights);
}

/* A panel of each row and variant. */
static int add_areas(struct sweep *s, const struct term *t, struct error *e)
{
	size_t variants = s->variants.count;

	for (size_t i = 0; i < s->rows.count * variants && !s->picture->failed; i++) {
		double *heights = calloc(s->runs.count + 1, sizeof(*heights));
		struct picture_panel *panel = picture_panel_add(s->picture, PICTURE_AREAS);

		if (!heights)
			return error_nomem(e);
		fill_areas(s, panel, t, i / variants, i % variants, heights);
		free(heights);
		panel->title = curve_name(s, NULL, i / variants, i % variants, true);
		panel->x_label = s->x_label;
		panel->y_label = picture_text(
			s->picture, "seconds%s (events: estimated)", power_text(s, t->power));
		if (!panel->series.count) {
			error_set(e, ERR_NOT_FOUND, "no event of these files has a known cost");
			return error_hint(e, "record with perfex -y");
		}
	}
	return 0;
}

static void picture_sweep_draw_titles(struct sweep *s, const terms *list)
{
	const struct sweep_run *first = &s->runs.data[0];
	const char *program =
		s->variants.count == 1 && s->variants.data[0][0] ? s->variants.data[0] : NULL;
	const char *what = list->data[0].costs ? "Time and typical costs of events"
			   : list->count == 1 && !list->data[0].under ? list->data[0].over->name
			   : list->count == 1                         ? list->data[0].text
								      : "Events";
	const char *where = first->experiment ? experiment_fact_find(first->experiment, "model")
					      : first->report->machine;

	if (first->experiment && !where)
		where = experiment_fact_find(first->experiment, "host");
	s->picture->title = picture_text(s->picture, "%s, by %s", what, s->x_label);
	s->picture->subtitle = picture_text(s->picture, "%s%s%s, %zu run%s", program ? program : "",
		program ? ", on " : "on ", where ? where : "an unknown host", s->runs.count,
		plural(s->runs.count));
}

int sweep_draw(struct sweep *s, struct error *e)
{
	terms list = {0};
	int rc = s->request->y ? parse_terms(s, &list, e) : all_events(s, &list, e);

	if (rc == 0 && !s->rows.count) {
		error_set(e, ERR_NOT_FOUND, "no function has enough samples for a curve");
		error_hint(e, "choose functions with -only");
		rc = -1;
	}
	if (rc == 0) {
		picture_sweep_draw_titles(s, &list);
		add_panels(s, &list);
	}
	for (size_t i = 0; i < list.count && rc == 0; i++)
		if (list.data[i].costs)
			rc = add_areas(s, &list.data[i], e);
	vec_fini(&list);
	return rc;
}
