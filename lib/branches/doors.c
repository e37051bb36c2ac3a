/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Doors: code by which an indirect transfer gets to a copy that it has not gone to before, without
 * a stop. A table by the target's address leads to it. A door writes the transfer into a log, which
 * is read at the next stop; then the transfer gets a counter of its own (copy_pair).
 *
 * Return addresses of copied calls, and other targets that are known before anything goes to them,
 * are copied ahead and have doors. Without them, most stops in code that is new to us were returns
 * to places that no return had gone to yet.
 */
#include <string.h>

#include "branches/cache.h"

#define LOGGED 8.0 /* the cost of a logged transfer, in plain increments */

static uint64_t head_address(const struct arena *a, uint32_t hash)
{
	return a->table + ARENA_TABLE + hash * (uint64_t)8;
}

static uint64_t log_address(const struct arena *a)
{
	return a->table + 2 * (uint64_t)ARENA_TABLE;
}

static bool log_empty(const struct cache *c, const struct arena *a)
{
	static const uint64_t left = DOOR_LOG;

	return arena_write(c, a, arena_slot_address(a, SLOT_LEFT), &left, sizeof(left));
}

/* The target of the last indirect transfer leads to a door, or to a stop. */
void doors_emit_way(struct out *o)
{
	struct arena *a = o->arena;

	a->miss = a->used;
	o->undo = FORWARD;
	emit_slot(o, MOV_TO_RCX, SLOT_TO);
	emit_look_up(o, head_address(a, 0));
	a->stop = a->used;
	if (emit_exit(o, EXIT_MISS, 0, 0, 0))
		o->cache->full = true;
	if (!log_empty(o->cache, a))
		o->cache->refused = o->cache->full = true;
}

/* The code of a door. Returns the place of the displacement to the next. */
static uint32_t emit_door(struct out *o, uint64_t to, const struct copy *copy)
{
	struct arena *a = o->arena;
	uint32_t next;

	o->undo = FORWARD;
	emit_slot(o, MOV_TO_RCX, SLOT_TO);
	emit_wide(o, WIDE_RDX, -to);
	emit(o, "\x48\x8d\x0c\x11", 4); /* lea (%rcx,%rdx), %rcx */
	emit(o, "\xe3\x05", 2);         /* jrcxz */
	next = emit_jump(o, "\xe9", a->stop);
	emit_slot(o, MOV_TO_RCX, SLOT_LEFT);
	emit(o, "\xe3\x02", 2); /* jrcxz: the log is full */
	emit(o, "\xeb\x05", 2); /* jmp */
	emit_jump(o, "\xe9", a->stop);
	emit(o, "\x48\x8d\x49\xff", 4); /* lea -1(%rcx), %rcx */
	emit_slot(o, MOV_FROM_RAX, SLOT_RAX);
	o->undo |= UNDO_RAX;
	emit_slot(o, MOV_TO_RAX, SLOT_TARGET);
	emit_address(o, "\x48\x8d\x15", log_address(a)); /* lea log(%rip), %rdx */
	emit(o, "\x48\x89\x04\xca", 4);                  /* mov %rax, (%rdx,%rcx,8) */
	emit_slot(o, MOV_TO_RAX, SLOT_RAX);
	o->undo &= (uint8_t)~UNDO_RAX;
	emit_slot(o, MOV_FROM_RCX, SLOT_LEFT);
	emit_go(o, to, copy);
	return next;
}

/* Code of this arena finds its way to the copy. */
static int door_add(struct cache *c, unsigned arena, uint64_t to, const struct copy *copy)
{
	struct arena *a = &c->arenas[arena];
	const struct chain key = {.key = {(uint32_t)(to % ARENA_HEADS), 0}};
	struct out o = {.cache = c,
		.arena = a,
		.arena_index = arena,
		.copy = (uint32_t)table_number(&c->copies, copy)};
	struct chain *chain;
	struct door *d;
	uint32_t at = a->used;
	uint64_t entry = a->code + at;

	if (!a->miss || !arena_room(a))
		return 0;
	d = table_add(&c->doors, &(struct door){.key = {to, arena, 0}}.key);
	chain = table_add(&a->door_chains, &key.key);
	if (!d || !chain)
		return -1;
	if (d->next)
		return 0;
	d->next = emit_door(&o, to, copy);
	if (chain->last)
		emit_patch(a, ((struct door *)table_at(&c->doors, chain->last - 1))->next, at);
	else if (arena_head(a, head_address(a, key.key.hash), entry))
		return -1;
	chain->last = (uint32_t)table_number(&c->doors, d) + 1;
	return 0;
}

void doors_add(struct cache *c, uint64_t to)
{
	const struct copy *copy = table_find(&c->copies, &(struct copy){.key = {to, to}}.key);

	for (unsigned i = 0; copy && i < c->arena_count; i++)
		if (door_add(c, i, to, copy))
			c->full = true;
}

void doors_clear(struct cache *c, const struct arena *a)
{
	static const uint64_t none;

	c->refused |= a->miss && !log_empty(c, a);
	for (size_t i = 0; i < a->door_chains.count; i++) {
		const struct chain *chain = table_at(&a->door_chains, i);

		c->refused |=
			!arena_write(c, a, head_address(a, chain->key.hash), &none, sizeof(none));
	}
}

/* A transfer that went through a door. */
static void door_used(struct cache *c, uint64_t sum)
{
	const struct site_key *site = copy_site(c, sum);
	const struct copy *copy;
	uint64_t to;

	if (!site)
		return;
	to = sum - site->key;
	c->work += LOGGED;
	copy_meet(c, sum, to);
	copy = table_find(&c->copies, &(struct copy){.key = {to, to}}.key);
	if (copy && !c->full && !table_find(&c->pairs, &sum))
		copy_pair(c, sum, to, copy);
}

void doors_read(struct cache *c)
{
	uint64_t sums[DOOR_LOG], left;

	for (unsigned i = 0; i < c->arena_count; i++) {
		const struct arena *a = &c->arenas[i];

		if (!a->door_chains.count ||
			!arena_read(c, a, arena_slot_address(a, SLOT_LEFT), &left, sizeof(left)) ||
			left >= DOOR_LOG)
			continue;
		if (!arena_read(c, a, log_address(a) + left * 8, sums + left,
			    (DOOR_LOG - left) * sizeof(sums[0])) ||
			!log_empty(c, a)) {
			c->refused = true;
			return;
		}
		for (uint64_t k = left; k < DOOR_LOG; k++)
			door_used(c, sums[k]);
	}
}
