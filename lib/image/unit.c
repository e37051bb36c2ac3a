/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Units of .debug_info: headers (DWARF 5, section 7.5.1) and their first entries. */
#include <stdlib.h>

#include "image/dwarf.h"

static const char *const section_names[DEBUG_SECTIONS][2] = {
	[DEBUG_INFO] = {".debug_info", ".debug_info.dwo"},
	[DEBUG_ABBREV] = {".debug_abbrev", ".debug_abbrev.dwo"},
	[DEBUG_LINE] = {".debug_line", ".debug_line.dwo"},
	[DEBUG_STR] = {".debug_str", ".debug_str.dwo"},
	[DEBUG_LINE_STR] = {".debug_line_str", ".debug_line_str"},
	[DEBUG_STR_OFFSETS] = {".debug_str_offsets", ".debug_str_offsets.dwo"},
	[DEBUG_ADDR] = {".debug_addr", ".debug_addr"},
	[DEBUG_RNGLISTS] = {".debug_rnglists", ".debug_rnglists.dwo"},
	[DEBUG_RANGES] = {".debug_ranges", ".debug_ranges"},
	[DEBUG_ARANGES] = {".debug_aranges", ".debug_aranges"},
};

struct span dwarf_section(struct dwarf_file *f, enum debug_section which)
{
	if (!f->sought[which]) {
		f->sought[which] = true;
		if (f->elf)
			f->sections[which] = elf_file_find(f->elf, section_names[which][f->split]);
	}
	return f->sections[which];
}

/* The length that begins a unit or table; sets the size of offsets. */
static uint64_t read_length(struct cursor *c, uint8_t *offset_size)
{
	uint64_t length = cursor_u32(c);

	*offset_size = 4;
	if (length == UINT32_MAX) {
		*offset_size = 8;
		length = cursor_u64(c);
	} else if (length >= 0xfffffff0) {
		cursor_fail(c);
	}
	return length;
}

struct cursor dwarf_open_part(struct cursor *c, uint8_t *offset_size)
{
	return cursor_part(c, read_length(c, offset_size));
}

static bool read_header(struct unit *u, struct cursor *c, const uint8_t *start)
{
	u->version = cursor_u16(c);
	if (u->version >= 5) {
		u->type = cursor_u8(c);
		u->address_size = cursor_u8(c);
		u->abbrev_offset = cursor_fixed(c, u->offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->dwo_id = cursor_u64(c);
		else if (u->type == DW_UT_type || u->type == DW_UT_split_type)
			cursor_skip(c, 8u + u->offset_size);
	} else {
		u->abbrev_offset = cursor_fixed(c, u->offset_size);
		u->address_size = cursor_u8(c);
	}
	u->first = (uint64_t)(c->at - start);
	return !c->bad && u->version >= 2 && u->version <= 5 &&
	       (u->address_size == 4 || u->address_size == 8);
}

int dwarf_read_units(struct dwarf_file *f)
{
	struct span info = dwarf_section(f, DEBUG_INFO);
	struct cursor c = cursor_at(info, 0);
	VEC(struct unit) units = {0};

	while (!c.bad && c.at != c.end) {
		struct unit u = {.file = f, .offset = (uint64_t)(c.at - info.data)}, *slot;
		struct cursor body = dwarf_open_part(&c, &u.offset_size);

		if (c.bad)
			break;
		u.end = (uint64_t)(c.at - info.data);
		if (!read_header(&u, &body, info.data))
			continue; /* of a version that is not known: the next may be */
		slot = vec_push(&units);
		if (!slot)
			return -1;
		*slot = u;
	}
	f->units = units.data;
	f->count = units.count;
	return 0;
}

struct unit *dwarf_unit_of(struct dwarf_file *f, uint64_t offset)
{
	size_t low = 0, high = f->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->units[middle].offset <= offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low && offset < f->units[low - 1].end ? &f->units[low - 1] : NULL;
}

/* Where the attributes of first entries go. */
enum {
	LOW_PC,
	STMT_LIST,
	RANGES_BASE,
	ADDR_BASE,
	STR_OFFSETS_BASE,
	RNGLISTS_BASE,
	DWO_ID,
	NAME,
	COMP_DIR,
	DWO_NAME,
	FIELDS
};

static const struct {
	uint16_t attribute, field;
} first_attributes[] = {
	{DW_AT_low_pc, LOW_PC},
	{DW_AT_stmt_list, STMT_LIST},
	{DW_AT_GNU_ranges_base, RANGES_BASE},
	{DW_AT_addr_base, ADDR_BASE},
	{DW_AT_GNU_addr_base, ADDR_BASE},
	{DW_AT_str_offsets_base, STR_OFFSETS_BASE},
	{DW_AT_rnglists_base, RNGLISTS_BASE},
	{DW_AT_GNU_dwo_id, DWO_ID},
	{DW_AT_name, NAME},
	{DW_AT_comp_dir, COMP_DIR},
	{DW_AT_dwo_name, DWO_NAME},
	{DW_AT_GNU_dwo_name, DWO_NAME},
};

static uint64_t offset_or_none(const struct value *v)
{
	return v->form ? v->u : OFFSET_NONE;
}

/* Bases come first: the others need them. */
static void take_fields(struct unit *u, const struct value *v)
{
	u->line_offset = offset_or_none(&v[STMT_LIST]);
	u->ranges_base = offset_or_none(&v[RANGES_BASE]);
	u->addr_base = offset_or_none(&v[ADDR_BASE]);
	u->str_offsets_base = offset_or_none(&v[STR_OFFSETS_BASE]);
	u->rnglists_base = offset_or_none(&v[RNGLISTS_BASE]);
	if (u->file->split && u->str_offsets_base == OFFSET_NONE)
		u->str_offsets_base = u->version < 5 ? 0 : u->offset_size == 8 ? 16 : 8;
	if (v[DWO_ID].form)
		u->dwo_id = v[DWO_ID].u;
	u->name = value_string(u, &v[NAME]);
	u->directory = value_string(u, &v[COMP_DIR]);
	u->dwo_name = value_string(u, &v[DWO_NAME]);
	if (!value_address(u, &v[LOW_PC], &u->low_pc))
		u->low_pc = OFFSET_NONE;
}

static bool read_first(struct unit *u, struct abbrevs *table)
{
	struct cursor c = cursor_at(dwarf_section(u->file, DEBUG_INFO), u->first);
	uint64_t code = cursor_uleb(&c);
	struct value v[FIELDS] = {{0}};

	if (!code || !abbrev_read_one(u, code, table))
		return false;
	u->tag = table->all.data[0].tag;
	for (size_t i = 0; i < table->specs.count; i++) {
		const struct abbrev_spec *spec = &table->specs.data[i];
		struct value got = form_read(&c, u, spec->form, spec->constant);

		for (size_t k = 0; k < sizeof(first_attributes) / sizeof(*first_attributes); k++)
			if (first_attributes[k].attribute == spec->name)
				v[first_attributes[k].field] = got;
	}
	if (c.bad)
		return false;
	take_fields(u, v);
	return true;
}

bool unit_read(struct unit *u)
{
	struct abbrevs table = {0};

	if (u->read)
		return u->tag != 0;
	u->read = true;
	u->low_pc = u->line_offset = u->ranges_base = u->addr_base = OFFSET_NONE;
	u->str_offsets_base = u->rnglists_base = OFFSET_NONE;
	if (!read_first(u, &table))
		u->tag = 0;
	vec_fini(&table.all);
	vec_fini(&table.specs);
	return u->tag != 0;
}

/* Ranges of the unit as its first entry says. */
int unit_own_ranges(struct unit *u, range_call *call, void *context)
{
	struct abbrevs table = {0};
	struct cursor c = cursor_at(dwarf_section(u->file, DEBUG_INFO), u->first);
	struct value low = {0}, high = {0}, ranges = {0};
	int stop = 0;

	if (unit_read(u) && abbrev_read_one(u, cursor_uleb(&c), &table)) {
		for (size_t i = 0; i < table.specs.count; i++) {
			const struct abbrev_spec *spec = &table.specs.data[i];
			struct value got = form_read(&c, u, spec->form, spec->constant);

			if (spec->name == DW_AT_low_pc)
				low = got;
			else if (spec->name == DW_AT_high_pc)
				high = got;
			else if (spec->name == DW_AT_ranges)
				ranges = got;
		}
		stop = entry_ranges(u, &low, &high, &ranges, call, context);
	}
	vec_fini(&table.all);
	vec_fini(&table.specs);
	return stop;
}

void dwarf_fini(struct dwarf_file *f)
{
	for (size_t i = 0; i < f->count; i++) {
		line_table_free(f->units[i].lines);
		functions_free(f->units[i].functions);
	}
	free(f->units);
	for (size_t i = 0; i < f->abbrevs_count; i++)
		abbrevs_free(f->abbrevs[i]);
	free(f->abbrevs);
	if (f->alt) {
		dwarf_fini(f->alt);
		free(f->alt);
	}
	if (f->owned)
		elf_file_close(f->elf);
}
