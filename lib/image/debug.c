/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug information of an image: where it is, and which unit has an address. */
#include <stdlib.h>

#include "image/dwarf.h"
#include "image/private.h"

struct adding {
	struct debug *debug;
	uint32_t unit;
	size_t count;
};

bool debug_is_code(struct debug *d, uint64_t low, uint64_t high)
{
	const struct elf_file *f = d->image->elf;

	if (low == 0 || high <= low)
		return false;
	for (size_t i = 0; i < f->segments.count; i++) {
		const GElf_Phdr *h = &f->segments.data[i];

		if (h->p_type == PT_LOAD && (h->p_flags & PF_X) && low >= h->p_vaddr &&
			low - h->p_vaddr < h->p_memsz && high - h->p_vaddr <= h->p_memsz)
			return true;
	}
	return false;
}

static int add_range(void *context, uint64_t low, uint64_t high)
{
	struct adding *a = context;

	if (!debug_is_code(a->debug, low, high))
		return 0;
	a->count++;
	return intervals_add(&a->debug->ranges, low, high, a->unit);
}

/* Sets of .debug_aranges that are about units which do not say themselves (old compilers). */
static int add_aranges(struct debug *d, const bool *silent)
{
	struct span s = dwarf_section(&d->main, DEBUG_ARANGES);
	struct cursor c = cursor_at(s, 0);

	while (!c.bad && c.at != c.end) {
		const uint8_t *start = c.at;
		uint8_t offset_size, address_size, segment_size;
		struct cursor set = dwarf_open_part(&c, &offset_size);
		struct adding a = {d, 0, 0};
		struct unit *u;

		(void)cursor_u16(&set);
		u = dwarf_unit_of(&d->main, cursor_fixed(&set, offset_size));
		address_size = cursor_u8(&set);
		segment_size = cursor_u8(&set);
		if (set.bad || !u || segment_size || (address_size != 4 && address_size != 8))
			continue;
		a.unit = (uint32_t)(u - d->main.units);
		if (!silent[a.unit])
			continue;
		/* tuples are aligned to their size from the beginning of the set */
		cursor_skip(&set, (uint64_t)(start - set.at) & (2u * address_size - 1));
		while (!set.bad && cursor_left(&set) >= 2u * address_size) {
			uint64_t low = cursor_fixed(&set, address_size);
			uint64_t size = cursor_fixed(&set, address_size);

			if (low == 0 && size == 0)
				break;
			if (add_range(&a, low, low + size))
				return -1;
		}
	}
	return 0;
}

static int read_ranges(struct debug *d)
{
	bool *silent = calloc(d->main.count + 1, sizeof(*silent)), any = false;
	int failed = 0;

	if (!silent)
		return -1;
	for (size_t i = 0; !failed && i < d->main.count; i++) {
		struct unit *u = &d->main.units[i];
		struct adding a = {d, (uint32_t)i, 0};

		if (u->type == DW_UT_type || !unit_read(u))
			continue;
		if (u->tag != DW_TAG_compile_unit && u->tag != DW_TAG_skeleton_unit)
			continue;
		failed = unit_own_ranges(u, add_range, &a);
		silent[i] = a.count == 0;
		any = any || silent[i];
	}
	if (!failed && any)
		failed = add_aranges(d, silent);
	free(silent);
	intervals_settle(&d->ranges);
	return failed;
}

static bool has_debug(struct elf_file *f)
{
	return f && elf_file_find(f, ".debug_info").size;
}

static void find_sections(struct debug *d)
{
	struct image *image = d->image;

	if (image->elf->header.e_type == ET_REL)
		return;
	if (has_debug(image->elf))
		d->main.elf = image->elf;
	else if (has_debug(image_separate(image)))
		d->main.elf = image->separate;
	else
		image_complain(image, "it has no debug information (compile with -g)");
	if (d->main.elf)
		dwarf_find_alt(&d->main, image);
	if (d->main.elf && (dwarf_read_units(&d->main) || read_ranges(d)))
		image_complain(image, "memory is out for its debug information");
	else if (d->main.elf && d->ranges.all.count == 0)
		image_complain(image, "its debug information is about no code of it, or damaged");
}

struct debug *debug_of(struct image *image)
{
	if (!image->debug) {
		image->debug = calloc(1, sizeof(*image->debug));
		if (!image->debug)
			return NULL;
		image->debug->image = image;
		find_sections(image->debug);
	}
	return image->debug->main.elf ? image->debug : NULL;
}

struct unit *debug_unit_at(struct debug *d, uint64_t address)
{
	const struct interval *i = intervals_find(&d->ranges, address);

	return i ? &d->main.units[i->value] : NULL;
}

void debug_free(struct debug *d)
{
	if (!d)
		return;
	debug_split_fini(d);
	debug_names_fini(d);
	dwarf_fini(&d->main);
	intervals_fini(&d->ranges);
	free(d);
}

int image_line_at(struct image *image, uint64_t address, struct image_line *line)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, address) : NULL;
	struct line_table *t = u ? line_table_of(u, d) : NULL;

	*line = (struct image_line){0};
	return t ? line_table_find(t, address, line) : -1;
}

const char *image_complaint(struct image *image)
{
	symbols_load(image);
	(void)debug_of(image);
	return image->complaint[0] ? image->complaint : NULL;
}
