/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split DWARF: entries in .dwo files, one a unit, or in one .dwp package beside the image (DWARF 5,
 * section 7.3; GNU's earlier one of DWARF 4).
 */
#include <stdlib.h>

#include "base/strbuf.h"
#include "image/dwarf.h"
#include "image/private.h"

/* DW_SECT_*: columns of a package's index. */
static const struct {
	uint32_t id;
	bool only_5;
	enum debug_section section;
} columns[] = {
	{1, false, DEBUG_INFO},
	{3, false, DEBUG_ABBREV},
	{4, false, DEBUG_LINE},
	{6, false, DEBUG_STR_OFFSETS},
	{8, true, DEBUG_RNGLISTS},
};

static struct dwarf_file *add_file(struct debug *d, struct elf_file *elf, bool owned)
{
	struct dwarf_file **longer = realloc(d->more, (d->more_count + 1) * sizeof(*longer)), *f;

	if (!longer)
		return NULL;
	d->more = longer;
	f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->elf = elf;
	f->owned = owned;
	f->split = true;
	d->more[d->more_count++] = f;
	return f;
}

/* The unit of this id among those of a file. */
static struct unit *find_unit(struct dwarf_file *f, struct unit *skeleton)
{
	if (dwarf_read_units(f))
		return NULL;
	for (size_t i = 0; i < f->count; i++) {
		struct unit *u = &f->units[i];

		u->skeleton = skeleton;
		if (unit_read(u) && u->tag == DW_TAG_compile_unit && u->dwo_id == skeleton->dwo_id)
			return u;
	}
	return NULL;
}

static struct unit *try_dwo(struct debug *d, struct unit *u, const char *path)
{
	struct elf_file *elf = elf_file_open(path, NULL);
	struct dwarf_file *f = elf ? add_file(d, elf, true) : NULL;

	if (!f)
		elf_file_close(elf);
	return f ? find_unit(f, u) : NULL;
}

/* Directory of path, with the slash. */
static void add_directory(struct strbuf *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		strbuf_add(s, path, (size_t)(slash - path) + 1);
}

/* Where .dwo files are looked for, in this order. */
static struct unit *find_dwo(struct debug *d, struct unit *u)
{
	const char *root = d->image->where.root, *name = u->dwo_name, *base = strrchr(name, '/');
	struct unit *found = NULL;

	for (int way = 0; !found && way < 4; way++) {
		struct strbuf path = {0};

		if (way == 0 && !(root && *root))
			continue;
		if (way == 0)
			strbuf_printf(&path, "%s/", root);
		if (way < 2 && name[0] != '/' && u->directory)
			strbuf_printf(&path, "%s/", u->directory);
		if (way >= 2)
			add_directory(&path, d->main.elf->path);
		strbuf_puts(&path, way < 3 ? name : base ? base + 1 : name);
		if (!path.failed)
			found = try_dwo(d, u, strbuf_text(&path));
		strbuf_fini(&path);
	}
	return found;
}

static struct elf_file *package_of(struct debug *d)
{
	const char *paths[] = {d->image->elf->path, d->main.elf->path, d->image->path};

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
	uint64_t ids, offsets, sizes; /* where the tables are */
};

static bool read_index(struct package_index *x, struct span s)
{
	struct cursor c = cursor_at(s, 0);
	uint64_t cells;

	x->s = s;
	x->version = cursor_u32(&c) & 0xffff;
	x->columns = cursor_u32(&c);
	x->units = cursor_u32(&c);
	x->slots = cursor_u32(&c);
	cells = (uint64_t)x->columns * x->units;
	if (c.bad || (x->version != 2 && x->version != 5) || x->columns > 64 || x->slots == 0 ||
		(x->slots & (x->slots - 1)) || x->slots > s.size / 12 || cells > s.size / 4)
		return false;
	x->ids = 16 + UINT64_C(12) * x->slots;
	x->offsets = x->ids + UINT64_C(4) * x->columns;
	x->sizes = x->offsets + 4 * cells;
	return x->sizes + 4 * cells <= s.size;
}

static uint64_t index_at(const struct package_index *x, uint64_t offset, unsigned size)
{
	struct cursor c = cursor_at(x->s, offset);

	return cursor_fixed(&c, size);
}

/* The row of a unit, from 1; 0: it is not there. */
static uint32_t find_row(const struct package_index *x, uint64_t id)
{
	uint32_t mask = x->slots - 1, at = (uint32_t)id & mask;
	uint32_t step = ((uint32_t)(id >> 32) & mask) | 1;

	for (uint32_t n = 0; n < x->slots; n++, at = (at + step) & mask) {
		uint32_t row =
			(uint32_t)index_at(x, 16 + UINT64_C(8) * x->slots + UINT64_C(4) * at, 4);

		if (row == 0)
			return 0;
		if (index_at(x, 16 + UINT64_C(8) * at, 8) == id)
			return row <= x->units ? row : 0;
	}
	return 0;
}

static void take_part(
	struct dwarf_file *f, enum debug_section section, uint64_t offset, uint64_t size)
{
	struct span all = dwarf_section(f, section);
	bool inside = offset <= all.size && size <= all.size - offset;

	f->sections[section] = inside ? (struct span){all.data + offset, size} : (struct span){0};
}

static struct unit *find_packaged(struct debug *d, struct unit *u)
{
	struct elf_file *package = package_of(d);
	struct package_index x;
	struct dwarf_file *f;
	uint32_t row;

	if (!package || !read_index(&x, elf_file_find(package, ".debug_cu_index")) ||
		!(row = find_row(&x, u->dwo_id)) || !(f = add_file(d, package, false)))
		return NULL;
	for (uint32_t i = 0; i < x.columns; i++) {
		uint64_t id = index_at(&x, x.ids + 4 * i, 4);
		uint64_t cell = 4 * ((uint64_t)(row - 1) * x.columns + i);

		for (size_t k = 0; k < sizeof(columns) / sizeof(*columns); k++)
			if (columns[k].id == id && (x.version == 5 || !columns[k].only_5))
				take_part(f, columns[k].section, index_at(&x, x.offsets + cell, 4),
					index_at(&x, x.sizes + cell, 4));
	}
	return find_unit(f, u);
}

struct unit *debug_whole_unit(struct debug *d, struct unit *u)
{
	if (!u->dwo_name)
		return u;
	if (!u->split_sought) {
		u->split_sought = true;
		u->split = find_packaged(d, u);
		if (!u->split)
			u->split = find_dwo(d, u);
		if (!u->split)
			image_complain(d->image,
				"inlined functions are not known: %s is missing or "
				"not that of this build",
				u->dwo_name);
	}
	return u->split;
}

void debug_split_fini(struct debug *d)
{
	for (size_t i = 0; i < d->more_count; i++) {
		dwarf_fini(d->more[i]);
		free(d->more[i]);
	}
	free(d->more);
	elf_file_close(d->package);
}
