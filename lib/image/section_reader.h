/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of a section, one after the other: of a fixed size, and in LEB128 (DWARF 5, 7.6).
 * Sections are strangers': what goes beyond the end, or is longer than 64 bits, is 0 and makes the
 * reader bad; then all that follows is 0.
 */
#ifndef IMAGE_SECTION_READER_H
#define IMAGE_SECTION_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "image/elf_file.h"

struct section_reader {
	struct span left;
	bool bad;
};

/* size bytes, 8 at most, lowest first. */
uint64_t section_reader_bytes(struct section_reader *r, size_t size);
uint64_t section_reader_uleb(struct section_reader *r);
/* As two's complement. */
uint64_t section_reader_sleb(struct section_reader *r);

#endif
