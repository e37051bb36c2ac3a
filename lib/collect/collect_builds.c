/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_builds.h"

#include <stdlib.h>
#include <string.h>

/* All are forgotten when there are more. */
#define BUILDS_MOST 1024

void builds_init(struct builds *b)
{
	b->by_id = TABLE_OF(struct collect_build);
}

void builds_fini(struct builds *b)
{
	for (size_t i = 0; i < b->by_id.count; i++) {
		struct collect_build *build = table_at(&b->by_id, i);

		segments_fini(&build->segments);
		free(build->identity.path);
	}
	table_fini(&b->by_id);
}

uint64_t builds_id(const struct experiment_image *identity)
{
	return identity->build_id_length ? table_hash(identity->build_id, identity->build_id_length)
					 : 0;
}

const struct collect_build *builds_find(const struct builds *b, uint64_t id)
{
	const struct collect_build key = {.key = {id}};

	return id ? table_find(&b->by_id, &key.key) : NULL;
}

static int copy_to(struct experiment_image *identity, struct segments *segments,
	const struct experiment_image *from, const struct segments *from_segments)
{
	char *path = strdup(from->path);

	if (!path)
		return -1;
	free(identity->path);
	*identity = *from;
	identity->path = path;
	segments->elf = from_segments->elf;
	for (size_t i = 0; i < from_segments->list.count; i++)
		if (vec_add(&segments->list, from_segments->list.data[i]))
			return -1;
	return 0;
}

int build_copy(struct experiment_image *identity, struct segments *segments,
	const struct collect_build *from)
{
	return copy_to(identity, segments, &from->identity, &from->segments);
}

int builds_add(
	struct builds *b, const struct experiment_image *identity, const struct segments *segments)
{
	struct collect_build *build, key = {.key = {builds_id(identity)}};

	if (!key.key.id || !segments->elf || builds_find(b, key.key.id))
		return 0;
	if (b->by_id.count >= BUILDS_MOST) {
		builds_fini(b);
		builds_init(b);
	}
	build = table_add(&b->by_id, &key.key);
	return build ? copy_to(&build->identity, &build->segments, identity, segments) : -1;
}
