/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the bytes of an ELF file are loaded: its program headers, which convert an offset in the
 * file (as the kernel reports mappings) to an address of the image (as all other modules use).
 */
#ifndef COLLECT_SEGMENTS_H
#define COLLECT_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

struct segment {
	uint64_t offset, size, address;
};

struct segments {
	VEC(struct segment) list; /* of PT_LOAD, as in the file */
	bool elf;
};

/* Reads those of an open file; other files than ELF have none. -1 when memory is out. */
int segments_read(struct segments *s, int fd);
/* The same of size bytes from the beginning of a file. */
int segments_parse(struct segments *s, const void *data, size_t size);
/* The address of an offset; without a segment, the offset itself. */
uint64_t segments_address(const struct segments *s, uint64_t offset);
void segments_fini(struct segments *s);

#endif
