/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/tally.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#define FIRST_SIZE 1024u
#define LAST_SIZE  (1u << 21) /* 64 MiB */

static struct tally_entry *tally_find(struct tally *t, ULong a, ULong b, ULong c)
{
	ULong hash =
		(a * 0x9e3779b97f4a7c15u) ^ (b * 0xc2b2ae3d27d4eb4fu) ^ (c * 0x165667b19e3779f9u);
	UInt at = (UInt)(hash >> 24);

	for (;; at++) {
		struct tally_entry *e = &t->entries[at & (t->size - 1)];

		if (!e->count || (e->key[0] == a && e->key[1] == b && e->key[2] == c))
			return e;
	}
}

static void tally_grow(struct tally *t)
{
	struct tally before = *t;

	t->size = before.size ? 4 * before.size : FIRST_SIZE;
	if (t->size > LAST_SIZE)
		t->size = LAST_SIZE;
	t->entries = VG_(calloc)("tally", t->size, sizeof(*t->entries));
	for (UInt i = 0; i < before.size; i++) {
		const struct tally_entry *e = &before.entries[i];

		if (e->count)
			*tally_find(t, e->key[0], e->key[1], e->key[2]) = *e;
	}
	VG_(free)(before.entries);
}

void tally_add(struct tally *t, ULong a, ULong b, ULong c, ULong times)
{
	struct tally_entry *e;

	if (t->used >= t->size / 4 * 3 && t->size < LAST_SIZE)
		tally_grow(t);
	e = tally_find(t, a, b, c);
	if (!e->count) {
		if (t->used >= t->size / 4 * 3) {
			t->lost += times;
			return;
		}
		t->used++;
		e->key[0] = a;
		e->key[1] = b;
		e->key[2] = c;
	}
	e->count += times;
}

void tally_reset(struct tally *t)
{
	VG_(free)(t->entries);
	VG_(memset)(t, 0, sizeof(*t));
}
