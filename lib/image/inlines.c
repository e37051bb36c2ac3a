/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/dwarf.h"

/* Writes frames while there is room, and counts on. */
struct frames {
	struct image_frame *all;
	size_t room, count;
};

static void add(struct frames *f, const char *name, const struct image_line *line)
{
	if (f->count < f->room)
		f->all[f->count] = (struct image_frame){name ? name : "??", *line};
	f->count++;
}

/* From the innermost inlined function outwards; line becomes that of the call each time. */
static void walk(struct frames *frames, struct debug *d, struct unit *u, const struct function *f,
	uint64_t address, struct image_line *line)
{
	const struct interval *i = intervals_find(&f->ranges, address);
	struct line_table *t = line_table_of(u->skeleton ? u->skeleton : u, d);

	for (uint32_t at = i ? i->value : 0; at != 0; at = f->inlined.data[at].parent) {
		const struct inlined *n = &f->inlined.data[at];

		add(frames, debug_name(d, u, n->origin), line);
		*line = (struct image_line){
			.file = t ? line_table_file(t, n->file) : NULL,
			.line = n->line,
			.column = n->column,
		};
	}
}

size_t image_inlines_at(
	struct image *image, uint64_t address, struct image_frame *frames, size_t room)
{
	struct frames out = {frames, room, 0};
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, address) : NULL, *whole;
	const struct image_symbol *symbol;
	struct function *f;
	struct image_line line;

	if (!u)
		return 0;
	(void)image_line_at(image, address, &line);
	whole = debug_whole_unit(d, u);
	f = whole ? unit_function_at(whole, d, address) : NULL;
	if (f)
		walk(&out, d, whole, f, address, &line);
	symbol = image_symbol_at(image, address);
	if (f && (!symbol || symbol->guessed))
		add(&out, debug_name(d, whole, f->offset), &line);
	else if (symbol)
		add(&out, symbol->demangled, &line);
	return out.count;
}
