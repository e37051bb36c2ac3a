/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Windows: one instruction after the other, on the snapshot. */
#include <stdlib.h>
#include <string.h>

#include <speedshop/values.h>

#include "base/random.h"
#include "experiment/values.h"
#include "isa/condition.h"
#include "isa/registers.h"
#include "values/private.h"

#define FLAGS_KEPT                                                                                 \
	(FLAG_CARRY | FLAG_PARITY | FLAG_ADJUST | FLAG_ZERO | FLAG_SIGN | FLAG_DIRECTION |         \
		FLAG_OVERFLOW)
#define FLAGS_FIXED 2u
/* Of windows that are equally long in time: an instruction's time in usual code, and instructions
 * of code that is unusually fast. */
#define USUAL     (4 * VALUE_CLOCK_CYCLE / 5)
#define FAST_MOST 5
#define RSP       4
#define RBP       5
#define RCX       1

static uint64_t *general(struct values *v, unsigned reg)
{
	return &v->machine.state->general[reg];
}

static uint64_t interpret_address(struct values *v, const struct step *s)
{
	const uint64_t *g = v->machine.state->general;
	uint64_t a = (uint64_t)s->displacement;

	if (s->base < GENERALS)
		a += g[s->base];
	if (s->index < GENERALS)
		a += g[s->index] * s->scale;
	if (s->narrow)
		a = (uint32_t)a;
	if (s->segment)
		a += s->segment == 0x64 ? v->fs : v->gs;
	return a;
}

/* A write of fewer than 32 bits keeps the others. */
static void set_part(uint64_t *reg, uint64_t value, unsigned bits)
{
	*reg = bits == 64   ? value
	       : bits == 32 ? (uint32_t)value
			    : (*reg & ~low_bits(bits)) | (value & low_bits(bits));
}

/* ---- kinds ---- */

static bool execute(struct values *v, struct step *s, struct execution *x)
{
	uint8_t *operand = v->machine.state->operand;
	uint8_t before[OPERAND];

	if (s->memory) {
		x->address = interpret_address(v, s);
		if (!snapshot_read(&v->snapshot, x->address, operand, s->size) ||
			!value_steps_fits(v, s, x->address))
			return false;
		memcpy(&x->read, operand, 8);
		x->read &= low_bits(8u * s->size);
		memcpy(before, operand, s->size);
	}
	if (s->sees & (SEES_DIVIDE | SEES_MULTIPLY | SEES_SHIFT | SEES_ADD | SEES_FLOAT)) {
		memcpy(x->before, v->machine.state->general, sizeof(x->before));
		memcpy(v->before, operand, s->size);
		x->to = value_seen_operation(v, s, x);
	}
	if (!machine_run(&v->machine, s->thunk, s->state))
		return false;
	if (!s->writes)
		return true;
	memcpy(&x->written, operand, 8);
	x->written &= low_bits(8u * s->size);
	x->silent = memcmp(before, operand, s->size) == 0;
	return snapshot_write(&v->snapshot, x->address, operand, s->size);
}

static bool interpret_counts(struct values *v, const struct step *s)
{
	uint64_t *rcx = general(v, RCX), zero = v->machine.state->flags & FLAG_ZERO;

	if (s->condition == 3)
		return (s->wide ? *rcx : (uint32_t)*rcx) == 0;
	*rcx = s->wide ? *rcx - 1 : (uint32_t)(*rcx - 1);
	if (s->condition == 2)
		return *rcx != 0;
	return *rcx != 0 && !zero == !s->condition;
}

/* What a jump, call or push takes. */
static bool interpret_source(
	struct values *v, const struct step *s, struct execution *x, uint64_t *value)
{
	switch (s->operand) {
	case OPERAND_AT_REGISTER:
		*value = *general(v, s->reg);
		return true;
	case OPERAND_AT_MEMORY:
		x->address = interpret_address(v, s);
		return snapshot_read(&v->snapshot, x->address, value, sizeof(*value));
	case OPERAND_IS_FLAGS:
		/* Interrupts are enabled wherever user code runs. */
		*value = v->machine.state->flags | 0x202;
		return true;
	default:
		*value = s->target;
		return true;
	}
}

static bool interpret_push(struct values *v, uint64_t value)
{
	if (!snapshot_write(&v->snapshot, *general(v, RSP) - 8, &value, sizeof(value)))
		return false;
	*general(v, RSP) -= 8;
	return true;
}

static bool interpret_pop(struct values *v, uint64_t *value)
{
	if (!snapshot_read(&v->snapshot, *general(v, RSP), value, sizeof(*value)))
		return false;
	*general(v, RSP) += 8;
	return true;
}

static bool pop_to(struct values *v, const struct step *s)
{
	uint64_t value;

	if (!interpret_pop(v, &value))
		return false;
	if (s->operand == OPERAND_AT_REGISTER)
		*general(v, s->reg) = value;
	else if (s->operand == OPERAND_IS_FLAGS)
		v->machine.state->flags = (value & FLAGS_KEPT) | FLAGS_FIXED;
	else if (!snapshot_write(&v->snapshot, interpret_address(v, s), &value, sizeof(value))) {
		*general(v, RSP) -= 8;
		return false;
	}
	return true;
}

static bool interpret_leave(struct values *v)
{
	uint64_t value;

	if (!snapshot_read(&v->snapshot, *general(v, RBP), &value, sizeof(value)))
		return false;
	*general(v, RSP) = *general(v, RBP) + 8;
	*general(v, RBP) = value;
	return true;
}

/* bt, bts, btr, btc: the bit may be anywhere before or after the operand. */
static bool bit_test(struct values *v, const struct step *s, struct execution *x)
{
	int64_t number = (int64_t)*general(v, s->reg);
	uint64_t *flags = &v->machine.state->flags, word = 0, bit;
	unsigned bytes = s->bits / 8u, operation = s->opcode >> 3 & 3; /* a3, ab, b3, bb */

	number = s->bits == 64 ? number : s->bits == 32 ? (int32_t)number : (int16_t)number;
	x->address = interpret_address(v, s) + (uint64_t)(number >> (s->bits == 64          ? 6
									    : s->bits == 32 ? 5
											    : 4)) *
						       bytes;
	bit = 1ull << (number & (s->bits - 1));
	if (!snapshot_read(&v->snapshot, x->address, &word, bytes))
		return false;
	*flags = (*flags & ~(uint64_t)FLAG_CARRY) | (word & bit ? FLAG_CARRY : 0);
	word = operation == 1 ? word | bit : operation == 2 ? word & ~bit : word ^ bit;
	return operation == 0 || snapshot_write(&v->snapshot, x->address, &word, bytes);
}

static bool interpret_transfer(struct values *v, const struct step *s, struct execution *x)
{
	x->to = s->target;
	switch (s->kind) {
	case STEP_CONDITION:
		x->taken = isa_holds(s->condition, v->machine.state->flags);
		break;
	case STEP_COUNT:
		x->taken = interpret_counts(v, s);
		break;
	case STEP_CALL:
		x->taken = true;
		if (!interpret_source(v, s, x, &x->to) || !interpret_push(v, s->next))
			return false;
		break;
	case STEP_RETURN:
		x->taken = true;
		if (!interpret_pop(v, &x->to))
			return false;
		*general(v, RSP) += (uint64_t)s->immediate;
		break;
	default:
		x->taken = true;
		if (!interpret_source(v, s, x, &x->to))
			return false;
		break;
	}
	v->pc = x->taken ? x->to : s->next;
	return true;
}

static bool interpret_other(struct values *v, struct step *s, struct execution *x)
{
	uint64_t value;

	switch (s->kind) {
	case STEP_NOTHING:
		return true;
	case STEP_ADDRESS:
		set_part(general(v, s->reg), interpret_address(v, s), s->bits);
		return true;
	case STEP_EXECUTE:
		return execute(v, s, x);
	case STEP_PUSH:
		return interpret_source(v, s, x, &value) && interpret_push(v, value);
	case STEP_POP:
		return pop_to(v, s);
	case STEP_LEAVE:
		return interpret_leave(v);
	default:
		return bit_test(v, s, x);
	}
}

/* ---- windows ---- */

static enum value_end failure(const struct values *v)
{
	return v->snapshot.full ? VALUES_ROOM : VALUES_FAULT;
}

/* NULL: memory is out. */
static struct value_trace *trace_add(struct values *v)
{
	struct value_trace *t = vec_push(&v->window->trace);

	if (!t)
		return NULL;
	memset(t, 0, sizeof(*t));
	t->pc = v->pc;
	memcpy(t->general, v->machine.state->general, sizeof(v->machine.state->general));
	t->general[GENERALS] = v->machine.state->flags;
	return t;
}

static void trace_step(struct value_trace *t, const struct step *s, const struct execution *x)
{
	memcpy(t->bytes, s->bytes, s->length);
	t->length = s->length;
	t->result = s->result < GENERALS && !s->high ? s->result : VP_NONE;
	t->result_bits = s->result_bits;
	if (s->kind == STEP_EXECUTE && s->memory) {
		t->address = x->address;
		t->loaded = x->read;
		t->stored = x->written;
		t->size = s->size;
		t->flags = (uint8_t)((s->reads ? VP_LOADS : 0) | (s->writes ? VP_STORES : 0));
	} else if (s->kind >= STEP_CONDITION && s->kind <= STEP_RETURN) {
		t->flags = (uint8_t)(VP_BRANCHES | (s->kind == STEP_CALL ? VP_CALLS : 0) |
				     (s->kind == STEP_RETURN ? VP_RETURNS : 0));
	}
}

static enum value_end step_execute(struct values *v, struct step *s, struct execution *x)
{
	enum value_end end;

	if (s->kind == STEP_STRING) {
		end = string_step(v, s, x);
		if (end)
			return v->snapshot.full ? VALUES_ROOM : end;
	} else if (s->kind >= STEP_CONDITION && s->kind <= STEP_RETURN) {
		if (!interpret_transfer(v, s, x))
			return failure(v);
	} else {
		if (!interpret_other(v, s, x))
			return failure(v);
		v->pc = s->next;
	}
	return VALUES_WHOLE;
}

static enum value_end step_once(struct values *v)
{
	struct step *s = value_steps_find(v, v->pc);
	bool traced = v->config.trace && !v->left_out;
	struct execution x = {.step = s};
	struct value_trace *trace;
	enum value_end end;

	if (!s)
		return failure(v);
	if (s->kind == STEP_REFUSED)
		return VALUES_REFUSED;
	if (s->kind == STEP_CALLS_KERNEL)
		return VALUES_CALL;
	value_seen_uses(v, s);
	trace = traced ? trace_add(v) : NULL;
	end = step_execute(v, s, &x);
	if (trace && end)
		v->window->trace.count--;
	else if (trace)
		trace_step(trace, s, &x);
	if (end)
		return end;
	value_seen_execution(v, s, &x);
	if (v->config.timed)
		value_clock_step(&v->clock, s, &x);
	return VALUES_WHOLE;
}

static unsigned draw_spread(struct values *v)
{
	return (unsigned)((random_next(&v->chance) >> 32) % v->config.spread);
}

static void set_length(struct values *v)
{
	uint64_t scale = v->config.timed ? USUAL : 1;

	v->begins = scale * (v->config.skip + (v->config.spread ? draw_spread(v) : 0));
	v->ends = v->begins + scale * v->config.length;
	v->most = (unsigned)(v->ends / scale) * FAST_MOST;
}

/* False: the window is over. */
static bool window_goes_on(struct values *v)
{
	uint64_t now = v->config.timed ? v->clock.retired : v->number;

	v->left_out = now < v->begins || v->number < v->config.skip;
	return now < v->ends && (!v->config.timed || v->number < v->most);
}

static void begin_window(struct values *v, const struct values_thread *t)
{
	for (unsigned k = 0; k < GENERALS; k++)
		memcpy(general(v, k), (const char *)t->registers + isa_general_place(k),
			sizeof(uint64_t));
	v->machine.state->flags = (t->registers->eflags & FLAGS_KEPT) | FLAGS_FIXED;
	memcpy(v->machine.state->extended, t->state, t->size);
	v->fs = t->registers->fs_base;
	v->gs = t->registers->gs_base;
	v->pc = t->registers->rip;
	v->epoch++;
	v->steps.last = 0;
	v->number = 0;
	set_length(v);
	v->arguments.pending = v->arguments.vector_pending = 0;
	v->results.pending = v->results.vector_pending = 0;
	access_begin(&v->accesses);
	value_clock_begin(&v->clock);
	snapshot_begin(&v->snapshot, t->pid, t->memory);
}

bool values_interpret(struct values *v, const struct values_thread *t, struct value_window *window)
{
	if (t->size > VALUES_STATE)
		return false;
	begin_window(v, t);
	v->window = window;
	window->pid = t->pid;
	window->seen.count = 0;
	window->trace.count = 0;
	window->touches.count = 0;
	window->end = VALUES_WHOLE;
	while (!window->end && window_goes_on(v)) {
		window->end = step_once(v);
		v->number += !window->end;
	}
	if (v->config.trace)
		trace_add(v);
	window->instructions = v->number;
	window->at = v->pc;
	return v->number > 0;
}

void values_registers(const struct values *v, struct user_regs_struct *registers, void *state)
{
	for (unsigned k = 0; k < GENERALS; k++)
		memcpy((char *)registers + isa_general_place(k), &v->machine.state->general[k],
			sizeof(uint64_t));
	registers->eflags = v->machine.state->flags;
	registers->rip = v->pc;
	memcpy(state, v->machine.state->extended, VALUES_STATE);
}

void values_apply(struct values *v, int memory)
{
	snapshot_apply(&v->snapshot, memory);
}

void values_renew(struct values *v, pid_t pid)
{
	snapshot_forget(&v->snapshot, pid);
}

struct values *values_new(const struct values_config *config, struct error *e)
{
	struct values *v = calloc(1, sizeof(*v));

	if (!v) {
		error_nomem(e);
		return NULL;
	}
	snapshot_init(&v->snapshot);
	v->config = *config;
	v->chance = __builtin_ia32_rdtsc() * 0x9e3779b97f4a7c15u | 1;
	if (machine_init(&v->machine, e)) {
		values_free(v);
		return NULL;
	}
	return v;
}

void values_free(struct values *v)
{
	if (!v)
		return;
	machine_fini(&v->machine);
	snapshot_fini(&v->snapshot);
	free(v);
}
