/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines that wait to enter a packed last level. */
#include "model/packed.h"

void packed_arrive(struct packed *p)
{
	uint32_t coming = p->coming;

	p->coming = 0;
	for (uint32_t i = 0; i < coming; i++) {
		struct packed_place at = {
			p->rows + (uint64_t)p->coming_sets[i] * PACKED_ENTRIES,
			p->coming_sets[i],
			p->coming_entries[i],
		};
		unsigned n = packed_find(&at);

		packed_push(at.row, n < PACKED_ENTRIES ? n : p->ways - 1, at.entry);
		p->coming_sets[i] = PACKED_NO_SET;
	}
}
