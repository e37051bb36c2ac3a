/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The debug information of an image: its file, and the unit of an address. */
#include "image/debug.h"

#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/private.h"

#define FEW_RANGES (1u << 20) /* of code, that any file may have: it can be compressed */

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

int debug_add_ranges(struct debug *d, Dwarf_Die *die, struct intervals *to, uint32_t value)
{
	Dwarf_Addr base = 0, low, high;
	ptrdiff_t at = 0;

	while (d->ranges_left && (at = dwarf_ranges(die, at, &base, &low, &high)) > 0) {
		d->ranges_left--;
		if (debug_is_code(d, low, high) && intervals_add(to, low, high, value))
			return -1;
	}
	if (!d->ranges_left)
		image_complain(d->image,
			"some functions are not known: its debug information has more ranges of "
			"code than bytes");
	return 0;
}

static int debug_add_unit(struct debug *d, Dwarf_Die *die, bool *silent)
{
	struct unit *u = vec_push(&d->units);
	size_t before = d->ranges.all.count;
	int tag = dwarf_tag(die);

	if (!u)
		return -1;
	u->die = *die;
	if (tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit)
		return 0;
	if (debug_add_ranges(d, die, &d->ranges, (uint32_t)(d->units.count - 1)))
		return -1;
	*silent = *silent || d->ranges.all.count == before;
	return 0;
}

/* .debug_aranges of units without ranges of their own (old compilers). */
static int add_aranges(struct debug *d)
{
	bool *said = calloc(d->units.count + 1, sizeof(*said));
	Dwarf_Aranges *all;
	size_t count;
	int failed = said ? 0 : error_nomem(NULL);

	for (size_t i = 0; said && i < d->ranges.all.count; i++)
		said[d->ranges.all.data[i].value] = true;
	if (dwarf_getaranges(d->dwarf, &all, &count) != 0)
		count = 0;
	for (size_t i = 0; !failed && i < count; i++) {
		Dwarf_Addr low;
		Dwarf_Word size;
		Dwarf_Off offset;
		Dwarf_Die die;
		struct unit *u;

		if (dwarf_getarangeinfo(dwarf_onearange(all, i), &low, &size, &offset) != 0 ||
			!dwarf_offdie(d->dwarf, offset, &die))
			continue;
		u = debug_unit_of(d, &die);
		if (u && !said[u - d->units.data] && debug_is_code(d, low, low + size))
			failed = intervals_add(
				&d->ranges, low, low + size, (uint32_t)(u - d->units.data));
	}
	free(said);
	return failed;
}

static int read_units(struct debug *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Half version;
	bool silent = false;
	int failed = 0;
	uint8_t type;
	Dwarf_Die die;

	while (!failed && dwarf_get_units(d->dwarf, cu, &cu, &version, &type, &die, NULL) == 0)
		if (type != DW_UT_type)
			failed = debug_add_unit(d, &die, &silent);
	if (!failed && silent)
		failed = add_aranges(d);
	intervals_settle(&d->ranges);
	return failed;
}

Dwarf *debug_begin(struct elf_file *f)
{
	for (size_t i = 0; i < f->sections.count; i++)
		if (strncmp(f->sections.data[i].name, ".debug_", 7) == 0)
			(void)elf_file_contents(&f->sections.data[i]);
	return dwarf_begin_elf(f->elf, DWARF_C_READ, NULL);
}

bool debug_strings_end(struct elf_file *f)
{
	static const char *const sections[] = {
		".debug_str", ".debug_line_str", ".debug_str.dwo", ".debug_line_str.dwo"};

	for (size_t i = 0; i < sizeof(sections) / sizeof(*sections); i++) {
		struct span s = elf_file_find(f, sections[i]);

		if (s.size && s.data[s.size - 1])
			return false;
	}
	return true;
}

/* The file that dwz made of the common parts of several. If it is missing, libdw gets an empty
 * one, so that it does not take any other file of that name. */
static void find_alt(struct debug *d)
{
	static const struct made_section nothing = {".debug_info", "", 1};
	const char *name;
	const void *id;
	ssize_t length = dwelf_dwarf_gnu_debugaltlink(d->dwarf, &name, &id);

	if (length <= 0)
		return;
	d->alt_elf = separate_file_linked(d->image, d->elf->path, name, id, (size_t)length);
	if (d->alt_elf && debug_strings_end(d->alt_elf))
		d->alt = debug_begin(d->alt_elf);
	if (!d->alt) {
		image_complain(d->image,
			"some names are not known: %s, which it shares with others, is missing",
			name);
		d->no_alt = made_memory(&nothing, 1);
		d->alt = dwarf_begin_elf(d->no_alt, DWARF_C_READ, NULL);
	}
	dwarf_setalt(d->dwarf, d->alt);
}

/* libdw inflates all sections. These are not used, but are a third of the total. */
static void hide_unused(struct elf_file *f)
{
	static const char *const unused[] = {
		".debug_loclists", ".debug_loc", ".debug_macro", ".debug_macinfo"};

	for (size_t i = 0; i < sizeof(unused) / sizeof(*unused); i++) {
		struct elf_section *s = elf_file_section(f, unused[i]);
		GElf_Shdr h;

		if (!s || !gelf_getshdr(s->scn, &h))
			continue;
		h.sh_type = SHT_NOBITS;
		(void)gelf_update_shdr(s->scn, &h);
	}
}

static bool has_debug(struct elf_file *f)
{
	struct elf_section *s = f ? elf_file_section(f, ".debug_info") : NULL;

	return s && s->header.sh_type != SHT_NOBITS && s->header.sh_size;
}

static void debug_find(struct debug *d)
{
	struct image *image = d->image;

	if (image->elf->header.e_type == ET_REL)
		return;
	if (has_debug(image->elf))
		d->elf = image->elf;
	else if (has_debug(image_separate(image)))
		d->elf = image->separate;
	else
		image_complain(image, "it has no debug information (compile with -g)");
	if (!d->elf)
		return;
	d->ranges_left = FEW_RANGES + d->elf->raw.size;
	hide_unused(d->elf);
	d->dwarf = debug_begin(d->elf);
	if (d->dwarf && debug_strings_end(d->elf)) {
		find_alt(d);
		if (read_units(d))
			image_complain(image, "memory is out for its debug information");
	}
	if (d->ranges.all.count == 0)
		image_complain(image, "its debug information is about no code of it, or damaged");
}

struct debug *debug_of(struct image *image)
{
	if (!image->debug) {
		image->debug = calloc(1, sizeof(*image->debug));
		if (!image->debug) {
			error_nomem(NULL);
			return NULL;
		}
		image->debug->image = image;
		debug_find(image->debug);
	}
	return image->debug->units.count ? image->debug : NULL;
}

struct unit *debug_unit_at(struct debug *d, uint64_t address)
{
	const struct interval *i = intervals_find(&d->ranges, address);

	return i ? &d->units.data[i->value] : NULL;
}

struct unit *debug_unit_of(struct debug *d, Dwarf_Die *die)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	size_t low;

	if (dwarf_cu_getdwarf(die->cu) != d->dwarf)
		return NULL;
	low = vec_search(i, d->units.count, dwarf_dieoffset(&d->units.data[i].die) <= offset);
	return low ? &d->units.data[low - 1] : NULL;
}

void debug_free(struct debug *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->units.count; i++)
		functions_free(d->units.data[i].functions);
	vec_fini(&d->units);
	intervals_fini(&d->ranges);
	split_fini(d);
	debug_names_fini(d);
	lines_fini(d);
	dwarf_end(d->dwarf);
	dwarf_end(d->alt);
	elf_end(d->no_alt);
	elf_file_close(d->alt_elf);
	free(d);
}

int image_line_at(struct image *image, uint64_t address, struct image_line *line)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, address) : NULL;

	*line = (struct image_line){0};
	return u ? lines_find(d, u, address, line) : -1;
}

const char *image_complaint(struct image *image)
{
	symbols_load(image);
	if (!image->wanted.count)
		(void)debug_of(image);
	return image->complaint[0] ? image->complaint : NULL;
}

const char *image_library(void)
{
	static char text[32];

	snprintf(text, sizeof(text), "elfutils %s", dwfl_version(NULL));
	return text;
}
