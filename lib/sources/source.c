/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/source.h"

#include <string.h>

const struct source_ops *const sources[] = {&source_pmu, &source_model, &source_os, NULL};

const struct source_ops *source_find(const char *name)
{
	for (size_t i = 0; sources[i]; i++)
		if (strcmp(sources[i]->name, name) == 0)
			return sources[i];
	return NULL;
}
