/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One ELF file in memory: the image itself, its separate debug file, a .dwo. libelf maps it,
 * checks its headers, and inflates sections. Everything lives until elf_file_close. Little-endian
 * files only.
 */
#ifndef IMAGE_ELF_FILE_H
#define IMAGE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>

#include "base/error.h"
#include "base/vec.h"

#define BUILD_ID_MAX 64

struct span {
	const uint8_t *data; /* NULL: empty */
	size_t size;
};

struct elf_section {
	const char *name; /* never NULL */
	GElf_Shdr header; /* as in the file: for a compressed section, its size in the file */
	Elf_Scn *scn;
	Elf *of;
	void *inflated; /* its contents, ours; NULL: as in the file, or libelf's */
};

struct elf_file {
	char *path;
	Elf *elf;
	struct span raw; /* the whole file, as it is */
	struct mapping *mapping;
	void *copy; /* of an image in memory; ours */
	GElf_Ehdr header;
	VEC(struct elf_section) sections;
	VEC(GElf_Phdr) segments;
	uint8_t build_id[BUILD_ID_MAX];
	size_t build_id_length; /* 0: none */
	bool sparing;           /* of memory: see elf_file_passed */
	size_t passed;          /* bytes since pages were dropped */
};

/* Opens a regular file and checks that it is ELF. */
struct elf_file *elf_file_open(const char *path, struct error *e);
/* bytes are copied; path is for messages. */
struct elf_file *elf_file_memory(const void *bytes, size_t size, const char *path, struct error *e);
void elf_file_close(struct elf_file *f);
/* Its pages are no longer in memory, until they are read again. NULL: nothing. */
void elf_file_unload(struct elf_file *f);
#define ELF_FILE_ANYWHERE ((size_t)64 << 10) /* what the kernel maps for a byte at any place */
/* The next bytes were read, or one at any place. Of a file that is sparing, few pages stay in
 * memory. NULL: nothing. */
void elf_file_passed(struct elf_file *f, size_t bytes);

/* The two steps of elf_file_open. First a regular file as a whole, of any format, never waiting
 * for a FIFO's other end (an empty one has raw.data NULL); then its headers. */
struct elf_file *elf_file_map(const char *path, struct error *e);
int elf_file_read(struct elf_file *f, struct error *e);

/* NULL: no section has this name. */
struct elf_section *elf_file_section(struct elf_file *f, const char *name);
/* The contents, inflated if compressed (names .debug_x find .zdebug_x too); data NULL if there are
 * none. */
struct span elf_file_contents(struct elf_section *s);
struct span elf_file_find(struct elf_file *f, const char *name);
/* The allocated section or, without sections, nothing: NULL. */
const struct elf_section *elf_file_section_at(const struct elf_file *f, uint64_t address);
/* The bytes loaded at address, up to the end of the segment's part in the file. */
struct span elf_file_at(struct elf_file *f, uint64_t address);

bool elf_file_has_id(const struct elf_file *f, const uint8_t *build_id, size_t length);

/* A string in a span; NULL if it does not end there. */
const char *elf_file_span_string(struct span s, uint64_t offset);

/* inflate.c: inflates a section whose header is h. False: libelf has to do it. */
bool section_inflate(struct elf_section *s, GElf_Shdr *h);

#endif
