/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of address ranges: .debug_ranges (DWARF 4, section 2.17.3) and .debug_rnglists (DWARF 5,
 * section 2.17.3). */
#include "image/dwarf.h"

static int old_list(struct unit *u, uint64_t offset, range_call *call, void *context)
{
	struct unit *holder = u->skeleton ? u->skeleton : u;
	struct cursor c = cursor_at(dwarf_section(holder->file, DEBUG_RANGES), offset);
	uint64_t base = holder->low_pc == OFFSET_NONE ? 0 : holder->low_pc;
	uint64_t all_ones = u->address_size == 4 ? UINT32_MAX : UINT64_MAX;

	for (;;) {
		uint64_t low = cursor_fixed(&c, u->address_size);
		uint64_t high = cursor_fixed(&c, u->address_size);
		int stop;

		if (c.bad || (low == 0 && high == 0))
			return 0;
		if (low == all_ones) {
			base = high;
			continue;
		}
		stop = low < high ? call(context, base + low, base + high) : 0;
		if (stop)
			return stop;
	}
}

/* One entry of a DWARF 5 list: false at its end.  *high 0: it was a base. */
static bool new_entry(
	struct unit *u, struct cursor *c, uint64_t *base, uint64_t *low, uint64_t *high)
{
	uint8_t kind = cursor_u8(c);
	uint64_t a, b;
	bool good = true;

	*low = *high = 0;
	switch (kind) {
	case DW_RLE_base_addressx:
		good = unit_address(u, cursor_uleb(c), base);
		break;
	case DW_RLE_base_address:
		*base = cursor_fixed(c, u->address_size);
		break;
	case DW_RLE_offset_pair:
		a = cursor_uleb(c);
		b = cursor_uleb(c);
		*low = *base + a;
		*high = *base + b;
		break;
	case DW_RLE_startx_endx:
		a = cursor_uleb(c);
		b = cursor_uleb(c);
		good = unit_address(u, a, low) && unit_address(u, b, high);
		break;
	case DW_RLE_startx_length:
		a = cursor_uleb(c);
		b = cursor_uleb(c);
		good = unit_address(u, a, low);
		*high = *low + b;
		break;
	case DW_RLE_start_end:
		*low = cursor_fixed(c, u->address_size);
		*high = cursor_fixed(c, u->address_size);
		break;
	case DW_RLE_start_length:
		*low = cursor_fixed(c, u->address_size);
		*high = *low + cursor_uleb(c);
		break;
	default: /* DW_RLE_end_of_list, or damage */
		return false;
	}
	return good && !c->bad;
}

static int new_list(struct unit *u, uint64_t offset, range_call *call, void *context)
{
	struct unit *holder = u->skeleton ? u->skeleton : u;
	struct cursor c = cursor_at(dwarf_section(u->file, DEBUG_RNGLISTS), offset);
	uint64_t base = holder->low_pc == OFFSET_NONE ? 0 : holder->low_pc, low, high;

	while (new_entry(u, &c, &base, &low, &high)) {
		int stop = low < high ? call(context, low, high) : 0;

		if (stop)
			return stop;
	}
	return 0;
}

/* DW_FORM_rnglistx: an index into the table of offsets at the unit's base. */
static bool indexed_list(struct unit *u, uint64_t i, uint64_t *offset)
{
	struct span s = dwarf_section(u->file, DEBUG_RNGLISTS);
	/* split units have one table, behind the section's header */
	uint64_t base = u->rnglists_base != OFFSET_NONE ? u->rnglists_base
			: u->offset_size == 8           ? 20
							: 12;
	struct cursor c = cursor_at(s, base);

	if (i > s.size / u->offset_size)
		return false;
	cursor_skip(&c, i * u->offset_size);
	*offset = base + cursor_fixed(&c, u->offset_size);
	return !c.bad;
}

int unit_ranges(struct unit *u, const struct value *ranges, range_call *call, void *context)
{
	uint64_t offset = ranges->u;

	if (ranges->form == 0)
		return 0;
	if (u->version < 5) {
		/* GNU's split DWARF 4: offsets in the .dwo are relative to the skeleton's base */
		if (u->skeleton && u->skeleton->ranges_base != OFFSET_NONE)
			offset += u->skeleton->ranges_base;
		return old_list(u, offset, call, context);
	}
	if (ranges->form == DW_FORM_rnglistx && !indexed_list(u, ranges->u, &offset))
		return 0;
	return new_list(u, offset, call, context);
}

int entry_ranges(struct unit *u, const struct value *low, const struct value *high,
	const struct value *ranges, range_call *call, void *context)
{
	uint64_t from, to;

	if (ranges->form)
		return unit_ranges(u, ranges, call, context);
	if (!low->form || !high->form || !value_address(u, low, &from))
		return 0;
	if (form_is_constant(high->form))
		to = from + high->u;
	else if (!value_address(u, high, &to))
		return 0;
	return from < to ? call(context, from, to) : 0;
}
