/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "profile/same_images.h"
#include "report/report_diff.h"

/* The procedure without the suffixes that compilers give copies of it: they differ between builds.
 */
static int take_function(struct prof_entity *key, struct prof_data *d, const char *name)
{
	static const char *const suffixes[] = {
		" [clone ", ".constprop.", ".isra.", ".part.", ".lto_priv.", ".llvm.", ".cold"};
	size_t length = strlen(name);
	char *stem;
	long index;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at > name && (size_t)(at - name) < length)
			length = (size_t)(at - name);
	}
	stem = strndup(name, length);
	index = stem ? profile_string(d, stem) : -1;
	free(stem);
	key->key.procedure = (uint32_t)index;
	return index < 0 ? -1 : 0;
}

static long file_stem(struct prof_data *d, uint32_t file)
{
	const char *path = profile_string_at(d, file), *slash = strrchr(path, '/');

	return slash && slash[1] ? profile_string(d, slash + 1) : (long)file;
}

size_t report_diff_written(const struct prof_data *d, size_t place, struct image_frame *function)
{
	const struct profile_place *p = profile_place_at(d, place);

	return d->names.ops->inlines(d->names.context, p->key.image, p->key.address, function, 1);
}

struct beginning { /* table entry: of a procedure */
	struct {
		uint64_t begin, image;
	} key;
	const char *file; /* NULL: not known */
	unsigned line;
};

/* Where the place's procedure begins. */
static const struct beginning *beginning_of(
	const struct prof_data *d, struct table *known, size_t place)
{
	struct beginning key = {
		.key = {d->name[place].begin, profile_place_at(d, place)->key.image}};
	size_t before = known->count;
	struct beginning *b = table_add(known, &key.key);
	struct image_line line;

	if (b && known->count > before && key.key.begin &&
		d->names.ops->line(
			d->names.context, (uint32_t)key.key.image, key.key.begin, &line) == 0) {
		b->file = line.file;
		b->line = line.line;
	}
	return b;
}

/* inlined of a key: the start from which the line is counted. */
enum { FROM_FILE = 2, FROM_PROCEDURE = 4 };

static int line_key(
	struct prof_entity *key, struct prof_data *d, struct table *beginnings, size_t place)
{
	const struct prof_name *name = &d->name[place];
	const struct beginning *b = beginning_of(d, beginnings, place);
	struct image_frame function = {0};
	long file = file_stem(d, name->file);

	if (!b || file < 0)
		return -1;
	key->key.file = (uint32_t)file;
	key->key.line = name->line;
	key->key.inlined = FROM_FILE;
	if (report_diff_written(d, place, &function) && function.declared &&
		name->line >= function.declared) {
		key->key.line = name->line - function.declared;
		key->key.inlined = FROM_PROCEDURE;
		return take_function(key, d, function.name);
	}
	if (!name->inlined && b->file && strcmp(b->file, profile_string_at(d, name->file)) == 0) {
		key->key.line = name->line - b->line;
		key->key.inlined = FROM_PROCEDURE;
	}
	return 0;
}

/* Samples of a place on a side. */
static uint64_t diff_rows_weight(const struct prof_data *d, size_t place, unsigned side)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < d->metrics.count; i++)
		if (d->request->inputs[d->metrics.data[i].input].side == side)
			sum += d->counts.data[place * d->metrics.count + i];
	return sum;
}

/* Names are those of the new build, where it has any. */
static bool better(const struct prof_data *d, size_t a, size_t b)
{
	uint64_t x = diff_rows_weight(d, a, 1), y = diff_rows_weight(d, b, 1);

	return x != y ? x > y : diff_rows_weight(d, a, 0) > diff_rows_weight(d, b, 0);
}

static int take_place(struct prof_sums *s, struct prof_data *d, const uint32_t *images,
	struct table *beginnings, size_t place, enum prof_grain grain)
{
	const struct profile_place *p = profile_place_at(d, place);
	struct prof_entity key = {.key = {.group = p->key.group, .image = images[p->key.image]}};

	if (grain != PROF_BY_IMAGE) {
		if (take_function(&key, d, profile_string_at(d, d->name[place].procedure)))
			return -1;
	}
	if (grain == PROF_BY_LINE && line_key(&key, d, beginnings, place))
		return -1;
	return profile_sums_take(s, d, place, &key, better);
}

int report_diff_sums(struct prof_sums *s, struct prof_data *d, enum prof_grain grain)
{
	struct table beginnings = TABLE_OF(struct beginning);
	uint32_t *images = profile_same_images(d, true);
	int rc = profile_sums_begin(s, d);

	for (size_t i = 0; images && i < d->places.count && rc == 0; i++)
		rc = take_place(s, d, images, &beginnings, i, grain);
	rc = images && rc == 0 ? profile_sums_end(s, d) : -1;
	table_fini(&beginnings);
	free(images);
	return rc;
}
