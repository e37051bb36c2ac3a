/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture_timeline.h"

#include <math.h>

#include "base/time_unit.h"
#include "picture/picture_lines.h"

struct timeline_panel {
	struct picture *picture;
	struct picture_panel *panel;
	const struct report_table *table;
	struct time_unit unit;             /* of the axis */
	size_t column;                     /* its first figure */
	double top[PICTURE_TIMELINE_MOST]; /* of the areas so far */
};

static double timeline_value(const struct timeline_panel *l, size_t row, size_t bin)
{
	return report_cells(l->table, row)[l->column + bin].quantity.value;
}

/* A step for each bin, on top of the areas before it: units a second. */
static void timeline_area(struct timeline_panel *l, const char *name, const double *values)
{
	const struct report_times *times = &l->table->times;
	struct picture_series *s = picture_series_add(l->picture, l->panel, name);

	for (size_t i = 0; i < times->bins; i++) {
		double begin = (times->begin + (double)i * times->width) * l->unit.scale;
		double end = begin + times->width * l->unit.scale;
		double y = values[i] / times->width, top = l->top[i] + y;

		picture_point_add(l->picture, s, begin, y, l->top[i], top);
		picture_point_add(l->picture, s, end, y, l->top[i], top);
		l->top[i] = top;
	}
}

static void timeline_areas(struct timeline_panel *l)
{
	double values[PICTURE_TIMELINE_MOST] = {0}, rest[PICTURE_TIMELINE_MOST] = {0};
	const struct report_table *t = l->table;
	size_t bins = t->times.bins;

	for (size_t r = 0; r < t->rows.count; r++)
		for (size_t i = 0; t->rows.data[r].role == REPORT_TOTAL && i < bins; i++)
			rest[i] = timeline_value(l, r, i);
	for (size_t r = 0; r < t->rows.count; r++) {
		const struct report_row *row = &t->rows.data[r];

		if (row->role != REPORT_ROW)
			continue;
		for (size_t i = 0; i < bins; i++) {
			values[i] = timeline_value(l, r, i);
			rest[i] = fmax(rest[i] - values[i], 0);
		}
		timeline_area(l,
			row->shown       ? row->shown
			: row->procedure ? row->procedure
					 : row->image,
			values);
	}
	timeline_area(l, "all others", rest);
}

int picture_timeline(
	struct picture *p, const struct prof_data *d, const struct report_table *t, struct error *e)
{
	p->title = "Functions over time";
	p->subtitle = picture_origin(p, d->request->inputs[0].experiment);
	for (size_t i = 0; i < t->columns.count && !p->failed; i++) {
		const struct report_column *c = &t->columns.data[i];
		struct timeline_panel l = {.picture = p,
			.table = t,
			.unit = time_unit_of(
				t->times.begin + (double)t->times.bins * t->times.width),
			.column = i + 1};

		if (!(c->flags & REPORT_MARGIN))
			continue;
		l.panel = picture_panel_add(p, PICTURE_AREAS);
		l.panel->x_label = picture_text(p, "time, %s", l.unit.name);
		l.panel->y_label =
			picture_text(p, "%s a second (%s)", c->unit, label_name(c->label));
		timeline_areas(&l);
	}
	return picture_finish(p, e);
}
