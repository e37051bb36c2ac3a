/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of this module. */
#ifndef IMAGE_PRIVATE_H
#define IMAGE_PRIVATE_H

#include "base/table.h"
#include "image/elf_file.h"
#include "image/image.h"
#include "image/intervals.h"

struct symbols {
	bool ready;
	VEC(struct image_symbol) all; /* in order of address; demangled NULL until requested */
	struct intervals ranges;      /* of all */
	struct table guesses;         /* struct guess: names made up for gaps */
	VEC(uint64_t) starts;         /* of functions, by .eh_frame_hdr, ascending */
	VEC(char *) names;            /* ours */
	enum { MIXED_UNKNOWN, MIXED_NO, MIXED_YES } mixed; /* some are of C++ or Rust */
};

struct own_variable {
	struct image_variable is; /* name: as in the file until it is requested */
	char *name;               /* ours; NULL: it is the file's */
	bool named;
};

struct variables {
	bool ready;
	VEC(struct own_variable) all;
	struct intervals ranges;
};

struct data_types; /* types.c */
struct debug;      /* debug.h */
struct cfi;        /* cfi.h */

struct image {
	struct elf_file *elf;
	char *path; /* as in the experiment; elf->path is the file read */
	enum image_machine machine;
	struct image_search where; /* our copies */
	char **archives;
	struct elf_file *separate; /* debug file; NULL: none, or not yet sought */
	bool separate_sought;
	struct elf_file *mini; /* of .gnu_debugdata; NULL: none, or not yet sought */
	bool mini_sought;
	struct symbols symbols;
	VEC(uint64_t) wanted; /* rising: only functions with these have names; none: all have */
	struct variables variables;
	struct data_types *types; /* NULL: not yet requested */
	struct debug *debug;      /* NULL: not yet requested */
	struct cfi *cfi;
	char complaint[256];
};

/* demangle.c: a static function whose name clang made unique, and mangled for that, also in C; the
 * identifier in it, to be freed, NULL if it is not one of C. */
bool image_is_unique(const char *name);
char *image_unique_bare(const char *name);

/* The separate debug file, sought when first requested; NULL: none. */
struct elf_file *image_separate(struct image *image);

/* The symbols in .gnu_debugdata, unpacked when first requested; NULL: none. */
struct elf_file *image_mini(struct image *image);
/* A file that another names, with its directory, as dwz does; NULL: not found. */
struct elf_file *separate_file_linked(struct image *image, const char *beside, const char *name,
	const uint8_t *build_id, size_t length);

void symbols_load(struct image *image);
/* Is a name wanted of [address, address + size)? */
bool symbols_wanted(const struct image *image, uint64_t address, uint64_t size);
void symbols_fini(struct symbols *s);
void variables_fini(struct variables *v);
void types_fini(struct image *image);
/* If stubs are wanted, the functions that they are named by are, too. -1 when memory is out. */
int plt_want(struct image *image);
/* Adds names of stubs in .plt sections; -1 when memory is out. */
int plt_symbols(struct image *image);
/* name is copied; -1 when memory is out. */
int symbols_add_named(struct image *image, uint64_t address, uint64_t size, const char *name);
const struct image_symbol *guess_symbols(struct image *image, uint64_t address);
/* guess_frames.c: adds to the image's starts where entries of .eh_frame begin, in no order. -1 when
 * memory is out. */
int guess_frames(struct image *image);
void guess_fini(struct symbols *s);

/* One entry of .symtab or .dynsym, of either class; false after the last. */
bool symbols_elf(const struct elf_file *f, struct span table, size_t i, GElf_Sym *symbol);
/* Calls with each symbol of a section; one that is absent, or f NULL, has none.  -1 when a call
 * fails. */
typedef int elf_symbol_call(
	void *context, struct elf_file *f, const GElf_Sym *symbol, struct span strings);
int symbols_walk(struct elf_file *f, const char *section, elf_symbol_call *call, void *context);

/* Keeps the first message only. */
void image_complain(struct image *image, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
