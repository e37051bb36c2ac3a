/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a unit, and what is inlined in them.  A unit's entries are run through once, for the
 * functions' addresses; the entries inside of a function are read when an address in it is asked
 * for.
 */
#include <stdlib.h>

#include "image/dwarf.h"

#define DEEPEST 1024 /* nesting of entries; more is damage */

struct functions {
	VEC(struct function) all;
	struct intervals ranges;
};

enum { LOW, HIGH, RANGES, ORIGIN, CALL_FILE, CALL_LINE, CALL_COLUMN, WANTED };

static const uint16_t wanted[WANTED + 1] = {
	[LOW] = DW_AT_low_pc,
	[HIGH] = DW_AT_high_pc,
	[RANGES] = DW_AT_ranges,
	[ORIGIN] = DW_AT_abstract_origin,
	[CALL_FILE] = DW_AT_call_file,
	[CALL_LINE] = DW_AT_call_line,
	[CALL_COLUMN] = DW_AT_call_column,
};

struct adding {
	struct debug *debug;
	struct intervals *to;
	uint32_t value;
};

static int add_range(void *context, uint64_t low, uint64_t high)
{
	const struct adding *a = context;

	return debug_is_code(a->debug, low, high) ? intervals_add(a->to, low, high, a->value) : 0;
}

static int add_ranges(struct unit *u, struct debug *d, const struct value *v, struct intervals *to,
	uint32_t value)
{
	struct adding a = {d, to, value};

	return entry_ranges(u, &v[LOW], &v[HIGH], &v[RANGES], add_range, &a);
}

static void read_functions(struct functions *f, struct unit *u, struct debug *d)
{
	struct entries s;
	struct entry e;

	if (!entries_begin(&s, u, u->first))
		return;
	while (entries_next(&s, &e)) {
		struct function *slot;
		struct value v[WANTED];

		if (!e.abbrev || e.abbrev->tag != DW_TAG_subprogram || !e.abbrev->has_code)
			continue;
		entry_values(&s, &e, wanted, v);
		slot = vec_push(&f->all);
		if (!slot)
			break;
		slot->offset = e.offset;
		if (add_ranges(u, d, v, &f->ranges, (uint32_t)(f->all.count - 1)))
			break;
	}
	intervals_settle(&f->ranges);
}

static int add_inlined(struct function *f, struct unit *u, struct debug *d, const struct value *v,
	uint64_t offset, uint32_t parent)
{
	struct inlined *slot = vec_push(&f->inlined);

	if (!slot)
		return -1;
	slot->origin = offset;
	slot->parent = parent;
	slot->file = v[CALL_FILE].u;
	slot->line = (uint32_t)v[CALL_LINE].u;
	slot->column = (uint32_t)v[CALL_COLUMN].u;
	return add_ranges(u, d, v, &f->ranges, (uint32_t)(f->inlined.count - 1));
}

/* Runs through the entries inside of a function; parents[n] is the inlined function that entries at
 * depth n are in. */
static void read_inlined(struct function *f, struct unit *u, struct debug *d)
{
	uint32_t parents[DEEPEST];
	unsigned depth = 0, ignored = 0; /* ignored: depth of a function inside, 0: none */
	struct entries s;
	struct entry e;
	struct inlined *itself = vec_push(&f->inlined);

	if (!itself || !entries_begin(&s, u, f->offset))
		return;
	parents[0] = 0;
	while (depth < DEEPEST - 1 && entries_next(&s, &e)) {
		uint32_t here = parents[depth];

		if (!e.abbrev) {
			if (depth-- <= 1)
				break;
			if (depth <= ignored)
				ignored = 0;
			continue;
		}
		if (e.abbrev->tag == DW_TAG_inlined_subroutine && !ignored) {
			struct value v[WANTED];

			entry_values(&s, &e, wanted, v);
			if (add_inlined(f, u, d, v, e.offset, here))
				break;
			here = (uint32_t)(f->inlined.count - 1);
		}
		if (e.abbrev->children) {
			if (e.abbrev->tag == DW_TAG_subprogram && depth > 0 && !ignored)
				ignored = depth;
			parents[++depth] = here;
		} else if (depth == 0) {
			break;
		}
	}
	intervals_settle(&f->ranges);
}

struct function *unit_function_at(struct unit *u, struct debug *d, uint64_t address)
{
	const struct interval *i;
	struct function *f;

	if (!u->functions) {
		u->functions = calloc(1, sizeof(*u->functions));
		if (!u->functions)
			return NULL;
		read_functions(u->functions, u, d);
	}
	i = intervals_find(&u->functions->ranges, address);
	if (!i)
		return NULL;
	f = &u->functions->all.data[i->value];
	if (!f->read) {
		f->read = true;
		read_inlined(f, u, d);
	}
	return f;
}

void functions_free(struct functions *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->all.count; i++) {
		vec_fini(&f->all.data[i].inlined);
		intervals_fini(&f->all.data[i].ranges);
	}
	vec_fini(&f->all);
	intervals_fini(&f->ranges);
	free(f);
}
