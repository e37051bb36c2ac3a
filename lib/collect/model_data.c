/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Data space: from the profiles of process images into the experiment. */
#include <stdlib.h>

#include "collect/model_filling.h"
#include "events/event.h"
#include "experiment/tables.h"

/* Tables of new rows, each after those that it refers to. */
static const struct {
	enum experiment_rows which;
	size_t offset; /* in struct profile */
} data_tables[] = {
	{EXPERIMENT_OBJECTS, offsetof(struct profile, objects)},
	{EXPERIMENT_PLACES, offsetof(struct profile, places)},
	{EXPERIMENT_TOUCHES, offsetof(struct profile, touches)},
	{EXPERIMENT_LINES, offsetof(struct profile, lines)},
	{EXPERIMENT_ENDS, offsetof(struct profile, ends)},
};

enum { TABLES = sizeof(data_tables) / sizeof(data_tables[0]) };

static const struct table *data_table(const struct filling *f, int i)
{
	return (const struct table *)(const void *)((const char *)f->p + data_tables[i].offset);
}

/* Marks the numbers of one kind that the tables refer to; NULL when memory is out. */
static bool *mark(const struct filling *f, enum experiment_rows what, size_t count)
{
	bool *used = calloc(count, sizeof(*used));

	for (int i = 0; used && i < TABLES; i++)
		row_mark(data_table(f, i), experiment_kind(data_tables[i].which), what, used);
	return used;
}

static long model_data_add_metric(struct filling *f, uint32_t event)
{
	const struct event *known = event_by_number((int)event);
	struct experiment_metric m = {.event = (int32_t)event,
		.name = (char *)(known ? known->name : "unknown event"),
		.short_name = (char *)(known ? known->short_name : "?"),
		.unit = (char *)(known ? known->unit : "events"),
		.source = (char *)"model",
		.note = (char *)"",
		.label = LABEL_MODEL,
		.flags = METRIC_EXACT,
		.period = 1};

	return experiment_data_metric(f->x, &m, f->e);
}

/* Indices in x of the rows that the tables refer to; NULL with *f->e set. To be freed by the
 * caller. */
static uint32_t *find_numbers(struct filling *f, enum experiment_rows what, size_t count)
{
	bool *used = mark(f, what, count);
	uint32_t *to = calloc(count, sizeof(*to));
	bool good = used && to;

	if (!good)
		error_nomem(f->e);
	for (size_t i = 0; good && i < count; i++) {
		long number = !used[i]                    ? 0
			      : what == EXPERIMENT_IMAGES ? model_fill_image(f, (uint32_t)i)
							  : model_data_add_metric(f, (uint32_t)i);

		good = number >= 0;
		to[i] = (uint32_t)number;
	}
	free(used);
	if (good)
		return to;
	free(to);
	return NULL;
}

int model_fill_data(struct filling *f)
{
	uint32_t *images = find_numbers(f, EXPERIMENT_IMAGES, f->p->images.count);
	uint32_t *metrics = images ? find_numbers(f, EXPERIMENT_DATA_METRICS, EVENT_LIMIT) : NULL;
	struct row_numbers n = {.to = {[EXPERIMENT_IMAGES] = images,
					[EXPERIMENT_DATA_METRICS] = metrics,
					[EXPERIMENT_NODES] = f->node}};
	uint32_t *maps[TABLES] = {0};
	int rc = images && metrics ? 0 : -1;

	f->x->data.lost += f->p->lost.objects;
	for (int i = 0; i < TABLES && rc == 0; i++) {
		const struct table *from = data_table(f, i);

		maps[i] = malloc((from->count + 1) * sizeof(**maps));
		n.to[data_tables[i].which] = maps[i];
		if (!maps[i] ||
			experiment_merge_table(f->x, data_tables[i].which, from, &n, maps[i]))
			rc = error_nomem(f->e);
	}
	for (int i = 0; i < TABLES; i++)
		free(maps[i]);
	free(images);
	free(metrics);
	return rc;
}
