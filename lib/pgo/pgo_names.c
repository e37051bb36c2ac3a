/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of a profile, by their names in the source. */
#include <stdlib.h>
#include <string.h>

#include "pgo/private.h"

bool pgo_name_fits(const char *name)
{
	if (!name || !*name)
		return false;
	for (; *name; name++)
		if ((unsigned char)*name <= ' ' || *name == 0x7f)
			return false;
	return true;
}

/* Copies of a function that a compiler makes have suffixes; the profile is of the original. */
long pgo_source_name(struct prof_data *d, const char *name)
{
	static const char *const suffixes[] = {
		".llvm.", ".part.", ".isra.", ".constprop.", ".cold"};
	size_t length = name ? strlen(name) : 0;
	char room[512], *copy = room;
	long string;

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]) && length; i++) {
		const char *at = strstr(name, suffixes[i]);

		if (at && at != name && (size_t)(at - name) < length)
			length = (size_t)(at - name);
	}
	if (!length || !name[length])
		return profile_string(d, name ? name : "");
	if (length >= sizeof(room) && !(copy = malloc(length + 1)))
		return -1;
	memcpy(copy, name, length);
	copy[length] = '\0';
	string = profile_string(d, copy);
	if (copy != room)
		free(copy);
	return string;
}

struct pgo_scope *pgo_scope_add(
	struct pgo_tree *t, uint32_t parent, long name, uint32_t offset, uint32_t discriminator)
{
	const struct pgo_scope key = {.key = {parent, (uint32_t)name, offset, discriminator}};

	return name < 0 ? NULL : table_add(&t->scopes, &key.key);
}
