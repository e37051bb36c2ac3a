/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions of a unit, and the calls inlined in them. A unit's functions are found once: first
 * those outside of functions, then, for an address in none of these, all of them. The entries
 * inside of a function are read when an address in it is first requested.
 */
#include <stdlib.h>

#include "image/debug.h"

struct functions {
	bool all_read;
	VEC(struct function) all;
	struct intervals ranges;
};

/* ---- functions of a unit ---- */

struct reading {
	struct debug *debug;
	struct functions *to;
};

static enum debug_way look_for_function(void *context, Dwarf_Die *die, unsigned depth)
{
	const struct reading *r = context;
	struct functions *f = r->to;
	struct function *slot;

	(void)depth;
	switch (dwarf_tag(die)) {
	case DW_TAG_subprogram:
		break;
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return WALK_IN;
	default:
		return f->all_read ? WALK_IN : WALK_OVER;
	}
	if (dwarf_hasattr(die, DW_AT_low_pc) || dwarf_hasattr(die, DW_AT_ranges)) {
		slot = vec_push(&f->all);
		if (!slot)
			return WALK_STOP;
		slot->die = *die;
		if (debug_add_ranges(r->debug, die, &f->ranges, (uint32_t)(f->all.count - 1)))
			return WALK_STOP;
	}
	return f->all_read ? WALK_IN : WALK_OVER;
}

static void functions_forget(struct functions *f)
{
	for (size_t i = 0; i < f->all.count; i++) {
		vec_fini(&f->all.data[i].inlined);
		intervals_fini(&f->all.data[i].ranges);
	}
	vec_fini(&f->all);
	intervals_fini(&f->ranges);
}

static void read_functions(struct functions *f, struct debug *d, Dwarf_Die *unit, bool all)
{
	struct reading r = {d, f};

	functions_forget(f);
	f->all_read = all;
	entry_walk_tree(unit, look_for_function, &r);
	intervals_settle(&f->ranges);
}

/* ---- inlined functions of one ---- */

struct inlining {
	struct debug *debug;
	struct function *in;
	uint32_t parents[DEBUG_DEEPEST +
			 1]; /* the inlined function that entries at a depth are in */
};

static enum debug_way look_for_inlined(void *context, Dwarf_Die *die, unsigned depth)
{
	struct inlining *i = context;
	struct function *f = i->in;
	struct inlined *slot;

	i->parents[depth + 1] = i->parents[depth];
	switch (dwarf_tag(die)) {
	case DW_TAG_inlined_subroutine:
		slot = vec_push(&f->inlined);
		if (!slot)
			return WALK_STOP;
		slot->die = *die;
		slot->parent = i->parents[depth];
		i->parents[depth + 1] = (uint32_t)(f->inlined.count - 1);
		return debug_add_ranges(i->debug, die, &f->ranges, i->parents[depth + 1])
			       ? WALK_STOP
			       : WALK_IN;
	case DW_TAG_subprogram: /* a nested function has code of its own */
		return WALK_OVER;
	default:
		return WALK_IN;
	}
}

static void read_inlined(struct function *f, struct debug *d)
{
	struct inlining i = {.debug = d, .in = f};

	f->read = true;
	if (!vec_push(&f->inlined)) /* itself */
		return;
	entry_walk_tree(&f->die, look_for_inlined, &i);
	intervals_settle(&f->ranges);
}

struct function *functions_unit_at(struct debug *d, struct unit *u, uint64_t address)
{
	Dwarf_Die *whole = split_whole_unit(d, u);
	const struct interval *i;
	struct function *f;

	if (!whole)
		return NULL;
	if (!u->functions) {
		u->functions = calloc(1, sizeof(*u->functions));
		if (!u->functions)
			return NULL;
		read_functions(u->functions, d, whole, false);
	}
	i = intervals_find(&u->functions->ranges, address);
	if (!i && !u->functions->all_read) {
		read_functions(u->functions, d, whole, true);
		i = intervals_find(&u->functions->ranges, address);
	}
	if (!i)
		return NULL;
	f = &u->functions->all.data[i->value];
	if (!f->read)
		read_inlined(f, d);
	return f;
}

void functions_free(struct functions *f)
{
	if (f)
		functions_forget(f);
	free(f);
}
