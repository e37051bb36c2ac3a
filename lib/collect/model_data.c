/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data space: from the profiles of process images into the experiment. */
#include <stdlib.h>
#include <string.h>

#include "collect/model_filling.h"
#include "events/event.h"
#include "experiment/data.h"

struct filling_data {
	struct filling *f;
	long metric[EVENT_LIMIT]; /* in x; -1: not yet there */
	uint32_t *object;         /* likewise, of the profile's */
};

static int metric_of(struct filling_data *d, uint32_t event)
{
	const struct event *known = event_by_number((int)event);
	struct experiment_metric m = {.event = (int32_t)event,
		.source = (char *)"model",
		.note = (char *)"",
		.label = LABEL_MODEL,
		.flags = METRIC_EXACT,
		.period = 1};

	if (d->metric[event] >= 0)
		return (int)d->metric[event];
	m.name = (char *)(known ? known->name : "unknown event");
	m.short_name = (char *)(known ? known->short_name : "?");
	m.unit = (char *)(known ? known->unit : "events");
	d->metric[event] = experiment_data_metric(d->f->x, &m, d->f->e);
	return (int)d->metric[event];
}

/* Files that are mapped are images too. */
static long file_image(struct filling_data *d, const char *path)
{
	struct experiment_image image = {.kind = EXPERIMENT_IMAGE_FILE, .path = (char *)path};

	return *path ? experiment_image(d->f->x, &image, d->f->e) : 0;
}

static int fill_objects(struct filling_data *d)
{
	const struct profile *p = d->f->p;

	for (size_t i = 1; i < p->objects.count; i++) {
		const struct profile_object *from = &p->objects.data[i];
		long image = from->kind == EXPERIMENT_OBJECT_MAPPING
				     ? file_image(d, from->name)
				     : model_fill_image(d->f, from->image);
		struct experiment_object to = {.key = {.address = from->address,
						       .size = from->size,
						       .kind = from->kind,
						       .thread = from->thread,
						       .image = (uint32_t)image,
						       .node = d->f->node[from->node]},
			.blocks = from->blocks,
			.bytes = from->bytes,
			.begins = from->begins};
		long index = image < 0 ? -1 : experiment_data_object(d->f->x, &to);

		if (index < 0)
			return -1;
		d->object[i] = (uint32_t)index;
	}
	return 0;
}

static int fill_places(struct filling_data *d)
{
	const struct profile *p = d->f->p;

	for (size_t i = 0; i < p->object_places.count; i++) {
		const struct profile_object_place *from = &p->object_places.data[i];
		int metric = metric_of(d, from->event);
		struct experiment_place to = {.key = {.line = from->line,
						      .metric = (uint32_t)metric,
						      .object = d->object[from->object],
						      .scale = from->scale},
			.count = from->count};

		if (metric < 0 || (to.count && experiment_data_place(d->f->x, &to)))
			return -1;
	}
	return 0;
}

static int fill_touches(struct filling_data *d)
{
	const struct profile *p = d->f->p;

	for (size_t i = 0; i < p->object_touches.count; i++) {
		const struct profile_object_touch *from = &p->object_touches.data[i];
		int metric = metric_of(d, from->event);
		long image = model_fill_image(d->f, from->image);
		struct experiment_touch to = {.key = {.address = from->address,
						      .metric = (uint32_t)metric,
						      .object = d->object[from->object],
						      .image = (uint32_t)image},
			.count = from->count,
			.least = from->least,
			.most = from->most,
			.apart = from->apart};

		if (metric < 0 || image < 0 || (to.count && experiment_data_touch(d->f->x, &to)))
			return -1;
	}
	return 0;
}

static int fill_ends(struct filling_data *d, const struct profile_object_line *line, uint32_t index)
{
	for (size_t i = 0; i < line->count; i++) {
		const struct profile_object_end *from = &d->f->p->object_ends.data[line->first + i];
		long image = model_fill_image(d->f, from->image);
		struct experiment_end to = {.key = {.address = from->address,
						    .line = index,
						    .thread = from->thread,
						    .object = d->object[from->object],
						    .image = (uint32_t)image},
			.requests = from->requests,
			.loads = from->loads,
			.stores = from->stores};

		memcpy(to.read, from->read, sizeof(to.read));
		memcpy(to.written, from->written, sizeof(to.written));
		if (image < 0 || experiment_data_end(d->f->x, &to))
			return -1;
	}
	return 0;
}

static int fill_lines(struct filling_data *d)
{
	const struct profile *p = d->f->p;

	for (size_t i = 0; i < p->object_lines.count; i++) {
		const struct profile_object_line *from = &p->object_lines.data[i];
		struct experiment_line to = {.key = {.offset = from->offset,
						     .bytes = from->bytes,
						     .object = d->object[from->object]},
			.requests = from->requests,
			.needed = from->needed,
			.useless = from->useless};
		long index = experiment_data_line(d->f->x, &to);

		if (index < 0 || fill_ends(d, from, (uint32_t)index))
			return -1;
	}
	return 0;
}

int model_fill_data(struct filling *f, const uint64_t *totals)
{
	struct filling_data d = {.f = f};
	int rc;

	(void)totals;
	for (size_t i = 0; i < EVENT_LIMIT; i++)
		d.metric[i] = -1;
	d.object = calloc(f->p->objects.count + 1, sizeof(*d.object));
	f->x->data.lost += f->p->lost.objects;
	rc = d.object && fill_objects(&d) == 0 && fill_places(&d) == 0 && fill_touches(&d) == 0 &&
			     fill_lines(&d) == 0
		     ? 0
		     : error_nomem(f->e);
	free(d.object);
	return rc;
}
