/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/data_samples.h"

#include "experiment/data.h"

/* The same metric in data space; it is one of few. */
static long data_metric(struct experiment *x, uint32_t metric)
{
	const struct experiment_metric *m = &x->metrics.data[metric];
	struct experiment_metric copy = *m;
	struct error e;

	for (size_t i = 0; i < x->data.metrics.count; i++)
		if (x->data.metrics.data[i].event == m->event &&
			x->data.metrics.data[i].period == m->period)
			return (long)i;
	copy.lost = copy.throttled = 0;
	for (int i = 0; i < EXPERIMENT_REASONS; i++)
		copy.reasons[i] = 0;
	return experiment_data_metric(x, &copy, &e);
}

/* Seeks the address in the file that m maps: true, with its variable or section. */
static bool look_in(const struct spaces *s, const struct mapping *m, uint64_t address,
	struct experiment_object *to)
{
	uint64_t bias = m->begin - spaces_address(s, m, m->begin);
	struct image *image = images_open(s->images, m->image);
	struct image_variable v;

	if (!image)
		return false;
	if (image_variable_at(image, address - bias, &v) == 0)
		to->key.kind = EXPERIMENT_OBJECT_VARIABLE;
	else if (image_section_at(image, address - bias, &v) == 0)
		to->key.kind = EXPERIMENT_OBJECT_IMAGE;
	else
		return false;
	to->key.address = v.address;
	to->key.size = v.size;
	return true;
}

/* The mapping is of code; the file's headers give the place of its data. */
int data_find(const struct spaces *s, const struct process *p, uint64_t address,
	struct experiment_object *to, uint64_t *start)
{
	for (size_t i = 0; address && i < p->mappings.count; i++) {
		const struct mapping *m = &p->mappings.data[i];
		long image;

		if (s->images->list.data[m->image].identity.kind != EXPERIMENT_IMAGE_ELF ||
			!look_in(s, m, address, to))
			continue;
		image = images_register(s->images, m->image, s->experiment);
		if (image < 0)
			return -1;
		to->key.image = (uint32_t)image;
		*start = to->key.address + m->begin - spaces_address(s, m, m->begin);
		return 0;
	}
	*start = address;
	return 0;
}

int data_sample(
	struct spaces *s, const struct process *p, uint32_t metric, uint32_t node, uint64_t address)
{
	struct experiment *x = s->experiment;
	struct experiment_object object = {0};
	struct experiment_place place = {.count = 1};
	struct experiment_touch touch = {.count = 1};
	uint64_t start;
	long index, own = data_metric(x, metric);

	if (own < 0 || data_find(s, p, address, &object, &start))
		return -1;
	index = experiment_row(x, EXPERIMENT_OBJECTS, &object);
	if (index < 0)
		return -1;
	place.key.metric = touch.key.metric = (uint32_t)own;
	place.key.object = touch.key.object = (uint32_t)index;
	place.key.line = (int64_t)(address / EXPERIMENT_LINE_BYTES) -
			 (int64_t)(start / EXPERIMENT_LINE_BYTES);
	touch.key.image = experiment_node_at(x, node)->key.image;
	touch.key.address = experiment_node_at(x, node)->key.address;
	touch.least = touch.most = (int64_t)(address - start);
	return experiment_row(x, EXPERIMENT_PLACES, &place) < 0 ||
			       experiment_row(x, EXPERIMENT_TOUCHES, &touch) < 0
		       ? -1
		       : 0;
}
