/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "profile/same_images.h"

#include <stdlib.h>
#include <string.h>

struct builds {
	const struct prof_data *d;
	bool sides;
};

static size_t build_of(const struct builds *b, size_t input)
{
	return b->sides ? b->d->request->inputs[input].side : input;
}

static size_t builds_count(const struct builds *b)
{
	return b->sides ? 2 : b->d->request->count;
}

/* "libc.so.6": up to where the version begins. */
static size_t image_stem(const char *name)
{
	const char *so = strstr(name, ".so");

	return so && (so[3] == '.' || !so[3]) ? (size_t)(so - name) + 3 : strlen(name);
}

static bool same_image(const struct prof_image *a, const struct prof_image *b)
{
	size_t n = image_stem(a->name);

	return a->image->kind == b->image->kind && image_stem(b->name) == n &&
	       strncmp(a->name, b->name, n) == 0;
}

/* The image that a build's first run was started from, by the first word of its command; -1. */
static long program_of(const struct builds *b, size_t build)
{
	const struct prof_data *d = b->d;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;
		const char *command = experiment_fact_find(x, "command"), *end, *base;

		if (build_of(b, i) != build || !command)
			continue;
		end = command + strcspn(command, " ");
		for (base = end; base > command && base[-1] != '/'; base--)
			;
		for (size_t k = 0; k < x->images.count; k++) {
			uint32_t own = d->image_of.data[i][k];
			const char *name = d->images.data[own].name;

			if (strlen(name) == (size_t)(end - base) &&
				strncmp(name, base, strlen(name)) == 0)
				return (long)own;
		}
		return -1;
	}
	return -1;
}

static bool build_has(const struct builds *b, size_t build, const struct prof_image *image)
{
	const struct prof_data *d = b->d;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; build_of(b, i) == build && k < x->images.count; k++)
			if (same_image(&d->images.data[d->image_of.data[i][k]], image))
				return true;
	}
	return false;
}

/* Programs with two names, each missing in the other build. */
static void join_programs(const struct builds *b, uint32_t *first, size_t build)
{
	const struct prof_data *d = b->d;
	long before = program_of(b, 0), after = program_of(b, build);
	uint32_t from, to;

	if (before < 0 || after < 0 || build_has(b, build, &d->images.data[before]) ||
		build_has(b, 0, &d->images.data[after]))
		return;
	from = first[after];
	to = first[before];
	for (uint32_t i = 0; i < d->images.count; i++)
		if (first[i] == from)
			first[i] = to;
}

uint32_t *profile_same_images(const struct prof_data *d, bool sides)
{
	const struct builds b = {d, sides};
	uint32_t *first = calloc(d->images.count + 1, sizeof(*first));

	if (!first)
		return NULL;
	for (uint32_t i = 0; i < d->images.count; i++)
		for (first[i] = 0; !same_image(&d->images.data[first[i]], &d->images.data[i]);)
			first[i]++;
	for (size_t i = 1; i < builds_count(&b); i++)
		join_programs(&b, first, i);
	return first;
}
