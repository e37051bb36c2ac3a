/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "image/image.h"

/* Longer names are not demangled: some take too much time. */
#define LONGEST 16384

char *image_demangle(const char *name)
{
	static const int style = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO;
	const char *version = strchr(name, '@');
	char *bare, *nice;

	/* _Z: C++, Rust; _R: Rust. Other names are not mangled. */
	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 &&
		strncmp(name, "__Z", 3) != 0)
		return NULL;
	if (strlen(name) > LONGEST)
		return NULL;
	if (!version)
		return cplus_demangle(name, style);
	bare = strndup(name, (size_t)(version - name));
	if (!bare)
		return NULL;
	nice = cplus_demangle(bare, style);
	free(bare);
	if (nice) {
		size_t length = strlen(nice), tail = strlen(version) + 1;
		char *longer = realloc(nice, length + tail);

		if (!longer)
			return nice;
		memcpy(longer + length, version, tail);
		return longer;
	}
	return NULL;
}
