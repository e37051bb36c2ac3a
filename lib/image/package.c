/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * .dwp packages: DWARF 5, section 7.3.5, and GNU's earlier one. An index gives the part of each
 * section that belongs to a unit. libdw 0.188 does not support it: it gets these parts as a .dwo
 * file, with the strings that the unit uses.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "image/debug.h"
#include "image/private.h"

enum part { PART_INFO, PART_ABBREV, PART_STR_OFFSETS, PART_RNGLISTS, PART_STR, PARTS };

/* id: DW_SECT_*, of columns of the index; 8 is another section before version 5 */
static const struct {
	const char *name;
	uint32_t id;
} sections[PARTS] = {
	[PART_INFO] = {".debug_info.dwo", 1},
	[PART_ABBREV] = {".debug_abbrev.dwo", 3},
	[PART_STR_OFFSETS] = {".debug_str_offsets.dwo", 6},
	[PART_RNGLISTS] = {".debug_rnglists.dwo", 8},
	[PART_STR] = {".debug_str.dwo", 0},
};

static struct elf_file *package_of(struct debug *d)
{
	const char *paths[] = {d->image->elf->path, d->elf->path, d->image->path};

	for (size_t i = 0; !d->package_sought && !d->package && i < 3; i++) {
		struct strbuf path = {0};

		strbuf_printf(&path, "%s.dwp", paths[i]);
		if (!path.failed)
			d->package = elf_file_open(strbuf_text(&path), NULL);
		strbuf_fini(&path);
	}
	d->package_sought = true;
	return d->package;
}

struct package_index {
	struct span s;
	uint32_t version, columns, units, slots;
	uint64_t ids, offsets, sizes; /* positions of the tables */
};

/* Little-endian; 0 if the span ends before. */
static uint64_t number_at(struct span s, uint64_t offset, unsigned bytes)
{
	uint64_t value = 0;

	if (offset <= s.size && bytes <= s.size - offset)
		memcpy(&value, s.data + offset, bytes);
	return value;
}

static bool read_index(struct package_index *x, struct span s)
{
	uint64_t cells;

	x->s = s;
	x->version = number_at(s, 0, 4) & 0xffff;
	x->columns = (uint32_t)number_at(s, 4, 4);
	x->units = (uint32_t)number_at(s, 8, 4);
	x->slots = (uint32_t)number_at(s, 12, 4);
	cells = (uint64_t)x->columns * x->units;
	if ((x->version != 2 && x->version != 5) || x->columns > 64 || x->slots == 0 ||
		(x->slots & (x->slots - 1)) || x->slots > s.size / 12 || cells > s.size / 4)
		return false;
	x->ids = 16 + UINT64_C(12) * x->slots;
	x->offsets = x->ids + UINT64_C(4) * x->columns;
	x->sizes = x->offsets + 4 * cells;
	return x->sizes + 4 * cells <= s.size;
}

/* The row of a unit, from 1; 0: it is not there. */
static uint32_t package_find_row(const struct package_index *x, uint64_t id)
{
	uint32_t mask = x->slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t n = 0; n < x->slots; n++, at = (at + step) & mask) {
		uint64_t rows = 16 + UINT64_C(8) * x->slots;
		uint32_t row = (uint32_t)number_at(x->s, rows + UINT64_C(4) * at, 4);

		if (row == 0)
			return 0;
		if (number_at(x->s, 16 + UINT64_C(8) * at, 8) == id)
			return row <= x->units ? row : 0;
	}
	return 0;
}

static void package_take_parts(
	struct elf_file *package, const struct package_index *x, uint32_t row, struct span *parts)
{
	for (uint32_t i = 0; i < x->columns; i++) {
		uint64_t id = number_at(x->s, x->ids + 4 * i, 4);
		uint64_t cell = 4 * ((uint64_t)(row - 1) * x->columns + i);
		uint64_t offset = number_at(x->s, x->offsets + cell, 4);
		uint64_t size = number_at(x->s, x->sizes + cell, 4);

		for (size_t k = 0; k < PART_STR; k++) {
			struct span all;

			if (sections[k].id != id || (k == PART_RNGLISTS && x->version < 5))
				continue;
			all = elf_file_find(package, sections[k].name);
			if (offset <= all.size && size <= all.size - offset)
				parts[k] = (struct span){all.data + offset, size};
		}
	}
}

/* The strings of a unit, and the positions in them of its table's strings. A unit names each
 * once: a damaged table that names a long one again and again gets no more than twice all. */
static void take_strings(struct span all, struct span table, size_t header, struct strbuf *strings,
	struct strbuf *offsets)
{
	size_t most = 2 * all.size;

	strbuf_putc(strings, '\0');
	strbuf_add(offsets, (const char *)table.data, header);
	for (size_t at = header; at + 4 <= table.size; at += 4) {
		const char *text = strings->length < most
					   ? elf_file_span_string(all, number_at(table, at, 4))
					   : NULL;
		uint32_t offset = text ? (uint32_t)strings->length : 0;

		strbuf_add(offsets, (const char *)&offset, sizeof(offset));
		if (text)
			strbuf_add(strings, text, strlen(text) + 1);
	}
}

int package_open(struct debug *d, uint64_t id)
{
	struct elf_file *package = package_of(d);
	struct strbuf strings = {0}, offsets = {0};
	struct made_section made[PARTS];
	struct span parts[PARTS] = {{0}};
	struct package_index x;
	uint32_t row;
	int fd = -1;

	if (!package || !read_index(&x, elf_file_find(package, ".debug_cu_index")) ||
		!(row = package_find_row(&x, id)))
		return -1;
	package_take_parts(package, &x, row, parts);
	if (parts[PART_STR_OFFSETS].size >= 8)
		take_strings(elf_file_find(package, sections[PART_STR].name),
			parts[PART_STR_OFFSETS], x.version >= 5 ? 8 : 0, &strings, &offsets);
	parts[PART_STR_OFFSETS] =
		(struct span){(const uint8_t *)strbuf_text(&offsets), offsets.length};
	parts[PART_STR] = (struct span){(const uint8_t *)strbuf_text(&strings), strings.length};
	for (size_t k = 0; k < PARTS; k++)
		made[k] = (struct made_section){sections[k].name, parts[k].data, parts[k].size};
	if (!strings.failed && !offsets.failed)
		fd = made_file(made, PARTS);
	strbuf_fini(&strings);
	strbuf_fini(&offsets);
	return fd;
}
