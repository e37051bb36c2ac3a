/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts that log values. Copies write what instructions work on to rings of their arena: results,
 * what is loaded by more than a move, what is stored, divisors, counts of shifts, and arguments of
 * functions that are called directly.
 *
 * A value costs seven instructions, with one register that is kept in a slot. A ring is 64 KB at an
 * address of that alignment, and only the lowest 16 bits of a pointer to it count up, so no check
 * is needed, and no flags are changed. Each place has one of 64 rings: the next pointer is not
 * known before the last one is written, and those of other rings do not wait for it. A ring has the
 * last values of a burst, which ends at a random moment. The moment is more often in code that is
 * slow, so the last ones are left out, and the first ones, too.
 *
 * A burst that logs takes longer than others. It counts, but its time says nothing (cache_rate).
 * Its copies are apart from those of other bursts, in a cache of their own.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "branches/cache.h"
#include "experiment/values.h"
#include "isa/isa.h"

#define RING_BYTES   65536u
#define RING_ENTRIES (RING_BYTES / sizeof(struct log_entry))
#define LEFT_OUT     16       /* entries of a ring at its ends */
#define PLACES_MAX   1000000u /* in a cache */
#define CALLEE_BYTES 96u

#define REG_RCX 1
#define REG_RDX 2

/* ---- emission ---- */

/* A new place; 0: there is no room. */
static uint32_t log_place(struct out *o, const struct logged_place *place)
{
	struct cache *c = o->cache;

	if (c->logged.count >= PLACES_MAX)
		return 0;
	if (vec_add(&c->logged, *place)) {
		c->full = true;
		return 0;
	}
	return (uint32_t)c->logged.count;
}

static void log_save(struct out *o, unsigned reg)
{
	emit_slot(o, reg == REG_RCX ? MOV_FROM_RCX : MOV_FROM_RDX,
		reg == REG_RCX ? SLOT_RCX : SLOT_RDX);
	o->undo |= reg == REG_RCX ? UNDO_RCX : UNDO_RDX;
}

static void log_restore(struct out *o, unsigned reg)
{
	emit_slot(
		o, reg == REG_RCX ? MOV_TO_RCX : MOV_TO_RDX, reg == REG_RCX ? SLOT_RCX : SLOT_RDX);
	o->undo &= (uint8_t) ~(reg == REG_RCX ? UNDO_RCX : UNDO_RDX);
}

/* The register `at`, which is saved, leads to the ring: the value, by `store`, and its number. */
static void log_entry_by(
	struct out *o, uint32_t number, unsigned at, const uint8_t *store, size_t size)
{
	uint32_t slot = SLOT_RINGS + number % RINGS;
	bool rcx = at == REG_RCX;

	emit_slot(o, rcx ? MOV_TO_RCX : MOV_TO_RDX, slot);
	emit(o, store, size);
	emit_word(o, rcx ? "\xc7\x41\x08" : "\xc7\x42\x08", number); /* movl number, 8(at) */
	emit(o, rcx ? "\x66\x8d\x49\x10" : "\x66\x8d\x52\x10", 4);   /* lea 16(at), 16-bit at */
	emit_slot(o, rcx ? MOV_FROM_RCX : MOV_FROM_RDX, slot);
}

static void log_general(struct out *o, uint32_t number, unsigned reg)
{
	unsigned at = reg == REG_RCX ? REG_RDX : REG_RCX;
	const uint8_t store[] = {/* mov reg, (at) */
		(uint8_t)(0x48 | (reg >= 8 ? 4 : 0)), 0x89, (uint8_t)((reg & 7) << 3 | at)};

	log_save(o, at);
	log_entry_by(o, number, at, store, sizeof(store));
	log_restore(o, at);
}

/* The lowest 64 bits, in the encoding of the instruction: to change it may cost time. */
static void log_vector(struct out *o, uint32_t number, unsigned reg, bool vex)
{
	uint8_t modrm = (uint8_t)((reg & 7) << 3 | REG_RCX), high = reg >= 8;
	const uint8_t plain[] = {0x66, (uint8_t)(0x40 | high << 2), 0x0f, 0xd6, modrm};
	const uint8_t with_vex[] = {0xc5, (uint8_t)(high ? 0x79 : 0xf9), 0xd6, modrm};

	log_save(o, REG_RCX);
	log_entry_by(
		o, number, REG_RCX, vex ? with_vex : plain, vex ? sizeof(with_vex) : sizeof(plain));
	log_restore(o, REG_RCX);
}

/* movzx or mov of 1, 2, 4 or 8 bytes of memory to rcx. */
static void log_load(struct out *o, const struct insn_memory *m)
{
	static const char plain[][3] = {"\x0f\xb6", "\x0f\xb7", "\x8b", "\x8b"};
	unsigned kind = (unsigned)__builtin_ctz(m->size);
	unsigned base = m->base == REG_NONE ? 5 : m->base,
		 index = m->index == REG_NONE ? 4 : m->index;
	uint8_t code[12];
	int32_t displacement = (int32_t)m->displacement;
	size_t n = 0;

	code[n++] = (uint8_t)(0x40 | (kind == 3 ? 8 : 0) | (!m->absolute && index >= 8 ? 2 : 0) |
			      (!m->absolute && base >= 8 ? 1 : 0));
	for (const char *p = plain[kind]; *p; p++)
		code[n++] = (uint8_t)*p;
	if (m->absolute) {
		code[n++] = 0x0d; /* rcx, relative to rip */
		code[n] = 0;
		emit_address(o, (const char *)code, m->address);
		return;
	}
	code[n++] = m->base == REG_NONE ? 0x0c : 0x8c;
	code[n++] = (uint8_t)((m->scale ? (unsigned)__builtin_ctz(m->scale) : 0) << 6 |
			      (index & 7) << 3 | (base & 7));
	memcpy(code + n, &displacement, sizeof(displacement));
	emit(o, code, n + sizeof(displacement));
}

static void log_memory(struct out *o, uint32_t number, const struct insn_memory *m)
{
	log_save(o, REG_RCX);
	log_load(o, m);
	log_save(o, REG_RDX);
	log_entry_by(o, number, REG_RDX, (const uint8_t *)"\x48\x89\x0a", 3); /* mov rcx, (rdx) */
	log_restore(o, REG_RDX);
	log_restore(o, REG_RCX);
}

/* ---- what is logged ---- */

static bool log_skips(const struct insn *i)
{
	return (i->classes &
		       (INSN_BRANCH | INSN_STACK | INSN_LOCK | INSN_REP | INSN_GATHER | INSN_NOP |
			       INSN_PREFETCH | INSN_X87 | INSN_FENCE | INSN_SERIALISING)) ||
	       i->more_memory || i->memories > 1;
}

static bool log_moves(const struct insn *i)
{
	const char *name = isa_mnemonic(ISA_X86_64, i->mnemonic);

	return strncmp(name, "mov", 3) == 0 || strncmp(name, "vmov", 4) == 0;
}

static bool is_value_size(uint32_t size)
{
	return size == 1 || size == 2 || size == 4 || size == 8;
}

static void log_operand(struct out *o, const struct insn *i, const struct insn_operand *of,
	struct logged_place place)
{
	uint32_t number;

	if (of->kind == OPERAND_VECTOR && of->reg >= REG_VECTOR + 16)
		return; /* no short encoding has it */
	place.shift = of->high ? 8 : 0;
	number = log_place(o, &place);
	if (number && of->kind == OPERAND_VECTOR)
		log_vector(o, number, of->reg - REG_VECTOR, i->encoding != ENCODING_PLAIN);
	else if (number)
		log_general(o, number, of->reg);
}

/* Divisors and counts, in registers. */
static void log_operation(struct out *o, const struct insn *i)
{
	const char *name = isa_mnemonic(ISA_X86_64, i->mnemonic);
	struct logged_place place = {
		.pc = i->address, .kind = VALUE_OPERAND, .operand = 1, .class = VALUE_INTEGER};
	const struct insn_operand *last = &i->operand[i->operands ? i->operands - 1 : 0];

	if (!i->operands || i->encoding != ENCODING_PLAIN)
		return;
	if ((strcmp(name, "div") == 0 || strcmp(name, "idiv") == 0) &&
		i->operand[0].kind == OPERAND_GENERAL) {
		place.bits = (uint8_t)i->operand[0].bits;
		log_operand(o, i, &i->operand[0], place);
	} else if ((strcmp(name, "shl") == 0 || strcmp(name, "shr") == 0 ||
			   strcmp(name, "sar") == 0) &&
		   !i->has_immediate && last->kind == OPERAND_GENERAL && last->reg == REG_RCX &&
		   last->bits == 8 && i->operands > 1) {
		place.bits = 6;
		log_operand(o, i, last, place);
	}
}

void value_log_before(struct out *o, const uint8_t *bytes, const struct insn *i)
{
	const struct insn_memory *m = &i->memory[0];
	struct logged_place place = {.pc = i->address, .class = VALUE_INTEGER};
	uint32_t number;

	if (log_skips(i))
		return;
	log_operation(o, i);
	if (!i->memories || i->classes & INSN_ADDRESS)
		return;
	place.bits = m->size > 8 ? 64 : (uint8_t)(8 * m->size);
	place.class = m->size > 8 ? VALUE_VECTOR : VALUE_INTEGER;
	if (m->writes && !m->reads) {
		place.kind = VALUE_STORE;
		for (unsigned k = 0; k < i->operands; k++)
			if (i->operand[k].reads && (i->operand[k].kind == OPERAND_GENERAL ||
							   i->operand[k].kind == OPERAND_VECTOR)) {
				if (log_moves(i))
					log_operand(o, i, &i->operand[k], place);
				break;
			}
	} else if (m->reads && !m->writes && !log_moves(i) && !m->segment &&
		   is_value_size(m->size) && (!m->absolute || i->relative_at) &&
		   !copy_has_narrow_address(bytes)) {
		place.kind = VALUE_LOAD;
		number = log_place(o, &place);
		if (number)
			log_memory(o, number, m);
	}
}

void value_log_after(struct out *o, const struct insn *i)
{
	struct logged_place place = {.pc = i->address, .kind = VALUE_RESULT};
	struct insn_operand result;
	unsigned element = isa_element(i);

	if (log_skips(i) || !isa_result(i, &result))
		return;
	place.bits = (uint8_t)result.bits;
	place.class = VALUE_INTEGER;
	if (result.kind == OPERAND_VECTOR) {
		place.bits = element ? (uint8_t)(8 * element) : 64;
		place.class = element ? VALUE_FLOAT : VALUE_VECTOR;
	}
	log_operand(o, i, &result, place);
}

/* Registers that a function reads before it writes them, as far as its first instructions show:
 * those that are executed if no branch is taken. */
static uint64_t callee_reads(struct cache *c, uint64_t entry, uint64_t wanted)
{
	uint8_t bytes[CALLEE_BYTES + INSN_LENGTH_MAX] = {0};
	const struct area *area = process_area(c->process, entry);
	uint64_t known = 0, found = 0;
	size_t have, at = 0;
	struct insn i;

	if (!area)
		return 0;
	have = area->end - entry < CALLEE_BYTES ? area->end - entry : CALLEE_BYTES;
	have = copy_read(c, entry, bytes, have);
	while (at + INSN_LENGTH_MAX <= have &&
		isa_decode(ISA_X86_64, bytes + at, have - at, entry + at, &i) &&
		!(i.classes & (INSN_BAD | INSN_STOPS))) {
		if (!(i.classes & INSN_ZEROES))
			found |= i.reads.word[0] & ~known;
		known |= i.writes.word[0];
		if (i.classes & INSN_SYSCALL ||
			(i.classes & INSN_BRANCH && !(i.classes & INSN_CONDITIONAL)))
			break;
		at += i.length;
	}
	return found & wanted;
}

void value_log_call(struct out *o, uint64_t entry)
{
	static const uint8_t arguments[] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */
	uint64_t reads = callee_reads(o->cache, entry, 0x3c6);
	struct logged_place place = {
		.pc = entry, .kind = VALUE_ARGUMENT, .bits = 64, .class = VALUE_INTEGER};
	struct insn_operand of = {.kind = OPERAND_GENERAL, .bits = 64};
	static const struct insn none;

	for (uint8_t k = 0; k < sizeof(arguments); k++) {
		if (!(reads >> arguments[k] & 1))
			continue;
		place.operand = k;
		of.reg = arguments[k];
		log_operand(o, &none, &of, place);
	}
}

/* ---- bursts ---- */

static uint64_t ring_of(const struct arena *a, unsigned ring)
{
	return ((a->rings + RING_BYTES - 1) & ~(uint64_t)(RING_BYTES - 1)) +
	       ring * (uint64_t)RING_BYTES;
}

void value_log_arena(struct cache *c, struct arena *a)
{
	static const struct log_entry none;
	uint64_t rings[RINGS];

	for (unsigned k = 0; k < RINGS; k++) {
		rings[k] = ring_of(a, k);
		if (a->wrapped >> k & 1)
			c->refused |= !arena_write(
				c, a, rings[k] + RING_BYTES - sizeof(none), &none, sizeof(none));
	}
	a->wrapped = 0;
	c->refused |= !process_write(
		c->process->memory, arena_slot_address(a, SLOT_RINGS), rings, sizeof(rings));
}

void value_log_begin(struct cache *c)
{
	for (unsigned i = 0; i < c->arena_count; i++)
		value_log_arena(c, &c->arenas[i]);
}

/* end: where its next entry would be. */
static struct log_ring ring_look(const struct cache *c, struct arena *a, unsigned k, uint64_t end)
{
	struct log_ring r = {.at = ring_of(a, k)};
	struct log_entry last = {.number = 1};
	uint64_t used = (end - r.at) / sizeof(last);
	bool good = used < RING_ENTRIES &&
		    arena_read(c, a, r.at + RING_BYTES - sizeof(last), &last, sizeof(last));

	if (last.number)
		a->wrapped |= 1ull << k;
	if (!good)
		return r;
	if (last.number)
		r.old = RING_ENTRIES - (uint32_t)used;
	if (r.old + used <= 2 * LEFT_OUT)
		return (struct log_ring){.at = r.at};
	r.count = (uint32_t)(used < LEFT_OUT ? 0 : used - LEFT_OUT);
	if (r.old >= LEFT_OUT)
		r.old -= LEFT_OUT;
	return r;
}

/* Those of all arenas that have entries. Returns how many these are. */
static size_t log_rings_look(struct cache *c)
{
	size_t all = 0;

	c->rings.count = 0;
	for (unsigned i = 0; i < c->arena_count; i++) {
		struct arena *a = &c->arenas[i];
		uint64_t ends[RINGS];

		if (!process_read(c->process->memory, arena_slot_address(a, SLOT_RINGS), ends,
			    sizeof(ends)))
			continue;
		for (unsigned k = 0; k < RINGS; k++) {
			struct log_ring r = ring_look(c, a, k, ends[k]);

			if (r.old + r.count && vec_add(&c->rings, r) == 0)
				all += r.old + r.count;
		}
	}
	return all;
}

/* In order. Returns how many there are. This call copies once, reads of the process's file
 * twice. */
static size_t ring_read(pid_t tid, const struct log_ring *r, struct log_entry *to)
{
	size_t old = r->old * sizeof(*to), all = old + r->count * sizeof(*to);
	struct iovec from[2] = {{(void *)(uintptr_t)(r->at + RING_BYTES - old), old},
		{(void *)(uintptr_t)r->at, all - old}};

	return process_vm_readv(tid, &(struct iovec){to, all}, 1, from, 2, 0) == (ssize_t)all
		       ? r->old + r->count
		       : 0;
}

/* next[i]: how many values place first + i * RINGS has; then where they begin. Returns where the
 * next ring's begin. */
static size_t ring_layout(const struct cache *c, uint32_t first, uint32_t *next, size_t begin,
	struct branch_values *values, struct branch_value_place *places)
{
	for (size_t i = first; i < c->logged.count; i += RINGS) {
		const struct logged_place *p = &c->logged.data[i];
		uint32_t *n = &next[i / RINGS], here = *n;

		*n = (uint32_t)begin;
		begin += here;
		if (here)
			places[values->places++] = (struct branch_value_place){
				p->pc, here, p->kind, p->operand, p->bits, p->class};
	}
	return begin;
}

/* A ring's values together by place; those of one place stay in order. All places of a ring have
 * numbers that are RINGS apart. Returns where the next ring's values begin. */
static size_t ring_sort(const struct cache *c, struct log_entry *log, size_t count, uint32_t *next,
	size_t begin, struct branch_values *values)
{
	uint64_t *to = (uint64_t *)(uintptr_t)values->value;
	uint32_t first = (log[0].number - 1) % RINGS;

	memset(next, 0, (c->logged.count / RINGS + 1) * sizeof(*next));
	for (size_t i = 0; i < count; i++) {
		uint32_t place = log[i].number - 1;

		/* The program may have written there. */
		if (place >= c->logged.count || place % RINGS != first)
			return begin;
		next[place / RINGS]++;
	}
	begin = ring_layout(c, first, next, begin, values,
		(struct branch_value_place *)(uintptr_t)values->place);
	for (size_t i = 0; i < count; i++) {
		const struct logged_place *p = &c->logged.data[log[i].number - 1];
		uint64_t mask = p->bits >= 64 ? UINT64_MAX : (1ull << p->bits) - 1;

		to[next[(log[i].number - 1) / RINGS]++] = log[i].value >> p->shift & mask;
	}
	return begin;
}

/* NULL: none, or memory is out. */
static struct branch_values *values_read(struct cache *c, pid_t tid, size_t all)
{
	size_t most = all < c->logged.count ? all : c->logged.count, begin = 0;
	struct log_entry *log = malloc(RING_BYTES);
	uint32_t *next = malloc((c->logged.count / RINGS + 1) * sizeof(*next));
	struct branch_values *values =
		malloc(sizeof(*values) + most * sizeof(*values->place) + all * sizeof(uint64_t));

	if (values) {
		values->places = 0;
		values->place = (struct branch_value_place *)(values + 1);
		values->value = (const uint64_t *)(values->place + most);
	}
	for (size_t i = 0; log && next && values && i < c->rings.count; i++) {
		size_t count = ring_read(tid, &c->rings.data[i], log);

		if (count)
			begin = ring_sort(c, log, count, next, begin, values);
	}
	free(log);
	free(next);
	if (begin)
		return values;
	free(values);
	return NULL;
}

void value_log_end(struct cache *c, pid_t tid)
{
	size_t all = log_rings_look(c);
	struct branch_values *values = all ? values_read(c, tid, all) : NULL;

	if (values && branches_put(c->b, &(struct branch_record){.kind = BRANCH_VALUES,
						 .pid = c->pid,
						 .time = branches_now(CLOCK_MONOTONIC),
						 .values = values}))
		free(values);
}
