/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/debug.h"

/* Writes frames while there is room, and counts all. */
struct frames {
	struct image_frame *all;
	size_t room, count;
};

static void inlines_add(
	struct frames *f, const char *name, const struct image_line *line, Dwarf_Die *die)
{
	if (f->count < f->room)
		f->all[f->count] = (struct image_frame){
			name ? name : "??", *line, die ? entry_declared(die) : 0};
	f->count++;
}

/* From the innermost inlined function outwards; line becomes that of each call. */
static void inlines_walk(struct frames *frames, struct debug *d, struct unit *u, struct function *f,
	uint64_t address, struct image_line *line)
{
	const struct interval *i = intervals_find(&f->ranges, address);

	for (uint32_t at = i ? i->value : 0; at != 0; at = f->inlined.data[at].parent) {
		Dwarf_Die *die = &f->inlined.data[at].die;

		inlines_add(frames, debug_name(d, die), line, die);
		*line = (struct image_line){
			.file = lines_file(d, u, entry_number(die, DW_AT_call_file)),
			.line = (unsigned)entry_number(die, DW_AT_call_line),
			.column = (unsigned)entry_number(die, DW_AT_call_column),
		};
	}
}

size_t image_inlines_at(
	struct image *image, uint64_t address, struct image_frame *frames, size_t room)
{
	struct frames out = {frames, room, 0};
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, address) : NULL;
	const struct image_symbol *symbol;
	struct image_line line;
	struct function *f;

	if (!u)
		return 0;
	(void)image_line_at(image, address, &line);
	f = functions_unit_at(d, u, address);
	if (f)
		inlines_walk(&out, d, u, f, address, &line);
	symbol = image_symbol_at(image, address);
	if (f && (!symbol || symbol->guessed))
		inlines_add(&out, debug_name(d, &f->die), &line, &f->die);
	else if (symbol)
		inlines_add(&out, symbol->demangled, &line, f ? &f->die : NULL);
	return out.count;
}
