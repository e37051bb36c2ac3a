/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts that time loads. A copy of a load is there twice: as it is, and between two readings of
 * the time-stamp counter. One load in eight is timed, since a timed load waits for all before it:
 * with all of them timed, nothing would overlap, and prefetchers would have more time than they
 * have. The distances are random, so that no loop is in step with them; each entry of the log has
 * the one to the next timed load.
 *
 * The counter is read after an lfence, so that nothing before the load is timed. Another one is
 * right before the load, which would otherwise begin while the counter is being read: some
 * processors take longer for that than L2 for a load. The counter is read again after an lfence,
 * so that the load is done. rdtscp instead would let younger work in. What is timed is
 * the latency of one access, not the time that it costs, which is less where accesses overlap.
 *
 * A timed load writes its times and its number to the log of its arena, a ring: the position counts
 * up, and its lowest 16 bits are the place, so no check is needed, and no flags are changed. What
 * lengthens all loads alike is calibrated with the same sequence (values/levels.c).
 */
#include <stdlib.h>
#include <string.h>

#include "branches/cache.h"
#include "isa/isa.h"

#define MOV_TO_EAX   "\x8b\x05"
#define MOV_FROM_EAX "\x89\x05"
#define LFENCE       "\x0f\xae\xe8"
#define RDTSC        "\x0f\x31"

#define REG_RAX 0
#define REG_RDX 2

/* A stop has emptied caches: loads within this number of ticks, some 5 us, show the stop. */
#define TIMING_COOL 12000u
#define NUMBERS_MAX 1000000u /* of loads in a cache */

/* Loads up to the next timed one, and of these at random. */
#define DISTANCE_LEAST  4u
#define DISTANCE_RANDOM 9u

struct timing_entry {
	uint32_t after, before; /* the counter's lowest bits */
	uint32_t number;        /* in loads */
	uint32_t distance;
};

bool timing_wants(const struct cache *c, const struct insn *insn)
{
	const struct insn_memory *m = &insn->memory[0];

	/* What writes no register and no flag, such as clflush, is no load. */
	return c->b->request.latency && (insn->writes.word[0] | insn->writes.word[1]) &&
	       insn->memories == 1 && !insn->more_memory && m->reads && !m->writes && !m->segment &&
	       c->loads.count < NUMBERS_MAX &&
	       !(insn->classes &
		       (INSN_BRANCH | INSN_STACK | INSN_LOCK | INSN_REP | INSN_GATHER | INSN_FENCE |
			       INSN_SERIALISING | INSN_PREFETCH | INSN_NOP | INSN_ADDRESS));
}

static void save_both(struct out *o)
{
	emit_slot(o, MOV_FROM_RAX, SLOT_RAX);
	o->undo |= UNDO_RAX;
	emit_slot(o, MOV_FROM_RDX, SLOT_RDX);
	o->undo |= UNDO_RDX;
}

static void restore_both(struct out *o)
{
	emit_slot(o, MOV_TO_RAX, SLOT_RAX);
	emit_slot(o, MOV_TO_RDX, SLOT_RDX);
	o->undo &= (uint8_t) ~(UNDO_RAX | UNDO_RDX);
}

static void emit_log(struct out *o, uint32_t number)
{
	emit_slot(o, MOV_FROM_EAX, SLOT_AFTER);
	emit_slot(o, MOV_TO_RDX, SLOT_LOG);
	emit(o, "\x48\x8d\x52\x10", 4); /* lea 16(%rdx), %rdx */
	emit_slot(o, MOV_FROM_RDX, SLOT_LOG);
	emit(o, "\x0f\xb7\xd2", 3);                     /* movzwl %dx, %edx */
	emit_address(o, "\x48\x8d\x05", o->arena->log); /* lea log(%rip), %rax */
	emit(o, "\x48\x8d\x14\x10", 4);                 /* lea (%rax,%rdx), %rdx */
	emit_slot(o, MOV_TO_EAX, SLOT_AFTER);
	emit(o, "\x89\x02", 2); /* mov %eax, (%rdx) */
	emit_slot(o, MOV_TO_EAX, SLOT_BEFORE);
	emit(o, "\x89\x42\x04", 3);           /* mov %eax, 4(%rdx) */
	emit_word(o, "\xc7\x42\x08", number); /* movl number, 8(%rdx) */
	emit(o, "\x8b\x42\x0c", 3);           /* mov 12(%rdx), %eax */
	emit_slot(o, MOV_FROM_RAX, SLOT_COUNT);
}

static void emit_timed(
	struct out *o, const uint8_t *bytes, const struct insn *insn, uint32_t number)
{
	emit_slot(o, MOV_TO_RCX, SLOT_RCX);
	o->undo = 0;
	save_both(o);
	emit(o, LFENCE RDTSC, 5);
	emit_slot(o, MOV_FROM_EAX, SLOT_BEFORE);
	restore_both(o);
	emit(o, LFENCE, 3);
	emit_copy(o, bytes, insn);
	o->address = insn->address + insn->length;
	emit(o, LFENCE, 3);
	save_both(o);
	emit(o, RDTSC, 2);
	emit_log(o, number);
	restore_both(o);
}

static bool uses_both(const struct insn_memory *m)
{
	return m->base == REG_RAX || m->base == REG_RDX || m->index == REG_RAX ||
	       m->index == REG_RDX;
}

void timing_emit(struct out *o, const uint8_t *bytes, const struct insn *insn)
{
	struct cache *c = o->cache;
	struct timed_load load = {.address = insn->address,
		.length = insn->length,
		.size = (uint8_t)insn->memory[0].size,
		.result = 255,
		.form = uses_both(&insn->memory[0])};
	struct insn_operand result;
	uint32_t number = (uint32_t)c->loads.count, begin, over;

	memcpy(load.bytes, bytes, insn->length);
	if (isa_result(insn, &result) && result.kind == OPERAND_GENERAL && !result.high) {
		load.result = result.reg;
		load.result_bits = (uint8_t)result.bits;
	}
	if (vec_add(&c->loads, load)) {
		c->full = true;
		return;
	}
	emit_slot(o, MOV_FROM_RCX, SLOT_RCX);
	o->undo |= UNDO_RCX;
	emit_slot(o, MOV_TO_RCX, SLOT_COUNT);
	emit(o, "\x48\x8d\x49\xff", 4); /* lea -1(%rcx), %rcx */
	emit_slot(o, MOV_FROM_RCX, SLOT_COUNT);
	emit(o, "\xe3\x00", 2); /* jrcxz */
	begin = o->arena->used;
	emit_slot(o, MOV_TO_RCX, SLOT_RCX);
	o->undo = 0;
	emit_copy(o, bytes, insn);
	o->address = insn->address + insn->length;
	over = emit_jump(o, "\xe9", o->arena->used);
	o->arena->mirror[begin - 1] = (uint8_t)(o->arena->used - begin);
	o->address = insn->address;
	o->undo = UNDO_RCX;
	emit_timed(o, bytes, insn, number);
	emit_patch(o->arena, over, o->arena->used);
}

/* ---- bursts ---- */

static uint32_t timing_distance(struct cache *c)
{
	return DISTANCE_LEAST + (uint32_t)(branches_chance(c->b) * DISTANCE_RANDOM);
}

int timing_prepare(struct cache *c, const struct arena *a)
{
	size_t count = ARENA_LOG / sizeof(struct timing_entry);
	struct timing_entry *log = calloc(count, sizeof(*log));
	bool good = log;

	for (size_t i = 0; log && i < count; i++)
		log[i].distance = timing_distance(c);
	good = good && arena_write(c, a, a->log, log, ARENA_LOG);
	free(log);
	return good ? 0 : -1;
}

void timing_begin(struct cache *c)
{
	const uint64_t slots[] = {0, timing_distance(c)}; /* from SLOT_LOG on */

	c->goes.count = 0;
	for (unsigned i = 0; i < c->arena_count; i++)
		c->refused |= !process_write(c->process->memory,
			arena_slot_address(&c->arenas[i], SLOT_LOG), slots, sizeof(slots));
}

void timing_go(struct cache *c)
{
	if (c->b->request.latency)
		(void)vec_add(&c->goes, (uint32_t)__builtin_ia32_rdtsc());
}

static bool timing_record(
	struct cache *c, const struct timed_load *load, uint64_t now, uint32_t ticks)
{
	struct branch_record r = {.kind = BRANCH_LOAD,
		.pid = c->pid,
		.time = now,
		.begin = load->address,
		.id = c->b->bursts_timed,
		.windows = load->form,
		.hits = ticks,
		.span = branch_load_insn(
			load->length, load->size, load->result, load->result_bits)};

	memcpy(&r.end, load->bytes, sizeof(r.end));
	memcpy(&r.to, load->bytes + sizeof(r.end), sizeof(r.to));
	return branches_put(c->b, &r) == 0;
}

/* Entries and stops are in order of time. */
static uint64_t timing_put(struct cache *c, const struct timing_entry *entries, size_t count)
{
	uint64_t put = 0, now = branches_now(CLOCK_MONOTONIC);
	size_t at = 0;

	for (size_t i = 0; i < count; i++) {
		const struct timing_entry *t = &entries[i];

		while (at + 1 < c->goes.count && (int32_t)(t->before - c->goes.data[at + 1]) >= 0)
			at++;
		if (t->number >= c->loads.count || at >= c->goes.count ||
			t->before - c->goes.data[at] < TIMING_COOL)
			continue;
		put += timing_record(c, &c->loads.data[t->number], now, t->after - t->before);
	}
	return put;
}

static uint64_t timing_read(struct cache *c, const struct arena *a, struct timing_entry *entries)
{
	const size_t room = ARENA_LOG / sizeof(*entries);
	struct timing_entry *log = entries + room;
	uint64_t end;
	size_t count, first;

	if (!process_read(c->process->memory, arena_slot_address(a, SLOT_LOG), &end, sizeof(end)))
		return 0;
	/* The first one is at place 1. */
	count = end / sizeof(*log) < room ? end / sizeof(*log) : room;
	if (!count || !arena_read(c, a, a->log, log, ARENA_LOG))
		return 0;
	first = end / sizeof(*log) - count + 1;
	for (size_t i = 0; i < count; i++)
		entries[i] = log[(first + i) % room];
	return timing_put(c, entries, count);
}

uint64_t timing_end(struct cache *c)
{
	struct timing_entry *entries = malloc((size_t)2 * ARENA_LOG);
	uint64_t put = 0;

	c->b->bursts_timed++;
	for (unsigned i = 0; entries && i < c->arena_count; i++)
		put += timing_read(c, &c->arenas[i], entries);
	free(entries);
	return put;
}
