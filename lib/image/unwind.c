/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "image/evaluate.h"
#include "image/unwind_memo.h"

/* The calling conventions' rules of registers, in DWARF's numbers. */
static const struct convention {
	uint8_t pc, sp, fp;
	uint64_t kept;    /* bit n: a function preserves its caller's register n */
	uint64_t pc_bits; /* of an address; the others sign it (AArch64) */
} conventions[] = {
	/* rbx, rbp, r12 to r15 */
	[IMAGE_X86_64] = {16, 7, 6, 1u << 3 | 1u << 6 | 0xfu << 12, UINT64_MAX},
	/* x19 to x30: the link register only until it is set, for which there are rules */
	[IMAGE_AARCH64] = {32, 31, 29, UINT64_C(0xfff) << 19, UINT64_C(0xffffffffffff)},
};

#if defined(__aarch64__)
#define HOST IMAGE_AARCH64
#else
#define HOST IMAGE_X86_64
#endif

/* ax bx cx dx si di bp sp ip, flags and segments, r8 to r15 */
const signed char unwind_from_perf_x86[UNWIND_PERF_X86] = {
	0, 3, 2, 1, 4, 5, 6, 7, 16, -1, -1, -1, -1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15};

struct place {
	struct {
		uint64_t address;
		const struct image *image;
	} key;
	bool known;
	struct cfi_rule rule;
};

struct unwinder {
	struct table places; /* struct place */
	struct cfi_pool pool;
	struct unwind_trace trace;
	struct unwind_memo memos[MEMO_PATHS];
};

struct unwinder *unwind_new(struct error *e)
{
	struct unwinder *u = calloc(1, sizeof(*u));

	if (!u) {
		error_nomem(e);
		return NULL;
	}
	u->places.entry_size = sizeof(struct place);
	u->places.key_size = sizeof(((struct place *)NULL)->key);
	return u;
}

void unwind_free(struct unwinder *u)
{
	if (!u)
		return;
	table_fini(&u->places);
	cfi_pool_fini(&u->pool);
	free(u);
}

void unwind_from_perf(struct unwind_state *state, enum image_machine machine, uint64_t mask,
	const uint64_t *values)
{
	int limit = machine == IMAGE_AARCH64 ? UNWIND_REGISTERS : UNWIND_PERF_X86;

	state->machine = machine;
	state->known = 0;
	for (int i = 0; i < 64; i++) {
		uint64_t value;
		int number;

		if (!(mask >> i & 1))
			continue;
		value = *values++;
		number = i >= limit ? -1 : machine == IMAGE_AARCH64 ? i : unwind_from_perf_x86[i];
		if (number < 0)
			continue;
		state->registers[number] = value;
		state->known |= UINT64_C(1) << number;
	}
}

/* NULL: there is no rule, or memory is out. */
static const struct cfi_rule *rule_at(
	struct unwinder *u, struct image *image, uint64_t kept, uint64_t address)
{
	struct place key = {.key = {address, image}}, *place;
	size_t before = u->places.count;

	place = table_add(&u->places, &key.key);
	if (!place)
		return NULL;
	if (u->places.count != before)
		place->known = cfi_rule_at(image, address, kept, &u->pool, &place->rule) == 0;
	return place->known ? &place->rule : NULL;
}

static bool register_known(const struct unwind_state *s, unsigned number)
{
	return number < UNWIND_REGISTERS && (s->known >> number & 1);
}

static void set_register(struct unwind_state *s, unsigned number, uint64_t value, uint16_t from)
{
	s->registers[number] = value;
	s->from[number] = from;
	s->known |= UINT64_C(1) << number;
}

/* A register saved below the stack pointer was already restored, in an epilogue that has popped
 * it. Rules still name the place, but it may be overwritten, and no copy has it. */
static bool popped_value(const struct cfi_save *save, const struct unwind_state *inside,
	uint64_t sp, uint64_t address, uint64_t *value, uint16_t *from)
{
	if (address >= sp || !register_known(inside, save->number))
		return false;
	*value = inside->registers[save->number];
	*from = inside->from[save->number];
	return true;
}

/* The value of a save, by the registers of the inner frame; false: unknown. */
static bool saved_value(const struct unwinder *u, const struct cfi_save *save,
	const struct unwind_state *inside, uint64_t sp, uint64_t cfa, uint64_t *value,
	uint16_t *from)
{
	uint64_t address = cfa + (uint64_t)(int64_t)save->offset;
	bool is_value;

	*from = FROM_USED;
	switch (save->how) {
	case CFI_MEMORY:
		return evaluate_word(inside, address, value, from) ||
		       popped_value(save, inside, sp, address, value, from);
	case CFI_VALUE:
		*value = address;
		return true;
	case CFI_REGISTER:
		if (save->offset < 0 || !register_known(inside, (unsigned)save->offset))
			return false;
		*value = inside->registers[save->offset];
		*from = inside->from[save->offset];
		return true;
	case CFI_EXPRESSION:
		if (!evaluate(&u->pool.expressions.data[save->offset], inside, cfa, &address,
			    &is_value))
			return false;
		*value = address;
		return is_value || evaluate_memory(inside, address, value);
	default:
		return false;
	}
}

static bool find_cfa(const struct unwinder *u, const struct cfi_rule *rule,
	const struct unwind_state *s, uint64_t *cfa)
{
	bool is_value;

	if (rule->cfa_expression)
		return evaluate(&u->pool.expressions.data[rule->cfa_offset], s, 0, cfa, &is_value);
	if (!register_known(s, rule->cfa_register))
		return false;
	unwind_trace_use(s, rule->cfa_register);
	*cfa = s->registers[rule->cfa_register] + (uint64_t)(int64_t)rule->cfa_offset;
	return true;
}

enum step { STEP_DONE, STEP_OUTERMOST, STEP_LOST };

/* From a frame to its caller by rule. fresh: the frame did not call anything, so it may have no
 * stack of its own (AArch64's leaves). */
static enum step step_by_rule(struct unwinder *u, const struct cfi_rule *rule,
	const struct convention *c, struct unwind_state *s, bool fresh)
{
	struct unwind_state inside = *s;
	uint64_t cfa, value;
	uint16_t from;

	if (rule->outermost)
		return STEP_OUTERMOST;
	if (!find_cfa(u, rule, &inside, &cfa) || !register_known(&inside, c->sp))
		return STEP_LOST;
	unwind_trace_use(&inside, c->sp);
	/* A caller's frame is at a higher address; but a handler may have a stack of its own. */
	if (!rule->signal &&
		(cfa < inside.registers[c->sp] || (cfa == inside.registers[c->sp] && !fresh)))
		return STEP_LOST;
	s->known &= c->kept;
	set_register(s, c->sp, cfa, FROM_USED);
	for (unsigned i = 0; i < rule->count; i++) {
		const struct cfi_save *save = &u->pool.saves.data[rule->first + i];

		if (saved_value(u, save, &inside, inside.registers[c->sp], cfa, &value, &from))
			set_register(s, save->number, value, from);
		else
			s->known &= ~(UINT64_C(1) << save->number);
	}
	if (!register_known(s, rule->return_register))
		return STEP_LOST;
	unwind_trace_use(s, rule->return_register);
	set_register(s, c->pc, s->registers[rule->return_register] & c->pc_bits, FROM_USED);
	return s->registers[c->pc] ? STEP_DONE : STEP_OUTERMOST;
}

/* The saved frame pointer and return address are adjacent, at the frame pointer. */
static enum step step_by_frame_pointer(const struct convention *c, struct unwind_state *s)
{
	uint64_t at = s->registers[c->fp], fp, pc;
	uint16_t from;

	if (!register_known(s, c->fp) || !register_known(s, c->sp))
		return STEP_LOST;
	unwind_trace_use(s, c->fp);
	unwind_trace_use(s, c->sp);
	if (at == 0)
		return STEP_OUTERMOST;
	if (at % 8 || at < s->registers[c->sp] || !evaluate_word(s, at, &fp, &from) ||
		!evaluate_memory(s, at + 8, &pc))
		return STEP_LOST;
	s->known &= c->kept;
	set_register(s, c->fp, fp, from);
	set_register(s, c->sp, at + 16, FROM_USED);
	set_register(s, c->pc, pc & c->pc_bits, FROM_USED);
	return pc ? STEP_DONE : STEP_OUTERMOST;
}

/*
 * A call from a trampoline (x86-64): the rest of it frees its frame and returns. That is
 * how python3 3.12 calls the functions of its program under -X perf, in code without rules or frame
 * pointers.
 */
static enum step step_by_trampoline(
	const struct convention *c, struct unwind_state *s, void *context, bool fresh)
{
	enum { RET = 0xc3, POP_FP = 0x5d };
	static const uint8_t add_to_sp[] = {0x48, 0x83, 0xc4};
	uint8_t code[5];
	uint64_t sp, fp = 0, pc;

	if (!s->code)
		return STEP_LOST;
	if (s->trace)
		s->trace->lost = true; /* code may change */
	if (fresh || s->machine == IMAGE_AARCH64 || HOST != IMAGE_X86_64 ||
		!register_known(s, c->sp) ||
		s->code(context, s->registers[c->pc], code, sizeof(code)) != sizeof(code))
		return STEP_LOST;
	sp = s->registers[c->sp];
	if (memcmp(code, add_to_sp, sizeof(add_to_sp)) == 0 && code[3] < 0x80 && code[4] == RET)
		sp += code[3];
	else if (code[0] == POP_FP && code[1] == RET && evaluate_memory(s, sp, &fp))
		sp += 8;
	else
		return STEP_LOST;
	if (!evaluate_memory(s, sp, &pc))
		return STEP_LOST;
	s->known &= c->kept;
	if (code[0] == POP_FP)
		set_register(s, c->fp, fp, FROM_USED);
	set_register(s, c->sp, sp + 8, FROM_USED);
	set_register(s, c->pc, pc & c->pc_bits, FROM_USED);
	return pc ? STEP_DONE : STEP_OUTERMOST;
}

/* state is the sample's, and is followed to its end. */
static size_t unwind_follow(struct unwinder *u, const struct convention *c, struct unwind_state *s,
	unwind_find *find, void *context, uint64_t *pcs, size_t depth, int *complete,
	uint64_t *interrupted)
{
	enum step step = STEP_DONE;
	bool exact = true; /* pc is its current address, not a return address */
	size_t count = 0;

	*interrupted = 0;
	while (step == STEP_DONE && count < depth) {
		const struct cfi_rule *rule;
		struct image *image;
		uint64_t pc, bias = 0;

		if (!register_known(s, c->pc))
			break;
		pc = s->registers[c->pc];
		image = find(context, pc, &bias);
		if (exact && count < 64)
			*interrupted |= UINT64_C(1) << count;
		pcs[count++] = pc;
		rule = image ? rule_at(u, image, c->kept, pc - bias - !exact) : NULL;
		step = rule    ? step_by_rule(u, rule, c, s, exact)
		       : image ? STEP_LOST
			       : step_by_trampoline(c, s, context, exact);
		if (!rule && step == STEP_LOST)
			step = step_by_frame_pointer(c, s);
		exact = rule && rule->signal;
	}
	*complete = step == STEP_OUTERMOST;
	return count;
}

/* Starts a trace of what the path depends on. */
static void unwind_start_trace(
	struct unwinder *u, const struct convention *c, struct unwind_state *s)
{
	s->trace = &u->trace;
	u->trace.registers = UINT64_C(1) << c->pc;
	u->trace.count = 0;
	u->trace.lost = false;
	for (size_t i = 0; i < UNWIND_REGISTERS; i++)
		s->from[i] = FROM_START;
}

size_t unwind(struct unwinder *u, const struct unwind_state *state, unwind_find *find,
	void *context, uint64_t *pcs, size_t depth, int *complete, uint64_t *interrupted)
{
	const struct convention *c =
		&conventions[state->machine == IMAGE_OTHER ? HOST : state->machine];
	struct unwind_memo *memo = &u->memos[unwind_memo_place(state, c->pc, c->sp)];
	struct unwind_state s = *state;
	uint64_t signals;
	size_t count;

	s.trace = NULL;
	if (state->space && unwind_memo_fits(memo, state, depth)) {
		memcpy(pcs, memo->pcs, memo->count * sizeof(*pcs));
		*complete = memo->complete;
		if (interrupted)
			*interrupted = memo->interrupted;
		return memo->count;
	}
	if (state->space)
		unwind_start_trace(u, c, &s);
	count = unwind_follow(u, c, &s, find, context, pcs, depth, complete, &signals);
	if (interrupted)
		*interrupted = signals;
	if (state->space) {
		unwind_memo_keep(memo, state, &u->trace, pcs, count < depth ? count : 0);
		memo->complete = *complete;
		memo->interrupted = signals;
	}
	return count;
}
