/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files that were read, by their build-ids: what is known of one holds for copies of it that were
 * removed. Memory is bounded.
 */
#ifndef COLLECT_COLLECT_BUILDS_H
#define COLLECT_COLLECT_BUILDS_H

#include "base/table.h"
#include "collect/segments.h"
#include "experiment/experiment.h"

struct collect_build {
	struct {
		uint64_t id; /* builds_id */
	} key;
	struct experiment_image identity; /* path is ours */
	struct segments segments;
};

struct builds {
	struct table by_id;
};

void builds_init(struct builds *b);
/* A hash of the build-id; 0: there is none. */
uint64_t builds_id(const struct experiment_image *identity);
/* A file was read. One without build-id is not kept. -1 when memory is out. */
int builds_add(
	struct builds *b, const struct experiment_image *identity, const struct segments *segments);
/* Borrowed until the next addition; NULL: no file with this build-id was read. */
const struct collect_build *builds_find(const struct builds *b, uint64_t id);
/* Frees what is in the identity. -1 when memory is out. */
int build_copy(struct experiment_image *identity, struct segments *segments,
	const struct collect_build *from);
void builds_fini(struct builds *b);

#endif
