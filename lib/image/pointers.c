/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pointers to structures that are in scope at a place of the code: parameters and local variables.
 */
#include <string.h>

#include "image/debug.h"
#include "image/types.h"

/* Structures in structures can have more members together than can be looked at. */
enum { MEMBERS_DEEPEST = 4, MEMBERS_MOST = 4096 };

/* The structure that pointers are to. */
struct meant {
	Dwarf_Die only;   /* addr NULL: none */
	const char *name; /* of it */
	bool several;     /* different ones, or pointers to something else */
};

struct pointers {
	uint64_t code;
	int reg;            /* DWARF's number; below 0: unknown */
	uint64_t apart;     /* of accesses */
	Dwarf_Die held;     /* of the one in the register; addr NULL: none */
	struct meant fits;  /* whose size divides the distance */
	struct meant equal; /* as large as the distance, of the innermost scope that has pointers */
	unsigned depth;     /* of that scope */
	unsigned members;   /* that were looked at */
	bool fitted;        /* by the structure whose members are looked at */
};

/* Is the variable in the register there? */
static bool pointer_is_held(Dwarf_Die *variable, uint64_t code, int reg)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t length;

	if (reg < 0 || !dwarf_attr_integrate(variable, DW_AT_location, &a) ||
		dwarf_getlocation_addr(&a, code, &ops, &length, 1) != 1 || length < 1)
		return false;
	if (ops[0].atom == DW_OP_regx)
		return ops[0].number == (Dwarf_Word)reg;
	return ops[0].atom >= DW_OP_reg0 && ops[0].atom <= DW_OP_reg31 &&
	       ops[0].atom - DW_OP_reg0 == reg;
}

static bool pointer_type(Dwarf_Die *entry, Dwarf_Die *type)
{
	Dwarf_Attribute a;

	return dwarf_formref_die(dwarf_attr_integrate(entry, DW_AT_type, &a), type) &&
	       dwarf_peel_type(type, type) == 0;
}

/* What a type points to; false: it is no pointer, or to what has no type. */
static bool pointer_target(Dwarf_Die *type, Dwarf_Die *target)
{
	int tag = dwarf_tag(type);

	return (tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type) &&
	       pointer_type(type, target);
}

static void pointer_means(struct meant *m, const char *name, const Dwarf_Die *target)
{
	m->several |= m->name && strcmp(m->name, name) != 0;
	m->name = name;
	m->only = *target;
}

/* Is it a structure whose size fits the accesses? Then it is one that may be meant. */
static bool pointer_offer(struct pointers *p, Dwarf_Die *target)
{
	const char *name = types_structure(target);
	Dwarf_Word size;

	if (!name || dwarf_aggregate_size(target, &size) != 0 || !size || p->apart % size)
		return false;
	if (!p->fitted)
		pointer_means(&p->fits, name, target);
	if (size == p->apart)
		pointer_means(&p->equal, name, target);
	return true;
}

/* Pointers that are members of a structure: a vector's elements. */
static bool pointer_members(struct pointers *p, Dwarf_Die *structure, int depth)
{
	Dwarf_Die member, type, target;
	bool found = false;

	if (!types_structure(structure) || depth > MEMBERS_DEEPEST ||
		dwarf_child(structure, &member) != 0)
		return false;
	do {
		int tag = dwarf_tag(&member);

		if (p->members++ >= MEMBERS_MOST) {
			p->fits.several = p->equal.several = true;
			return found;
		}
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!pointer_type(&member, &type))
			continue;
		found |= pointer_target(&type, &target) ? pointer_offer(p, &target)
							: pointer_members(p, &type, depth + 1);
	} while (dwarf_siblingof(&member, &member) == 0);
	return found;
}

static void pointer_see(struct pointers *p, Dwarf_Die *variable)
{
	Dwarf_Die type, target;

	if (!pointer_type(variable, &type))
		return;
	if (!pointer_target(&type, &target)) {
		pointer_members(p, &type, 0);
		return;
	}
	if (pointer_offer(p, &target)) {
		if (!p->held.addr && pointer_is_held(variable, p->code, p->reg))
			p->held = target;
		p->fitted = true;
		pointer_members(p, &target, 0);
		p->fitted = false;
	} else if (!pointer_members(p, &target, 0)) {
		p->fits.several = true;
		p->equal.several |= !types_structure(&target);
	}
}

/* An inlined function's own pointers say more than those around it. */
static void pointer_see_in(struct pointers *p, Dwarf_Die *variable, unsigned depth)
{
	struct meant before = p->equal;
	bool known = before.name || before.several;

	if (depth != p->depth)
		p->equal = (struct meant){0};
	pointer_see(p, variable);
	if (depth < p->depth ? known : !p->equal.name && !p->equal.several)
		p->equal = before;
	else
		p->depth = depth;
}

static enum debug_way pointers_visit(void *context, Dwarf_Die *die, unsigned depth)
{
	struct pointers *p = context;

	switch (dwarf_tag(die)) {
	case DW_TAG_formal_parameter:
	case DW_TAG_variable:
		pointer_see_in(p, die, depth);
		return WALK_OVER;
	case DW_TAG_lexical_block:
	case DW_TAG_inlined_subroutine:
		return dwarf_haspc(die, p->code) == 1 ? WALK_IN : WALK_OVER;
	default:
		return WALK_OVER;
	}
}

int image_pointed_member(struct image *image, uint64_t code, int reg, uint64_t apart,
	uint64_t offset, struct image_member *member)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, code) : NULL;
	struct function *f = u ? functions_unit_at(d, u, code) : NULL;
	struct pointers p = {.code = code, .reg = reg, .apart = apart};
	Dwarf_Die *found;

	memset(member, 0, sizeof(*member));
	if (!f || !apart)
		return -1;
	entry_walk_tree(&f->die, pointers_visit, &p);
	found = p.held.addr                        ? &p.held
		: p.equal.name && !p.equal.several ? &p.equal.only
		: p.fits.name && !p.fits.several   ? &p.fits.only
						   : NULL;
	return found ? types_member(found, offset, member) : -1;
}
