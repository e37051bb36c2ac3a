/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The way to an instruction through inlined calls, by declarations and discriminators. */
#include <string.h>

#include "image/debug.h"

#ifndef DW_AT_GNU_discriminator
#define DW_AT_GNU_discriminator 0x2136
#endif

struct steps {
	struct image_source *all;
	size_t room, count;
};

/* In the function die, at line. */
static void sources_add(struct steps *s, Dwarf_Die *die, unsigned line, unsigned discriminator)
{
	if (s->count < s->room)
		s->all[s->count] = (struct image_source){
			debug_linkage_name(die), line, entry_declared(die), discriminator};
	s->count++;
}

size_t image_sources_at(
	struct image *image, uint64_t address, struct image_source *sources, size_t room)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, address) : NULL;
	struct function *f = u ? functions_unit_at(d, u, address) : NULL;
	struct steps steps = {sources, room, 0};
	const struct interval *i;
	struct image_line line;
	unsigned at, discriminator;

	if (!f)
		return 0;
	(void)image_line_at(image, address, &line);
	at = line.line;
	discriminator = line.discriminator;
	i = intervals_find(&f->ranges, address);
	for (uint32_t k = i ? i->value : 0; k != 0; k = f->inlined.data[k].parent) {
		Dwarf_Die *die = &f->inlined.data[k].die;

		sources_add(&steps, die, at, discriminator);
		at = (unsigned)entry_number(die, DW_AT_call_line);
		discriminator = (unsigned)entry_number(die, DW_AT_GNU_discriminator);
	}
	sources_add(&steps, &f->die, at, discriminator);
	return steps.count;
}

bool image_from_clang(struct image *image, uint64_t address)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, address) : NULL;
	Dwarf_Attribute a;
	const char *producer = u ? entry_string(dwarf_attr(&u->die, DW_AT_producer, &a)) : NULL;

	return producer && strstr(producer, "clang");
}
