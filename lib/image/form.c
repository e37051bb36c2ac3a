/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Values of attributes: DWARF 5, section 7.5.5 and 7.5.6, with GNU's forms of split DWARF and dwz.
 */
#include "image/dwarf.h"

/* How a form is laid out. */
enum layout {
	LAYOUT_UNKNOWN,
	LAYOUT_FIXED,     /* size bytes */
	LAYOUT_OFFSET,    /* 4 or 8 bytes, as the unit's format says */
	LAYOUT_ADDRESS,   /* as the unit's header says */
	LAYOUT_REFERENCE, /* DW_FORM_ref_addr: an address in DWARF 2 */
	LAYOUT_ULEB,
	LAYOUT_SLEB,
	LAYOUT_STRING,
	LAYOUT_BLOCK, /* size bytes of length (0: ULEB128), then that many */
	LAYOUT_NOTHING,
	LAYOUT_INDIRECT,
};

static const struct form {
	uint8_t layout, size;
} forms[] = {
	[DW_FORM_addr] = {LAYOUT_ADDRESS, 0},
	[DW_FORM_block1] = {LAYOUT_BLOCK, 1},
	[DW_FORM_block2] = {LAYOUT_BLOCK, 2},
	[DW_FORM_block4] = {LAYOUT_BLOCK, 4},
	[DW_FORM_block] = {LAYOUT_BLOCK, 0},
	[DW_FORM_exprloc] = {LAYOUT_BLOCK, 0},
	[DW_FORM_data1] = {LAYOUT_FIXED, 1},
	[DW_FORM_data2] = {LAYOUT_FIXED, 2},
	[DW_FORM_data4] = {LAYOUT_FIXED, 4},
	[DW_FORM_data8] = {LAYOUT_FIXED, 8},
	[DW_FORM_data16] = {LAYOUT_FIXED, 16},
	[DW_FORM_sdata] = {LAYOUT_SLEB, 0},
	[DW_FORM_udata] = {LAYOUT_ULEB, 0},
	[DW_FORM_string] = {LAYOUT_STRING, 0},
	[DW_FORM_strp] = {LAYOUT_OFFSET, 0},
	[DW_FORM_line_strp] = {LAYOUT_OFFSET, 0},
	[DW_FORM_strp_sup] = {LAYOUT_OFFSET, 0},
	[DW_FORM_sec_offset] = {LAYOUT_OFFSET, 0},
	[DW_FORM_flag] = {LAYOUT_FIXED, 1},
	[DW_FORM_flag_present] = {LAYOUT_NOTHING, 0},
	[DW_FORM_implicit_const] = {LAYOUT_NOTHING, 0},
	[DW_FORM_ref1] = {LAYOUT_FIXED, 1},
	[DW_FORM_ref2] = {LAYOUT_FIXED, 2},
	[DW_FORM_ref4] = {LAYOUT_FIXED, 4},
	[DW_FORM_ref8] = {LAYOUT_FIXED, 8},
	[DW_FORM_ref_udata] = {LAYOUT_ULEB, 0},
	[DW_FORM_ref_addr] = {LAYOUT_REFERENCE, 0},
	[DW_FORM_ref_sig8] = {LAYOUT_FIXED, 8},
	[DW_FORM_ref_sup4] = {LAYOUT_FIXED, 4},
	[DW_FORM_ref_sup8] = {LAYOUT_FIXED, 8},
	[DW_FORM_strx] = {LAYOUT_ULEB, 0},
	[DW_FORM_strx1] = {LAYOUT_FIXED, 1},
	[DW_FORM_strx2] = {LAYOUT_FIXED, 2},
	[DW_FORM_strx3] = {LAYOUT_FIXED, 3},
	[DW_FORM_strx4] = {LAYOUT_FIXED, 4},
	[DW_FORM_addrx] = {LAYOUT_ULEB, 0},
	[DW_FORM_addrx1] = {LAYOUT_FIXED, 1},
	[DW_FORM_addrx2] = {LAYOUT_FIXED, 2},
	[DW_FORM_addrx3] = {LAYOUT_FIXED, 3},
	[DW_FORM_addrx4] = {LAYOUT_FIXED, 4},
	[DW_FORM_loclistx] = {LAYOUT_ULEB, 0},
	[DW_FORM_rnglistx] = {LAYOUT_ULEB, 0},
	[DW_FORM_indirect] = {LAYOUT_INDIRECT, 0},
};

static struct form form_of(uint16_t form)
{
	switch (form) {
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		return (struct form){LAYOUT_ULEB, 0};
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return (struct form){LAYOUT_OFFSET, 0};
	default:
		return form < sizeof(forms) / sizeof(*forms) ? forms[form] : (struct form){0};
	}
}

static unsigned fixed_size(const struct unit *u, struct form f)
{
	switch (f.layout) {
	case LAYOUT_FIXED:
		return f.size;
	case LAYOUT_OFFSET:
		return u->offset_size;
	case LAYOUT_ADDRESS:
		return u->address_size;
	case LAYOUT_REFERENCE:
		return u->version <= 2 ? u->address_size : u->offset_size;
	default:
		return 0;
	}
}

int form_size(const struct unit *u, uint16_t form)
{
	struct form f = form_of(form);

	return f.layout == LAYOUT_NOTHING ? 0 : fixed_size(u, f) ? (int)fixed_size(u, f) : -1;
}

struct value form_read(struct cursor *c, const struct unit *u, uint16_t form, int64_t constant)
{
	struct value v = {.form = form};
	struct form f = form_of(form);
	unsigned n = fixed_size(u, f);

	if (n == 16) {
		cursor_skip(c, 16);
		return v;
	}
	if (n) {
		v.u = cursor_fixed(c, n);
		return v;
	}
	switch (f.layout) {
	case LAYOUT_ULEB:
		v.u = cursor_uleb(c);
		break;
	case LAYOUT_SLEB:
		v.u = (uint64_t)cursor_sleb(c);
		break;
	case LAYOUT_STRING:
		v.s = cursor_string(c);
		break;
	case LAYOUT_BLOCK:
		v.u = f.size ? cursor_fixed(c, f.size) : cursor_uleb(c);
		v.s = (const char *)c->at;
		cursor_skip(c, v.u);
		break;
	case LAYOUT_NOTHING:
		v.u = form == DW_FORM_implicit_const ? (uint64_t)constant : 1;
		break;
	case LAYOUT_INDIRECT:
		form = (uint16_t)cursor_uleb(c);
		if (form != DW_FORM_indirect && form != DW_FORM_implicit_const)
			return form_read(c, u, form, 0);
		cursor_fail(c);
		break;
	default:
		cursor_fail(c);
		break;
	}
	return v;
}

void form_skip(struct cursor *c, const struct unit *u, uint16_t form)
{
	struct form f = form_of(form);
	unsigned n = fixed_size(u, f);

	if (n)
		cursor_skip(c, n);
	else if (f.layout != LAYOUT_NOTHING)
		(void)form_read(c, u, form, 0);
}

static bool table_entry(struct span s, uint64_t base, uint64_t i, unsigned size, uint64_t *entry)
{
	struct cursor c;

	if (base == OFFSET_NONE || i > s.size / size)
		return false;
	c = cursor_at(s, base);
	cursor_skip(&c, i * size);
	*entry = cursor_fixed(&c, size);
	return !c.bad;
}

bool unit_address(struct unit *u, uint64_t i, uint64_t *address)
{
	struct unit *holder = u->skeleton ? u->skeleton : u;

	return table_entry(dwarf_section(holder->file, DEBUG_ADDR), holder->addr_base, i,
		u->address_size, address);
}

const char *value_string(struct unit *u, const struct value *v)
{
	uint64_t offset;

	switch (v->form) {
	case DW_FORM_string:
		return v->s;
	case DW_FORM_strp:
		return span_string(dwarf_section(u->file, DEBUG_STR), v->u);
	case DW_FORM_line_strp:
		return span_string(dwarf_section(u->file, DEBUG_LINE_STR), v->u);
	case DW_FORM_GNU_strp_alt:
	case DW_FORM_strp_sup:
		return u->file->alt ? span_string(dwarf_section(u->file->alt, DEBUG_STR), v->u)
				    : NULL;
	case DW_FORM_strx:
	case DW_FORM_strx1:
	case DW_FORM_strx2:
	case DW_FORM_strx3:
	case DW_FORM_strx4:
	case DW_FORM_GNU_str_index:
		if (!table_entry(dwarf_section(u->file, DEBUG_STR_OFFSETS), u->str_offsets_base,
			    v->u, u->offset_size, &offset))
			return NULL;
		return span_string(dwarf_section(u->file, DEBUG_STR), offset);
	default:
		return NULL;
	}
}

bool value_address(struct unit *u, const struct value *v, uint64_t *address)
{
	switch (v->form) {
	case DW_FORM_addr:
		*address = v->u;
		return true;
	case DW_FORM_addrx:
	case DW_FORM_addrx1:
	case DW_FORM_addrx2:
	case DW_FORM_addrx3:
	case DW_FORM_addrx4:
	case DW_FORM_GNU_addr_index:
		return unit_address(u, v->u, address);
	default:
		return false;
	}
}

bool form_is_constant(uint16_t form)
{
	switch (form) {
	case DW_FORM_data1:
	case DW_FORM_data2:
	case DW_FORM_data4:
	case DW_FORM_data8:
	case DW_FORM_udata:
	case DW_FORM_sdata:
	case DW_FORM_implicit_const:
		return true;
	default:
		return false;
	}
}
