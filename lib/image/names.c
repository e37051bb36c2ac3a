/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions that have no symbol, because they are inlined. */
#include <stdlib.h>

#include "image/dwarf.h"

/* From an inlined copy to its abstract instance to its declaration; more is damage. */
#define LONGEST_WAY 8

struct name {
	struct {
		uint64_t offset;
		const struct dwarf_file *file;
	} key;
	const char *text; /* NULL: it has none */
	char *owned;      /* the same, if it was made here */
};

enum { LINKAGE, OLD_LINKAGE, NAME, ORIGIN, SPECIFICATION, WANTED };

static const uint16_t wanted[WANTED + 1] = {
	[LINKAGE] = DW_AT_linkage_name,
	[OLD_LINKAGE] = DW_AT_MIPS_linkage_name,
	[NAME] = DW_AT_name,
	[ORIGIN] = DW_AT_abstract_origin,
	[SPECIFICATION] = DW_AT_specification,
};

/* The linkage name, which says most, may stand further on than the plain one. */
static void look(struct unit *u, uint64_t offset, const char **linkage, const char **plain)
{
	for (int way = 0; u && way < LONGEST_WAY && !*linkage; way++) {
		struct value v[WANTED];
		struct entries s;
		struct entry e;

		if (!entries_begin(&s, u, offset) || !entries_next(&s, &e) || !e.abbrev)
			return;
		entry_values(&s, &e, wanted, v);
		*linkage = value_string(u, &v[LINKAGE]);
		if (!*linkage)
			*linkage = value_string(u, &v[OLD_LINKAGE]);
		if (!*plain)
			*plain = value_string(u, &v[NAME]);
		u = value_reference(u, v[ORIGIN].form ? &v[ORIGIN] : &v[SPECIFICATION], &offset);
	}
}

const char *debug_name(struct debug *d, struct unit *u, uint64_t offset)
{
	struct name key = {.key = {offset, u->file}}, *name;
	const char *linkage = NULL, *plain = NULL;

	d->names.entry_size = sizeof(struct name);
	d->names.key_size = sizeof(key.key);
	name = table_find(&d->names, &key.key);
	if (name)
		return name->text;
	look(u, offset, &linkage, &plain);
	name = table_add(&d->names, &key.key);
	if (!name)
		return plain;
	name->owned = linkage ? image_demangle(linkage) : NULL;
	name->text = name->owned ? name->owned : linkage ? linkage : plain;
	return name->text;
}

void debug_names_fini(struct debug *d)
{
	for (size_t i = 0; i < d->names.count; i++)
		free(((struct name *)table_at(&d->names, i))->owned);
	table_fini(&d->names);
}
