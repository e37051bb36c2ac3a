/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/entities.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "profile/same_images.h"

const struct prof_grain_text profile_grains[] = {
	[PROF_BY_IMAGE] = {"image", "Image"},
	[PROF_BY_PROCEDURE] = {"function", "Function"},
	[PROF_BY_LINE] = {"line", "Line"},
	[PROF_BY_SOURCE] = {"line", "Line"},
};

static bool is_generated(const struct prof_data *d, uint32_t image)
{
	return d->images.data[image].image->kind == EXPERIMENT_IMAGE_ANONYMOUS;
}

/* Generated code of all processes is one image. */
static uint32_t generated_image(const struct prof_data *d, uint32_t image)
{
	for (uint32_t i = 0; i < image; i++)
		if (is_generated(d, i) &&
			strcmp(d->images.data[i].name, d->images.data[image].name) == 0)
			return i;
	return image;
}

/* For each image, that of its entities; -compare: the same in another build. */
static uint32_t *entity_images(const struct prof_data *d)
{
	uint32_t *images = d->request->compare ? profile_same_images(d, false)
					       : calloc(d->images.count + 1, sizeof(*images));

	for (uint32_t i = 0; images && !d->request->compare && i < d->images.count; i++)
		images[i] = is_generated(d, i) ? generated_image(d, i) : i;
	return images;
}

static struct prof_entity entity_of(
	const struct prof_data *d, const uint32_t *images, size_t place, enum prof_grain grain)
{
	const struct profile_place *p = profile_place_at(d, place);
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
	/* A runtime may generate one function at several places. */
	key.key.begin = d->request->compare || is_generated(d, p->key.image) ? 0 : name->begin;
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
		if (fnmatch(*globs, profile_string_at(d, procedure), 0) == 0 ||
			fnmatch(*globs, im->name, 0) == 0 ||
			fnmatch(*globs, im->image->path, 0) == 0)
			return true;
	return false;
}

bool profile_wanted(const struct prof_data *d, uint32_t image, uint32_t procedure)
{
	const struct prof_request *r = d->request;

	if (r->only && r->only[0] && !match_any(r->only, d, image, procedure))
		return false;
	return !r->exclude || !match_any(r->exclude, d, image, procedure);
}

static bool wanted_place(const struct prof_data *d, size_t place)
{
	return profile_wanted(d, profile_place_at(d, place)->key.image, d->name[place].procedure);
}

static bool busier(const struct prof_data *d, size_t a, size_t b)
{
	size_t m = d->metrics.count;

	return m && d->counts.data[a * m] > d->counts.data[b * m];
}

int profile_sums_begin(struct prof_sums *s, const struct prof_data *d)
{
	*s = (struct prof_sums){.metrics = d->metrics.count,
		.entities = TABLE_OF(struct prof_entity),
		.of = calloc(d->places.count + 1, sizeof(*s->of))};
	return s->of ? 0 : -1;
}

int profile_sums_take(struct prof_sums *s, const struct prof_data *d, size_t place,
	const struct prof_entity *key,
	bool (*better)(const struct prof_data *d, size_t a, size_t b))
{
	size_t before = s->entities.count;
	struct prof_entity *own = table_add(&s->entities, &key->key);

	if (!own)
		return -1;
	s->of[place] = (uint32_t)table_number(&s->entities, own);
	if (s->entities.count > before || better(d, place, own->place))
		own->place = (uint32_t)place;
	own->selected |= wanted_place(d, place);
	return 0;
}

int profile_sums_end(struct prof_sums *s, const struct prof_data *d)
{
	s->own = calloc(s->entities.count * s->metrics + 1, sizeof(*s->own));
	for (size_t i = 0; s->own && i < d->places.count; i++)
		for (size_t k = 0; k < s->metrics && wanted_place(d, i); k++)
			s->own[s->of[i] * s->metrics + k] += d->counts.data[i * s->metrics + k];
	return s->own ? 0 : -1;
}

int profile_sums_init(struct prof_sums *s, struct prof_data *d, enum prof_grain grain)
{
	uint32_t *images = entity_images(d);
	int rc = profile_sums_begin(s, d);

	for (size_t i = 0; images && i < d->places.count && rc == 0; i++) {
		const struct prof_entity key = entity_of(d, images, i, grain);

		rc = profile_sums_take(s, d, i, &key, busier);
	}
	rc = images && rc == 0 ? profile_sums_end(s, d) : -1;
	free(images);
	return rc;
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

int profile_sums_inclusive(struct prof_sums *s, const struct prof_data *d)
{
	uint64_t *subtrees = profile_subtrees(d);
	uint32_t *key = calloc(d->nodes.count + 1, sizeof(*key));
	struct inclusion in = {s, subtrees, key};
	int rc = -1;

	s->inclusive = calloc(s->entities.count * s->metrics + 1, sizeof(*s->inclusive));
	if (subtrees && key && s->inclusive) {
		for (size_t i = 1; i < d->nodes.count; i++)
			key[i] = s->of[profile_tree_node_at(d, i)->key.place];
		rc = profile_outermost(d, key, s->entities.count, include, &in);
	}
	free(subtrees);
	free(key);
	return rc;
}

void profile_sums_fini(struct prof_sums *s)
{
	table_fini(&s->entities);
	free(s->of);
	free(s->own);
	free(s->inclusive);
	memset(s, 0, sizeof(*s));
}

static int text_order(const struct prof_data *d, uint32_t a, uint32_t b)
{
	return a == b ? 0 : strcmp(profile_string_at(d, a), profile_string_at(d, b));
}

int profile_entity_order(
	const struct prof_data *d, const struct prof_entity *a, const struct prof_entity *b)
{
	return sort_rising(a->key.group, b->key.group)
		       ?: text_order(d, a->key.procedure, b->key.procedure)
		       ?: strcmp(d->images.data[a->key.image].image->path,
				  d->images.data[b->key.image].image->path)
		       ?: text_order(d, a->key.file, b->key.file)
		       ?: sort_rising(a->key.line, b->key.line)
		       ?: sort_rising(a->key.begin, b->key.begin)
		       ?: sort_rising(a->key.image, b->key.image);
}

char *profile_only_name(const char *name)
{
	char *out = malloc(2 * strlen(name) + 1), *to = out;

	for (; out && *name; name++) {
		if (strchr("*?[]\\", *name))
			*to++ = '\\';
		*to++ = *name;
	}
	if (out)
		*to = '\0';
	return out;
}
