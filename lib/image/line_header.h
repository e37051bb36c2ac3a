/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The header of a line table, versions 2 to 5: DWARF 5, section 6.2.4. */
#ifndef IMAGE_LINE_HEADER_H
#define IMAGE_LINE_HEADER_H

#include "image/dwarf.h"

struct line_file {
	const char *name; /* never NULL */
	uint64_t directory;
};

struct line_header {
	struct cursor program;
	uint16_t version;
	uint8_t minimum_instruction, opcode_base, line_range; /* line_range is never 0 */
	int8_t line_base;
	bool default_statement;
	uint8_t operands[256]; /* of opcodes below opcode_base */
	VEC(const char *) directories;
	VEC(struct line_file) files;
	uint64_t first_file; /* the number of the first one */
};

/* -1: damaged, of an unknown version, or memory is out. */
int line_header_read(struct line_header *h, struct unit *u);
void line_header_fini(struct line_header *h);

#endif
