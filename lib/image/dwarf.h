/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of DWARF 2 to 5 that profiles need, read from the mapped file where it is needed:
 * headers and first entries of units (what addresses they have), line programs of the units asked
 * for, and of their entries those of the functions asked for.  An own reader, because a profile
 * touches a small part of large files, and because nothing in a damaged one may lead out of it.
 */
#ifndef IMAGE_DWARF_H
#define IMAGE_DWARF_H

#include <dwarf.h>

#include "base/table.h"
#include "image/cursor.h"
#include "image/image.h"
#include "image/intervals.h"

enum debug_section {
	DEBUG_INFO,
	DEBUG_ABBREV,
	DEBUG_LINE,
	DEBUG_STR,
	DEBUG_LINE_STR,
	DEBUG_STR_OFFSETS,
	DEBUG_ADDR,
	DEBUG_RNGLISTS,
	DEBUG_RANGES,
	DEBUG_ARANGES,
	DEBUG_SECTIONS
};

#define OFFSET_NONE UINT64_MAX

struct unit;
struct abbrevs;
struct line_table;
struct functions;

/* Debug sections that belong together: of the image, its debug file, its dwz file, one .dwo or one
 * unit's part of a .dwp. */
struct dwarf_file {
	struct elf_file *elf;
	bool owned; /* elf is closed with it */
	bool split; /* sections are named .debug_x.dwo */
	struct span sections[DEBUG_SECTIONS];
	bool sought[DEBUG_SECTIONS];
	struct unit *units; /* in order of offset */
	size_t count;
	struct abbrevs **abbrevs; /* tables that were read */
	size_t abbrevs_count;
	struct dwarf_file *alt; /* of dwz; NULL: none */
};

struct unit {
	struct dwarf_file *file;
	uint64_t offset, first, end; /* in DEBUG_INFO: header, first entry, end */
	uint64_t abbrev_offset;
	uint16_t version;
	uint8_t type;                      /* DW_UT_*; 0 before DWARF 5 */
	uint8_t address_size, offset_size; /* bytes */
	/* of the first entry; OFFSET_NONE where it does not say */
	bool read;
	uint16_t tag;
	uint64_t low_pc, line_offset, ranges_base, addr_base, str_offsets_base, rnglists_base;
	uint64_t dwo_id;
	const char *name, *directory, *dwo_name;
	struct abbrevs *abbrevs;
	struct line_table *lines;
	bool lines_sought;
	struct functions *functions;
	struct unit *skeleton; /* of a split one */
	struct unit *split;    /* of a skeleton, once found */
	bool split_sought;
};

/* A value as it stands, not resolved yet. */
struct value {
	uint16_t form; /* 0: the attribute is not there */
	uint64_t u;
	const char *s; /* of inline strings */
};

struct debug {
	struct image *image;
	struct dwarf_file main;
	struct intervals ranges;  /* of addresses to units, by index */
	struct dwarf_file **more; /* .dwo and .dwp parts */
	size_t more_count;
	struct elf_file *package; /* .dwp */
	bool package_sought;
	struct table names; /* of entries */
};

/* NULL where there is no debug information; read on first use. */
struct debug *debug_of(struct image *image);
void debug_free(struct debug *d);
/* The unit (of the main file) that has code at address; NULL: none. */
struct unit *debug_unit_at(struct debug *d, uint64_t address);
/* Is this where code can be?  What linkers threw away has addresses such as 0 and -1. */
bool debug_is_code(struct debug *d, uint64_t low, uint64_t high);

struct span dwarf_section(struct dwarf_file *f, enum debug_section which);
int dwarf_read_units(struct dwarf_file *f);
/* A part that begins with its length: its contents, and c behind it; the size of its offsets. */
struct cursor dwarf_open_part(struct cursor *c, uint8_t *offset_size);
void dwarf_fini(struct dwarf_file *f);
/* NULL: none holds it. */
struct unit *dwarf_unit_of(struct dwarf_file *f, uint64_t info_offset);

/* Fills the fields from the first entry, once.  false: damaged. */
bool unit_read(struct unit *u);

/* form.c */
struct value form_read(struct cursor *c, const struct unit *u, uint16_t form, int64_t constant);
/* Bytes that a value takes, -1 where they differ. */
int form_size(const struct unit *u, uint16_t form);
void form_skip(struct cursor *c, const struct unit *u, uint16_t form);
const char *value_string(struct unit *u, const struct value *v); /* NULL: none */
bool value_address(struct unit *u, const struct value *v, uint64_t *address);
/* Address number i of the unit's part of .debug_addr. */
bool unit_address(struct unit *u, uint64_t i, uint64_t *address);
bool form_is_constant(uint16_t form);

/* ranges.c: calls for each range of addresses, stops at and returns the first non-zero. */
typedef int range_call(void *context, uint64_t low, uint64_t high);
int unit_ranges(struct unit *u, const struct value *ranges, range_call *call, void *context);
/* As the first entry says. */
int unit_own_ranges(struct unit *u, range_call *call, void *context);
/* low_pc and high_pc, or ranges, whichever there are. */
int entry_ranges(struct unit *u, const struct value *low, const struct value *high,
	const struct value *ranges, range_call *call, void *context);

/* abbrev.c */
struct abbrev_spec {
	uint16_t name, form;
	int16_t size;     /* bytes of the value, -1: it varies */
	int64_t constant; /* of DW_FORM_implicit_const */
};
struct abbrev {
	uint64_t code;
	uint16_t tag;
	bool children;
	bool has_code;         /* has DW_AT_low_pc or DW_AT_ranges */
	uint32_t first, count; /* specs */
	int32_t size;          /* bytes of all values, -1: they vary */
};
struct abbrevs {
	uint64_t offset;
	uint16_t version; /* sizes are those of such units */
	uint8_t address_size, offset_size;
	VEC(struct abbrev) all; /* ascending codes */
	VEC(struct abbrev_spec) specs;
	bool dense; /* codes are 1, 2, 3 ... */
};
/* NULL: damaged, or memory is out. */
struct abbrevs *abbrevs_of(struct unit *u);
const struct abbrev *abbrev_find(const struct abbrevs *a, uint64_t code);
void abbrevs_free(struct abbrevs *a);
/* Only the declaration of one code, into table (which is empty): for a unit's first entry. */
bool abbrev_read_one(struct unit *u, uint64_t code, struct abbrevs *table);

/* entry.c: entries one after the other, as they lie in .debug_info. */
struct entry {
	uint64_t offset;             /* in .debug_info */
	const struct abbrev *abbrev; /* NULL: the end of a list of children */
	struct cursor values;
};
struct entries {
	struct unit *unit;
	const struct abbrevs *abbrevs;
	struct cursor at;
	const uint8_t *start; /* of the section */
};
/* offset is that of an entry of the unit.  false: damaged. */
bool entries_begin(struct entries *s, struct unit *u, uint64_t offset);
/* The next one; its values are skipped.  false behind the last. */
bool entries_next(struct entries *s, struct entry *e);
/* The values of some attributes: wanted ends with 0; what is not there gets form 0. */
void entry_values(const struct entries *s, const struct entry *e, const uint16_t *wanted,
	struct value *values);
/* The unit and offset that a reference means; NULL: none. */
struct unit *value_reference(struct unit *u, const struct value *v, uint64_t *offset);

/* names.c: the name of a function's entry, demangled; NULL: it has none. */
const char *debug_name(struct debug *d, struct unit *u, uint64_t offset);
void debug_names_fini(struct debug *d);

/* functions.c */
struct inlined {
	uint64_t origin; /* entry */
	uint32_t parent; /* into the same array; 0 is the function itself */
	uint32_t line, column;
	uint64_t file; /* of the call */
};
struct function {
	uint64_t offset; /* of its entry */
	bool read;
	VEC(struct inlined) inlined;
	struct intervals ranges; /* of inlined */
};
/* The function of a unit that has code at address, with what is inlined in it; NULL: none. */
struct function *unit_function_at(struct unit *u, struct debug *d, uint64_t address);
void functions_free(struct functions *f);

/* split.c: the unit with the contents of a skeleton; u itself where it is none, NULL where its file
 * is not found. */
struct unit *debug_whole_unit(struct debug *d, struct unit *u);
void debug_split_fini(struct debug *d);
/* dwz.c: the file that a dwz'd one shares entries and strings with, if there is one. */
void dwarf_find_alt(struct dwarf_file *f, struct image *image);

/* line_table.c */
/* The table of a unit, decoded on first use; NULL: it has none. */
struct line_table *line_table_of(struct unit *u, struct debug *d);
int line_table_find(struct line_table *t, uint64_t address, struct image_line *line);
/* The path of a file by its number in the table; NULL: there is none. */
const char *line_table_file(struct line_table *t, uint64_t number);
void line_table_free(struct line_table *t);

#endif
