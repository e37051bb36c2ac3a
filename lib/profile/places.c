/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/places.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/stats.h"
#include "events/numbers.h"
#include "profile/places_private.h"

struct image_entry { /* of a table */
	struct {
		uint32_t path, build_id; /* strings */
		int32_t kind, pid;
		uint64_t size, fingerprint; /* 0 with a build-id: some sources do not have them */
	} key;
	uint32_t index;
};

static long build_id_string(struct prof_data *d, const struct experiment_image *image)
{
	char text[2 * EXPERIMENT_BUILD_ID_MAX + 1] = "";

	for (size_t i = 0; i < image->build_id_length; i++)
		snprintf(text + 2 * i, 3, "%02x", image->build_id[i]);
	return profile_string(d, text);
}

static long find_image(struct prof_data *d, struct table *known, size_t input, uint32_t index)
{
	const struct experiment_image *image =
		&d->request->inputs[input].experiment->images.data[index];
	long path = profile_string(d, image->path), id = build_id_string(d, image);
	struct image_entry key = {.key = {(uint32_t)path, (uint32_t)id, image->kind, image->pid,
					  image->build_id_length ? 0 : image->size,
					  image->build_id_length ? 0 : image->fingerprint}};
	size_t before = known->count;
	struct image_entry *entry;

	if (path < 0 || id < 0)
		return -1;
	entry = table_add(known, &key.key);
	if (!entry || known->count == before)
		return entry ? (long)entry->index : -1;
	entry->index = (uint32_t)d->images.count;
	return vec_add(&d->images,
		       ((struct prof_image){image, input, index, file_base_name(image->path)}))
		       ? -1
		       : (long)entry->index;
}

static int take_images_of(struct prof_data *d, struct table *known, size_t input, uint32_t *map)
{
	const struct experiment *x = d->request->inputs[input].experiment;

	for (size_t k = 0; k < x->images.count; k++) {
		long index = find_image(d, known, input, (uint32_t)k);

		if (index < 0)
			return -1;
		map[k] = (uint32_t)index;
	}
	return 0;
}

static int take_images_to(struct prof_data *d, struct table *known)
{
	d->image_of.data = calloc(d->request->count + 1, sizeof(*d->image_of.data));
	if (!d->image_of.data)
		return -1;
	d->image_of.count = d->request->count;
	for (size_t i = 0; i < d->request->count; i++) {
		size_t images = d->request->inputs[i].experiment->images.count;
		uint32_t *map = calloc(images + 1, sizeof(*map));

		d->image_of.data[i] = map;
		if (!map || take_images_of(d, known, i, map))
			return -1;
	}
	return 0;
}

static int take_images(struct prof_data *d)
{
	struct table known = TABLE_OF(struct image_entry);
	int rc = take_images_to(d, &known);

	table_fini(&known);
	return rc;
}

static int places_take_metrics(struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->metrics.count; k++) {
			const struct experiment_metric *of = &x->metrics.data[k];
			const struct prof_metric m = {.metric = of,
				.input = i,
				.index = (uint32_t)k,
				.unit = (double)(of->period ? of->period : 1) *
					(of->flags & METRIC_CLOCK ? 1e-9 : 1)};

			if (vec_add(&d->metrics, m))
				return -1;
		}
	}
	return 0;
}

size_t profile_metric_index(const struct prof_data *d, size_t input, uint32_t metric)
{
	size_t first = 0;

	while (first < d->metrics.count && d->metrics.data[first].input != input)
		first++;
	return first + metric;
}

bool profile_counts_instructions(const struct prof_metric *m)
{
	return m->metric->event == EV_INSTRUCTIONS || m->metric->event == EV_INSTRUCTIONS_15;
}

double profile_clock_hz(const struct prof_data *d, size_t metric)
{
	const struct prof_metric *m = &d->metrics.data[metric];
	const char *fact = m->metric->label == LABEL_MODEL ? "model.clock" : "clock_hz";
	const char *text = experiment_fact_find(d->request->inputs[m->input].experiment, fact);
	double hz = text ? strtod(text, NULL) : 0;

	if (!text && m->metric->label != LABEL_MODEL && d->request->host) {
		const char *host =
			experiment_fact_find(d->request->inputs[m->input].experiment, "host");

		if (host && strcmp(host, d->request->host) == 0)
			hz = d->request->host_hz;
	}
	return hz > 0 && isfinite(hz) ? hz : 0;
}

long profile_group_find(const struct prof_data *d, size_t input, uint32_t thread)
{
	const struct prof_group key = profile_whom_group(d, input, thread);
	const struct prof_group *group = table_find(&d->groups, &key.key);

	return group ? (long)table_number(&d->groups, group) : -1;
}

long profile_group_of(struct prof_data *d, size_t input, uint32_t thread)
{
	const struct prof_group key = profile_whom_group(d, input, thread);
	struct prof_group *group = table_add(&d->groups, &key.key);

	if (!group)
		return -1;
	group->command = key.command;
	return (long)table_number(&d->groups, group);
}

/* The slot of an address; NULL: it has none. */
static uint32_t *near_place(
	const struct prof_data *d, uint32_t group, uint32_t image, uint64_t address)
{
	const struct prof_near *near = d->near ? &d->near[image] : NULL;

	if (!near || group || address - near->first >= near->span)
		return NULL;
	return &near->place[address - near->first];
}

static void widen(struct prof_near *near, uint64_t address)
{
	if (!near->span) {
		near->first = address;
		near->span = 1;
	} else if (address < near->first) {
		near->span += (size_t)(near->first - address);
		near->first = address;
	} else if (address - near->first >= near->span) {
		near->span = (size_t)(address - near->first) + 1;
	}
}

/* Ranges of addresses of images, where that makes tables that are small beside what there is. */
static int find_near(struct prof_data *d)
{
	enum { MANY = 65536, ROOM = 4 /* entries a node */ };
	size_t nodes = 0, room;

	for (size_t i = 0; i < d->request->count; i++)
		nodes += d->request->inputs[i].experiment->nodes.count;
	if (nodes < MANY)
		return 0;
	d->near = calloc(d->images.count + 1, sizeof(*d->near));
	if (!d->near)
		return -1;
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 1; k < x->nodes.count; k++) {
			const struct experiment_node *n = experiment_node_at(x, k);

			if (n->key.image < x->images.count)
				widen(&d->near[d->image_of.data[i][n->key.image]], n->key.address);
		}
	}
	room = ROOM * nodes;
	for (size_t i = 0; i < d->images.count; i++) {
		struct prof_near *near = &d->near[i];

		if (near->span && near->span <= room)
			near->place = calloc(near->span, sizeof(*near->place));
		if (near->place)
			room -= near->span;
		else
			near->span = 0;
	}
	return 0;
}

long profile_place(
	struct prof_data *d, size_t input, uint32_t group, uint32_t image, uint64_t address)
{
	return profile_place_add(d, group, d->image_of.data[input][image], address);
}

long profile_place_add(struct prof_data *d, uint32_t group, uint32_t image, uint64_t address)
{
	struct profile_place key = {.key = {.address = address, .image = image, .group = group}};
	uint32_t *near = near_place(d, group, image, address);
	struct profile_place *place;
	size_t before = d->places.count;

	if (near && *near)
		return (long)*near - 1;
	place = table_add(&d->places, &key.key);
	if (!place)
		return -1;
	if (near)
		*near = (uint32_t)table_number(&d->places, place) + 1;
	if (d->places.count > before && d->metrics.count &&
		!vec_extend(&d->counts, d->metrics.count))
		return -1;
	return (long)table_number(&d->places, place);
}

uint64_t profile_selected(const struct prof_data *d, size_t input, size_t sample)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	const struct experiment_sample *s = experiment_sample_at(x, sample);
	const struct prof_span *span = &d->spans.data[input];

	if (s->key.metric >= x->metrics.count || s->key.node >= x->nodes.count)
		return 0;
	if (s->key.phase < span->from || s->key.phase >= span->to ||
		!profile_whom_wants(d, input, s->key.thread))
		return 0;
	if (span->name && (s->key.phase >= x->phases.count ||
				  strcmp(x->phases.data[s->key.phase].name, span->name) != 0))
		return 0;
	return span->within ? span->within[sample] : s->count;
}

/* Adds the samples of one input up by place; a node's place is looked up once a group. */
static int places_take_samples(struct prof_data *d, size_t input)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	size_t first = profile_metric_index(d, input, 0);
	uint32_t thread = UINT32_MAX;
	long group = 0;

	for (size_t i = 0; i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		const struct experiment_node *node;
		uint64_t count = profile_selected(d, input, i);
		long place;

		if (i % 4096 == 0)
			profile_progress(d, i, x->samples.count, "adding samples up");
		if (!count)
			continue;
		if (s->key.thread != thread || group < 0) {
			thread = s->key.thread;
			group = profile_group_of(d, input, thread);
			if (group < 0)
				return -1;
		}
		node = experiment_node_at(x, s->key.node);
		if (node->key.image >= x->images.count)
			continue;
		place = profile_place(
			d, input, (uint32_t)group, node->key.image, node->key.address);
		if (place < 0)
			return -1;
		d->counts.data[(size_t)place * d->metrics.count + first + s->key.metric] += count;
		d->metrics.data[first + s->key.metric].samples += count;
	}
	return 0;
}

struct quantity profile_sampled(uint64_t n, double unit, enum label label)
{
	double low, high;

	stats_poisson95((double)n, &low, &high);
	return (struct quantity){(double)n * unit, low * unit, high * unit, label};
}

int profile_data_init(struct prof_data *d, const struct prof_request *request, struct error *e)
{
	memset(d, 0, sizeof(*d));
	d->request = request;
	d->groups = TABLE_OF(struct prof_group);
	d->places = TABLE_OF(struct profile_place);
	d->nodes = TABLE_OF(struct prof_node);
	d->strings = profile_strings_table();
	if (profile_string(d, "") < 0 || take_images(d) || places_take_metrics(d) || find_near(d))
		goto memory;
	if (profile_spans(d, e) || profile_whom_init(d, e))
		goto fail;
	for (size_t i = 0; i < request->count; i++)
		if (profile_within(d, i, profile_metric_index(d, i, 0), e))
			goto fail;
	for (size_t i = 0; i < request->count; i++)
		if (places_take_samples(d, i))
			goto memory;
	return 0;
memory:
	error_nomem(e);
fail:
	profile_data_fini(d);
	return -1;
}

void profile_data_fini(struct prof_data *d)
{
	for (size_t i = 0; i < d->image_of.count; i++)
		free(d->image_of.data[i]);
	for (size_t i = 0; d->near && i < d->images.count; i++)
		free(d->near[i].place);
	free(d->near);
	profile_whom_fini(d);
	for (size_t i = 0; i < d->spans.count; i++)
		free(d->spans.data[i].within);
	vec_fini(&d->image_of);
	vec_fini(&d->images);
	vec_fini(&d->metrics);
	vec_fini(&d->spans);
	table_fini(&d->groups);
	table_fini(&d->places);
	table_fini(&d->nodes);
	profile_strings_fini(&d->strings);
	vec_fini(&d->counts);
	vec_fini(&d->node_counts);
	free(d->name);
	memset(d, 0, sizeof(*d));
}
