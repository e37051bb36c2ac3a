/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/entities.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -compare: the same image in another build. */
static uint32_t entity_image(const struct prof_data *d, uint32_t image)
{
	if (!d->request->compare)
		return image;
	for (uint32_t i = 0; i < image; i++)
		if (d->images.data[i].image->kind == d->images.data[image].image->kind &&
			strcmp(d->images.data[i].name, d->images.data[image].name) == 0)
			return i;
	return image;
}

static struct prof_entity entity_of(
	const struct prof_data *d, const uint32_t *images, size_t place, enum prof_grain grain)
{
	const struct prof_place *p = prof_place_at(d, place);
	const struct prof_name *name = &d->name[place];
	struct prof_entity key = {.key = {.group = p->key.group, .image = images[p->key.image]}};

	if (grain == PROF_BY_IMAGE)
		return key;
	if (grain == PROF_BY_SOURCE && name->file) {
		key.key.image = 0;
		key.key.file = name->file;
		key.key.line = name->line;
		return key;
	}
	key.key.procedure = name->procedure;
	key.key.begin = d->request->compare ? 0 : name->begin;
	key.key.inlined = name->inlined;
	if (grain == PROF_BY_PROCEDURE)
		return key;
	key.key.file = name->file;
	key.key.line = name->line;
	return key;
}

static bool match_any(
	const char *const *globs, const struct prof_data *d, uint32_t image, uint32_t procedure)
{
	const struct prof_image *im = &d->images.data[image];

	for (; *globs; globs++)
		if (fnmatch(*globs, prof_string_at(d, procedure), 0) == 0 ||
			fnmatch(*globs, im->name, 0) == 0 ||
			fnmatch(*globs, im->image->path, 0) == 0)
			return true;
	return false;
}

bool prof_wanted(const struct prof_data *d, uint32_t image, uint32_t procedure)
{
	const struct prof_request *r = d->request;

	if (r->only && r->only[0] && !match_any(r->only, d, image, procedure))
		return false;
	return !r->exclude || !match_any(r->exclude, d, image, procedure);
}

static bool wanted_place(const struct prof_data *d, size_t place)
{
	return prof_wanted(d, prof_place_at(d, place)->key.image, d->name[place].procedure);
}

static bool busier(const struct prof_data *d, size_t a, size_t b)
{
	size_t m = d->metrics.count;

	return m && d->counts.data[a * m] > d->counts.data[b * m];
}

static int take_places(struct prof_sums *s, struct prof_data *d, enum prof_grain grain)
{
	uint32_t *images = calloc(d->images.count + 1, sizeof(*images));
	int rc = 0;

	if (!images)
		return -1;
	for (uint32_t i = 0; i < d->images.count; i++)
		images[i] = entity_image(d, i);
	for (size_t i = 0; i < d->places.count && rc == 0; i++) {
		struct prof_entity key = entity_of(d, images, i, grain), *own;
		size_t before = s->entities.count;

		own = table_add(&s->entities, &key.key);
		if (!own) {
			rc = -1;
			break;
		}
		s->of[i] = (uint32_t)(own - (struct prof_entity *)(void *)s->entities.entries);
		if (s->entities.count > before || busier(d, i, own->place))
			own->place = (uint32_t)i;
		own->selected |= wanted_place(d, i);
	}
	free(images);
	return rc;
}

int prof_sums_init(struct prof_sums *s, struct prof_data *d, enum prof_grain grain)
{
	memset(s, 0, sizeof(*s));
	s->metrics = d->metrics.count;
	s->entities = (struct table){.entry_size = sizeof(struct prof_entity),
		.key_size = sizeof(((struct prof_entity *)0)->key)};
	s->of = calloc(d->places.count + 1, sizeof(*s->of));
	if (!s->of || take_places(s, d, grain))
		return -1;
	s->own = calloc(s->entities.count * s->metrics + 1, sizeof(*s->own));
	if (!s->own)
		return -1;
	for (size_t i = 0; i < d->places.count; i++)
		for (size_t k = 0; k < s->metrics && wanted_place(d, i); k++)
			s->own[s->of[i] * s->metrics + k] += d->counts.data[i * s->metrics + k];
	return 0;
}

struct inclusion {
	struct prof_sums *s;
	const uint64_t *subtrees;
	const uint32_t *key;
};

static void include(void *context, size_t node)
{
	struct inclusion *in = context;
	size_t m = in->s->metrics;

	for (size_t k = 0; k < m; k++)
		in->s->inclusive[in->key[node] * m + k] += in->subtrees[node * m + k];
}

int prof_sums_inclusive(struct prof_sums *s, const struct prof_data *d)
{
	uint64_t *subtrees = prof_subtrees(d);
	uint32_t *key = calloc(d->nodes.count + 1, sizeof(*key));
	struct inclusion in = {s, subtrees, key};
	int rc = -1;

	s->inclusive = calloc(s->entities.count * s->metrics + 1, sizeof(*s->inclusive));
	if (subtrees && key && s->inclusive) {
		for (size_t i = 1; i < d->nodes.count; i++)
			key[i] = s->of[prof_node_at(d, i)->key.place];
		rc = prof_outermost(d, key, s->entities.count, include, &in);
	}
	free(subtrees);
	free(key);
	return rc;
}

void prof_sums_fini(struct prof_sums *s)
{
	table_fini(&s->entities);
	free(s->of);
	free(s->own);
	free(s->inclusive);
	memset(s, 0, sizeof(*s));
}
