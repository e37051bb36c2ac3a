/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often branches through registers or memory, and returns, went to each target: a table in the
 * caller's memory, zeroed, with a power of two of entries. Above three quarters full, new pairs are
 * lost and counted.
 */
#ifndef MODEL_TARGETS_H
#define MODEL_TARGETS_H

#include <stdint.h>

struct model_target {
	uint64_t from, to; /* addresses; count 0: the entry is free */
	uint64_t count;
};

struct model_targets {
	struct model_target *entry; /* null: not counted */
	uint64_t mask;              /* entries, less one */
	uint64_t used, lost;
};

static inline struct model_target *targets_find(
	const struct model_targets *t, uint64_t from, uint64_t to)
{
	uint64_t at = (from * 0x9e3779b97f4a7c15u ^ to * 0xc2b2ae3d27d4eb4fu) >> 20;

	for (;; at++) {
		struct model_target *e = &t->entry[at & t->mask];

		if (!e->count || (e->from == from && e->to == to))
			return e;
	}
}

static inline void targets_add(struct model_targets *t, uint64_t from, uint64_t to, uint64_t times)
{
	struct model_target *e = targets_find(t, from, to);

	if (!e->count) {
		if (t->used > t->mask - t->mask / 4) {
			t->lost += times;
			return;
		}
		t->used++;
		e->from = from;
		e->to = to;
	}
	e->count += times;
}

#endif
