/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Breakpoints. At any time, they are in one process only. */
#include <string.h>

#include "branches/private.h"

#define BREAKPOINT 0xcc
#define RESTORES   3

static bool has_byte(int memory, uint64_t address, uint8_t byte)
{
	uint8_t there;

	return process_read(memory, address, &there, 1) && there == byte;
}

static bool put_byte(int memory, uint64_t address, uint8_t byte)
{
	return process_write(memory, address, &byte, 1);
}

/* The program may have changed it. If it stayed, the program would be ended by it: so a write that
 * fails is made again. */
static void restore_byte(int memory, uint64_t address, uint8_t first)
{
	for (int i = 0; i < RESTORES && has_byte(memory, address, BREAKPOINT); i++)
		put_byte(memory, address, first);
}

int sites_put(struct branches *b, struct followed *p, uint64_t address, const struct transfer *t)
{
	struct site *s;

	if (b->sited && b->sited != p)
		return -1;
	if (table_find(&b->sites, &address))
		return 0;
	if (!has_byte(p->memory, address, t->first))
		return -1;
	s = table_add(&b->sites, &address);
	if (!s)
		return -1;
	s->transfer = *t;
	b->sited = p;
	if (put_byte(p->memory, address, BREAKPOINT))
		return 0;
	b->sites.count--; /* it is the last */
	table_changed(&b->sites);
	return -1;
}

static void sites_remember(struct branches *b, uint64_t address, const struct transfer *t)
{
	b->gone[b->gone_count++ % GONE_MAX] =
		(struct gone){address, branches_now(CLOCK_MONOTONIC), b->sited->pid, t->first};
}

static void sites_empty(struct branches *b)
{
	b->sites.count = 0;
	table_changed(&b->sites);
	b->sited = NULL;
}

void sites_clear(struct branches *b)
{
	for (size_t i = 0; i < b->sites.count; i++) {
		const struct site *s = table_at(&b->sites, i);

		restore_byte(b->sited->memory, s->key.address, s->transfer.first);
		sites_remember(b, s->key.address, &s->transfer);
	}
	sites_empty(b);
}

void sites_forget(struct branches *b, const struct followed *p)
{
	if (b->sited != p)
		return;
	for (size_t i = 0; i < b->sites.count; i++) {
		const struct site *s = table_at(&b->sites, i);

		sites_remember(b, s->key.address, &s->transfer);
	}
	sites_empty(b);
}

void sites_clean(struct branches *b, struct followed *copy, pid_t parent)
{
	const struct gone *last = &b->gone[(b->gone_count + GONE_MAX - 1) % GONE_MAX];
	bool lately = b->gone_count && last->time + SECOND > branches_now(CLOCK_MONOTONIC);

	/* vfork: it is not a copy. */
	if ((!b->sited && !lately) || process_shares(parent, copy->pid) || process_memory(copy) < 0)
		return;
	for (size_t i = 0; b->sited && b->sited->pid == parent && i < b->sites.count; i++) {
		const struct site *s = table_at(&b->sites, i);

		restore_byte(copy->memory, s->key.address, s->transfer.first);
	}
	for (size_t i = 0; i < GONE_MAX && i < b->gone_count; i++)
		if (b->gone[i].pid == parent)
			restore_byte(copy->memory, b->gone[i].address, b->gone[i].first);
}

const struct gone *sites_gone(const struct branches *b, uint64_t address)
{
	for (size_t i = 0; i < GONE_MAX && i < b->gone_count; i++)
		if (b->gone[i].address == address)
			return &b->gone[i];
	return NULL;
}
