/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <libiberty/demangle.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "image/image.h"
#include "image/private.h"

/* Longer names are not demangled: some take too much time. */
#define LONGEST 16384

/* clang's -funique-internal-linkage-names, which pseudo-probes imply: a hash of the file's path in
 * the names of static functions, which says nothing to people. */
static const char unique[] = ".__uniq.";

bool image_is_unique(const char *name)
{
	return strncmp(name, "_Z", 2) == 0 && strstr(name, unique);
}

char *image_unique_bare(const char *name)
{
	const char *hash = strstr(name, unique);
	struct strbuf text = {0};
	unsigned long length;
	char *begin;

	if (!hash || strncmp(name, "_ZL", 3) != 0 || name[3] < '1' || name[3] > '9')
		return NULL;
	length = strtoul(name + 3, &begin, 10);
	if (begin > hash || length > (size_t)(hash - begin))
		return NULL;
	hash += strlen(unique);
	strbuf_add(&text, begin, length);
	strbuf_puts(&text, hash + strspn(hash, "0123456789")); /* ".cold" */
	return strbuf_take(&text);
}

static void drop_unique(char *name)
{
	char *at = strstr(name, unique), *end;

	if (!at)
		return;
	end = at + strlen(unique);
	end += strspn(end, "0123456789");
	memmove(at, end, strlen(end) + 1);
}

char *image_demangle(const char *name)
{
	static const int style = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO;
	const char *version = strchrnul(name, '@');
	char *bare, *nice, *longer;

	/* _Z: C++, Rust; _R: Rust. Other names are not mangled. */
	if (strncmp(name, "_Z", 2) != 0 && strncmp(name, "_R", 2) != 0 &&
		strncmp(name, "__Z", 3) != 0)
		return NULL;
	if (strlen(name) > LONGEST)
		return NULL;
	bare = strndup(name, (size_t)(version - name));
	if (!bare)
		return NULL;
	drop_unique(bare);
	nice = cplus_demangle(bare, style);
	free(bare);
	longer = nice && *version ? realloc(nice, strlen(nice) + strlen(version) + 1) : NULL;
	return longer ? strcat(longer, version) : nice;
}
