/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/build_id_cache.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/strbuf.h"

static bool build_id_cache_add_directory(struct strbuf *path, const char *directory)
{
	const char *home = getenv("HOME");

	if (directory)
		strbuf_puts(path, directory);
	else if (home && *home)
		strbuf_printf(path, "%s/.debug", home);
	return path->length > 0;
}

char *build_id_cache_find(const char *directory, const struct image_identity *id, const char *name)
{
	struct strbuf path = {0};
	struct stat st = {0};

	if (id->build_id_length < 2 || !build_id_cache_add_directory(&path, directory))
		return NULL;
	strbuf_printf(&path, "/.build-id/%02x/", id->build_id[0]);
	for (size_t i = 1; i < id->build_id_length; i++)
		strbuf_printf(&path, "%02x", id->build_id[i]);
	if (stat(strbuf_text(&path), &st) == 0 && S_ISDIR(st.st_mode)) {
		strbuf_printf(&path, "/%s", name);
		if (stat(strbuf_text(&path), &st) != 0)
			st.st_mode = 0;
	}
	if (!path.failed && S_ISREG(st.st_mode))
		return strbuf_take(&path);
	strbuf_fini(&path);
	return NULL;
}
