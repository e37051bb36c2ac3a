/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a sweep shows: curves of events, or areas of what they cost. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/stats.h"
#include "base/strbuf.h"
#include "picture/picture_sweep_private.h"

struct term { /* of -y */
	const char *text;
	bool costs;
	const struct sweep_event *over, *under; /* under NULL: by nothing, or by a power of x */
	int power;
};

typedef VEC(struct term) terms;

enum { CURVES_MAX = 12, POWER_MAX = 9 };

/* ---- -y
 * ------------------------------------------------------------------------------------------ */

static const struct sweep_event *find_event(
	const struct sweep *s, const char *name, struct error *e)
{
	struct strbuf all = {0};

	for (size_t i = 0; i < s->events.count; i++)
		if (strcmp(s->events.data[i].short_name, name) == 0)
			return &s->events.data[i];
	for (size_t i = 0; i < s->events.count; i++)
		strbuf_printf(&all, "%s%s", i ? ", " : "", s->events.data[i].short_name);
	error_set(e, ERR_NOT_FOUND, "there is no event '%s' in these files", name);
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
	if (!t->text)
		return error_nomem(e);
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
		error_set(e, ERR_PARSE, "-y costs goes by x or a power of it, not by '%s'",
			slash + 1);
		return error_hint(e, "-y costs, -y costs/x, -y costs/x^3");
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
		return error_hint(e, "-y EVENT,... says which to draw");
	}
	for (size_t i = 0; i < s->events.count; i++) {
		struct term *t = vec_push(list);

		if (!t)
			return error_nomem(e);
		t->text = s->events.data[i].short_name;
		t->over = &s->events.data[i];
	}
	return 0;
}

/* ---- values
 * -------------------------------------------------------------------------------------- */

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

static struct quantity by_power(struct quantity q, double x, int power)
{
	double divisor = power ? pow(x, power) : 1;

	if (!(fabs(divisor) > 0))
		return (struct quantity){.label = LABEL_NONE};
	return (struct quantity){q.value / divisor, q.low / divisor, q.high / divisor, q.label};
}

static struct quantity value_of(const struct sweep *s, const struct term *t, size_t run, size_t row)
{
	struct quantity q = s->value(s, run, row, t->over);

	if (t->under)
		return divide(q, s->value(s, run, row, t->under));
	return by_power(q, s->runs.data[run].x, t->power);
}

/* Runs at one x: their mean, with what they differ by. */
static struct quantity mean_of(const double *values, size_t n, struct quantity first)
{
	double mean, half;

	if (n < 2)
		return first;
	mean = stats_mean(values, n);
	half = stats_t95((double)n - 1) * stats_stddev(values, n) / sqrt((double)n);
	return (struct quantity){mean, mean - half, mean + half, first.label};
}

static int by_x(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* All x of a variant, each once, in order; *count of them; yours to free. */
static double *all_x(const struct sweep *s, size_t variant, size_t *count)
{
	double *x = calloc(s->runs.count + 1, sizeof(*x));
	size_t n = 0;

	*count = 0;
	if (!x)
		return NULL;
	for (size_t i = 0; i < s->runs.count; i++)
		if (s->runs.data[i].variant == variant)
			x[n++] = s->runs.data[i].x;
	qsort(x, n, sizeof(*x), by_x);
	for (size_t i = 0; i < n; i++)
		if (!*count || x[*count - 1] != x[i])
			x[(*count)++] = x[i];
	return x;
}

typedef struct quantity point_of(const struct sweep *s, const void *what, size_t run, size_t row);

/* The value at one x. */
static struct quantity at_x(const struct sweep *s, point_of *of, const void *what, size_t row,
	size_t variant, double x, double *room)
{
	struct quantity first = {.label = LABEL_NONE};
	size_t n = 0;

	for (size_t i = 0; i < s->runs.count; i++) {
		struct quantity q;

		if (s->runs.data[i].variant != variant || s->runs.data[i].x != x)
			continue;
		q = of(s, what, i, row);
		if (q.label == LABEL_NONE || !isfinite(q.value))
			continue;
		first = n ? first : q;
		room[n++] = q.value;
	}
	return mean_of(room, n, first);
}

static int add_curve(struct sweep *s, struct picture_series *series, point_of *of, const void *what,
	size_t row, size_t variant)
{
	double *room = calloc(s->runs.count + 1, sizeof(*room));
	size_t count;
	double *x = all_x(s, variant, &count);
	int rc = room && x ? 0 : -1;

	for (size_t i = 0; i < count && rc == 0; i++) {
		struct quantity q = at_x(s, of, what, row, variant, x[i], room);

		if (q.label != LABEL_NONE)
			rc = picture_point_add(series, x[i], q.value, q.low, q.high);
	}
	free(room);
	free(x);
	return rc;
}

/* ---- curves
 * -------------------------------------------------------------------------------------- */

static struct quantity term_point(const struct sweep *s, const void *what, size_t run, size_t row)
{
	return value_of(s, what, run, row);
}

static const char *curve_name(
	struct sweep *s, const char *term, size_t row, size_t variant, bool rows)
{
	struct strbuf b = {0};
	const char *name;

	if (term)
		strbuf_puts(&b, term);
	if (rows)
		strbuf_printf(&b, "%s%s", b.length ? ", " : "", s->rows.data[row].name);
	if (s->variants.count > 1)
		strbuf_printf(&b, "%s%s", b.length ? ", " : "", s->variants.data[variant]);
	name = picture_text(s->picture, "%s", b.length ? strbuf_text(&b) : s->rows.data[row].name);
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

static int add_term(struct sweep *s, struct picture_panel *panel, const struct term *t, bool named)
{
	bool rows = s->rows.count > 1;

	for (size_t row = 0; row < s->rows.count; row++)
		for (size_t v = 0; v < s->variants.count && panel->series.count < CURVES_MAX; v++) {
			struct picture_series *series = picture_series_add(
				panel, curve_name(s, named ? t->text : NULL, row, v, rows));

			if (!series || add_curve(s, series, term_point, t, row, v))
				return -1;
			if (!series->points.count)
				panel->series.count--;
		}
	return 0;
}

/* One panel of several events, if they are of one row; else one each. */
static int add_panels(struct sweep *s, const terms *list)
{
	bool together = s->rows.count == 1 && list->count > 1;
	struct picture_panel *panel = NULL;

	for (size_t i = 0; i < list->count; i++) {
		const struct term *t = &list->data[i];

		if (t->costs)
			continue;
		if (!panel || !together) {
			panel = picture_panel_add(s->picture, PICTURE_CURVES);
			if (!panel)
				return -1;
			panel->x_label = s->x_label;
			panel->title = together ? "Events" : t->under ? t->text : t->over->name;
			panel->y_label = term_label(s, t);
		}
		if (together && i && strcmp(t->over->unit, list->data[0].over->unit) != 0)
			panel->y_label =
				picture_text(s->picture, "events (%s)", label_name(t->over->label));
		if (!panel->y_label || add_term(s, panel, t, together))
			return -1;
	}
	return 0;
}

/* ---- areas
 * --------------------------------------------------------------------------------------- */

struct part {                            /* of the time */
	const struct sweep_event *event; /* NULL: what is left */
	const struct term *term;
};

static bool is_time(const struct sweep_event *event)
{
	return event->clock || event->number == EV_CYCLES || event->number == EV_CYCLES_16;
}

static const struct sweep_event *time_event(const struct sweep *s)
{
	for (size_t i = 0; i < s->events.count; i++)
		if (is_time(&s->events.data[i]))
			return &s->events.data[i];
	return NULL;
}

/* Seconds of a row. */
static struct quantity time_point(const struct sweep *s, const void *what, size_t run, size_t row)
{
	const struct part *part = what;
	const struct sweep_event *event = time_event(s);
	struct quantity q = s->value(s, run, row, event);
	double clock = event->clock ? 1 : s->clock(s, run);

	if (q.label == LABEL_NONE || !(clock > 0))
		return (struct quantity){.label = LABEL_NONE};
	q = (struct quantity){q.value / clock, q.low / clock, q.high / clock, q.label};
	return by_power(q, s->runs.data[run].x, part->term->power);
}

static struct quantity part_point(const struct sweep *s, const void *what, size_t run, size_t row)
{
	const struct part *part = what;
	struct quantity q = s->value(s, run, row, part->event);
	double cost = s->cost(s, run, part->event);

	if (q.label == LABEL_NONE)
		return q;
	/* of which there were none: nobody knows their cost, and nothing depends on it */
	cost = isfinite(cost) ? cost : 0;
	q = (struct quantity){q.value * cost, q.low * cost, q.high * cost, LABEL_ESTIMATED};
	return by_power(q, s->runs.data[run].x, part->term->power);
}

static bool costs_something(const struct sweep *s, const struct sweep_event *event)
{
	for (size_t i = 0; i < s->runs.count; i++)
		if (s->cost(s, i, event) > 0)
			return !is_time(event);
	return false;
}

/* Lays a series on what lies there already: low, high are where it begins and ends. */
static int pile_up(struct picture_series *series, double *heights, size_t count)
{
	for (size_t i = 0; i < series->points.count && i < count; i++) {
		struct picture_point *at = &series->points.data[i];

		at->low = heights[i];
		at->high = heights[i] += at->y;
	}
	return 0;
}

/* What the time is more than its parts; where they overlap, nothing. */
static int add_rest(struct picture_panel *panel, const struct picture_series *time, double *heights)
{
	struct picture_series *rest;
	VEC(struct picture_point) points = {0};
	int rc = 0;

	for (size_t i = 0; i < time->points.count && rc == 0; i++) {
		struct picture_point *point = vec_push(&points);

		rc = point ? 0 : -1;
		if (point)
			*point = (struct picture_point){time->points.data[i].x,
				fmax(0, time->points.data[i].y - heights[i]), NAN, NAN};
	}
	rest = rc == 0 ? picture_series_add(panel, "other (what is left of the time)") : NULL;
	for (size_t i = 0; rest && i < points.count; i++)
		rc |= picture_point_add(rest, points.data[i].x, points.data[i].y, heights[i],
			heights[i] + points.data[i].y);
	vec_fini(&points);
	return rest ? rc : -1;
}

static int fill_areas(struct sweep *s, struct picture_panel *panel, const struct term *t,
	size_t row, size_t variant, double *heights)
{
	struct part part = {.term = t};
	struct picture_series *series, time = {.line = true};
	int rc = 0;

	for (size_t i = 0; i < s->events.count; i++) {
		part.event = &s->events.data[i];
		if (!costs_something(s, part.event))
			continue;
		series = picture_series_add(panel, part.event->name);
		if (!series || add_curve(s, series, part_point, &part, row, variant) ||
			pile_up(series, heights, s->runs.count))
			return -1;
	}
	if (!time_event(s))
		return 0;
	rc = add_curve(s, &time, time_point, &part, row, variant);
	if (rc == 0 && time.points.count)
		rc = add_rest(panel, &time, heights);
	series = rc == 0 && time.points.count
			 ? picture_series_add(panel, picture_text(s->picture, "all (%s)",
							     label_name(time_event(s)->label)))
			 : NULL;
	if (!series) {
		vec_fini(&time.points);
		return rc;
	}
	time.name = series->name;
	*series = time;
	return 0;
}

static int add_areas(struct sweep *s, const struct term *t, struct error *e)
{
	double *heights = calloc(s->runs.count + 1, sizeof(*heights));
	int rc = heights ? 0 : -1;

	for (size_t row = 0; row < s->rows.count && rc == 0; row++)
		for (size_t v = 0; v < s->variants.count && rc == 0; v++) {
			struct picture_panel *panel = picture_panel_add(s->picture, PICTURE_AREAS);

			memset(heights, 0, s->runs.count * sizeof(*heights));
			rc = panel ? fill_areas(s, panel, t, row, v, heights) : -1;
			if (rc)
				break;
			panel->title = curve_name(s, NULL, row, v, true);
			panel->x_label = s->x_label;
			panel->y_label = picture_text(s->picture, "seconds%s (events: estimated)",
				power_text(s, t->power));
			if (!panel->series.count) {
				free(heights);
				error_set(e, ERR_NOT_FOUND,
					"no event of these files has a known cost");
				return error_hint(e, "perfex -y counts what has");
			}
			rc = panel->title && panel->y_label ? 0 : -1;
		}
	free(heights);
	return rc ? error_nomem(e) : 0;
}

static int titles(struct sweep *s, const terms *list)
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
	return s->picture->title && s->picture->subtitle ? 0 : -1;
}

int sweep_draw(struct sweep *s, struct error *e)
{
	terms list = {0};
	int rc = s->request->y ? parse_terms(s, &list, e) : all_events(s, &list, e);

	if (rc == 0 && !s->rows.count) {
		error_set(e, ERR_NOT_FOUND, "no function has a part of the samples worth a curve");
		error_hint(e, "-only says which functions to draw");
		rc = -1;
	}
	if (rc == 0 && (titles(s, &list) || add_panels(s, &list)))
		rc = error_nomem(e);
	for (size_t i = 0; i < list.count && rc == 0; i++)
		if (list.data[i].costs)
			rc = add_areas(s, &list.data[i], e);
	vec_fini(&list);
	return rc;
}
