/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The debug information of an image, read by libdw: which unit has an address, its lines, its
 * functions and inlined calls. A unit's entries and lines are read when an address in it is first
 * requested.
 *
 * A Dwarf_Die and libdw's data of it live until debug_free. Lines are decoded here (line_table.h).
 *
 * libdw 0.188 trusts some of what it reads.  So sections of strings must end with a zero, a string
 * in .debug_info must end in it (entry_string), and a walk over entries visits no more of them than
 * there are bytes (entry_walk_tree).
 */
#ifndef IMAGE_DEBUG_H
#define IMAGE_DEBUG_H

#include <dwarf.h>
#include <elfutils/libdw.h>

#include "base/table.h"
#include "image/image.h"
#include "image/intervals.h"

struct functions;
struct split;

struct unit {
	Dwarf_Die die;   /* its first entry */
	Dwarf_Die whole; /* that of its split unit, once sought; addr NULL: not found */
	bool whole_sought;
	struct functions *functions;
};

struct debug {
	struct image *image;
	struct elf_file *elf; /* the image's own or its separate one; NULL: there is none */
	Dwarf *dwarf;
	Dwarf *alt; /* of dwz; NULL: none */
	struct elf_file *alt_elf;
	Elf *no_alt;             /* an empty file in place of a missing one */
	VEC(struct unit) units;  /* in order of offset */
	struct intervals ranges; /* of addresses to units, by index */
	size_t ranges_left;      /* that may be read yet */
	struct table names;      /* of functions' entries */

	struct table lines, files, answers; /* of lines.c */
	size_t rows;                        /* of tables in lines, since others were dropped */
	size_t rows_again;                  /* that were decoded after they had been dropped */
	size_t lines_bytes;                 /* of tables in lines */

	VEC(struct split *) splits;
	struct elf_file *package; /* .dwp */
	bool package_sought;
};

/* NULL if there is no debug information; read on first use. */
struct debug *debug_of(struct image *image);
void debug_free(struct debug *d);
/* The unit that has code at address; NULL: none. */
struct unit *debug_unit_at(struct debug *d, uint64_t address);
/* The unit of an entry of the image's own file; NULL: it is in another file. */
struct unit *debug_unit_of(struct debug *d, Dwarf_Die *die);
/* Can code be at this address? Code that linkers removed has addresses such as 0 and -1. */
bool debug_is_code(struct debug *d, uint64_t low, uint64_t high);
/* Adds the ranges of an entry that are code. -1 when memory is out. No more ranges are read than
 * the files have bytes: damaged entries can have one long list of them again and again. */
int debug_add_ranges(struct debug *d, Dwarf_Die *die, struct intervals *to, uint32_t value);

/* A handle of the file, whose sections are inflated here, not by libdw. NULL: failed. */
Dwarf *debug_begin(struct elf_file *f);
/* Do the file's sections of strings end with a zero? libdw reads up to it. */
bool debug_strings_end(struct elf_file *f);
/* The attribute's string; NULL: none, or unterminated. */
const char *entry_string(Dwarf_Attribute *a);
/* The number in an attribute of the entry; 0: it has none. */
uint64_t entry_number(Dwarf_Die *die, unsigned attribute);
/* The line of a function's declaration, perhaps by reference; 0: unknown. */
unsigned entry_declared(Dwarf_Die *die);

enum debug_way { WALK_IN, WALK_OVER, WALK_STOP };
/* Visits the entries inside of die, parents before children; depth counts from 0. */
typedef enum debug_way debug_visit(void *context, Dwarf_Die *die, unsigned depth);
#define DEBUG_DEEPEST 1024 /* nesting of entries; more is damage */
void entry_walk_tree(Dwarf_Die *die, debug_visit *visit, void *context);

/* names.c: the name of a function's entry, demangled; NULL: it has none. */
const char *debug_name(struct debug *d, Dwarf_Die *die);
/* The same, as linkers have it. */
const char *debug_linkage_name(Dwarf_Die *die);
void debug_names_fini(struct debug *d);

/* lines.c */
int lines_find(struct debug *d, struct unit *u, uint64_t address, struct image_line *line);
/* The path of a file by its number in the unit's table, lives until debug_free; NULL: there is
 * none. */
const char *lines_file(struct debug *d, struct unit *u, uint64_t number);
void lines_fini(struct debug *d);

/* functions.c */
struct inlined {
	Dwarf_Die die;
	uint32_t parent; /* into the same array; 0 is the function itself */
};
struct function {
	Dwarf_Die die;
	bool read;
	VEC(struct inlined) inlined;
	struct intervals ranges; /* of inlined */
};
/* The function of a unit that has code at address, with the functions inlined in it; NULL: none. */
struct function *functions_unit_at(struct debug *d, struct unit *u, uint64_t address);
void functions_free(struct functions *f);

/* split.c: the first entry with the contents of a unit: its own, or that of its split one; NULL if
 * that is not found. */
Dwarf_Die *split_whole_unit(struct debug *d, struct unit *u);
void split_fini(struct debug *d);

/* package.c: the contents of a split unit in the image's .dwp, as an unnamed .dwo file's
 * descriptor; -1: not found. */
int package_open(struct debug *d, uint64_t id);

/* made.c: ELF files for libdw that are made here. */
struct made_section {
	const char *name;
	const void *bytes;
	size_t size;
};
/* In memory; the bytes must outlive it. NULL: failed. */
Elf *made_memory(const struct made_section *sections, size_t count);
/* An unnamed file's descriptor; -1: failed. */
int made_file(const struct made_section *sections, size_t count);

#endif
