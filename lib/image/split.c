/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Split DWARF: entries in .dwo files, one per unit, or in one .dwp package beside the image (DWARF
 * 5, section 7.3; GNU's earlier one of DWARF 4).
 *
 * libdw 0.188 looks for a .dwo file only by the path in its skeleton unit, and does not support
 * packages. So it gets another skeleton unit, made here, that names the file which was found.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "image/debug.h"
#include "image/private.h"

/* A skeleton unit made here, and the split one that libdw found by it. */
struct split {
	struct strbuf info;
	Elf *elf;
	Dwarf *dwarf;
};

/* The data of a skeleton unit. */
struct skeleton {
	uint64_t id, low_pc, addr_base, ranges_base;
	uint8_t address_size;
	bool version_5;
};

/* DW_TAG_compile_unit, then attribute and form of each value that put_unit writes. */
static const uint8_t abbrevs_4[] = {1, DW_TAG_compile_unit, DW_CHILDREN_no, //
	0xb0, 0x42, DW_FORM_string,                                         /* DW_AT_GNU_dwo_name */
	0xb1, 0x42, DW_FORM_data8,                                          /* DW_AT_GNU_dwo_id */
	0xb2, 0x42, DW_FORM_sec_offset, /* DW_AT_GNU_ranges_base */
	0xb3, 0x42, DW_FORM_sec_offset, /* DW_AT_GNU_addr_base */
	DW_AT_low_pc, DW_FORM_addr, 0, 0, 0};
static const uint8_t abbrevs_5[] = {1, DW_TAG_skeleton_unit, DW_CHILDREN_no, DW_AT_dwo_name,
	DW_FORM_string, DW_AT_addr_base, DW_FORM_sec_offset, DW_AT_low_pc, DW_FORM_addr, 0, 0, 0};

static void split_put(struct strbuf *s, uint64_t value, size_t bytes)
{
	strbuf_add(s, (const char *)&value, bytes);
}

/* The unit, without its length. */
static void put_unit(struct strbuf *s, const struct skeleton *k, const char *path)
{
	split_put(s, k->version_5 ? 5 : 4, 2);
	if (k->version_5) {
		split_put(s, DW_UT_skeleton, 1);
		split_put(s, k->address_size, 1);
	}
	split_put(s, 0, 4); /* offset of the abbreviations */
	split_put(s, k->version_5 ? k->id : k->address_size, k->version_5 ? 8 : 1);
	split_put(s, 1, 1); /* the abbreviation */
	strbuf_add(s, path, strlen(path) + 1);
	if (!k->version_5) {
		split_put(s, k->id, 8);
		split_put(s, k->ranges_base, 4);
	}
	split_put(s, k->addr_base, 4);
	split_put(s, k->low_pc, k->address_size);
}

/* The first entry of the split unit in the file at path, if it is that of the skeleton. */
static bool link_file(struct debug *d, const struct skeleton *k, const char *path, Dwarf_Die *found)
{
	struct span addresses = elf_file_find(d->elf, ".debug_addr");
	struct span ranges = elf_file_find(d->elf, ".debug_ranges");
	struct split *s = calloc(1, sizeof(*s)), **slot = s ? vec_push(&d->splits) : NULL;
	struct strbuf unit = {0};
	Dwarf_Half version;
	size_t bytes = 0;
	uint8_t type;
	Dwarf_CU *cu;
	Dwarf_Die die;

	if (!slot) {
		free(s);
		return false;
	}
	*slot = s;
	put_unit(&unit, k, path);
	split_put(&s->info, unit.length, 4);
	strbuf_add(&s->info, strbuf_text(&unit), unit.length);
	s->elf = made_memory(
		(const struct made_section[]){
			{".debug_info", s->info.data, s->info.length},
			{".debug_abbrev", k->version_5 ? abbrevs_5 : abbrevs_4,
				k->version_5 ? sizeof(abbrevs_5) : sizeof(abbrevs_4)},
			{".debug_addr", addresses.data, addresses.size},
			{".debug_ranges", ranges.data, ranges.size},
		},
		4);
	s->dwarf =
		unit.failed || s->info.failed ? NULL : dwarf_begin_elf(s->elf, DWARF_C_READ, NULL);
	strbuf_fini(&unit);
	if (s->dwarf && d->alt)
		dwarf_setalt(s->dwarf, d->alt);
	if (!s->dwarf || dwarf_get_units(s->dwarf, NULL, &cu, &version, &type, &die, found) != 0 ||
		!found->addr)
		return false;
	(void)elf_rawfile(dwarf_getelf(dwarf_cu_getdwarf(found->cu)), &bytes);
	d->ranges_left += bytes;
	return true;
}

/* libdw would open any file, and read strings to their zero. */
static bool is_fit(const char *path)
{
	struct elf_file *f = elf_file_open(path, NULL);
	bool fit = f && debug_strings_end(f);

	elf_file_close(f);
	return fit;
}

/* Directory of path, with the slash. */
static void split_add_directory(struct strbuf *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (slash)
		strbuf_add(s, path, (size_t)(slash - path) + 1);
}

/* The places of .dwo files, in order of the search. */
static bool find_dwo(struct debug *d, const struct skeleton *k, const char *name,
	const char *directory, Dwarf_Die *found)
{
	const char *root = d->image->where.root, *base = strrchr(name, '/');
	bool is_found = false;

	for (int way = 0; !is_found && way < 4; way++) {
		struct strbuf path = {0};
		char *whole;

		if (way == 0 && !(root && *root))
			continue;
		if (way == 0)
			strbuf_printf(&path, "%s/", root);
		if (way < 2 && name[0] != '/' && directory)
			strbuf_printf(&path, "%s/", directory);
		if (way >= 2)
			split_add_directory(&path, d->elf->path);
		strbuf_puts(&path, way < 3 ? name : base ? base + 1 : name);
		/* libdw needs a directory before a relative path */
		whole = path.failed ? NULL : realpath(strbuf_text(&path), NULL);
		is_found = whole && is_fit(whole) && link_file(d, k, whole, found);
		free(whole);
		strbuf_fini(&path);
	}
	return is_found;
}

static bool find_packaged(struct debug *d, const struct skeleton *k, Dwarf_Die *found)
{
	int fd = package_open(d, k->id);
	struct strbuf path = {0};
	bool is_found;

	if (fd < 0)
		return false;
	strbuf_printf(&path, "/proc/self/fd/%d", fd);
	is_found = !path.failed && link_file(d, k, strbuf_text(&path), found);
	strbuf_fini(&path);
	close(fd);
	return is_found;
}

static void read_skeleton(struct skeleton *k, Dwarf_Die *die)
{
	Dwarf_Half version;
	uint8_t type;

	*k = (struct skeleton){0};
	if (dwarf_cu_info(die->cu, &version, &type, NULL, NULL, &k->id, &k->address_size, NULL))
		return;
	k->version_5 = version >= 5;
	k->addr_base = entry_number(die, k->version_5 ? DW_AT_addr_base : DW_AT_GNU_addr_base);
	k->ranges_base = entry_number(die, DW_AT_GNU_ranges_base);
	(void)dwarf_lowpc(die, &k->low_pc);
}

static void split_find_whole(struct debug *d, struct unit *u)
{
	Dwarf_Attribute a;
	const char *name = entry_string(dwarf_attr(&u->die, DW_AT_dwo_name, &a)), *directory;
	struct skeleton k;

	if (!name)
		name = entry_string(dwarf_attr(&u->die, DW_AT_GNU_dwo_name, &a));
	if (!name) {
		u->whole = u->die;
		return;
	}
	directory = entry_string(dwarf_attr(&u->die, DW_AT_comp_dir, &a));
	read_skeleton(&k, &u->die);
	if (find_packaged(d, &k, &u->whole) || find_dwo(d, &k, name, directory, &u->whole))
		return;
	u->whole.addr = NULL;
	image_complain(d->image,
		"inlined functions are not known: %s is missing or not that of this build", name);
}

Dwarf_Die *split_whole_unit(struct debug *d, struct unit *u)
{
	if (!u->whole_sought) {
		u->whole_sought = true;
		split_find_whole(d, u);
	}
	return u->whole.addr ? &u->whole : NULL;
}

void split_fini(struct debug *d)
{
	for (size_t i = 0; i < d->splits.count; i++) {
		struct split *s = d->splits.data[i];

		dwarf_end(s->dwarf);
		elf_end(s->elf);
		strbuf_fini(&s->info);
		free(s);
	}
	vec_fini(&d->splits);
	elf_file_close(d->package);
}
