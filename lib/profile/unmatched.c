/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -only and -exclude: patterns that match nothing of a report are errors of spelling. */
#include <fnmatch.h>
#include <string.h>

#include "base/nearest.h"
#include "experiment/data.h"
#include "profile/entities.h"

/* Objects of data space are named by the report, which puts their names among the strings. */
static bool matches_string(const struct prof_data *d, const char *glob)
{
	for (uint32_t i = 0; i < d->strings.count; i++)
		if (fnmatch(glob, profile_string_at(d, i), 0) == 0)
			return true;
	return false;
}

static bool has_objects(const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++)
		if (experiment_has_data(d->request->inputs[i].experiment))
			return true;
	return false;
}

static bool matches_place(const struct prof_data *d, const char *glob)
{
	for (size_t i = 0; d->name && i < d->places.count; i++)
		if (d->name[i].procedure &&
			fnmatch(glob, profile_string_at(d, d->name[i].procedure), 0) == 0)
			return true;
	return false;
}

static bool matches_image(const struct prof_data *d, const char *glob)
{
	for (size_t i = 0; i < d->images.count; i++)
		if (fnmatch(glob, d->images.data[i].name, 0) == 0 ||
			fnmatch(glob, d->images.data[i].image->path, 0) == 0)
			return true;
	return false;
}

bool profile_unmatched(const struct prof_data *d, const char *glob, char *hint, size_t size)
{
	struct nearest near;
	char word[128];
	size_t n = 0;

	if (matches_image(d, glob) || matches_place(d, glob) ||
		(has_objects(d) && matches_string(d, glob)))
		return false;
	for (const char *c = glob; *c && n + 1 < sizeof(word); c++)
		if (!strchr("*?[]", *c))
			word[n++] = *c;
	word[n] = '\0';
	nearest_init(&near, word);
	for (size_t i = 0; d->name && i < d->places.count; i++)
		if (d->name[i].procedure)
			nearest_offer(&near, profile_string_at(d, d->name[i].procedure));
	for (uint32_t i = 0; has_objects(d) && i < d->strings.count; i++)
		nearest_offer(&near, profile_string_at(d, i));
	for (size_t i = 0; i < d->images.count; i++)
		nearest_offer(&near, d->images.data[i].name);
	nearest_text(&near, hint, size);
	return true;
}
