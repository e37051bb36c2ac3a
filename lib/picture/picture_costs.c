/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "picture/picture_costs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 0.002 /* of the longest bar: what is shorter cannot be seen */
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

	if (a->most != b->most)
		return a->most > b->most ? -1 : 1;
	return a->order < b->order ? -1 : a->order > b->order;
}

typedef VEC(struct candidate) candidates;

static int add_candidate(candidates *list, const char *name, double value)
{
	struct candidate *c = NULL;

	for (size_t i = 0; i < list->count && !c; i++)
		if (strcmp(list->data[i].name, name) == 0)
			c = &list->data[i];
	if (!c) {
		c = vec_push(list);
		if (!c)
			return -1;
		*c = (struct candidate){name, 0, list->count};
	}
	c->most = fmax(c->most, fabs(value));
	return 0;
}

/* Events whose typical cost is 0 are what others are made of: no bars. */
static int event_candidates(candidates *list, const struct counts_report *r)
{
	for (size_t i = 0; i < r->event_count; i++)
		if (r->events[i].costed && r->events[i].typical > 0 &&
			add_candidate(list, r->events[i].name, r->events[i].typical))
			return -1;
	return 0;
}

static int cause_candidates(candidates *list, const struct counts_report *r)
{
	for (size_t i = 0; i < r->cause_count; i++)
		if (add_candidate(list, r->causes[i].name, r->causes[i].seconds.value))
			return -1;
	return 0;
}

struct input {
	const struct counts_report *const *reports;
	const char *const *names;
	size_t count;
};

static int fill(struct picture_panel *panel, const struct input *in, const candidates *list,
	amount_of *amount)
{
	double least = LEAST * list->data[0].most;

	for (size_t i = 0; i < list->count && i < BARS && list->data[i].most > least; i++)
		if (picture_category_add(panel, list->data[i].name) < 0)
			return -1;
	for (size_t k = 0; k < in->count; k++) {
		struct picture_series *s =
			picture_series_add(panel, in->names ? in->names[k] : "seconds");

		if (!s)
			return -1;
		for (size_t i = 0; i < panel->categories.count; i++) {
			struct amount a = amount(in->reports[k], panel->categories.data[i]);

			if (picture_point_add(s, (double)i, a.value, a.known ? a.low : NAN,
				    a.known ? a.high : NAN))
				return -1;
		}
	}
	return 0;
}

static int add_panel(struct picture *p, const struct input *in, const char *title,
	const char *x_label, int (*candidates_of)(candidates *, const struct counts_report *),
	amount_of *amount)
{
	candidates list = {0};
	struct picture_panel *panel;
	int rc = 0;

	for (size_t i = 0; i < in->count && rc == 0; i++)
		rc = candidates_of(&list, in->reports[i]);
	if (rc == 0 && list.count) {
		qsort(list.data, list.count, sizeof(*list.data), by_most);
		panel = picture_panel_add(p, PICTURE_BARS);
		rc = panel ? fill(panel, in, &list, amount) : -1;
		if (rc == 0) {
			panel->title = title;
			panel->x_label = x_label;
		}
	}
	vec_fini(&list);
	return rc;
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

static int titles(struct picture *p, const struct input *in)
{
	const struct counts_report *r = in->reports[0];

	for (size_t i = 1; i < in->count; i++)
		if (strcmp(r->machine, in->reports[i]->machine) != 0) {
			p->title = "What events cost";
			p->subtitle = "on several machines (estimated)";
			return 0;
		}
	if (in->count == 1) {
		const char *text = command(p, r);

		p->title = text ? picture_text(p, "What events cost: %s", text) : NULL;
	} else {
		p->title = "What events cost";
	}
	p->subtitle = picture_text(p, "%s, counts: %s",
		r->machine_description[0] ? r->machine_description : r->machine, r->source);
	return p->title && p->subtitle ? 0 : -1;
}

int picture_costs(struct picture *p, const struct counts_report *const *reports,
	const char *const *names, size_t count, struct error *e)
{
	const struct input in = {reports, names, count};
	enum label label = cause_label(&in);
	const char *x_label;

	for (size_t i = 0; i < count; i++)
		if (!reports[i]->costs)
			return error_set(
				e, ERR_CONFLICT, "a picture of costs needs costs: perfex -y");
	if (titles(p, &in) ||
		add_panel(p, &in, "Each event at its typical cost; lines: from least to most",
			"seconds (estimated)", event_candidates, event_amount))
		return error_nomem(e);
	if (!p->panels.count) {
		error_set(e, ERR_NOT_FOUND,
			"there is nothing to draw: no event that was counted is known to "
			"have cost any time");
		return error_hint(e, "perfex -a -y counts all events that have costs");
	}
	if (label == LABEL_NONE)
		return 0;
	x_label = picture_text(p, "seconds (%s)", label_name(label));
	if (!x_label ||
		add_panel(p, &in, "Breakdown of the time", x_label, cause_candidates, cause_amount))
		return error_nomem(e);
	return 0;
}
