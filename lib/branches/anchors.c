/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The patches of anchors. A stub is never reused, because a signal may have interrupted a thread in
 * it: the handler returns there, however much later.
 */
#include "branches/anchors.h"

#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "base/order.h"
#include "isa/brief.h"

#define STUB_BYTES 32
#define STUBS      (ARENA_STUBS / STUB_BYTES - 1)
#define INC_BYTES  8
#define JUMP       0xe9
#define NEAR       136 /* bytes: short branches reach that far */
#define SWEEPS     3

_Static_assert(INC_BYTES + INSN_LENGTH_MAX + JUMP_BYTES <= STUB_BYTES, "a stub fits");
_Static_assert(SLOT_WATCHED + STUBS < SLOTS_KEPT, "each stub has a slot");

static uint64_t stub_address(const struct arena *a, unsigned number)
{
	return a->code + STUB_BYTES * (uint64_t)number;
}

static bool anchor_reaches(uint64_t from, uint64_t to)
{
	return to - from + (1ull << 31) < 1ull << 32;
}

static void put_word(uint8_t *at, uint64_t value)
{
	uint32_t word = (uint32_t)value;

	memcpy(at, &word, sizeof(word));
}

/* inc counter, or with a lock */
static size_t put_count(
	const struct cache *c, const struct arena *a, unsigned number, uint8_t *bytes)
{
	memcpy(bytes, c->locked ? "\xf0\x48\xff\x05" : "\x3e\x48\xff\x05", 4);
	put_word(bytes + 4, arena_slot_address(a, SLOT_WATCHED + number) -
				    (stub_address(a, number) + INC_BYTES));
	return INC_BYTES;
}

/* ---- what could be one ---- */

/* The displacement of call, jmp or jcc with 32 bits; 0: it is another instruction. */
static uint8_t displacement_at(const uint8_t *bytes)
{
	if (bytes[0] == 0x0f && (bytes[1] & 0xf0) == 0x80)
		return 2;
	return bytes[0] == 0xe8 || bytes[0] == 0xe9 ? 1 : 0;
}

static bool is_anchor(const struct anchors *all, uint64_t address)
{
	for (unsigned i = 0; i < all->count; i++)
		if (all->all[i].address == address)
			return true;
	return false;
}

static bool is_barred(const struct anchors *all, uint64_t address)
{
	size_t at = vec_search(i, all->barred.count, all->barred.data[i] < address);

	return at < all->barred.count && all->barred.data[at] == address;
}

static void bar(struct anchors *all, uint64_t address)
{
	if (vec_add(&all->barred, address) == 0)
		qsort(all->barred.data, all->barred.count, sizeof(uint64_t), order_u64);
}

/* Whether a direct branch near to an instruction leads into it: over a prefix, for example. Where
 * instructions before it begin is not known, but soon right from wherever one begins to decode. */
static bool is_entered(struct cache *c, uint64_t address)
{
	uint8_t code[2 * NEAR + INSN_LENGTH_MAX] = {0};
	bool seen[2 * NEAR] = {false};
	uint64_t begin = address - NEAR;
	size_t have = branches_read_code(c->b, c->process, begin, code, 2 * NEAR);
	struct insn_flags flags;
	struct insn insn;

	for (size_t first = 0; first < SWEEPS; first++)
		for (size_t at = first; at < have && !seen[at]; at += insn.length) {
			seen[at] = true;
			if (!isa_brief(code + at, have - at, begin + at, &insn, &flags) &&
				!isa_decode(ISA_X86_64, code + at, have - at, begin + at, &insn)) {
				insn.length = 1;
				continue;
			}
			if (insn.has_target && insn.target > address &&
				insn.target < address + JUMP_BYTES)
				return true;
		}
	return false;
}

/* Prefixes that code is known to jump over. */
static bool is_prefixed(const uint8_t *code)
{
	return code[0] == 0xf0 || code[0] == 0xf2 || code[0] == 0xf3;
}

static const struct arena *place_for(struct cache *c, struct held *f, struct anchor *to)
{
	const struct area *area = process_area(c->process, to->address);
	const struct arena *a = area && area->inode ? arena_for(c, f, to->address) : NULL;

	if (!a)
		return NULL;
	to->arena = (uint8_t)(a - c->arenas);
	if (c->anchors->stubs[to->arena] >= STUBS)
		return NULL;
	to->stub = (uint16_t)(c->anchors->stubs[to->arena] + 1);
	return a;
}

/* Where a thread in a stub continues. */
static uint64_t origin_of(const struct anchor *a, uint64_t in)
{
	if (a->to)
		return a->to;
	return in > INC_BYTES ? a->address + a->length : a->address;
}

/* A sample is at the instruction that is next. */
static void tell_stub(struct cache *c, const struct anchor *a, uint64_t from, uint64_t to)
{
	uint64_t stub = stub_address(&c->arenas[a->arena], a->stub);

	branches_put(c->b, &(struct branch_record){.kind = BRANCH_STUB,
				   .pid = c->pid,
				   .time = branches_now(CLOCK_MONOTONIC),
				   .begin = stub + from,
				   .end = stub + to,
				   .to = origin_of(a, from)});
}

/* Writes the stub, and records where samples in it belong. */
static struct anchor *anchor_finish(struct cache *c, const struct arena *a,
	const struct anchor *made, const uint8_t *bytes, size_t size)
{
	struct anchors *all = c->anchors;
	uint64_t at = stub_address(a, made->stub);
	struct anchor *own = &all->all[all->count];

	if (!process_write(c->process->memory, at, bytes, size))
		return NULL;
	all->stubs[made->arena]++;
	*own = *made;
	all->order[all->count] = (uint8_t)all->count;
	all->count++;
	tell_stub(c, own, 0, INC_BYTES + 1);
	tell_stub(c, own, INC_BYTES + 1, STUB_BYTES);
	return own;
}

/* A direct branch: its displacement leads to the stub. */
static struct anchor *anchor_branch(struct cache *c, struct held *f, uint64_t address, uint64_t to)
{
	struct anchor made = {.address = address, .to = to, .size = 4, .duty = 1};
	uint8_t bytes[STUB_BYTES] = {0}, code[6] = {0}, at;
	const struct arena *a = place_for(c, f, &made);
	size_t n;

	if (!a || is_anchor(c->anchors, address) ||
		branches_read_code(c->b, c->process, address, code, sizeof(code)) < sizeof(code))
		return NULL;
	at = displacement_at(code);
	made.where = address + at;
	memcpy(made.own, code + at, 4);
	put_word(made.ours, to - (made.where + 4));
	if (!at || memcmp(made.own, made.ours, 4) != 0 || !flags_dead_at(c, to))
		return NULL;
	n = put_count(c, a, made.stub, bytes);
	bytes[n] = JUMP;
	n += JUMP_BYTES;
	if (!anchor_reaches(stub_address(a, made.stub) + n, to) ||
		!anchor_reaches(made.where + 4, stub_address(a, made.stub)))
		return NULL;
	put_word(bytes + n - 4, to - (stub_address(a, made.stub) + n));
	put_word(made.ours, stub_address(a, made.stub) - (made.where + 4));
	return anchor_finish(c, a, &made, bytes, n);
}

/* An instruction of five bytes or more: a jump to the stub, which executes it. */
static struct anchor *anchor_instruction(
	struct cache *c, struct held *f, const struct insn *insn, const uint8_t *code)
{
	struct anchor made = {
		.address = insn->address, .length = insn->length, .size = JUMP_BYTES, .duty = 1};
	const struct arena *a = place_for(c, f, &made);
	uint64_t back = insn->address + insn->length, stub;
	uint8_t bytes[STUB_BYTES] = {0};
	uint32_t word;
	size_t n;

	if (!a || is_anchor(c->anchors, insn->address) || is_prefixed(code) ||
		is_entered(c, insn->address))
		return NULL;
	stub = stub_address(a, made.stub);
	made.where = insn->address;
	memcpy(made.own, code, JUMP_BYTES);
	n = put_count(c, a, made.stub, bytes);
	memcpy(bytes + n, code, insn->length);
	if (insn->relative_at) {
		memcpy(&word, code + insn->relative_at, sizeof(word));
		put_word(
			bytes + n + insn->relative_at, (uint64_t)word + insn->address - (stub + n));
	}
	n += insn->length;
	bytes[n] = JUMP;
	n += JUMP_BYTES;
	if (!anchor_reaches(stub + n, back) || !anchor_reaches(insn->address + JUMP_BYTES, stub))
		return NULL;
	put_word(bytes + n - 4, back - (stub + n));
	made.ours[0] = JUMP;
	put_word(made.ours + 1, stub - (insn->address + JUMP_BYTES));
	return anchor_finish(c, a, &made, bytes, n);
}

struct anchor *anchors_add(
	struct cache *c, struct held *f, uint64_t begin, uint64_t end, uint64_t to)
{
	struct anchors *all = c->anchors;
	uint8_t code[INSN_LENGTH_MAX];
	struct insn insn;
	struct anchor *own;

	if (all->count == ANCHORS_MAX || is_barred(all, end))
		return NULL;
	own = copy_find_long(c, f, begin, ANCHOR_BYTES, &insn, code)
		      ? anchor_instruction(c, f, &insn, code)
		      : anchor_branch(c, f, end, to);
	if (!own)
		bar(all, end);
	return own;
}

/* ---- patches ---- */

void anchor_put(struct cache *c, struct anchor *a, bool in)
{
	const uint8_t *from = in ? a->own : a->ours, *to = in ? a->ours : a->own;
	uint8_t there[ANCHOR_BYTES];

	if (a->in == in || (in && a->lost))
		return;
	a->in = in;
	/* The program may have changed it. */
	if (!process_read(c->process->memory, a->where, there, a->size) ||
		memcmp(there, from, a->size) != 0 ||
		!process_write(c->process->memory, a->where, to, a->size))
		a->in = false;
}

bool anchors_read(struct cache *c, uint64_t *hits)
{
	struct anchors *all = c->anchors;
	uint64_t values[STUBS + 1];

	memset(hits, 0, ANCHORS_MAX * sizeof(*hits));
	for (unsigned i = 0; i < c->arena_count; i++) {
		size_t size = (all->stubs[i] + (size_t)1) * sizeof(*values);

		if (!all->stubs[i])
			continue;
		if (!process_read(c->process->memory,
			    arena_slot_address(&c->arenas[i], SLOT_WATCHED), values, size))
			return false;
		for (unsigned k = 0; k < all->count; k++) {
			struct anchor *a = &all->all[k];

			if (a->arena != i)
				continue;
			hits[k] = values[a->stub] - a->last;
			a->last = values[a->stub];
		}
	}
	return true;
}

void anchors_mask(const struct cache *c, uint64_t at, uint8_t *bytes, size_t size)
{
	const struct anchors *all = c->anchors;

	for (unsigned i = 0; all && i < all->count; i++) {
		const struct anchor *a = &all->all[i];

		if (!a->in || a->where + a->size <= at || a->where >= at + size)
			continue;
		for (unsigned k = 0; k < a->size; k++)
			if (a->where + k - at < size && bytes[a->where + k - at] == a->ours[k])
				bytes[a->where + k - at] = a->own[k];
	}
}

/* The anchor whose stub has this address; NULL: none. *in: its offset there. */
static struct anchor *anchor_at(const struct cache *c, uint64_t address, uint64_t *in)
{
	struct anchors *all = c->anchors;

	for (unsigned i = 0; all && i < all->count; i++) {
		*in = address - stub_address(&c->arenas[all->all[i].arena], all->all[i].stub);
		if (*in < STUB_BYTES)
			return &all->all[i];
	}
	return NULL;
}

uint64_t anchors_step_out(const struct cache *c, uint64_t address)
{
	uint64_t in;
	const struct anchor *a = anchor_at(c, address, &in);

	return a ? origin_of(a, in) : address;
}

bool anchors_leave(struct cache *c, pid_t tid, bool fault)
{
	struct user_regs_struct before, registers;
	uint64_t in;
	struct anchor *a;

	if (!c->anchors || ptrace(PTRACE_GETREGS, tid, NULL, &before) != 0)
		return false;
	a = anchor_at(c, before.rip, &in);
	if (!a)
		return false;
	registers = before;
	registers.rip = origin_of(a, in);
	if (fault) {
		anchor_put(c, a, false);
		a->lost = true;
	}
	step_apply(tid, &before, &registers);
	return true;
}

void anchors_clean(struct followed *copy, const struct followed *parent)
{
	const struct anchors *all = parent->cache ? parent->cache->anchors : NULL;
	uint8_t there[ANCHOR_BYTES];

	if (!all || process_shares(parent->pid, copy->pid) || process_memory(copy) < 0)
		return;
	for (unsigned i = 0; i < all->count; i++) {
		const struct anchor *a = &all->all[i];

		if (a->in && process_read(copy->memory, a->where, there, a->size) &&
			memcmp(there, a->ours, a->size) == 0)
			process_write(copy->memory, a->where, a->own, a->size);
	}
}
