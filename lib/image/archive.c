/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/archive.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "image/fingerprint.h"
#include "image/private.h"

/* DIR/xx/yyyy.../: by build-id, or by fingerprint and size where there is none. */
static void archive_add_place(
	struct strbuf *s, const char *directory, const struct image_identity *id)
{
	strbuf_printf(s, "%s/", directory);
	if (!id->build_id_length) {
		strbuf_printf(s, "%02x/%014" PRIx64 "-%" PRIu64, (unsigned)(id->fingerprint >> 56),
			id->fingerprint & (UINT64_MAX >> 8), id->size);
		return;
	}
	for (size_t i = 0; i < id->build_id_length; i++)
		strbuf_printf(s, i == 0 ? "%02x/" : "%02x", id->build_id[i]);
}

static bool archive_is_named(const struct image_identity *id)
{
	return id->build_id_length || id->fingerprint;
}

static char *find_of_archive(
	const char *directory, const struct image_identity *id, const char *name)
{
	struct strbuf path = {0};

	if (!archive_is_named(id))
		return NULL;
	archive_add_place(&path, directory, id);
	strbuf_printf(&path, "/%s", name);
	if (!path.failed && access(strbuf_text(&path), R_OK) == 0)
		return strbuf_take(&path);
	strbuf_fini(&path);
	return NULL;
}

char *archive_find(const char *directory, const struct image_identity *id, struct error *e)
{
	char *path = find_of_archive(directory, id, "elf");

	if (!path)
		error_set(e, ERR_NOT_FOUND, "%s is not in the archive %s", id->path, directory);
	return path;
}

char *archive_find_debug(const char *directory, const struct image_identity *id)
{
	return find_of_archive(directory, id, "debug");
}

/* Makes the directories that lead to path. */
static int make_way(char *path, struct error *e)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = '\0';
		failed = mkdir(path, 0777) != 0 && errno != EEXIST;
		if (failed)
			error_sys(e, errno, "cannot make directory %s", path);
		*slash = '/';
		if (failed)
			return -1;
	}
	return 0;
}

int archive_create(const char *directory, struct error *e)
{
	struct strbuf path = {0};
	int rc;

	strbuf_printf(&path, "%s/", directory);
	rc = path.failed ? error_nomem(e) : make_way(path.data, e);
	if (rc == 0 && access(path.data, W_OK | X_OK))
		rc = error_sys(e, errno, "cannot write to %s", directory);
	strbuf_fini(&path);
	return rc ? error_hint(e, "-archive needs a directory that can be written; it is made if "
				  "it is missing")
		  : 0;
}

static int keep(const char *directory, const struct image_identity *id, const char *name,
	struct span raw, struct error *e)
{
	struct strbuf path = {0};
	int failed;

	archive_add_place(&path, directory, id);
	strbuf_printf(&path, "/%s", name);
	if (path.failed)
		return error_nomem(e);
	failed = access(path.data, F_OK) == 0
			 ? 0
			 : make_way(path.data, e) || file_write(path.data, raw.data, raw.size, e);
	strbuf_fini(&path);
	return failed ? -1 : 0;
}

int archive_add(
	const char *directory, const struct image_identity *id, const char *path, struct error *e)
{
	struct image_identity here = *id;
	struct image *image;
	int failed;

	here.path = path;
	image = image_open(&here, NULL, e);
	if (!image)
		return -1;
	/* a file without identity is named as image_identify would name it */
	if (!archive_is_named(&here)) {
		here.build_id = image->elf->build_id;
		here.build_id_length = image->elf->build_id_length;
		here.size = image->elf->raw.size;
		here.fingerprint = identify_file(image->elf);
	}
	failed = keep(directory, &here, "elf", image->elf->raw, e);
	if (!failed && here.build_id_length && !elf_file_find(image->elf, ".debug_info").size &&
		image_separate(image))
		failed = keep(directory, &here, "debug", image->separate->raw, e);
	image_close(image);
	return failed;
}
