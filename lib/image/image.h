/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Information on the addresses of an executable, library or kernel: symbols, source lines, inlined
 * functions, code bytes, call frame rules. libelf and libdw are visible in lib/image only.
 *
 * Everything is read when it is first requested, and only as far as needed: opening costs an ELF
 * header; a line costs its compilation unit's line table. Addresses are those of the image's
 * program headers; relocatable objects (.o, .ko) have none. Results are borrowed and live until
 * image_close. One image is used by one thread at a time.
 */
#ifndef IMAGE_IMAGE_H
#define IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct image;

/*
 * Where to search besides the path itself; all may be NULL or 0. An image is sought at root +
 * path, path, in the archives, in the build-id cache of perf, at the servers; its debug
 * information in itself, in an archive, by build-id and by .gnu_debuglink (whose CRC is checked)
 * beside it, in .debug and in the debug directory, at the servers.
 */
struct image_search {
	const char *const
		*archives; /* directories that ssrun -archive filled (archive.h), NULL-terminated */
	const char *root;  /* prefix of the path, tried first: /proc/PID/root, a sysroot */
	const char *debug_directory; /* of separate debug files; NULL: /usr/lib/debug */
	const char *build_id_cache;  /* where perf keeps copies by build-id; NULL: ~/.debug */
	bool debuginfod;             /* ask servers too (libdebuginfod, loaded when wanted) */
};

/* The file's identity in the experiment; a file that differs is refused: ERR_CONFLICT. */
struct image_identity {
	const char *path;
	const uint8_t *build_id;
	size_t build_id_length; /* 0: none, then size and fingerprint are compared if they are not 0
				 */
	uint64_t size, fingerprint;
};

/* Returns NULL with *e set: ERR_NOT_FOUND, ERR_CONFLICT (replaced since), ERR_PARSE (not an ELF
 * file), ERR_PERMISSION. */
struct image *image_open(
	const struct image_identity *id, const struct image_search *where, struct error *e);
/* An image that is in memory only, such as the vdso; bytes are copied. */
struct image *image_open_memory(const void *bytes, size_t size, const char *name, struct error *e);
void image_close(struct image *image);

/* The identity of a file, for recording. A file without build-id gets size and fingerprint (a hash
 * of its contents), as do files other than ELF. build_id has room for 64 bytes. */
int image_identify(const char *path, uint8_t *build_id, size_t *build_id_length, uint64_t *size,
	uint64_t *fingerprint, struct error *e);

/* The file has all of its sections: it was not cut short. */
bool image_is_whole(const struct image *image);

enum image_machine { IMAGE_OTHER, IMAGE_X86_64, IMAGE_AARCH64 };
enum image_machine image_machine(const struct image *image);

/* C++ and Rust; to be freed by the caller, NULL if it is not a mangled name. */
char *image_demangle(const char *name);

struct image_symbol {
	uint64_t address, size; /* size is never 0: up to the next symbol if the file has none */
	const char *name;       /* as in the file */
	const char *demangled;  /* C++, Rust; else the same pointer as name */
	bool guessed; /* no symbol covers the address: a name made of section and offset */
};

/* The function that address is in; NULL if there is none. Of aliases, always the same one is
 * chosen (global before weak before local, then the shortest). */
const struct image_symbol *image_symbol_at(struct image *image, uint64_t address);
/* To be called before anything is asked: names of functions will be asked for these addresses only,
 * which are rising. The memory of an open image is then theirs, not that of its tables. -1 when
 * memory is out. */
int image_want_symbols(struct image *image, const uint64_t *addresses, size_t count);
/* All functions in order of address; stops when call returns non-zero and returns that. */
int image_symbols(struct image *image,
	int (*call)(void *context, const struct image_symbol *symbol), void *context);
/* By exact or demangled name; NULL: there is none. */
const struct image_symbol *image_symbol_find(struct image *image, const char *name);

/* A variable with a fixed address while the image is loaded. */
struct image_variable {
	uint64_t address, size;
	const char *name; /* demangled */
};

/* The variable that contains the byte at address; -1: unknown. */
int image_variable_at(struct image *image, uint64_t address, struct image_variable *variable);
/* The variable of this name, as the symbol has it; -1: there is none. */
int image_variable_find(struct image *image, const char *name, struct image_variable *variable);
/* As image_variable_at, the section: its name is the variable's. */
int image_section_at(struct image *image, uint64_t address, struct image_variable *section);

struct image_line {
	const char *file;       /* full path as recorded; NULL: unknown */
	unsigned line, column;  /* line 0: generated by the compiler, for no line of this file */
	bool begins;            /* a statement begins here */
	unsigned discriminator; /* of several blocks on one line, as the compiler recorded it; 0:
				   none */
};

/* 0, or -1 if no line is known (line->file is NULL then). */
int image_line_at(struct image *image, uint64_t address, struct image_line *line);

/* The declaration of a variable; -1: not in debug information. */
int image_variable_line(struct image *image, uint64_t address, struct image_line *line);

struct image_member {
	const char *structure; /* name of the innermost type that contains it; NULL: none */
	char path[200];        /* ".count[1]", "[].badge" */
	uint64_t element;      /* bytes per element of the outermost array; 0: none */
};

/* The member at an offset in the variable that begins at address, by its type. span: the members
 * up to that after it, at multiples of apart; 0: only the offset. -1: unknown, or it has no
 * members. */
int image_variable_member(struct image *image, uint64_t address, uint64_t offset, uint64_t span,
	uint64_t apart, struct image_member *member);
/* The same in a structure of known size, if the compilation unit with that code has one of that
 * size. -1: none, or several. */
int image_structure_member(struct image *image, uint64_t code, uint64_t size, uint64_t offset,
	struct image_member *member);

/* The same in the structure that a pointer in scope at that code points to: the pointer in a
 * register (DWARF's number; below 0: not known), else that of all, if they have one type. apart:
 * distances of accesses, multiples of the structure's size. -1: none, or several. */
int image_pointed_member(struct image *image, uint64_t code, int reg, uint64_t apart,
	uint64_t offset, struct image_member *member);

struct image_frame {
	const char *name;       /* demangled */
	struct image_line line; /* position of address in this function (in outer ones: the call) */
	unsigned declared;      /* line of the function's declaration; 0: unknown */
};

/* The functions inlined at address, innermost first, the real one last. At most `room` are
 * written; returns their number, 0 without debug information. */
size_t image_inlines_at(
	struct image *image, uint64_t address, struct image_frame *frames, size_t room);

/* A step of the way to an instruction through inlined calls, as profiles for compilers name it. */
struct image_source {
	const char *name;       /* of the function, as linkers have it; NULL: unknown */
	unsigned line;          /* in this function: of the instruction, or of the inlined call; 0:
				   unknown */
	unsigned declared;      /* line of the function's declaration; 0: unknown */
	unsigned discriminator; /* as recorded with the line */
};
/* As image_inlines_at, the function that has the code last. 0: the address is in no function of
 * the debug information. */
size_t image_sources_at(
	struct image *image, uint64_t address, struct image_source *sources, size_t room);
/* Whether clang compiled the code at address: its discriminators are packed. */
bool image_from_clang(struct image *image, uint64_t address);

/* A basic block of .llvm_bb_addr_map: clang -fbasic-block-address-map. */
struct image_block {
	uint64_t function; /* address of the function's first block */
	uint64_t address, size;
	uint32_t id; /* the compiler's number; 0: the entry */
};
/* All blocks in the order of the file; stops when call returns non-zero and returns that. 0 also
 * if there are none; -1 with *e set: the section is damaged, or of an unknown version. */
int image_blocks(struct image *image, int (*call)(void *context, const struct image_block *block),
	void *context, struct error *e);

/* What must not change when an image is replaced by another build of it. Names are sorted, each
 * once; all is owned. */
struct image_facts {
	unsigned machine, type, class; /* e_machine, e_type, EI_CLASS */
	char *interpreter;             /* NULL: none */
	char **libraries;              /* needed, and "name: " with its own; NULL-terminated */
	char **symbols;                /* dynamic ones that it defines, likewise */
	bool entry;                    /* its entry is in executable code, or it has none */
	bool whole;                    /* the file has all of its segments and sections */
	bool relocations;              /* of code: linked with --emit-relocs */
	bool lines;                    /* it has lines of source in itself */
	bool clang;                    /* .comment names clang */
};
/* ERR_PARSE with *e set: not a program or library of ELF. */
int image_facts_read(const char *path, struct image_facts *facts, struct error *e);
void image_facts_fini(struct image_facts *facts);

/* Up to size bytes of code or read-only data at address; returns the number available. */
size_t image_code(struct image *image, uint64_t address, void *bytes, size_t size);

/* The segment that is loaded at address: its beginning there and in the file. -1: there is none. */
struct image_segment {
	uint64_t address, size, offset; /* bytes */
};
int image_segment_at(const struct image *image, uint64_t address, struct image_segment *segment);

/* The reason why there are no lines or symbols ("no debug information", "its .dwo is missing"
 * ...), one line, NULL if nothing is missing. For coverage lines. */
const char *image_complaint(struct image *image);

/* "elfutils 0.188": the library in use. Static. */
const char *image_library(void);

#endif
