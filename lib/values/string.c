/* SPDX-License-Identifier: GPL-2.0-or-later */
/* String instructions: each iteration is an execution. */
#include <string.h>

#include "isa/condition.h"
#include "values/private.h"

#define RAX 0
#define RCX 1
#define RSI 6
#define RDI 7

enum { STRING_MOVES = 0xa4, STRING_COMPARES = 0xa6, STRING_STORES = 0xaa, STRING_LOADS = 0xac };

/* The flags of a - b. */
static uint64_t compare(uint64_t a, uint64_t b, unsigned bits)
{
	uint64_t mask = low_bits(bits), top = 1ull << (bits - 1), d;
	uint64_t flags = 2;

	a &= mask;
	b &= mask;
	d = (a - b) & mask;
	flags |= a < b ? FLAG_CARRY : 0;
	flags |= d == 0 ? FLAG_ZERO : 0;
	flags |= d & top ? FLAG_SIGN : 0;
	flags |= __builtin_parityll(d & 0xff) ? 0 : FLAG_PARITY;
	flags |= (a ^ b) & (a ^ d) & top ? FLAG_OVERFLOW : 0;
	flags |= (a ^ b ^ d) & 0x10 ? FLAG_ADJUST : 0;
	return flags;
}

static void string_advance(struct values *v, unsigned reg, unsigned bytes)
{
	uint64_t *g = &v->machine.state->general[reg];

	*g += v->machine.state->flags & FLAG_DIRECTION ? -(uint64_t)bytes : bytes;
}

/* Operands are read before anything is changed. */
static bool string_iterate(struct values *v, const struct step *s, struct execution *x)
{
	struct machine_state *m = v->machine.state;
	unsigned operation = s->opcode & 0xfe, bytes = s->bits / 8u;
	bool uses_rsi = operation <= STRING_COMPARES || operation == STRING_LOADS,
	     uses_rdi = operation != STRING_LOADS,
	     reads_rdi = operation == STRING_COMPARES || operation > STRING_LOADS;
	uint64_t from = 0, at = 0, rax = m->general[RAX];

	if (uses_rsi && !snapshot_read(&v->snapshot, m->general[RSI], &from, bytes))
		return false;
	if (reads_rdi && !snapshot_read(&v->snapshot, m->general[RDI], &at, bytes))
		return false;
	if (!uses_rsi)
		from = rax & low_bits(s->bits);
	x->address = uses_rdi ? m->general[RDI] : m->general[RSI];
	if (uses_rdi && !reads_rdi && !snapshot_write(&v->snapshot, m->general[RDI], &from, bytes))
		return false;
	if (reads_rdi)
		m->flags = (m->flags & FLAG_DIRECTION) | compare(from, at, s->bits);
	if (operation == STRING_LOADS)
		m->general[RAX] = s->bits >= 32 ? from : (rax & ~low_bits(s->bits)) | from;
	if (uses_rsi)
		string_advance(v, RSI, bytes);
	if (uses_rdi)
		string_advance(v, RDI, bytes);
	return true;
}

enum value_end string_step(struct values *v, struct step *s, struct execution *x)
{
	uint64_t *rcx = &v->machine.state->general[RCX];
	unsigned operation = s->opcode & 0xfe;
	bool compares = operation == STRING_COMPARES || operation > STRING_LOADS, again;

	if (s->repeats && *rcx == 0) {
		v->pc = s->next;
		return VALUES_WHOLE;
	}
	if (!string_iterate(v, s, x))
		return VALUES_FAULT;
	if (s->repeats)
		--*rcx;
	again = s->repeats && *rcx;
	if (again && compares)
		again = !(v->machine.state->flags & FLAG_ZERO) == (s->repeats == 0xf2);
	if (!again)
		v->pc = s->next;
	return VALUES_WHOLE;
}
