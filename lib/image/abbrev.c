/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Abbreviations: DWARF 5, section 7.5.3.  A table is read once and shared by the units that name
 * it. */
#include <stdlib.h>

#include "image/dwarf.h"

#define MOST_SPECS (1u << 22) /* of one table: more is damage */

/* Reads one declaration; false at the end of the table. */
static bool read_one(struct cursor *c, struct abbrevs *a, const struct unit *u)
{
	uint64_t code = cursor_uleb(c);
	struct abbrev *slot;

	if (c->bad || code == 0)
		return false;
	slot = vec_push(&a->all);
	if (!slot)
		return false;
	slot->code = code;
	slot->tag = (uint16_t)cursor_uleb(c);
	slot->children = cursor_u8(c) == DW_CHILDREN_yes;
	slot->first = (uint32_t)a->specs.count;
	for (;;) {
		uint64_t name = cursor_uleb(c), form = cursor_uleb(c);
		struct abbrev_spec *spec;
		int64_t constant = form == DW_FORM_implicit_const ? cursor_sleb(c) : 0;

		if (name == 0 && form == 0)
			break;
		if (c->bad || a->specs.count >= MOST_SPECS)
			return false;
		spec = vec_push(&a->specs);
		if (!spec)
			return false;
		*spec = (struct abbrev_spec){(uint16_t)name, (uint16_t)form,
			(int16_t)form_size(u, (uint16_t)form), constant};
		slot->has_code |= name == DW_AT_low_pc || name == DW_AT_ranges;
		slot->size = slot->size < 0 || spec->size < 0 ? -1 : slot->size + spec->size;
	}
	slot->count = (uint32_t)(a->specs.count - slot->first);
	return !c->bad;
}

static int by_code(const void *a, const void *b)
{
	const struct abbrev *x = a, *y = b;

	return x->code < y->code ? -1 : x->code > y->code;
}

static struct abbrevs *read_table(struct unit *u)
{
	struct cursor c = cursor_at(dwarf_section(u->file, DEBUG_ABBREV), u->abbrev_offset);
	struct abbrevs *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	a->offset = u->abbrev_offset;
	a->version = u->version;
	a->address_size = u->address_size;
	a->offset_size = u->offset_size;
	while (read_one(&c, a, u))
		;
	a->dense = true;
	for (size_t i = 0; a->dense && i < a->all.count; i++)
		a->dense = a->all.data[i].code == i + 1;
	if (!a->dense && a->all.count)
		qsort(a->all.data, a->all.count, sizeof(*a->all.data), by_code);
	return a;
}

static bool fits(const struct abbrevs *a, const struct unit *u)
{
	return a->offset == u->abbrev_offset && a->version == u->version &&
	       a->address_size == u->address_size && a->offset_size == u->offset_size;
}

/* Units come in order, and those that share a table stand together or at the beginning. */
struct abbrevs *abbrevs_of(struct unit *u)
{
	struct dwarf_file *f = u->file;
	struct abbrevs **longer;

	if (u->abbrevs)
		return u->abbrevs;
	for (size_t i = f->abbrevs_count; i-- > 0;)
		if (fits(f->abbrevs[i], u))
			return u->abbrevs = f->abbrevs[i];
	longer = realloc(f->abbrevs, (f->abbrevs_count + 1) * sizeof(*longer));
	if (!longer)
		return NULL;
	f->abbrevs = longer;
	u->abbrevs = read_table(u);
	if (u->abbrevs)
		f->abbrevs[f->abbrevs_count++] = u->abbrevs;
	return u->abbrevs;
}

const struct abbrev *abbrev_find(const struct abbrevs *a, uint64_t code)
{
	struct abbrev key = {.code = code};

	if (a->dense)
		return code && code <= a->all.count ? &a->all.data[code - 1] : NULL;
	return a->all.count ? bsearch(&key, a->all.data, a->all.count, sizeof(key), by_code) : NULL;
}

bool abbrev_read_one(struct unit *u, uint64_t code, struct abbrevs *table)
{
	struct cursor c = cursor_at(dwarf_section(u->file, DEBUG_ABBREV), u->abbrev_offset);

	while (read_one(&c, table, u)) {
		if (table->all.data[0].code == code)
			return true;
		table->all.count = table->specs.count = 0;
	}
	return false;
}

void abbrevs_free(struct abbrevs *a)
{
	if (!a)
		return;
	vec_fini(&a->all);
	vec_fini(&a->specs);
	free(a);
}
