/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Descriptions of cores by name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "schedule/core.h"

static void note_origin(struct core *c, const char *name, bool path)
{
	char *whole = path ? realpath(name, NULL) : NULL;

	snprintf(c->origin, sizeof(c->origin), "%s", whole ? whole : name);
	free(whole);
}

int core_find(struct core *c, const char *name, struct error *e)
{
	bool path = strchr(name, '/') != NULL || strchr(name, '.') != NULL;
	struct strbuf file = {0};
	char *where = NULL, *text;
	size_t length;
	int rc;

	if (!path) {
		strbuf_printf(&file, "cores/%s.core", name);
		where = file_data_path(strbuf_text(&file), e);
		strbuf_fini(&file);
		if (!where) {
			error_set(e, ERR_NOT_FOUND, "no description of a core '%s'", name);
			return error_hint(e, "prof block -cores lists them; a file name must "
					     "contain a dot or a slash");
		}
	}
	text = file_read(where ? where : name, 0, &length, e);
	free(where);
	if (!text)
		return -1;
	rc = core_parse(c, text, length, name, e);
	free(text);
	if (rc == 0)
		note_origin(c, name, path);
	return rc;
}

int core_find_x86(struct core *c, const char *name, struct error *e)
{
	if (strcmp(name, "none") == 0) {
		error_set(e, ERR_NOT_FOUND, "no core description fits this processor");
		return error_hint(e, "give the most similar of prof block -cores with -core");
	}
	if (core_find(c, name, e))
		return -1;
	if (c->x86)
		return 0;
	core_fini(c);
	error_set(e, ERR_UNSUPPORTED, "core %s does not execute x86-64", name);
	return error_hint(e, "give another of prof block -cores with -core");
}

int core_walk(void (*each)(const char *name, void *context), void *context, struct error *e)
{
	return names_walk("cores", ".core", each, context, e);
}
