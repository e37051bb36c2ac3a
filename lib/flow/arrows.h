/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The margin beside a listing in which jumps are drawn: one row per instruction, arrows in lanes,
 * short ones next to the text. Jumps to one target share a lane.
 *
 * Cells are ASCII characters; a terminal may replace them by better ones:
 *
 *	' ' nothing   '|' passes   ',' begins (above)   '`' ends (below)   '+' joins   '-' to the
 *	text   '>' arrives
 */
#ifndef FLOW_ARROWS_H
#define FLOW_ARROWS_H

#include <stddef.h>
#include <stdint.h>

#define FLOW_LANES_MAX 8

struct flow_arrow {
	uint32_t from, to; /* rows */
};

struct flow_margin {
	uint32_t rows;
	unsigned width;  /* cells per row; 0: there are no arrows */
	char *cells;     /* [rows * width], not terminated */
	uint8_t *below;  /* of each row, lanes that continue to the next: bit 0 is the leftmost */
	uint32_t hidden; /* arrows without a lane */
};

/* Cost: O(n log n) for n arrows, and the rows that they pass, at most FLOW_LANES_MAX times each.
 * -1 when memory is out. */
int flow_margin_make(
	struct flow_margin *m, const struct flow_arrow *arrows, size_t count, uint32_t rows);
void flow_margin_fini(struct flow_margin *m);

/* The margin of a line between row and the next: lanes that pass. text has room for width + 1. */
void flow_margin_between(const struct flow_margin *m, uint32_t row, char *text);

#endif
