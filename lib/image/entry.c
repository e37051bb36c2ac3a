/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Entries and attributes from libdw, with checks of bounds that it omits. */
#include <string.h>

#include "image/debug.h"

/* The bytes of the section from `at` on, which is in it; 0: it is in none. */
static size_t bytes_from(Dwarf_CU *cu, const void *at)
{
	Elf *elf = dwarf_getelf(dwarf_cu_getdwarf(cu));

	for (Elf_Scn *scn = elf_nextscn(elf, NULL); scn; scn = elf_nextscn(elf, scn)) {
		Elf_Data *data = elf_rawdata(scn, NULL);
		uintptr_t into = data ? (uintptr_t)at - (uintptr_t)data->d_buf : 0;

		if (data && data->d_buf && into < data->d_size)
			return data->d_size - into;
	}
	return 0;
}

const char *entry_string(Dwarf_Attribute *a)
{
	const char *text = a ? dwarf_formstring(a) : NULL;

	if (!text || dwarf_whatform(a) != DW_FORM_string)
		return text;
	return memchr(text, '\0', bytes_from(a->cu, text)) ? text : NULL;
}

uint64_t entry_number(Dwarf_Die *die, unsigned attribute)
{
	Dwarf_Attribute a;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, attribute, &a), &value) == 0 ? value : 0;
}

struct walker {
	debug_visit *visit;
	void *context;
	size_t left; /* entries */
};

static enum debug_way entry_walk(struct walker *w, Dwarf_Die *parent, unsigned depth)
{
	Dwarf_Die die;

	if (depth >= DEBUG_DEEPEST || dwarf_child(parent, &die) != 0)
		return WALK_OVER;
	do {
		enum debug_way way = w->left-- ? w->visit(w->context, &die, depth) : WALK_STOP;

		if (way == WALK_IN)
			way = entry_walk(w, &die, depth + 1);
		if (way == WALK_STOP)
			return WALK_STOP;
	} while (dwarf_siblingof(&die, &die) == 0);
	return WALK_OVER;
}

void entry_walk_tree(Dwarf_Die *die, debug_visit *visit, void *context)
{
	struct walker w = {visit, context, bytes_from(die->cu, die->addr)};

	(void)entry_walk(&w, die, 0);
}

unsigned entry_declared(Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word value = 0;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_line, &a), &value) != 0)
		return 0;
	return (unsigned)value;
}
