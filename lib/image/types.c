/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types, as far as needed to find the member at an offset: members of structures, elements of
 * arrays. Variables are found by one pass over all entries, when the first one is requested.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "image/debug.h"
#include "image/private.h"
#include "image/types.h"

enum { DEEPEST = 32, SECTION_MAX = 1 << 29 /* bytes of .debug_info up to which a pass is made */ };

struct placed { /* a variable's entry */
	uint64_t address;
	size_t order; /* source of variables */
	struct unit *unit;
	Dwarf_Die die;
};

/* The structure of a size in a unit: the result of a search. */
struct sized {
	struct unit *unit;
	uint64_t size;
	Dwarf_Die die; /* addr NULL: none, or several */
};

struct data_types {
	bool variables;
	VEC(struct placed) all; /* in order of address */
	VEC(struct sized) sizes;
};

/* The entry that an attribute refers to; false: there is none. */
static bool refers(Dwarf_Die *die, unsigned attribute, Dwarf_Die *to)
{
	Dwarf_Attribute a;

	return dwarf_formref_die(dwarf_attr(die, attribute, &a), to) != NULL;
}

static const char *types_name_of(Dwarf_Die *die)
{
	Dwarf_Attribute a;

	return entry_string(dwarf_attr(die, DW_AT_name, &a));
}

/* Elements of an array, of all its dimensions together; 0: unknown. */
static uint64_t count_elements(Dwarf_Die *array)
{
	uint64_t all = 1;
	Dwarf_Die range;

	if (dwarf_child(array, &range) != 0)
		return 0;
	do {
		if (dwarf_tag(&range) != DW_TAG_subrange_type)
			continue;
		if (dwarf_hasattr(&range, DW_AT_upper_bound))
			all *= entry_number(&range, DW_AT_upper_bound) + 1;
		else
			all *= entry_number(&range, DW_AT_count);
	} while (dwarf_siblingof(&range, &range) == 0);
	return all;
}

/* libdw gives no size of an array in a unit without a language, as dwz's are. */
static uint64_t types_size_of(Dwarf_Die *type, int depth)
{
	Dwarf_Word size;
	Dwarf_Die plain, element;

	if (dwarf_aggregate_size(type, &size) == 0)
		return size;
	if (depth > DEEPEST || dwarf_peel_type(type, &plain) != 0 ||
		dwarf_tag(&plain) != DW_TAG_array_type || !refers(&plain, DW_AT_type, &element))
		return 0;
	return count_elements(&plain) * types_size_of(&element, depth + 1);
}

static bool is_structure(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* ---- the member at an offset ---- */

struct walk {
	struct image_member *to;
	size_t length;                /* of to->path */
	uint64_t offset, span, apart; /* offset to offset + span, by multiples of apart */
};

__attribute__((format(printf, 2, 3))) static void put(struct walk *w, const char *format, ...)
{
	size_t room = sizeof(w->to->path) - w->length;
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(w->to->path + w->length, room, format, ap);
	va_end(ap);
	if (n > 0)
		w->length += (size_t)n < room ? (size_t)n : room - 1;
}

/* The place of a member in its structure; false: unknown. */
static bool member_offset(Dwarf_Die *member, uint64_t *offset)
{
	Dwarf_Attribute a;
	Dwarf_Op *ops;
	size_t count;

	*offset = 0;
	if (!dwarf_attr(member, DW_AT_data_member_location, &a))
		return true; /* of a union */
	if (dwarf_formudata(&a, offset) == 0)
		return true;
	if (dwarf_getlocation(&a, &ops, &count) != 0 || count != 1 ||
		ops[0].atom != DW_OP_plus_uconst)
		return false;
	*offset = ops[0].number;
	return true;
}

/* From a structure to the member at the offset; false: there is none. */
static bool enter_structure(struct walk *w, Dwarf_Die *type)
{
	Dwarf_Die member;

	if (dwarf_child(type, &member) != 0)
		return false;
	do {
		int tag = dwarf_tag(&member);
		uint64_t at, size;
		Dwarf_Die inner;

		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) ||
			!refers(&member, DW_AT_type, &inner))
			continue;
		size = types_size_of(&inner, 0);
		if (!member_offset(&member, &at) || w->offset < at ||
			w->offset - at + w->span >= size)
			continue;
		if (tag == DW_TAG_member && types_name_of(&member))
			put(w, ".%s", types_name_of(&member));
		w->offset -= at;
		*type = inner;
		return true;
	} while (dwarf_siblingof(&member, &member) == 0);
	return false;
}

static bool enter_array(struct walk *w, Dwarf_Die *type)
{
	uint64_t size = refers(type, DW_AT_type, type) ? types_size_of(type, 0) : 0;

	if (!size)
		return false;
	if (!w->to->element)
		w->to->element = size;
	if (w->offset / size == (w->offset + w->span) / size) {
		put(w, "[%llu]", (unsigned long long)(w->offset / size));
	} else {
		put(w, "[]");
		if (!w->apart || w->apart % size)
			return false; /* it includes parts of elements too */
		w->span = w->apart = 0;
	}
	w->offset %= size;
	return true;
}

static void walk_type(struct walk *w, Dwarf_Die type)
{
	bool on = true;

	for (int depth = 0; on && depth < DEEPEST && dwarf_peel_type(&type, &type) == 0; depth++) {
		int tag = dwarf_tag(&type);

		if (is_structure(tag)) {
			if (dwarf_haschildren(&type) == 1 && types_name_of(&type))
				w->to->structure = types_name_of(&type);
			on = enter_structure(w, &type);
		} else {
			on = tag == DW_TAG_array_type && enter_array(w, &type);
		}
	}
}

/* ---- variables ---- */

/* The address in an expression, if the expression is only that. */
static bool static_address(Dwarf_Die *die, uint64_t *address)
{
	Dwarf_Attribute a, indexed;
	Dwarf_Block x;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(die, DW_AT_location, &a) || dwarf_formblock(&a, &x) != 0 || !x.length)
		return false;
	if (x.data[0] == DW_OP_addr && (x.length == 5 || x.length == 9)) {
		*address = 0;
		memcpy(address, x.data + 1, x.length - 1);
		return true;
	}
	return (x.data[0] == DW_OP_addrx || x.data[0] == DW_OP_GNU_addr_index) &&
	       dwarf_getlocation(&a, &ops, &count) == 0 && count == 1 &&
	       dwarf_getlocation_attr(&a, ops, &indexed) == 0 &&
	       dwarf_formaddr(&indexed, address) == 0;
}

struct reading {
	struct data_types *to;
	struct unit *unit;
};

static enum debug_way look_for_variable(void *context, Dwarf_Die *die, unsigned depth)
{
	const struct reading *r = context;
	struct placed *slot;
	uint64_t address;

	(void)depth;
	if (dwarf_tag(die) != DW_TAG_variable || !static_address(die, &address))
		return WALK_IN;
	slot = vec_push(&r->to->all);
	if (!slot)
		return WALK_STOP;
	*slot = (struct placed){address, r->to->all.count, r->unit, *die};
	return WALK_IN;
}

static int types_by_address(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	return sort_rising(a->address, b->address) ?: sort_rising(a->order, b->order);
}

static struct data_types *all_types(struct image *image)
{
	if (!image->types)
		image->types = calloc(1, sizeof(*image->types));
	return image->types;
}

static struct data_types *types_of(struct image *image)
{
	struct debug *d = debug_of(image);
	struct data_types *types = d ? all_types(image) : NULL;

	if (!types || types->variables)
		return types;
	types->variables = true;
	if (elf_file_find(d->elf, ".debug_info").size > SECTION_MAX)
		return types;
	for (size_t i = 0; i < d->units.count; i++) {
		struct reading r = {types, &d->units.data[i]};
		Dwarf_Die *whole = split_whole_unit(d, r.unit);

		if (whole)
			entry_walk_tree(whole, look_for_variable, &r);
	}
	if (types->all.count)
		qsort(types->all.data, types->all.count, sizeof(*types->all.data),
			types_by_address);
	return types;
}

static struct placed *find_variable(struct image *image, uint64_t address)
{
	struct data_types *types = types_of(image);
	size_t low =
		vec_search(i, types ? types->all.count : 0, types->all.data[i].address < address);

	return types && low < types->all.count && types->all.data[low].address == address
		       ? &types->all.data[low]
		       : NULL;
}

/* The file in which an entry is declared, perhaps by reference; NULL: unknown. */
static const char *declared_in(struct debug *d, struct unit *placed, Dwarf_Die *die)
{
	Dwarf_Attribute a;
	Dwarf_Word number;
	struct unit *u;
	Dwarf_Die unit;

	if (dwarf_formudata(dwarf_attr_integrate(die, DW_AT_decl_file, &a), &number) != 0 ||
		!dwarf_cu_die(a.cu, &unit, NULL, NULL, NULL, NULL, NULL, NULL))
		return NULL;
	u = debug_unit_of(d, &unit);
	return lines_file(d, u ? u : placed, number);
}

int image_variable_line(struct image *image, uint64_t address, struct image_line *line)
{
	struct placed *p = find_variable(image, address);
	Dwarf_Attribute a;
	Dwarf_Word number;

	*line = (struct image_line){0};
	if (!p || dwarf_formudata(dwarf_attr_integrate(&p->die, DW_AT_decl_line, &a), &number) != 0)
		return -1;
	line->line = (unsigned)number;
	line->file = declared_in(debug_of(image), p->unit, &p->die);
	return line->file ? 0 : -1;
}

int image_variable_member(struct image *image, uint64_t address, uint64_t offset, uint64_t span,
	uint64_t apart, struct image_member *member)
{
	struct placed *p = find_variable(image, address);
	struct walk w = {.to = member, .offset = offset, .span = span, .apart = apart};
	Dwarf_Attribute a;
	Dwarf_Die type;

	memset(member, 0, sizeof(*member));
	if (!p || !dwarf_formref_die(dwarf_attr_integrate(&p->die, DW_AT_type, &a), &type))
		return -1;
	walk_type(&w, type);
	return member->path[0] ? 0 : -1;
}

/* ---- structures by their size ---- */

struct sizing {
	struct debug *debug;
	struct sized *to;
	const char *name;
};

/* Structures of the system's headers are in every unit, and rarely what a program has many of. */
static enum debug_way look_for_size(void *context, Dwarf_Die *die, unsigned depth)
{
	struct sizing *s = context;
	const char *name, *file;

	(void)depth;
	if (!is_structure(dwarf_tag(die)) || dwarf_haschildren(die) != 1 ||
		entry_number(die, DW_AT_byte_size) != s->to->size || !(name = types_name_of(die)))
		return WALK_IN;
	file = declared_in(s->debug, s->to->unit, die);
	if (file && strncmp(file, "/usr/", 5) == 0)
		return WALK_IN;
	if (s->name && strcmp(s->name, name) != 0) {
		s->to->die.addr = NULL;
		return WALK_STOP;
	}
	s->name = name;
	s->to->die = *die;
	return WALK_IN;
}

/* The name of all entries of this size; NULL: none, or several. */
static Dwarf_Die *structure_of_size(struct image *image, struct unit *u, uint64_t size)
{
	struct data_types *types = all_types(image);
	struct sizing s = {.debug = debug_of(image)};
	Dwarf_Die *whole = split_whole_unit(s.debug, u);

	for (size_t i = 0; types && i < types->sizes.count; i++)
		if (types->sizes.data[i].unit == u && types->sizes.data[i].size == size)
			return &types->sizes.data[i].die;
	s.to = types && whole ? vec_push(&types->sizes) : NULL;
	if (!s.to)
		return NULL;
	s.to->unit = u;
	s.to->size = size;
	entry_walk_tree(whole, look_for_size, &s);
	return &s.to->die;
}

int image_structure_member(struct image *image, uint64_t code, uint64_t size, uint64_t offset,
	struct image_member *member)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, code) : NULL;
	struct walk w = {.to = member, .offset = offset};
	Dwarf_Die *found;

	memset(member, 0, sizeof(*member));
	found = u && size ? structure_of_size(image, u, size) : NULL;
	if (!found || !found->addr)
		return -1;
	walk_type(&w, *found);
	member->element = size;
	return member->path[0] ? 0 : -1;
}

const char *types_structure(Dwarf_Die *type)
{
	return is_structure(dwarf_tag(type)) && dwarf_haschildren(type) == 1 ? types_name_of(type)
									     : NULL;
}

int types_member(Dwarf_Die *structure, uint64_t offset, struct image_member *member)
{
	uint64_t size = types_size_of(structure, 0);
	struct walk w = {.to = member, .offset = size ? offset % size : 0};

	memset(member, 0, sizeof(*member));
	if (!size)
		return -1;
	walk_type(&w, *structure);
	member->element = size;
	return member->path[0] ? 0 : -1;
}

void types_fini(struct image *image)
{
	if (image->types) {
		vec_fini(&image->types->all);
		vec_fini(&image->types->sizes);
	}
	free(image->types);
}
