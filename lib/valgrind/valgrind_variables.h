/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data from the symbol tables of the program's ELF files that is needed while it runs: the
 * addresses of variables, so that misses can be counted by variable, and the entry points of
 * allocators. Names of variables stay in the file. A file is read when code of it is first
 * translated.
 */
#ifndef VALGRIND_VARIABLES_H
#define VALGRIND_VARIABLES_H

#include "pub_tool_basics.h"

struct variable {
	Addr start; /* as program headers have it */
	SizeT size;
};

/* How an allocator is called. */
enum allocator {
	NO_ALLOCATOR,
	ALLOCATES,        /* (size): malloc, operator new */
	ALLOCATES_MANY,   /* (count, size) */
	ALIGNS,           /* (alignment, size) */
	ALIGNS_AT,        /* (where to, alignment, size) */
	REALLOCATES,      /* (block, size) */
	REALLOCATES_MANY, /* (block, count, size) */
	FREES,            /* (block) */
};

struct entry_point {
	Addr address;
	enum allocator kind;
};

struct module {
	UInt image;                 /* as images.h numbers them */
	Addr bias;                  /* added to its own addresses */
	struct variable *sections;  /* likewise */
	Addr low, high;             /* in memory, high exclusive */
	struct variable *variables; /* ascending, apart from each other */
	struct entry_point *entries;
	UInt count, section_count, entry_count;
	Bool gone;
};

/* Code at this address is about to be translated. */
void variables_see(Addr code);
/* The file that has the address among its code and data; NULL: none. */
const struct module *variables_module(Addr address);
/* NULL: no symbol, no section covers it. */
const struct variable *variables_find(const struct module *m, Addr address);
const struct variable *variables_section(const struct module *m, Addr address);
enum allocator variables_allocator(Addr code);
void variables_unmapped(Addr a, SizeT length);

#endif
