/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/depends.h"

#include <stdlib.h>
#include <string.h>

#define REG_RBP     (REG_GENERAL + 5)
#define ROUNDS_MOST 1000 /* over all blocks; bindings only get worse, so it ends by itself */

/* What is known of a register, at best first. */
enum binding {
	UNSEEN,   /* no path has led here so far */
	CONSTANT, /* whatever the argument is */
	KNOWN,    /* by the argument */
	UNKNOWN
};

/* Of what its last writer left: two writers on two paths leave nothing known. */
struct binding_of {
	uint8_t kind;    /* enum binding */
	uint32_t writer; /* instruction; FLOW_NONE: the caller */
};

struct bindings {
	struct binding_of of[REG_COUNT];
};

/* A word of the frame. */
struct frame_word {
	int64_t displacement;
	struct binding_of now;
	uint8_t base;
};

struct depends {
	const struct flow *flow;
	struct bindings *in;
	VEC(struct frame_word) frame;
	bool *depends;
	bool changed;
};

static uint8_t worse(uint8_t a, uint8_t b)
{
	return a > b ? a : b;
}

/* Returns whether that changes it. */
static bool meet(struct binding_of *to, const struct binding_of *from)
{
	const struct binding_of before = *to;

	if (to->kind == UNSEEN)
		*to = *from;
	else if (from->kind != UNSEEN && from->writer != to->writer)
		to->kind = UNKNOWN;
	else
		to->kind = worse(to->kind, from->kind);
	return to->kind != before.kind;
}

static bool in_frame(const struct insn_memory *m)
{
	return (m->base == REG_RSP || m->base == REG_RBP) && m->index == REG_NONE && !m->segment;
}

/* NULL: nothing is stored to it. */
static struct frame_word *frame_find(const struct depends *d, const struct insn_memory *m)
{
	for (size_t i = 0; in_frame(m) && i < d->frame.count; i++)
		if (d->frame.data[i].base == m->base &&
			d->frame.data[i].displacement == m->displacement)
			return &d->frame.data[i];
	return NULL;
}

/* Pushes and pops apart. */
static bool plainly(const struct insn *i, uint32_t class)
{
	return i->classes & class && !(i->classes & INSN_STACK);
}

static int find_frame(struct depends *d)
{
	for (uint32_t at = 0; at < d->flow->insns.count; at++) {
		const struct insn *i = &d->flow->insns.data[at];

		for (unsigned k = 0; plainly(i, INSN_STORE) && k < i->memories; k++) {
			const struct insn_memory *m = &i->memory[k];
			const struct frame_word word = {m->displacement, {UNSEEN, 0}, m->base};

			if (m->writes && in_frame(m) && !frame_find(d, m) &&
				vec_add(&d->frame, word))
				return -1;
		}
	}
	return 0;
}

/* What its memory operands give: UNSEEN if it loads nothing. */
static uint8_t binding_loaded(const struct depends *d, const struct insn *i)
{
	uint8_t binding = UNSEEN;

	if (!(i->classes & INSN_LOAD))
		return UNSEEN;
	if (!i->memories || i->more_memory || i->classes & (INSN_GATHER | INSN_REP | INSN_STACK))
		return UNKNOWN;
	for (unsigned k = 0; k < i->memories; k++) {
		const struct frame_word *w;

		if (!i->memory[k].reads)
			continue;
		w = frame_find(d, &i->memory[k]);
		binding = worse(binding, w ? w->now.kind : UNKNOWN);
	}
	return binding;
}

/* Registers that it computes with: not those of addresses, unless the address is the result. */
static struct insn_registers sources(const struct insn *i)
{
	struct insn_registers set = i->reads, named = {{0}};

	for (unsigned w = 0; w < 2; w++)
		set.word[w] |= i->merges.word[w];
	if (i->classes & (INSN_ADDRESS | INSN_REP))
		return set;
	for (unsigned k = 0; k < i->operands; k++)
		if (i->operand[k].reads && i->operand[k].kind != OPERAND_MEMORY)
			insn_registers_add(&named, i->operand[k].reg);
	for (unsigned k = 0; k < i->memories; k++) {
		const unsigned parts[] = {i->memory[k].base, i->memory[k].index};

		for (unsigned p = 0; p < 2; p++)
			if (parts[p] < REG_COUNT && !insn_registers_have(&named, parts[p]))
				set.word[parts[p] / 64] &= ~(1ull << (parts[p] % 64));
	}
	return set;
}

static void set_result(const struct insn *i, struct binding_of result, struct bindings *now)
{
	struct insn_registers written = i->writes;
	unsigned reg;

	while ((reg = insn_registers_take(&written)) != REG_NONE)
		now->of[reg] = result;
}

static void forget_call(struct bindings *now)
{
	for (unsigned reg = 0; reg < REG_COUNT; reg++) {
		unsigned general = reg - REG_GENERAL;

		/* rbx, rsp, rbp, r12 to r15 are kept */
		if (general >= 16 || !(0xf038u >> general & 1))
			now->of[reg].kind = UNKNOWN;
	}
}

static void store_result(struct depends *d, const struct insn *i, struct binding_of result)
{
	for (unsigned k = 0; k < i->memories; k++) {
		struct frame_word *w = i->memory[k].writes ? frame_find(d, &i->memory[k]) : NULL;

		if (w)
			d->changed |= meet(&w->now, &result);
	}
}

/* What a known value makes no simpler. */
static bool moves_only(const struct insn *i)
{
	static const struct insn_registers none;
	bool stores = (i->classes & (INSN_STORE | INSN_LOAD)) == INSN_STORE &&
		      memcmp(&i->writes, &none, sizeof(none)) == 0;

	return stores || i->classes & (INSN_NOP | INSN_MOVE | INSN_CALL | INSN_STACK);
}

static void pass_insn(struct depends *d, uint32_t at, struct bindings *now)
{
	const struct insn *i = &d->flow->insns.data[at];
	struct insn_registers from = sources(i);
	uint8_t loaded = binding_loaded(d, i), result = worse(CONSTANT, loaded);
	bool known = loaded == KNOWN;
	unsigned reg;

	while (!(i->classes & INSN_ZEROES) && (reg = insn_registers_take(&from)) != REG_NONE) {
		known |= now->of[reg].kind == KNOWN;
		result = worse(result, now->of[reg].kind);
	}
	d->depends[at] = known && !moves_only(i);
	if (i->classes & (INSN_CALL | INSN_SYSCALL))
		forget_call(now);
	else
		set_result(i, (struct binding_of){i->operands_known ? result : UNKNOWN, at}, now);
	if (plainly(i, INSN_STORE))
		store_result(d, i, (struct binding_of){result, at});
}

static void pass_edge(struct depends *d, const struct bindings *now, uint32_t to)
{
	for (unsigned reg = 0; reg < REG_COUNT; reg++)
		d->changed |= meet(&d->in[to].of[reg], &now->of[reg]);
}

static void pass_all(struct depends *d)
{
	const struct flow *f = d->flow;

	for (uint32_t b = 0; b < f->blocks.count; b++) {
		const struct flow_block *block = &f->blocks.data[b];
		struct bindings now = d->in[b];

		if (now.of[REG_RSP].kind == UNSEEN)
			continue;
		for (uint32_t k = 0; k < block->count; k++)
			pass_insn(d, block->first + k, &now);
		for (uint32_t k = 0; k < block->outs; k++)
			pass_edge(d, &now, f->edges.data[block->first_out + k].to);
	}
}

int explain_depends(const struct flow *f, unsigned argument, bool *depends)
{
	struct depends d = {.flow = f, .depends = depends};
	uint32_t first = f->insns.count ? f->block_of[0] : 0;
	int rounds = 0;

	memset(depends, 0, f->insns.count * sizeof(*depends));
	if (!f->blocks.count || argument >= REG_COUNT)
		return 0;
	d.in = calloc(f->blocks.count, sizeof(*d.in));
	if (!d.in || find_frame(&d)) {
		free(d.in);
		vec_fini(&d.frame);
		return -1;
	}
	for (uint32_t b = 0; b < f->blocks.count; b++)
		for (unsigned reg = 0; reg < REG_COUNT; reg++)
			if (b == first || f->blocks.data[b].flags & (FLOW_ENTRY | FLOW_ORPHAN))
				d.in[b].of[reg] = (struct binding_of){UNKNOWN, FLOW_NONE};
	d.in[first].of[argument].kind = KNOWN;
	do {
		d.changed = false;
		pass_all(&d);
	} while (d.changed && ++rounds < ROUNDS_MOST);
	free(d.in);
	vec_fini(&d.frame);
	return 0;
}

unsigned explain_argument_register(uint32_t number)
{
	static const uint8_t general[] = {7, 6, 2, 1, 8, 9}; /* rdi rsi rdx rcx r8 r9 */

	if (number < sizeof(general))
		return REG_GENERAL + general[number];
	return number >= 8 && number < 16 ? REG_VECTOR + number - 8 : REG_NONE;
}
