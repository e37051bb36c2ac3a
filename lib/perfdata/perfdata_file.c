/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Recordings in files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* -1 with *e set; a missing or empty file is a part of no bytes. */
static int map_file(const char *path, struct perfdata_part *part, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	*part = (struct perfdata_part){NULL, 0};
	if (fd < 0)
		return error_sys(e, errno, "cannot read %s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0) {
		close(fd);
		return 0;
	}
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		error_sys(e, errno, "cannot read %s", path);
	else
		*part = (struct perfdata_part){map, (size_t)st.st_size};
	close(fd);
	return map == MAP_FAILED ? -1 : 0;
}

struct parts {
	VEC(struct perfdata_part) list;
};

/* perf record --threads makes a directory: "data", and what each of its threads wrote as data.N. */
static int map_parts(const char *path, struct parts *parts, struct error *e)
{
	const char *name = strrchr(path, '/');
	struct perfdata_part *part = vec_push(&parts->list);

	if (!part)
		return error_nomem(e);
	if (map_file(path, part, e))
		return -1;
	if (strcmp(name ? name + 1 : path, "data") != 0)
		return 0;
	for (unsigned i = 0;; i++) {
		char *beside;
		bool there;

		if (asprintf(&beside, "%s.%u", path, i) < 0)
			return error_nomem(e);
		there = access(beside, F_OK) == 0;
		if (!there) {
			free(beside);
			return 0;
		}
		part = vec_push(&parts->list);
		if (!part || map_file(beside, part, e)) {
			free(beside);
			return part ? -1 : error_nomem(e);
		}
		free(beside);
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
	for (size_t i = 0; i < parts.list.count; i++)
		if (parts.list.data[i].size)
			munmap((void *)(uintptr_t)parts.list.data[i].data, parts.list.data[i].size);
	vec_fini(&parts.list);
	return rc;
}
