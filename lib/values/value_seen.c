/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is kept of an execution. */
#include <string.h>

#include "experiment/values.h"
#include "values/private.h"

#define RAX 0
#define RDX 2
#define RCX 1

/* ---- arguments and results ---- */

/* rdi, rsi, rdx, rcx, r8, r9: their numbers as arguments. */
static const int8_t argument_of[GENERALS] = {[0] = -1,
	[1] = 3,
	[2] = 2,
	[3] = -1,
	[4] = -1,
	[5] = -1,
	[6] = 1,
	[7] = 0,
	[8] = 4,
	[9] = 5,
	[10] = -1,
	[11] = -1,
	[12] = -1,
	[13] = -1,
	[14] = -1,
	[15] = -1};
#define ARGUMENTS        0x3c6 /* those registers */
#define VECTOR_ARGUMENTS 0xff
#define RESULTS          1 /* rax */
#define VECTOR_RESULTS   1

static void see_passed(struct values *v, struct passed *p, const struct step *s, unsigned kind)
{
	unsigned now = p->pending & s->uses, vectors = p->vector_pending & s->vector_uses;

	for (unsigned reg = 0; now && reg < GENERALS; reg++)
		if (now >> reg & 1)
			value_seen_add(v, p->pc, kind,
				kind == VALUE_ARGUMENT ? (unsigned)argument_of[reg] : 0, 64,
				VALUE_INTEGER, p->general[reg]);
	for (unsigned reg = 0; vectors && reg < 8; reg++)
		if (vectors >> reg & 1)
			value_seen_add(v, p->pc, kind, 8 + reg, s->element == 4 ? 32 : 64,
				s->element ? VALUE_FLOAT : VALUE_VECTOR,
				s->element == 4 ? (uint32_t)p->vector[reg] : p->vector[reg]);
	p->pending &= (uint16_t) ~(now | s->sets);
	p->vector_pending &= (uint16_t) ~(vectors | s->vector_sets);
}

void value_seen_uses(struct values *v, const struct step *s)
{
	if (v->arguments.pending | v->arguments.vector_pending)
		see_passed(v, &v->arguments, s, VALUE_ARGUMENT);
	if (v->results.pending | v->results.vector_pending)
		see_passed(v, &v->results, s, VALUE_RETURN);
}

static void pass_on(
	struct values *v, struct passed *p, uint64_t pc, unsigned mask, unsigned vectors)
{
	p->pc = pc;
	memcpy(p->general, v->machine.state->general, sizeof(p->general));
	for (unsigned reg = 0; reg < 8; reg++)
		p->vector[reg] = machine_vector(&v->machine, reg);
	p->pending = (uint16_t)mask;
	p->vector_pending = (uint16_t)vectors;
}

static void see_transfer(struct values *v, const struct step *s, const struct execution *x)
{
	if (s->kind == STEP_CONDITION || s->kind == STEP_COUNT)
		value_seen_add(v, s->pc, VALUE_BRANCH, 0, 1, VALUE_INTEGER, x->taken);
	else if (s->kind != STEP_RETURN && s->operand != OPERAND_IS_CONSTANT)
		value_seen_add(v, s->pc, VALUE_BRANCH, 0, 64, VALUE_PLACE, x->to);
	if (s->kind == STEP_CALL) {
		v->results.pending = v->results.vector_pending = 0;
		pass_on(v, &v->arguments, x->to, ARGUMENTS, VECTOR_ARGUMENTS);
	} else if (s->kind == STEP_RETURN) {
		v->arguments.pending = v->arguments.vector_pending = 0;
		pass_on(v, &v->results, s->pc, RESULTS, VECTOR_RESULTS);
	}
}

/* ---- operands of operations ---- */

static uint64_t source_value(const struct step *s, const struct execution *x)
{
	uint64_t value;

	if (s->memory && s->reads && !s->writes)
		return x->read;
	if (s->source >= GENERALS)
		return 1; /* an immediate: of no interest */
	value = x->before[s->source] >> (s->source_high ? 8 : 0);
	return value & low_bits(s->source_bits);
}

static bool is_power(uint64_t value)
{
	return value > 1 && (value & (value - 1)) == 0;
}

/* Quotients and remainders of unsigned numbers that fit into 32 bits do so, too. */
static unsigned of_division(struct values *v, const struct step *s, const struct execution *x)
{
	uint64_t divisor = source_value(s, x), bits = 0, low = x->before[RAX],
		 high = x->before[RDX];

	value_seen_add(v, s->pc, VALUE_OPERAND, 1, s->source_bits, VALUE_INTEGER, divisor);
	value_seen_add(v, s->pc, VALUE_OPERAND, 0, s->source_bits, VALUE_INTEGER,
		low & low_bits(s->source_bits));
	bits |= divisor == 1 ? VALUE_OPERAND_ONE : 0;
	bits |= is_power(divisor) ? VALUE_OPERAND_POWER : 0;
	bits |= s->source_bits == 64 && high == 0 && low >> 32 == 0 && divisor >> 32 == 0
			? VALUE_OPERAND_NARROW
			: 0;
	return (unsigned)bits;
}

static unsigned of_multiplication(const struct step *s, const struct execution *x)
{
	uint64_t a = source_value(s, x), b = a;
	unsigned reg = s->memory ? s->source : s->other, bits = 0;

	if (reg == REG_NONE && s->result == RAX)
		reg = RAX;
	if (reg < GENERALS)
		b = x->before[reg] & low_bits(s->result_bits);
	bits |= a == 0 || b == 0 ? VALUE_OPERAND_ZERO : 0;
	bits |= a == 1 || b == 1 ? VALUE_OPERAND_ONE : 0;
	bits |= is_power(a) || is_power(b) ? VALUE_OPERAND_POWER : 0;
	return bits;
}

static unsigned of_number(const uint8_t *at, unsigned bytes)
{
	uint64_t bits = 0, exponent, fraction;

	memcpy(&bits, at, bytes);
	exponent = bytes == 8 ? bits >> 52 & 0x7ff : bits >> 23 & 0xff;
	fraction = bytes == 8 ? bits & low_bits(52) : bits & low_bits(23);
	if (exponent == 0)
		return fraction ? VALUE_OPERAND_DENORMAL : VALUE_OPERAND_FP_ZERO;
	if (exponent == (bytes == 8 ? 0x7ff : 0xff))
		return fraction ? VALUE_OPERAND_NAN : VALUE_OPERAND_INFINITE;
	return 0;
}

/* Of one operand: zero only if all elements are. */
static unsigned of_numbers(const uint8_t *at, unsigned size, unsigned bytes)
{
	unsigned any = 0, all = VALUE_OPERAND_FP_ZERO;

	for (unsigned k = 0; k + bytes <= size; k += bytes) {
		unsigned one = of_number(at + k, bytes);

		any |= one;
		all &= one;
	}
	return (any & ~(unsigned)VALUE_OPERAND_FP_ZERO) | all;
}

/* The lowest two doubles of vector registers are looked at, or the element of scalars. */
static unsigned of_floats(struct values *v, const struct step *s)
{
	unsigned bits = 0, size = s->result_bits == 64 && s->element == 8 ? 8 : s->element;

	if (s->memory && s->reads)
		bits |= of_numbers(v->before, s->size, s->element);
	for (unsigned reg = 0; reg < 32; reg++) {
		uint64_t low;

		if (!(s->vector_uses >> reg & 1))
			continue;
		low = machine_vector(&v->machine, reg);
		bits |= of_numbers((const uint8_t *)&low, size, s->element);
	}
	return bits;
}

unsigned value_seen_operation(struct values *v, const struct step *s, const struct execution *x)
{
	unsigned bits;

	if (v->left_out)
		return 0;
	if (s->sees & SEES_DIVIDE)
		return of_division(v, s, x);
	if (s->sees & SEES_MULTIPLY)
		return of_multiplication(s, x);
	if (s->sees & SEES_FLOAT)
		return of_floats(v, s);
	if (s->sees & SEES_SHIFT) {
		bits = x->before[RCX] & 63;
		value_seen_add(v, s->pc, VALUE_OPERAND, 1, 8, VALUE_INTEGER, bits);
		return bits ? 0 : VALUE_OPERAND_ZERO;
	}
	return source_value(s, x) ? 0 : VALUE_OPERAND_ZERO;
}

/* ---- all ---- */

static uint64_t result_of(const struct values *v, const struct step *s)
{
	uint64_t value = s->result < GENERALS
				 ? v->machine.state->general[s->result] >> (s->high ? 8 : 0)
				 : machine_vector(&v->machine, s->result - REG_VECTOR);

	return value & low_bits(s->result_bits);
}

void value_seen_execution(struct values *v, struct step *s, const struct execution *x)
{
	const unsigned operations =
		SEES_DIVIDE | SEES_MULTIPLY | SEES_SHIFT | SEES_ADD | SEES_FLOAT;

	if (s->sees & SEES_RESULT)
		value_seen_add(v, s->pc, VALUE_RESULT, 0, s->result_bits, s->result_class,
			result_of(v, s));
	if (s->sees & SEES_LOAD)
		value_seen_add(v, s->pc, VALUE_LOAD, 0, s->size > 8 ? 64 : 8u * s->size,
			s->size > 8 ? VALUE_VECTOR : VALUE_INTEGER, x->read);
	if (s->sees & SEES_STORE)
		value_seen_add(v, s->pc, VALUE_STORE, 0, s->size > 8 ? 64 : 8u * s->size,
			s->size > 8 ? VALUE_VECTOR : VALUE_INTEGER, x->written);
	if (s->sees & SEES_ADDRESS)
		value_seen_add(v, s->pc, VALUE_ADDRESS, 0, 64, VALUE_PLACE, x->address);
	if (s->sees & operations)
		value_seen_add(v, s->pc, VALUE_OPERATION, 0, VALUE_OPERATIONS, VALUE_BITS, x->to);
	if (s->kind == STEP_EXECUTE && s->memory)
		access_see(v, s, x);
	if (s->kind >= STEP_CONDITION && s->kind <= STEP_RETURN)
		see_transfer(v, s, x);
}
