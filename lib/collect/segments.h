/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the bytes of an ELF file are put: its program headers, which turn an offset in the file
 * (what the kernel tells of a mapping) into an address of the image (what everybody else uses).
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

/* Reads those of an open file; one that is no ELF file has none.  -1 when memory is out. */
int segments_read(struct segments *s, int fd);
/* The same of size bytes from the beginning of a file. */
int segments_parse(struct segments *s, const void *data, size_t size);
/* The address of an offset; where no segment has it, the offset itself. */
uint64_t segments_address(const struct segments *s, uint64_t offset);
void segments_fini(struct segments *s);

#endif
