/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule/op.h"

#include <stddef.h>
#include <string.h>

/* ---- the rule for an instruction ---- */

static bool kind_fits(const struct insn *i, unsigned n, const struct core_signature *s)
{
	static const uint8_t kinds[] = {
		[CORE_GENERAL] = OPERAND_GENERAL,
		[CORE_VECTOR] = OPERAND_VECTOR,
		[CORE_MASK] = OPERAND_MASK,
		[CORE_MMX] = OPERAND_MMX,
		[CORE_X87] = OPERAND_X87,
		[CORE_MEMORY] = OPERAND_MEMORY,
		[CORE_IMMEDIATE] = OPERAND_IMMEDIATE,
	};
	const struct insn_operand *o = n < i->operands ? &i->operand[n] : NULL;

	switch (s->kind) {
	case CORE_ANY:
		return true;
	case CORE_NOTHING:
		return !o;
	case CORE_SAME:
		return o && n && o->kind == i->operand[n - 1].kind &&
		       o->reg == i->operand[n - 1].reg && o->reg != REG_NONE;
	case CORE_HIGH:
		return o && o->kind == OPERAND_GENERAL && o->high;
	case CORE_SCALED:
		return o && o->kind == OPERAND_MEMORY && i->memories && i->memory[0].scale > 1;
	case CORE_THREE:
		return o && o->kind == OPERAND_MEMORY && i->memories &&
		       i->memory[0].index != REG_NONE && i->memory[0].base != REG_NONE &&
		       i->memory[0].displacement;
	default:
		return o && o->kind == kinds[s->kind] && (!s->bits || s->bits == o->bits);
	}
}

static bool rule_fits(const struct core_rule *r, const struct insn *i)
{
	for (unsigned n = 0; n < r->operands; n++) {
		const struct insn_operand *o = n < i->operands ? &i->operand[n] : NULL;
		const struct core_signature *s = &r->signature[n];

		/* A rule without memory is for operands in registers or in memory. */
		if (!r->memory && o && o->kind == OPERAND_MEMORY && s->kind != CORE_NOTHING) {
			if (s->kind == CORE_IMMEDIATE || s->kind == CORE_SAME ||
				s->kind == CORE_HIGH)
				return false;
			if (s->kind == CORE_GENERAL && s->bits && s->bits != o->bits)
				return false;
			if (s->kind == CORE_VECTOR && s->bits > 128 && s->bits != o->bits)
				return false;
			continue;
		}
		if (!kind_fits(i, n, s))
			return false;
	}
	return true;
}

const struct core_rule *op_rule(const struct core *c, const struct insn *i, bool *guessed)
{
	*guessed = false;
	for (int32_t at = c->first[i->mnemonic % CORE_MNEMONICS_MAX]; at >= 0;
		at = c->rules.data[at].next)
		if (rule_fits(&c->rules.data[at], i))
			return &c->rules.data[at];
	*guessed = true;
	for (int32_t at = c->fallback; at >= 0; at = c->rules.data[at].next)
		if (rule_fits(&c->rules.data[at], i))
			return &c->rules.data[at];
	return c->rules.data;
}

/* ---- inputs and outputs ---- */

static void add_input(struct op *op, unsigned reg, unsigned late)
{
	for (unsigned n = 0; n < op->input_count; n++) {
		if (op->input[n].reg == reg) {
			if (late < op->input[n].late)
				op->input[n].late = (uint8_t)late;
			return;
		}
	}
	if (op->input_count < OP_INPUTS_MAX) {
		op->input[op->input_count].reg = (uint8_t)reg;
		op->input[op->input_count++].late = (uint8_t)late;
	}
}

static void add_address(struct op *op, unsigned reg)
{
	if (reg != REG_NONE && op->address_count < OP_ADDRESSES_MAX)
		op->address[op->address_count++] = (uint8_t)reg;
}

/* How much later than the others an operand is needed. */
static unsigned lateness(const struct core_rule *r, unsigned n)
{
	unsigned late = n < CORE_OPERANDS_MAX ? r->late[n] : 0;

	return late && late < r->latency ? r->latency - late : 0;
}

/* For a register that is written in part: found by its operand. */
static unsigned late_of(const struct insn *i, const struct core_rule *r, unsigned reg)
{
	for (unsigned n = 0; n < i->operands; n++)
		if (i->operand[n].reg == reg && i->operand[n].writes)
			return lateness(r, n);
	return 0;
}

static bool is_read_operand(const struct insn *i, unsigned reg)
{
	for (unsigned n = 0; n < i->operands; n++)
		if (i->operand[n].reg == reg && i->operand[n].reads)
			return true;
	return false;
}

/* Registers read as operands, and hidden ones; those of addresses only when they are read besides.
 */
static void add_inputs(const struct core *c, const struct insn *i, struct op *op)
{
	struct insn_registers addresses = {{0}};
	struct insn_registers all = {
		{i->reads.word[0] | i->merges.word[0], i->reads.word[1] | i->merges.word[1]}};
	bool lea = i->classes & INSN_ADDRESS;

	for (unsigned m = 0; m < i->memories && !lea; m++) {
		insn_registers_add(&addresses, i->memory[m].base);
		insn_registers_add(&addresses, i->memory[m].index);
		if (i->memory[m].reads || i->memory[m].writes) {
			add_address(op, i->memory[m].base);
			add_address(op, i->memory[m].index);
		}
	}
	for (unsigned n = 0; n < i->operands; n++)
		if (i->operand[n].reg != REG_NONE && i->operand[n].reads)
			add_input(op, i->operand[n].reg, lateness(op->rule, n));
	for (unsigned reg; (reg = insn_registers_take(&all)) != REG_NONE;) {
		bool merges = insn_registers_have(&i->merges, reg);

		if (insn_registers_have(&addresses, reg) || (!merges && is_read_operand(i, reg)))
			continue;
		if (reg == REG_RSP && i->classes & INSN_STACK && c->stack_engine)
			continue;
		if (reg == REG_MXCSR || reg == REG_X87_STATE || reg == REG_SEGMENT_BASE ||
			reg == REG_DIRECTION)
			continue; /* hardly ever written; renamed or not waited for */
		add_input(op, reg, late_of(i, op->rule, reg));
	}
	for (unsigned reg = REG_CARRY; reg <= REG_OVERFLOW && op->rule->reads_flags; reg++)
		add_input(op, reg, 0);
}

static void add_outputs(const struct core *c, const struct insn *i, struct op *op)
{
	struct insn_registers left = i->writes;

	for (unsigned reg; (reg = insn_registers_take(&left)) != REG_NONE;) {
		if (reg == REG_RSP && i->classes & INSN_STACK && c->stack_engine)
			continue;
		if (op->output_count < OP_OUTPUTS_MAX)
			op->output[op->output_count++] = (uint8_t)reg;
	}
}

/* ---- micro-operations ---- */

static void add_uop(struct op *op, uint32_t ports, unsigned busy)
{
	unsigned n = (unsigned)op->loads + op->executes + op->addresses + op->datas;

	if (n < OP_UOPS_MAX)
		op->uops[n] = (struct op_uop){.ports = ports, .busy = ports ? (uint8_t)busy : 0};
}

static unsigned op_room(const struct op *op)
{
	return OP_UOPS_MAX - ((unsigned)op->loads + op->executes + op->addresses + op->datas);
}

static struct op_memory make_memory(const struct insn_memory *m)
{
	return (struct op_memory){.there = true,
		.base = m->absolute ? REG_NONE : m->base,
		.index = m->absolute ? REG_NONE : m->index,
		.scale = m->scale,
		.size = (uint8_t)(m->size > 255 ? 255 : m->size),
		.displacement = m->absolute ? (int64_t)m->address : m->displacement};
}

static bool to_vector(const struct insn *i)
{
	return i->classes & (INSN_VECTOR | INSN_X87);
}

static void add_loads(const struct core *c, const struct insn *i, struct op *op)
{
	for (unsigned m = 0; m < i->memories; m++) {
		if (!i->memory[m].reads || !op_room(op))
			continue;
		add_uop(op, to_vector(i) ? c->vector_load : c->load, 1);
		op->loads++;
		op->load = make_memory(&i->memory[m]);
		op->load_latency =
			(uint8_t)(to_vector(i) ? c->vector_load_latency : c->load_latency);
		if (i->memory[m].index != REG_NONE)
			op->load_latency = (uint8_t)(op->load_latency + c->indexed_load);
	}
}

static void add_stores(const struct core *c, const struct insn *i, struct op *op)
{
	unsigned stores = 0;

	for (unsigned m = 0; m < i->memories; m++) {
		if (!i->memory[m].writes || op_room(op) < 2)
			continue;
		stores++;
		op->store = make_memory(&i->memory[m]);
		op->vector = to_vector(i);
	}
	for (unsigned s = 0; s < stores; s++) {
		add_uop(op, c->store_address, 1);
		op->addresses++;
	}
	for (unsigned s = 0; s < stores; s++) {
		uint32_t data = op->vector ? c->vector_store_data : c->store_data;

		if (data == c->store_address)
			continue; /* one micro-operation does both */
		add_uop(op, data, 1);
		op->datas++;
	}
}

static void add_executes(const struct core_rule *r, struct op *op)
{
	for (unsigned k = 0; k < r->kinds; k++)
		for (unsigned n = 0; n < r->uops[k].count && op_room(op) > 4; n++) {
			add_uop(op, r->uops[k].ports, r->uops[k].busy);
			op->executes++;
		}
}

/* Micro-fused: a load with what follows it, the address with the data of a store. */
static unsigned count_half_slots(const struct core *c, const struct insn *i, const struct op *op)
{
	unsigned fused, indexed = 0;

	if (i->classes & INSN_NOP)
		return c->nop_slots_x2;
	if (op->rule->slots)
		return 2u * op->rule->slots;
	for (unsigned m = 0; m < i->memories; m++)
		indexed |= i->memory[m].index != REG_NONE;
	fused = op->executes + op->addresses;
	if (op->loads > op->executes)
		fused += op->loads - op->executes;
	if (indexed && c->unlaminate && op->loads && op->executes && i->operands > 2)
		fused += op->loads;
	return fused ? 2 * fused : 2;
}

/* ---- values that follow from others ---- */

static void note_change(
	const struct core *c, const struct insn *i, const char *mnemonic, struct op *op)
{
	const struct insn_operand *o = i->operand;
	const struct insn_memory *m = i->memory;

	op->changed = op->from = REG_NONE;
	if (i->classes & INSN_STACK && c->stack_engine && strcmp(mnemonic, "leave")) {
		int64_t size = i->memories ? (int64_t)m[0].size : 8;

		op->changed = op->from = REG_RSP;
		op->change = OP_CHANGE_ADD;
		op->constant = i->classes & INSN_STORE ? -size : size;
		return;
	}
	if (!i->operands || o[0].kind != OPERAND_GENERAL || !o[0].writes || o[0].bits < 32)
		return;
	op->changed = o[0].reg;
	op->change = OP_CHANGE_NEW;
	if (o[0].bits != 64)
		return;
	if (i->has_immediate && (!strcmp(mnemonic, "add") || !strcmp(mnemonic, "sub"))) {
		op->change = OP_CHANGE_ADD;
		op->constant = mnemonic[0] == 'a' ? i->immediate : -i->immediate;
	} else if (!strcmp(mnemonic, "inc") || !strcmp(mnemonic, "dec")) {
		op->change = OP_CHANGE_ADD;
		op->constant = mnemonic[0] == 'i' ? 1 : -1;
	} else if (i->classes & INSN_ADDRESS && i->memories && m[0].index == REG_NONE &&
		   m[0].base != REG_NONE && !m[0].absolute) {
		op->change = OP_CHANGE_COPY;
		op->from = m[0].base;
		op->constant = m[0].displacement;
	} else if (i->classes & INSN_MOVE) {
		op->change = OP_CHANGE_COPY;
		op->from = o[1].reg;
		op->constant = 0;
	}
}

/* ---- one, and a block of them ---- */

static void rename_away(
	const struct core *c, const struct insn *i, const char *mnemonic, struct op *op)
{
	bool vector = i->classes & INSN_VECTOR;
	bool ones = c->ones_idioms && strstr(mnemonic, "pcmpeq") && i->operands >= 2 &&
		    i->operand[i->operands - 1].kind == OPERAND_VECTOR &&
		    i->operand[i->operands - 1].reg == i->operand[i->operands - 2].reg;

	if (i->classes & INSN_ZEROES && c->zero_idioms) {
		op->zeroes = true;
		op->executes = 0;
	} else if (ones) {
		op->zeroes = true; /* depends on nothing, but is executed */
	} else if (i->classes & INSN_MOVE && (vector ? c->move_vector : c->move_general) &&
		   i->operand[0].reg != i->operand[1].reg) {
		op->moves = true;
		op->executes = 0;
	} else if (op->change != OP_CHANGE_NEW && !(i->classes & INSN_MOVE) &&
		   op->changed != REG_NONE && c->add_bits &&
		   op->constant >= -(INT64_C(1) << (c->add_bits - 1)) &&
		   op->constant < INT64_C(1) << (c->add_bits - 1)) {
		op->moves = true;
		op->executes = 0;
	} else if (i->classes & INSN_NOP && !i->memories) {
		op->executes = 0;
	}
	if (op->zeroes)
		op->input_count = 0;
}

static void op_make(const struct core *c, const struct insn *i, struct op *op)
{
	const char *mnemonic = isa_mnemonic(ISA_X86_64, i->mnemonic);

	memset(op, 0, offsetof(struct op, input));
	op->uops[0] = (struct op_uop){0};
	op->rule = op_rule(c, i, &op->guessed);
	op->latency = op->rule->latency;
	op->flags_latency = op->rule->flags_latency ? op->rule->flags_latency : op->latency;
	op->length = i->length;
	op->where = i->address;
	op->branch = i->classes & INSN_BRANCH;
	op->locked = i->classes & INSN_LOCK;
	op->serialises = i->classes & INSN_SERIALISING;
	if (!op->rule->whole && !(i->classes & (INSN_NOP | INSN_ADDRESS)))
		add_loads(c, i, op);
	add_executes(op->rule, op);
	if (!op->rule->whole && !(i->classes & (INSN_NOP | INSN_ADDRESS)))
		add_stores(c, i, op);
	add_inputs(c, i, op);
	add_outputs(c, i, op);
	op->half_slots = (uint8_t)count_half_slots(c, i, op);
	note_change(c, i, mnemonic ? mnemonic : "", op);
	if (!op->loads && !op->addresses)
		rename_away(c, i, mnemonic ? mnemonic : "", op);
}

/* Whether a conditional branch can be fused with it. */
static bool fuses(const struct core *c, const struct insn *first, const struct insn *branch)
{
	static const char *const arithmetic[] = {"add", "sub", "and", "inc", "dec"};
	const char *name;

	if (!(branch->classes & INSN_CONDITIONAL) || (first->classes & INSN_STORE) ||
		(first->memories && first->has_immediate))
		return false;
	name = isa_mnemonic(ISA_X86_64, first->mnemonic);
	if (!name)
		return false;
	if (!strcmp(name, "cmp") || !strcmp(name, "test"))
		return c->fuse_compare;
	for (size_t n = 0; n < sizeof(arithmetic) / sizeof(arithmetic[0]); n++)
		if (!strcmp(name, arithmetic[n]))
			return c->fuse_arithmetic;
	return false;
}

static void fuse(struct op *first, struct op *branch)
{
	/* One micro-operation, of the branch's kind: it takes the first one's place. */
	if (!first->executes || !branch->executes)
		return;
	first->uops[first->loads].ports = branch->uops[0].ports;
	branch->executes = 0;
	branch->half_slots = 0;
	branch->fused = true;
	branch->latency = 0;
}

static bool names_rsp(const struct insn *i)
{
	if (i->classes & INSN_STACK)
		return false;
	return insn_registers_have(&i->reads, REG_RSP) || insn_registers_have(&i->writes, REG_RSP);
}

/* A micro-operation brings rsp up to date before an instruction other than a stack operation uses
 * it. */
static void synchronise(const struct insn *insns, size_t count, bool loop, struct op *ops)
{
	bool behind = false;

	for (int round = 0; round < (loop ? 2 : 1); round++) {
		for (size_t n = 0; n < count; n++) {
			if (insns[n].classes & INSN_STACK) {
				behind = true;
			} else if (names_rsp(&insns[n])) {
				if (behind && (round || !loop))
					ops[n].half_slots = (uint8_t)(ops[n].half_slots + 2);
				behind = false;
			}
		}
	}
}

void op_make_block(
	const struct core *c, const struct insn *insns, size_t count, bool loop, struct op *ops)
{
	for (size_t n = 0; n < count; n++)
		op_make(c, &insns[n], &ops[n]);
	for (size_t n = 0; n + 1 < count; n++)
		if (fuses(c, &insns[n], &insns[n + 1]))
			fuse(&ops[n], &ops[n + 1]);
	if (c->stack_engine && c->stack_sync)
		synchronise(insns, count, loop, ops);
}
