/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types, as far as they say what lies at an offset: members of structures, elements of arrays.
 * Variables are found by one pass over all entries, the first time that one is asked for.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "image/dwarf.h"
#include "image/private.h"

enum { DEEPEST = 32, SECTION_MAX = 1 << 29 /* bytes of .debug_info that are worth a pass */ };

struct placed { /* a variable's entry */
	uint64_t address, offset;
	struct unit *unit;
};

/* The structure of a size in a unit, as it was looked for. */
struct sized {
	struct unit *unit;
	uint64_t size, offset; /* offset 0: none, or several */
};

struct data_types {
	bool variables;
	VEC(struct placed) all; /* in order of address */
	VEC(struct sized) sizes;
};

/* An entry, and the unit that it is in; unit NULL: none. */
struct type {
	struct unit *unit;
	uint64_t offset;
};

enum {
	NAME,
	TYPE,
	SIZE,
	LOCATION,
	MEMBER,
	UPPER,
	ELEMENTS,
	SPECIFICATION,
	FILE_NUMBER,
	LINE,
	ATTRIBUTES
};

static const uint16_t wanted[ATTRIBUTES + 1] = {
	[NAME] = DW_AT_name,
	[TYPE] = DW_AT_type,
	[SIZE] = DW_AT_byte_size,
	[LOCATION] = DW_AT_location,
	[MEMBER] = DW_AT_data_member_location,
	[UPPER] = DW_AT_upper_bound,
	[ELEMENTS] = DW_AT_count,
	[SPECIFICATION] = DW_AT_specification,
	[FILE_NUMBER] = DW_AT_decl_file,
	[LINE] = DW_AT_decl_line,
};

/* Reads one entry; leaves s behind it, at its children. */
static bool read_entry(struct type t, struct entries *s, struct entry *e, struct value *v)
{
	if (!t.unit || !entries_begin(s, t.unit, t.offset) || !entries_next(s, e) || !e->abbrev)
		return false;
	entry_values(s, e, wanted, v);
	return true;
}

static struct type type_of(struct unit *u, const struct value *v)
{
	struct type t = {0};

	if (v[TYPE].form)
		t.unit = value_reference(u, &v[TYPE], &t.offset);
	return t;
}

/* ---- sizes ---- */

static bool is_wrapper(uint16_t tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_atomic_type || tag == DW_TAG_restrict_type;
}

static bool is_structure(uint16_t tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Elements of an array, of all its dimensions together; 0: not known. */
static uint64_t count_elements(struct entries *s)
{
	uint64_t all = 1;
	struct entry e;

	while (entries_next(s, &e) && e.abbrev) {
		struct value v[ATTRIBUTES];
		uint64_t n;

		if (e.abbrev->tag != DW_TAG_subrange_type)
			continue;
		entry_values(s, &e, wanted, v);
		n = v[ELEMENTS].form ? v[ELEMENTS].u : v[UPPER].form ? v[UPPER].u + 1 : 0;
		all *= n;
	}
	return all;
}

static uint64_t size_of(struct type t, int depth)
{
	struct value v[ATTRIBUTES];
	struct entries s;
	struct entry e;

	if (depth > DEEPEST || !read_entry(t, &s, &e, v))
		return 0;
	if (v[SIZE].form)
		return v[SIZE].u;
	if (is_wrapper(e.abbrev->tag))
		return size_of(type_of(t.unit, v), depth + 1);
	if (e.abbrev->tag == DW_TAG_array_type && e.abbrev->children)
		return size_of(type_of(t.unit, v), depth + 1) * count_elements(&s);
	return e.abbrev->tag == DW_TAG_pointer_type ? t.unit->address_size : 0;
}

/* ---- what lies at an offset ---- */

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

/* Where a member lies in its structure; false: who knows. */
static bool member_offset(const struct value *v, uint64_t *offset)
{
	struct cursor c;

	*offset = 0;
	if (!v->form)
		return true; /* of a union */
	if (form_is_constant(v->form)) {
		*offset = v->u;
		return true;
	}
	if (!v->s || !v->u)
		return false;
	c = (struct cursor){(const uint8_t *)v->s, (const uint8_t *)v->s + v->u, false};
	if (cursor_u8(&c) != DW_OP_plus_uconst)
		return false;
	*offset = cursor_uleb(&c);
	return !c.bad;
}

/* Into the member that has the offset; {0}: none has. */
static struct type enter_structure(struct walk *w, struct unit *u, struct entries *s)
{
	struct entry e;
	unsigned depth = 1;

	while (depth && entries_next(s, &e)) {
		struct value v[ATTRIBUTES];
		struct type t;
		uint64_t at, size;
		const char *name;

		if (!e.abbrev) {
			depth--;
			continue;
		}
		depth += e.abbrev->children;
		if (depth - e.abbrev->children != 1 ||
			(e.abbrev->tag != DW_TAG_member && e.abbrev->tag != DW_TAG_inheritance))
			continue;
		entry_values(s, &e, wanted, v);
		t = type_of(u, v);
		size = t.unit ? size_of(t, 0) : 0;
		if (!member_offset(&v[MEMBER], &at) || w->offset < at ||
			w->offset - at + w->span >= size)
			continue;
		name = value_string(u, &v[NAME]);
		if (name && e.abbrev->tag == DW_TAG_member)
			put(w, ".%s", name);
		w->offset -= at;
		return t;
	}
	return (struct type){0};
}

static struct type enter_array(struct walk *w, struct type element)
{
	uint64_t size = size_of(element, 0);

	if (!size)
		return (struct type){0};
	if (!w->to->element)
		w->to->element = size;
	if (w->offset / size == (w->offset + w->span) / size) {
		put(w, "[%llu]", (unsigned long long)(w->offset / size));
	} else {
		put(w, "[]");
		if (!w->apart || w->apart % size)
			return (struct type){0}; /* it goes over parts of elements too */
		w->span = w->apart = 0;
	}
	w->offset %= size;
	return element;
}

static void walk_type(struct walk *w, struct type t)
{
	for (int depth = 0; t.unit && depth < DEEPEST; depth++) {
		struct value v[ATTRIBUTES];
		struct entries s;
		struct entry e;
		const char *name;

		if (!read_entry(t, &s, &e, v))
			return;
		if (is_wrapper(e.abbrev->tag)) {
			t = type_of(t.unit, v);
		} else if (e.abbrev->tag == DW_TAG_array_type) {
			t = enter_array(w, type_of(t.unit, v));
		} else if (is_structure(e.abbrev->tag) && e.abbrev->children) {
			name = value_string(t.unit, &v[NAME]);
			if (name)
				w->to->structure = name;
			t = enter_structure(w, t.unit, &s);
		} else {
			return;
		}
	}
}

/* ---- variables ---- */

/* The address that an expression is, if it is nothing else. */
static bool expression_address(struct unit *u, const struct value *v, uint64_t *address)
{
	struct cursor c;
	uint8_t op;

	if (!v->s || !v->u || form_is_constant(v->form))
		return false;
	c = (struct cursor){(const uint8_t *)v->s, (const uint8_t *)v->s + v->u, false};
	op = cursor_u8(&c);
	if (op == DW_OP_addr) {
		*address = cursor_fixed(&c, u->address_size);
		return !c.bad && c.at == c.end;
	}
	if (op != DW_OP_addrx && op != DW_OP_GNU_addr_index)
		return false;
	return unit_address(u, cursor_uleb(&c), address) && !c.bad && c.at == c.end;
}

static int read_unit(struct data_types *types, struct unit *u)
{
	struct entries s;
	struct entry e;

	if (!entries_begin(&s, u, u->first))
		return 0;
	while (entries_next(&s, &e)) {
		struct value v[ATTRIBUTES];
		struct placed *slot;
		uint64_t address;

		if (!e.abbrev || e.abbrev->tag != DW_TAG_variable)
			continue;
		entry_values(&s, &e, wanted, v);
		if (!expression_address(u, &v[LOCATION], &address))
			continue;
		slot = vec_push(&types->all);
		if (!slot)
			return -1;
		*slot = (struct placed){address, e.offset, u};
	}
	return 0;
}

static int by_address(const void *pa, const void *pb)
{
	const struct placed *a = pa, *b = pb;

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
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
	if (dwarf_section(&d->main, DEBUG_INFO).size > SECTION_MAX)
		return types;
	for (size_t i = 0; i < d->main.count; i++) {
		struct unit *u = &d->main.units[i];
		struct unit *whole = unit_read(u) ? debug_whole_unit(d, u) : NULL;

		if (whole && read_unit(types, whole))
			break;
	}
	if (types->all.count)
		qsort(types->all.data, types->all.count, sizeof(*types->all.data), by_address);
	return types;
}

static const struct placed *find_variable(struct image *image, uint64_t address)
{
	const struct data_types *types = types_of(image);
	size_t low = 0, high = types ? types->all.count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (types->all.data[middle].address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return types && low < types->all.count && types->all.data[low].address == address
		       ? &types->all.data[low]
		       : NULL;
}

/* Type and place of a variable, which its declaration may have instead. */
static struct type read_variable(
	struct image *image, const struct placed *p, struct image_line *line)
{
	struct type at = {p->unit, p->offset}, t = {0};
	struct debug *d = debug_of(image);

	*line = (struct image_line){0};
	for (int way = 0; at.unit && way < 4 && (!t.unit || !line->line); way++) {
		struct unit *u = at.unit;
		struct value v[ATTRIBUTES];
		struct line_table *table;
		struct entries s;
		struct entry e;

		if (!read_entry(at, &s, &e, v))
			break;
		if (!t.unit)
			t = type_of(u, v);
		if (!line->line && v[LINE].form) {
			table = line_table_of(u->skeleton ? u->skeleton : u, d);
			line->line = (unsigned)v[LINE].u;
			line->file = table ? line_table_file(table, v[FILE_NUMBER].u) : NULL;
		}
		at.unit = v[SPECIFICATION].form ? value_reference(u, &v[SPECIFICATION], &at.offset)
						: NULL;
	}
	return t;
}

int image_variable_line(struct image *image, uint64_t address, struct image_line *line)
{
	const struct placed *p = find_variable(image, address);

	*line = (struct image_line){0};
	if (p)
		(void)read_variable(image, p, line);
	return line->file ? 0 : -1;
}

int image_variable_member(struct image *image, uint64_t address, uint64_t offset, uint64_t span,
	uint64_t apart, struct image_member *member)
{
	const struct placed *p = find_variable(image, address);
	struct walk w = {.to = member, .offset = offset, .span = span, .apart = apart};
	struct image_line line;
	struct type t;

	memset(member, 0, sizeof(*member));
	if (!p)
		return -1;
	t = read_variable(image, p, &line);
	walk_type(&w, t);
	return member->path[0] ? 0 : -1;
}

/* ---- structures by their size ---- */

/* Is it declared in the system's headers?  Those are in every unit, and hardly what a program has
 * many of. */
static bool is_the_systems(struct debug *d, struct unit *u, const struct value *v)
{
	struct line_table *t = line_table_of(u->skeleton ? u->skeleton : u, d);
	const char *file = t && v[FILE_NUMBER].form ? line_table_file(t, v[FILE_NUMBER].u) : NULL;

	return file && strncmp(file, "/usr/", 5) == 0;
}

/* The one that all entries of this size are called after; 0: none, or several. */
static uint64_t look_for_size(struct debug *d, struct unit *u, uint64_t size)
{
	const char *name = NULL;
	uint64_t found = 0;
	struct entries s;
	struct entry e;

	if (!entries_begin(&s, u, u->first))
		return 0;
	while (entries_next(&s, &e)) {
		struct value v[ATTRIBUTES];
		const char *own;

		if (!e.abbrev || !is_structure(e.abbrev->tag) || !e.abbrev->children)
			continue;
		entry_values(&s, &e, wanted, v);
		own = value_string(u, &v[NAME]);
		if (!own || !v[SIZE].form || v[SIZE].u != size || is_the_systems(d, u, v))
			continue;
		if (name && strcmp(name, own) != 0)
			return 0;
		name = own;
		found = e.offset;
	}
	return found;
}

static uint64_t structure_of_size(struct image *image, struct unit *u, uint64_t size)
{
	struct data_types *types = all_types(image);
	struct sized *slot;

	for (size_t i = 0; types && i < types->sizes.count; i++)
		if (types->sizes.data[i].unit == u && types->sizes.data[i].size == size)
			return types->sizes.data[i].offset;
	if (!types)
		return 0;
	slot = vec_push(&types->sizes);
	if (!slot)
		return 0;
	*slot = (struct sized){u, size, look_for_size(debug_of(image), u, size)};
	return slot->offset;
}

int image_structure_member(struct image *image, uint64_t code, uint64_t size, uint64_t offset,
	struct image_member *member)
{
	struct debug *d = debug_of(image);
	struct unit *u = d ? debug_unit_at(d, code) : NULL;
	struct walk w = {.to = member, .offset = offset};
	struct type found = {0};

	memset(member, 0, sizeof(*member));
	found.unit = u && size ? debug_whole_unit(d, u) : NULL;
	if (!found.unit)
		return -1;
	found.offset = structure_of_size(image, found.unit, size);
	if (!found.offset)
		return -1;
	walk_type(&w, found);
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
