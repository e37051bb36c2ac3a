/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/time_unit.h"

#define LEAST 0.002 /* of the longest bar: shorter ones would be invisible */
enum { BARS = 12, COMMAND = 70 };

/* Seconds of a name in one report: an event's or a cause's. */
struct amount {
	bool known;
	double value, low, high;
};

typedef struct amount amount_of(const struct counts_report *r, const char *name);

static struct amount event_amount(const struct counts_report *r, const char *name)
{
	for (size_t i = 0; i < r->event_count; i++) {
		const struct event_row *row = &r->events[i];

		if (row->costed && strcmp(row->name, name) == 0)
			return (struct amount){true, row->typical, row->minimum, row->maximum};
	}
	return (struct amount){.known = false};
}

static struct amount cause_amount(const struct counts_report *r, const char *name)
{
	for (size_t i = 0; i < r->cause_count; i++)
		if (strcmp(r->causes[i].name, name) == 0)
			return (struct amount){true, r->causes[i].seconds.value,
				r->causes[i].seconds.low, r->causes[i].seconds.high};
	return (struct amount){.known = false};
}

struct candidate {
	const char *name;
	double most;
	size_t order;
};

static int by_most(const void *pa, const void *pb)
{
	const struct candidate *a = pa, *b = pb;

	return sort_falling_number(a->most, b->most) ?: sort_rising(a->order, b->order);
}

typedef VEC(struct candidate) candidates;

static void add_candidate(struct picture *p, candidates *list, const char *name, double value)
{
	const struct candidate fresh = {name, fabs(value), list->count};

	for (size_t i = 0; i < list->count; i++) {
		struct candidate *c = &list->data[i];

		if (strcmp(c->name, name) == 0) {
			c->most = fmax(c->most, fabs(value));
			return;
		}
	}
	p->failed |= vec_add(list, fresh) != 0;
}

/* Events whose typical cost is 0 are parts of others: no bars. */
static void event_candidates(struct picture *p, candidates *list, const struct counts_report *r)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (r->events[i].costed && r->events[i].typical > 0)
			add_candidate(p, list, r->events[i].name, r->events[i].typical);
}

static void cause_candidates(struct picture *p, candidates *list, const struct counts_report *r)
{
	for (size_t i = 0; i < r->cause_count; i++)
		add_candidate(p, list, r->causes[i].name, r->causes[i].seconds.value);
}

struct input {
	const struct counts_report *const *reports;
	const char *const *names;
	size_t count;
};

static void add_panel(struct picture *p, const struct input *in, const char *title,
	enum label label,
	void (*candidates_of)(struct picture *, candidates *, const struct counts_report *),
	amount_of *amount)
{
	candidates list = {0};
	struct picture_panel *panel;
	struct time_unit unit;

	for (size_t i = 0; i < in->count; i++)
		candidates_of(p, &list, in->reports[i]);
	if (!list.count)
		return;
	qsort(list.data, list.count, sizeof(*list.data), by_most);
	panel = picture_panel_add(p, PICTURE_BARS);
	panel->title = title;
	unit = time_unit_of(list.data[0].most);
	panel->x_label = picture_text(p, "%s (%s)", unit.word, label_name(label));
	for (size_t i = 0; i < list.count && i < BARS; i++)
		if (list.data[i].most > LEAST * list.data[0].most)
			picture_category_add(p, panel, list.data[i].name);
	for (size_t k = 0; k < in->count; k++) {
		struct picture_series *s =
			picture_series_add(p, panel, in->names ? in->names[k] : unit.word);

		for (size_t i = 0; i < panel->categories.count; i++) {
			struct amount a = amount(in->reports[k], panel->categories.data[i]);

			picture_point_add(p, s, (double)i, unit.scale * a.value,
				a.known ? unit.scale * a.low : NAN,
				a.known ? unit.scale * a.high : NAN);
		}
	}
	vec_fini(&list);
}

/* The label that all breakdowns have; LABEL_NONE where one has none. */
static enum label cause_label(const struct input *in)
{
	enum label label = LABEL_NONE;

	for (size_t i = 0; i < in->count; i++) {
		const struct counts_report *r = in->reports[i];

		if (!r->cause_count)
			return LABEL_NONE;
		label = i ? label_join(label, r->causes[0].seconds.label)
			  : r->causes[0].seconds.label;
	}
	return label;
}

static const char *command(struct picture *p, const struct counts_report *r)
{
	if (r->command)
		return picture_command(p, r->command, COMMAND);
	return picture_text(p, "process %d", (int)r->pid);
}

static void picture_costs_titles(struct picture *p, const struct input *in)
{
	const struct counts_report *r = in->reports[0];

	p->title = in->count == 1 ? picture_text(p, "What events cost: %s", command(p, r))
				  : "What events cost";
	for (size_t i = 1; i < in->count; i++)
		if (strcmp(r->machine, in->reports[i]->machine) != 0) {
			p->subtitle = "on several machines (estimated)";
			return;
		}
	p->subtitle = picture_text(p, "%s, counts: %s",
		r->machine_description[0] ? r->machine_description : r->machine, r->source);
}

int picture_costs(struct picture *p, const struct counts_report *const *reports,
	const char *const *names, size_t count, struct error *e)
{
	const struct input in = {reports, names, count};
	enum label label = cause_label(&in);

	for (size_t i = 0; i < count; i++)
		if (!reports[i]->costs)
			return error_set(e, ERR_CONFLICT, "no costs in these files: use perfex -y");
	picture_costs_titles(p, &in);
	add_panel(p, &in, "Each event at its typical cost; lines: from least to most",
		LABEL_ESTIMATED, event_candidates, event_amount);
	if (!p->panels.count && !p->failed) {
		error_set(e, ERR_NOT_FOUND, "nothing to draw: no counted event has a known cost");
		return error_hint(e, "perfex -a -y counts all events that have costs");
	}
	if (label != LABEL_NONE)
		add_panel(p, &in, "Breakdown of the time", label, cause_candidates, cause_amount);
	return picture_finish(p, e);
}
