/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which images an experiment has, found by what identifies them.
 *
 * Files of strangers may have very many, so they are not compared with each other: a table has
 * hashes of their paths and build-ids. Only images whose bytes agree are the same.
 */
#include <string.h>

#include "experiment/data.h"
#include "experiment/private.h"

struct known_image { /* table entry */
	struct {
		uint64_t names[2]; /* hashes of path and build-id */
		uint64_t size, fingerprint;
		int64_t kind, pid;
	} key;
	uint32_t index;
};

static bool image_same(const struct experiment_image *a, const struct experiment_image *b)
{
	return a->kind == b->kind && a->pid == b->pid && a->size == b->size &&
	       a->fingerprint == b->fingerprint && a->build_id_length == b->build_id_length &&
	       memcmp(a->build_id, b->build_id, a->build_id_length) == 0 &&
	       strcmp(a->path, b->path) == 0;
}

/* The entry of an image; a new one has the index. */
static struct known_image *know_image(
	struct experiment *x, const struct experiment_image *image, size_t index)
{
	const struct known_image key = {
		.key = {.names = {table_hash(image->path, strlen(image->path)),
				table_hash(image->build_id, image->build_id_length)},
			.size = image->size,
			.fingerprint = image->fingerprint,
			.kind = image->kind,
			.pid = image->pid}};
	struct table *known = &x->images_known.table;
	size_t before = known->count;
	struct known_image *own = table_add(known, &key.key);

	if (own && known->count > before)
		own->index = (uint32_t)index;
	return own;
}

void images_known_forget(struct experiment *x)
{
	table_fini(&x->images_known.table);
	x->images_known = (struct images_known){.table = TABLE_OF(struct known_image)};
}

/* Where two images have one hash, which no file can bring about. */
static long image_among_all(const struct experiment *x, const struct experiment_image *image)
{
	for (size_t i = 0; i < x->images.count; i++)
		if (image_same(&x->images.data[i], image))
			return (long)i;
	return -1;
}

long images_known_find(struct experiment *x, const struct experiment_image *image, bool *nomem)
{
	size_t *until = &x->images_known.until;
	struct known_image *own;

	if (!x->images_known.table.entry_size)
		images_known_forget(x);
	for (; *until < x->images.count; ++*until)
		if (!know_image(x, &x->images.data[*until], *until))
			return *nomem = true, -1;
	own = know_image(x, image, x->images.count);
	*nomem = !own;
	if (!own || own->index >= x->images.count)
		return -1;
	return image_same(&x->images.data[own->index], image) ? (long)own->index
							      : image_among_all(x, image);
}
