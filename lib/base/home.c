/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/home.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct kind {
	const char *variable, *below; /* HOME */
} kinds[] = {
	[HOME_CONFIG] = {"XDG_CONFIG_HOME", ".config"},
	[HOME_CACHE] = {"XDG_CACHE_HOME", ".cache"},
};

/* The specification ignores paths that are not absolute. */
static const char *set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value == '/' ? value : NULL;
}

static char *path_of(const struct kind *kind, const char *name, bool make, struct error *e)
{
	const char *given = set(kind->variable), *home = set("HOME");
	char *top = NULL, *ours = NULL, *path = NULL;

	if (!given && !home) {
		error_set(e, ERR_NOT_FOUND, "neither %s nor HOME is set", kind->variable);
		return NULL;
	}
	if ((given ? asprintf(&top, "%s", given) : asprintf(&top, "%s/%s", home, kind->below)) <
			0 ||
		asprintf(&ours, "%s/perfex", top) < 0 || asprintf(&path, "%s/%s", ours, name) < 0) {
		error_nomem(e);
		path = NULL;
		goto out;
	}
	if (!make)
		goto out;
	mkdir(top, 0777); /* if this fails, opening the file reports it */
	if (mkdir(ours, 0777) && errno != EEXIST) {
		error_sys(e, errno, "cannot make %s", ours);
		free(path);
		path = NULL;
	}
out:
	free(top);
	free(ours);
	return path;
}

char *home_path(enum home_kind kind, const char *name, struct error *e)
{
	return path_of(&kinds[kind], name, false, e);
}

char *home_path_make(enum home_kind kind, const char *name, struct error *e)
{
	return path_of(&kinds[kind], name, true, e);
}
