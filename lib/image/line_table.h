/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A line-number table of .debug_line (DWARF 5, section 6.2; versions 2 to 5). libdw decodes these,
 * too, but takes ten times as long: it allocates each row, and sorts all rows of a unit. Rows of a
 * sequence rise already, so only sequences need an order. It also refuses a table for one large
 * discriminator, and lets rows of code that the linker removed, which begin at 0, hide others.
 */
#ifndef IMAGE_LINE_TABLE_H
#define IMAGE_LINE_TABLE_H

#include "image/elf_file.h"
#include "image/intervals.h"

struct line_row {
	uint64_t address;
	uint32_t file, line, discriminator;
	uint16_t column; /* 0: unknown, or too large */
	bool begins;     /* a statement */
};

/* Strings live as long as the sections; NULL: unknown. */
struct line_file {
	const char *directory, *name;
};

/* Rising rows of code that is not interrupted. */
struct line_sequence {
	size_t first, count;
};

struct line_table {
	VEC(const char *) directories;
	VEC(struct line_file) files;
	VEC(struct line_row) rows;
	VEC(struct line_sequence) sequences;
	struct intervals ranges; /* of sequences, by index */
	size_t bytes;            /* of the section, after its length */
};

/* What a table refers to. */
struct line_sections {
	struct span lines, strings, line_strings, alt_strings;
	size_t most;           /* bytes that a table may have: nothing of a longer one is read */
	const char *directory; /* of the unit; NULL: unknown */
	/* whether code of this image can be there: what else the table has is dropped */
	bool (*is_code)(void *context, uint64_t low, uint64_t high);
	void *context;
};

/* The table at an offset. What of it comes before damage is there. -1 when memory is out. A
 * longer table than allowed has only its bytes. */
int line_table_read(struct line_table *t, const struct line_sections *s, uint64_t offset);
/* The last row at address or before it, in its sequence; NULL: none. *begins: one of the rows at
 * this very address begins a statement. */
const struct line_row *line_table_find(const struct line_table *t, uint64_t address, bool *begins);
/* Files stay. */
void line_table_drop_rows(struct line_table *t);
void line_table_fini(struct line_table *t);

#endif
