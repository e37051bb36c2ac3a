/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/order.h"

void names_fini(name_list *names)
{
	for (size_t i = 0; i < names->count; i++)
		free(names->data[i]);
	vec_fini(names);
}

static int read_names(name_list *names, DIR *directory, const char *suffix, struct error *e)
{
	const char *name;

	while ((name = file_next(directory, ""))) {
		size_t length = strlen(name), tail = strlen(suffix);
		char **slot;

		if (length <= tail || strcmp(name + length - tail, suffix))
			continue;
		slot = vec_push(names);
		if (slot)
			*slot = strndup(name, length - tail);
		if (!slot || !*slot)
			return error_nomem(e);
	}
	return 0;
}

int names_list(name_list *names, const char *directory, const char *suffix, struct error *e)
{
	char *path = file_data_path(directory, e);
	DIR *open = path ? opendir(path) : NULL;
	int rc;

	memset(names, 0, sizeof(*names));
	if (path && !open)
		error_sys(e, errno, "cannot read %s", path);
	free(path);
	if (!open)
		return -1;
	rc = read_names(names, open, suffix, e);
	closedir(open);
	if (rc)
		names_fini(names);
	else if (names->count)
		qsort(names->data, names->count, sizeof(names->data[0]), order_strings);
	return rc;
}

int names_walk(const char *directory, const char *suffix,
	void (*each)(const char *name, void *context), void *context, struct error *e)
{
	name_list names;

	if (names_list(&names, directory, suffix, e))
		return -1;
	for (size_t i = 0; i < names.count; i++)
		each(names.data[i], context);
	names_fini(&names);
	return 0;
}
