/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What an executable, library or kernel says of its addresses: symbols, source lines, inlined
 * functions, code bytes, call frame rules.  libelf and libdw are visible in lib/image only.
 *
 * Everything is read when it is first asked for and no further than the question needs: opening
 * costs an ELF header; a line costs its compilation unit's line table.  Addresses are those of the
 * image's program headers; of relocatable objects (.o, .ko) nothing is known.  What an image
 * returns is borrowed and lives until image_close.  One image is used by one thread at a time.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct image;

/*
 * Where to look beside the path itself; all may be NULL or 0.  An image is looked for at root +
 * path, path, in the archives, in the build-id cache of perf, at the servers; its debug information
 * in itself, in an archive, by build-id and by .gnu_debuglink (whose CRC is checked) beside it, in
 * .debug and in the debug directory, at the servers.
 */
struct image_search {
	const char *const
		*archives; /* directories that ssrun -archive filled (archive.h), NULL-terminated */
	const char *root;  /* put before the path first: /proc/PID/root, a sysroot */
	const char *debug_directory; /* of separate debug files; NULL: /usr/lib/debug */
	const char *build_id_cache;  /* where perf keeps copies by build-id; NULL: ~/.debug */
	bool debuginfod;             /* ask servers too (libdebuginfod, loaded when wanted) */
};

/* What the experiment knows of the file; a file that differs is refused: ERR_CONFLICT. */
struct image_identity {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_length; /* 0: none, then size and fingerprint are compared if they are not 0
				 */
	uint64_t size, fingerprint;
};

/* Returns NULL with *e set: ERR_NOT_FOUND, ERR_CONFLICT (replaced since), ERR_PARSE (no ELF file),
 * ERR_PERMISSION. */
struct image *image_open(
	const struct image_identity *id, const struct image_search *where, struct error *e);
/* An image that is in memory only, the vdso for one; bytes are copied. */
struct image *image_open_memory(const void *bytes, size_t size, const char *name, struct error *e);
void image_close(struct image *image);

/* What a file is, for those who record it.  A file without build-id gets size and fingerprint (a
 * hash of its contents), one that is no ELF file too.  build_id has room for 64 bytes. */
int image_identify(const char *path, uint8_t *build_id, size_t *build_id_length, uint64_t *size,
	uint64_t *fingerprint, struct error *e);

enum image_machine { IMAGE_OTHER, IMAGE_X86_64, IMAGE_AARCH64 };
enum image_machine image_machine(const struct image *image);

/* C++ and Rust; yours to free, NULL where it is no mangled name. */
char *image_demangle(const char *name);

struct image_symbol {
	uint64_t address, size; /* size is never 0: up to the next symbol where the file has none */
	const char *name;       /* as in the file */
	const char *demangled;  /* C++, Rust; else the same pointer as name */
	bool guessed; /* no symbol covers the address: a name made of section and offset */
};

/* The function that address is in; NULL if the image has nothing there.  Aliases: one of them is
 * chosen, always the same one (global before weak before local, then the shortest). */
const struct image_symbol *image_symbol_at(struct image *image, uint64_t address);
/* All functions in order of address; stops when call returns non-zero and returns that. */
int image_symbols(struct image *image,
	int (*call)(void *context, const struct image_symbol *symbol), void *context);
/* By exact or demangled name; NULL: there is none. */
const struct image_symbol *image_symbol_find(struct image *image, const char *name);

/* A variable that lies where it is as long as the image is loaded. */
struct image_variable {
	uint64_t address, size;
	const char *name; /* demangled */
};

/* The variable that has the byte at address; -1: no symbol says. */
int image_variable_at(struct image *image, uint64_t address, struct image_variable *variable);
/* Likewise, the section: its name is the variable's. */
int image_section_at(struct image *image, uint64_t address, struct image_variable *section);

struct image_line {
	const char *file;      /* full path as recorded; NULL: no line is known */
	unsigned line, column; /* line 0: the compiler's doing, for no line of this file */
	bool begins;           /* a statement begins here */
};

/* 0, or -1 where no line is known (line->file is NULL then). */
int image_line_at(struct image *image, uint64_t address, struct image_line *line);

/* Where a variable is declared; -1: no debug information says. */
int image_variable_line(struct image *image, uint64_t address, struct image_line *line);

struct image_member {
	const char *structure; /* the innermost with a name that has it; NULL: none */
	char path[200];        /* ".count[1]", "[].badge" */
	uint64_t element;      /* bytes of an element of the outermost array; 0: there is none */
};

/* What lies at an offset in the variable that begins at address, by its type; span: and as far as
 * that behind it, at multiples of apart; 0: there alone.  -1: not known, or it has no parts. */
int image_variable_member(struct image *image, uint64_t address, uint64_t offset, uint64_t span,
	uint64_t apart, struct image_member *member);
/* The same in a structure of which only the size is known, where the compilation unit with that
 * code has one of that size.  -1: none, or several. */
int image_structure_member(struct image *image, uint64_t code, uint64_t size, uint64_t offset,
	struct image_member *member);

struct image_frame {
	const char *name;       /* demangled */
	struct image_line line; /* where in this function address is (of outer ones: the call) */
};

/* The functions inlined at address, innermost first, the real one last.  At most `room` are
 * written; returns how many there are, 0 without debug information. */
size_t image_inlines_at(
	struct image *image, uint64_t address, struct image_frame *frames, size_t room);

/* Up to size bytes of code or read-only data at address; returns how many were there. */
size_t image_code(struct image *image, uint64_t address, void *bytes, size_t size);

/* The segment that is loaded at address: where it begins there and in the file. -1: there is none.
 */
struct image_segment {
	uint64_t address, size, offset; /* bytes */
};
int image_segment_at(const struct image *image, uint64_t address, struct image_segment *segment);

/* One line on why there are no lines or symbols ("no debug information", "its .dwo is missing"
 * ...), NULL where nothing is missing.  For coverage lines. */
const char *image_complaint(struct image *image);

#endif
