/* SPDX-License-Identifier: GPL-2.0-or-later */
/* DWARF 5, section 2.5; operations that call frame rules cannot contain (6.4.2) are refused. */
#include "image/evaluate.h"

#include <dwarf.h>
#include <string.h>

#include "image/unwind_memo.h"

#define DEPTH   32
#define LONGEST 1024 /* operations: there are jumps */

struct machine {
	uint64_t stack[DEPTH];
	unsigned depth;
	bool failed;
};

bool evaluate_word(const struct unwind_state *s, uint64_t address, uint64_t *value, uint16_t *from)
{
	uint64_t into = address - s->stack_address;

	if (address < s->stack_address || s->stack_size < sizeof(*value) ||
		into > s->stack_size - sizeof(*value))
		return false;
	memcpy(value, s->stack + into, sizeof(*value));
	*from = unwind_trace_word(s, into, *value);
	return true;
}

bool evaluate_memory(const struct unwind_state *s, uint64_t address, uint64_t *value)
{
	uint16_t from;

	if (!evaluate_word(s, address, value, &from))
		return false;
	unwind_trace_use_word(s, from);
	return true;
}

static void push(struct machine *m, uint64_t value)
{
	if (m->depth == DEPTH)
		m->failed = true;
	else
		m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m)
{
	if (m->depth == 0) {
		m->failed = true;
		return 0;
	}
	return m->stack[--m->depth];
}

static void push_register(
	struct machine *m, const struct unwind_state *s, uint64_t number, uint64_t offset)
{
	if (number >= UNWIND_REGISTERS || !(s->known >> number & 1)) {
		m->failed = true;
		return;
	}
	unwind_trace_use(s, (unsigned)number);
	push(m, s->registers[number] + offset);
}

static void dereference(struct machine *m, const struct unwind_state *s, uint64_t size)
{
	uint64_t value = 0;

	if (size == 0 || size > 8 || !evaluate_memory(s, pop(m), &value))
		m->failed = true;
	push(m, size < 8 ? value & ((UINT64_C(1) << 8 * size) - 1) : value);
}

/* Operations on the two topmost, b on top of a. */
static bool binary(uint8_t atom, uint64_t a, uint64_t b, uint64_t *result)
{
	int64_t x = (int64_t)a, y = (int64_t)b;

	switch (atom) {
	case DW_OP_plus:
		*result = a + b;
		return true;
	case DW_OP_minus:
		*result = a - b;
		return true;
	case DW_OP_mul:
		*result = a * b;
		return true;
	case DW_OP_and:
		*result = a & b;
		return true;
	case DW_OP_or:
		*result = a | b;
		return true;
	case DW_OP_xor:
		*result = a ^ b;
		return true;
	case DW_OP_shl:
		*result = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*result = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*result = (uint64_t)(x >> (b < 63 ? b : 63));
		return true;
	case DW_OP_eq:
		*result = a == b;
		return true;
	case DW_OP_ne:
		*result = a != b;
		return true;
	case DW_OP_ge:
		*result = x >= y;
		return true;
	case DW_OP_gt:
		*result = x > y;
		return true;
	case DW_OP_le:
		*result = x <= y;
		return true;
	case DW_OP_lt:
		*result = x < y;
		return true;
	default:
		return false;
	}
}

/* Operations that only rearrange the stack. */
static bool shuffle(struct machine *m, const Dwarf_Op *op)
{
	uint64_t a, b;

	switch (op->atom) {
	case DW_OP_dup:
		a = pop(m);
		push(m, a);
		push(m, a);
		return true;
	case DW_OP_drop:
		(void)pop(m);
		return true;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		return true;
	case DW_OP_over:
	case DW_OP_pick:
		b = op->atom == DW_OP_over ? 1 : op->number;
		if (b >= m->depth)
			m->failed = true;
		else
			push(m, m->stack[m->depth - 1 - b]);
		return true;
	default:
		return false;
	}
}

static void operate(
	struct machine *m, const Dwarf_Op *op, const struct unwind_state *s, uint64_t cfa)
{
	uint64_t a, b, result = 0;

	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31) {
		push(m, op->atom - DW_OP_lit0);
	} else if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
		push_register(m, s, op->atom - DW_OP_breg0, op->number);
	} else if (op->atom == DW_OP_bregx) {
		push_register(m, s, op->number, op->number2);
	} else if (op->atom >= DW_OP_const1u && op->atom <= DW_OP_consts) {
		push(m, op->number); /* libdw has extended the signs */
	} else if (op->atom == DW_OP_call_frame_cfa) {
		push(m, cfa);
	} else if (op->atom == DW_OP_plus_uconst) {
		push(m, pop(m) + op->number);
	} else if (op->atom == DW_OP_deref) {
		dereference(m, s, 8);
	} else if (op->atom == DW_OP_deref_size) {
		dereference(m, s, op->number);
	} else if (op->atom == DW_OP_neg) {
		push(m, 0 - pop(m));
	} else if (op->atom == DW_OP_not) {
		push(m, ~pop(m));
	} else if (op->atom != DW_OP_nop && !shuffle(m, op)) {
		b = pop(m);
		a = pop(m);
		m->failed |= !binary(op->atom, a, b, &result);
		if (!m->failed)
			push(m, result);
	}
}

/* The target operation of a jump; offsets are in bytes from the end of the jump (3 bytes). */
static size_t jump(const struct cfi_expression *x, size_t at)
{
	uint64_t target = x->ops[at].offset + 3 + x->ops[at].number;

	for (size_t i = 0; i < x->count; i++)
		if (x->ops[i].offset == target && x->ops[i].atom != DW_OP_call_frame_cfa)
			return i;
	return x->count;
}

bool evaluate(const struct cfi_expression *x, const struct unwind_state *s, uint64_t cfa,
	uint64_t *result, bool *is_value)
{
	struct machine m = {.depth = 0};
	unsigned steps = 0;

	*is_value = false;
	for (size_t i = 0; i < x->count && !m.failed && steps++ < LONGEST; i++) {
		const Dwarf_Op *op = &x->ops[i];

		if (op->atom == DW_OP_stack_value)
			*is_value = true;
		else if (op->atom == DW_OP_skip || (op->atom == DW_OP_bra && pop(&m)))
			i = jump(x, i) - 1;
		else if (op->atom != DW_OP_bra)
			operate(&m, op, s, cfa);
	}
	*result = pop(&m);
	return !m.failed;
}
