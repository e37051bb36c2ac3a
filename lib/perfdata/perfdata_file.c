/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings in files. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mapping.h"
#include "perfdata/private.h"

static void name_error(struct error *e, const char *path)
{
	struct error why;

	if (!e)
		return;
	why = *e;
	error_set(e, why.code, "%s: %s", path, why.message);
	if (why.hint[0])
		error_hint(e, "%s", why.hint);
}

struct parts {
	VEC(struct mapping *) files;
	VEC(struct perfdata_part) list;
};

/* -1 with *e set; an empty file is a part of no bytes. */
static int map_part(const char *path, struct parts *parts, struct error *e)
{
	struct mapping **file = vec_push(&parts->files);
	struct perfdata_part *part = vec_push(&parts->list);

	if (!file || !part)
		return error_nomem(e);
	*file = mapping_open(path, e);
	if (!*file)
		return -1;
	*part = (struct perfdata_part){(*file)->data, (*file)->size};
	return 0;
}

/* perf record --threads makes a directory: "data", and what each of its threads wrote as data.N. */
static int map_parts(const char *path, struct parts *parts, struct error *e)
{
	const char *name = strrchr(path, '/');

	if (map_part(path, parts, e))
		return -1;
	if (strcmp(name ? name + 1 : path, "data") != 0)
		return 0;
	for (unsigned i = 0;; i++) {
		char *beside;
		bool there;
		int rc = 0;

		if (asprintf(&beside, "%s.%u", path, i) < 0)
			return error_nomem(e);
		there = access(beside, F_OK) == 0;
		if (there)
			rc = map_part(beside, parts, e);
		free(beside);
		if (!there || rc)
			return rc;
	}
}

int perfdata_read(struct experiment *x, const char *path, const struct image_search *where,
	struct progress *progress, struct experiment_damage *damage, struct error *e)
{
	struct parts parts = {0};
	int rc = map_parts(path, &parts, e);

	if (rc == 0) {
		rc = perfdata_parse_parts(
			x, parts.list.data, parts.list.count, where, progress, damage, e);
		if (rc)
			name_error(e, path);
	}
	for (size_t i = 0; i < parts.files.count; i++)
		if (rc == 0 && mapping_check(parts.files.data[i], e)) {
			experiment_fini(x);
			rc = -1;
		}
	for (size_t i = 0; i < parts.files.count; i++)
		mapping_close(parts.files.data[i]);
	vec_fini(&parts.files);
	vec_fini(&parts.list);
	return rc;
}
