/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions that have no symbol, because they are inlined. */
#include <stdlib.h>

#include "image/debug.h"
#include "image/private.h"

struct name {
	struct {
		const void *entry;
	} key;
	const char *text; /* NULL: it has none */
	char *owned;      /* the same, if it was made here */
};

/* From an inlined copy to its abstract instance to its declaration. */
static const char *debug_names_find(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;

	return entry_string(dwarf_attr_integrate(die, attribute, &a));
}

const char *debug_linkage_name(Dwarf_Die *die)
{
	const char *linkage = debug_names_find(die, DW_AT_linkage_name);

	if (!linkage)
		linkage = debug_names_find(die, DW_AT_MIPS_linkage_name);
	return linkage ? linkage : debug_names_find(die, DW_AT_name);
}

static bool debug_names_of_c(Dwarf_Die *die)
{
	Dwarf_Die unit;
	int language = dwarf_diecu(die, &unit, NULL, NULL) ? dwarf_srclang(&unit) : -1;

	return language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
	       language == DW_LANG_C11;
}

const char *debug_name(struct debug *d, Dwarf_Die *die)
{
	struct name key = {.key = {die->addr}}, *name;
	const char *linkage;
	size_t before = d->names.count;

	d->names.entry_size = sizeof(struct name);
	d->names.key_size = sizeof(key.key);
	name = table_add(&d->names, &key.key);
	if (!name)
		return NULL;
	if (d->names.count == before)
		return name->text;
	linkage = debug_names_find(die, DW_AT_linkage_name);
	if (!linkage)
		linkage = debug_names_find(die, DW_AT_MIPS_linkage_name);
	if (linkage && image_is_unique(linkage) && debug_names_of_c(die))
		linkage = NULL;
	name->owned = linkage ? image_demangle(linkage) : NULL;
	name->text = name->owned ? name->owned
		     : linkage   ? linkage
				 : debug_names_find(die, DW_AT_name);
	return name->text;
}

void debug_names_fini(struct debug *d)
{
	for (size_t i = 0; i < d->names.count; i++)
		free(((struct name *)table_at(&d->names, i))->owned);
	table_fini(&d->names);
}
