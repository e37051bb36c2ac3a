/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bursts that log values. Copies write what instructions work on to rings of their arena: results,
 * what is loaded by more than a move, what is stored, divisors, counts of shifts, and arguments of
 * functions that are called directly.
 *
 * A value costs seven instructions, with one register that is kept in a slot. A ring is 64 KB at an
 * address of that alignment, and only the lowest 16 bits of a pointer to it count up, so no check
 * is needed, and no flags are changed. Each place has one of eight rings: the next pointer is not
 * known before the last one is written, and eight do not wait for each other. A ring has the last
 * values of a burst, which ends at a random moment. The moment is more often in code that is
 * slow, so the last ones are left out, and the first ones, too.
 *
 * A burst that logs takes longer than others. It counts, but its time says nothing (cache_rate).
 * Its copies are apart from those of other bursts, in a cache of their own.
 */
#include <stdlib.h>
#include <string.h>

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

void value_log_arena(struct cache *c, const struct arena *a)
{
	static const struct log_entry none;
	uint64_t rings[RINGS];

	for (unsigned k = 0; k < RINGS; k++) {
		rings[k] = ring_of(a, k);
		c->refused |= !process_write(c->process->memory,
			rings[k] + RING_BYTES - sizeof(none), &none, sizeof(none));
	}
	c->refused |= !process_write(
		c->process->memory, arena_slot_address(a, SLOT_RINGS), rings, sizeof(rings));
}

void value_log_begin(struct cache *c)
{
	for (unsigned i = 0; i < c->arena_count; i++)
		value_log_arena(c, &c->arenas[i]);
}

/* Appends the values of a ring, in order. */
static void ring_read(struct cache *c, uint64_t ring, uint64_t end)
{
	size_t count = end > ring ? (end - ring) / sizeof(struct log_entry) : 0, old;
	struct log_entry last = {0}, *to;

	if (count >= RING_ENTRIES || !process_read(c->process->memory,
					     ring + RING_BYTES - sizeof(last), &last, sizeof(last)))
		return;
	old = last.number ? RING_ENTRIES - count : 0;
	if (old + count <= 2 * LEFT_OUT)
		return;
	count -= count < LEFT_OUT ? count : LEFT_OUT;
	if (old >= LEFT_OUT)
		old -= LEFT_OUT;
	to = vec_extend(&c->log, old + count);
	if (to && (!process_read(c->process->memory, ring + RING_BYTES - old * sizeof(*to), to,
			   old * sizeof(*to)) ||
			  !process_read(c->process->memory, ring, to + old, count * sizeof(*to))))
		c->log.count -= old + count;
}

/* next[i]: how many values place i has; then where they begin. Returns how many there are. */
static size_t log_layout(struct cache *c, uint32_t *next, struct branch_value_place *places)
{
	size_t used = 0, sum = 0;

	for (size_t i = 0; i < c->logged.count; i++) {
		const struct logged_place *p = &c->logged.data[i];
		uint32_t here = next[i];

		next[i] = (uint32_t)sum;
		sum += here;
		if (here)
			places[used++] = (struct branch_value_place){
				p->pc, here, p->kind, p->operand, p->bits, p->class};
	}
	return used;
}

/* Together by place; those of one place stay in order. */
static struct branch_values *values_by_place(struct cache *c)
{
	size_t all = c->logged.count, used = 0;
	uint32_t *next = calloc(all + 1, sizeof(*next));
	struct branch_value_place *places;
	struct branch_values *values;
	uint64_t *to;

	for (size_t i = 0; next && i < c->log.count; i++) {
		uint32_t place = c->log.data[i].number - 1;

		if (place < all)
			used += next[place]++ == 0;
	}
	values =
		next ? malloc(sizeof(*values) + used * sizeof(*places) + c->log.count * sizeof(*to))
		     : NULL;
	if (!values) {
		free(next);
		return NULL;
	}
	places = (struct branch_value_place *)(values + 1);
	to = (uint64_t *)(places + used);
	*values = (struct branch_values){log_layout(c, next, places), places, to};
	for (size_t i = 0; i < c->log.count; i++) {
		const struct log_entry *e = &c->log.data[i];
		const struct logged_place *p;

		if (e->number - 1 >= all)
			continue;
		p = &c->logged.data[e->number - 1];
		to[next[e->number - 1]++] =
			e->value >> p->shift & (p->bits >= 64 ? UINT64_MAX : (1ull << p->bits) - 1);
	}
	free(next);
	return values;
}

void value_log_end(struct cache *c)
{
	struct branch_values *values;

	c->log.count = 0;
	for (unsigned i = 0; i < c->arena_count; i++) {
		const struct arena *a = &c->arenas[i];
		uint64_t ends[RINGS];

		if (!process_read(c->process->memory, arena_slot_address(a, SLOT_RINGS), ends,
			    sizeof(ends)))
			continue;
		for (unsigned k = 0; k < RINGS; k++)
			ring_read(c, ring_of(a, k), ends[k]);
	}
	values = c->log.count ? values_by_place(c) : NULL;
	if (values && branches_put(c->b, &(struct branch_record){.kind = BRANCH_VALUES,
						 .pid = c->pid,
						 .time = branches_now(CLOCK_MONOTONIC),
						 .values = values}))
		free(values);
}
