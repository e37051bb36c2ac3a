/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Instructions decoded once for each address, and again when other bytes are there: code is read
 * from the snapshot each time, so generated code and other processes need no care.
 */
#include <string.h>

#include "experiment/values.h"
#include "isa/brief.h"
#include "isa/redirect.h"
#include "values/private.h"

#define REGION        19 /* bits of the addresses that follow each other in places */
#define ALIGNED       64 /* bytes: no operand must be aligned to more */
#define ALIGNED_LEAST 16 /* shorter ones may be anywhere */

/* ---- what it is ---- */

static void take_recipe(struct step *s, const struct insn *i, const struct isa_redirect *r)
{
	const struct insn_memory *m = &i->memory[0];

	s->memory = m->reads || m->writes;
	s->reads = m->reads;
	s->writes = m->writes;
	s->base = m->absolute ? REG_NONE : m->base;
	s->index = m->absolute ? REG_NONE : m->index;
	s->scale = m->scale;
	s->displacement = m->absolute ? (int64_t)m->address : m->displacement;
	s->segment = r->segment;
	s->narrow = r->narrow;
	s->size = m->size <= OPERAND / 2 ? (uint8_t)m->size : 0;
	/* Relative to the program counter, with a segment: none is known. */
	if (i->relative_at && !m->absolute)
		s->kind = STEP_REFUSED;
}

/* The source of a jump, call or push; the destination of a pop. */
static void take_target(struct step *s, const struct insn *i)
{
	const struct insn_operand *o = &i->operand[0];

	if (i->has_target) {
		s->operand = OPERAND_IS_CONSTANT;
		s->target = i->target;
	} else if (i->operands && o->kind == OPERAND_GENERAL && o->bits == 64) {
		s->operand = OPERAND_AT_REGISTER;
		s->reg = o->reg;
	} else if (i->operands && o->kind == OPERAND_MEMORY && s->size == 8) {
		s->operand = OPERAND_AT_MEMORY;
	} else if (i->operands && o->kind == OPERAND_IMMEDIATE) {
		s->operand = OPERAND_IS_CONSTANT;
		s->target = (uint64_t)i->immediate;
	} else {
		s->kind = STEP_REFUSED;
	}
}

static bool is_named(const struct insn *i, const char *name)
{
	return strcmp(isa_mnemonic(ISA_X86_64, i->mnemonic), name) == 0;
}

static bool begins(const struct insn *i, const char *name)
{
	return strncmp(isa_mnemonic(ISA_X86_64, i->mnemonic), name, strlen(name)) == 0;
}

static bool has_prefix(const struct step *s, uint8_t prefix)
{
	for (unsigned k = 0; k < s->length; k++) {
		uint8_t b = s->bytes[k];

		if (b == prefix)
			return true;
		if (b != 0x2e && b != 0x3e && b != 0x64 && b != 0x65 && b != 0x66 && b != 0x67 &&
			b != 0xf2 && b != 0xf3)
			return false;
	}
	return false;
}

static void decode_branch(struct step *s, const struct insn *i, const struct isa_redirect *r)
{
	if (has_prefix(s, 0x66)) {
		s->kind = STEP_REFUSED;
	} else if (i->classes & INSN_RETURN) {
		s->kind = r->opcode == 0xc2 || r->opcode == 0xc3 ? STEP_RETURN : STEP_REFUSED;
		s->immediate = i->has_immediate ? i->immediate & 0xffff : 0;
	} else if (i->classes & INSN_CONDITIONAL && i->has_target) {
		bool counts = r->opcode >= 0xe0 && r->opcode <= 0xe3;

		s->kind = counts ? STEP_COUNT : STEP_CONDITION;
		s->condition = r->opcode & (counts ? 3 : 15);
		s->wide = !r->narrow;
		s->target = i->target;
		if (!counts && (r->opcode & 0xf0) != 0x70 && (r->opcode & 0xf0) != 0x80)
			s->kind = STEP_REFUSED; /* xbegin */
	} else {
		s->kind = i->classes & INSN_CALL ? STEP_CALL : STEP_JUMP;
		if (i->memories && !i->has_target && i->operand[0].kind == OPERAND_MEMORY)
			take_recipe(s, i, r);
		if (s->kind != STEP_REFUSED)
			take_target(s, i);
	}
}

static void decode_stack(struct step *s, const struct insn *i, const struct isa_redirect *r)
{
	if (has_prefix(s, 0x66)) {
		s->kind = STEP_REFUSED;
	} else if (is_named(i, "leave")) {
		s->kind = STEP_LEAVE;
	} else if (is_named(i, "pushfq") || is_named(i, "popfq")) {
		s->kind = is_named(i, "pushfq") ? STEP_PUSH : STEP_POP;
		s->operand = OPERAND_IS_FLAGS;
	} else if (is_named(i, "push") || is_named(i, "pop")) {
		s->kind = is_named(i, "push") ? STEP_PUSH : STEP_POP;
		if (i->operand[0].kind == OPERAND_MEMORY)
			take_recipe(s, i, r);
		if (s->kind != STEP_REFUSED)
			take_target(s, i);
	} else {
		s->kind = STEP_REFUSED;
	}
}

/* Bits that a register numbers, from the operand's first one on. */
static bool is_bit_test(const struct insn *i)
{
	return (is_named(i, "bt") || is_named(i, "bts") || is_named(i, "btr") ||
		       is_named(i, "btc")) &&
	       i->operand[0].kind == OPERAND_MEMORY && i->operand[1].kind == OPERAND_GENERAL;
}

static void decode_string(struct step *s, const struct isa_redirect *r)
{
	s->kind = STEP_STRING;
	s->repeats = has_prefix(s, 0xf3) ? 0xf3 : has_prefix(s, 0xf2) ? 0xf2 : 0;
	s->bits = 8;
	if (r->opcode & 1) {
		s->bits = has_prefix(s, 0x66) ? 16 : 32;
		for (unsigned k = 0; k + 1u < s->length; k++)
			if ((s->bytes[k] & 0xf8) == 0x48) /* rex.w, right before the opcode */
				s->bits = 64;
	}
	if (has_prefix(s, 0x64) || has_prefix(s, 0x65) || r->narrow)
		s->kind = STEP_REFUSED;
}

static void decode_executed(
	struct values *v, struct step *s, const struct insn *i, const struct isa_redirect *r)
{
	if (r->refused || i->more_memory || i->memories > 1) {
		s->kind = STEP_REFUSED;
		return;
	}
	s->kind = STEP_EXECUTE;
	if (i->memories)
		take_recipe(s, i, r);
	if (s->kind == STEP_REFUSED || (s->memory && (!s->size || !r->displacement))) {
		s->kind = STEP_REFUSED;
		return;
	}
	s->state = r->state;
	s->copy = r->length;
	s->copied_at = r->displacement;
	s->thunk = machine_add(&v->machine, r->bytes, r->length, r->displacement, 0);
	if (!s->thunk)
		s->kind = STEP_REFUSED;
}

static void decode_kind(
	struct values *v, struct step *s, const struct insn *i, const struct isa_redirect *r)
{
	s->opcode = r->opcode;
	if (i->classes & INSN_SYSCALL) {
		s->kind = STEP_CALLS_KERNEL;
	} else if (i->classes & (INSN_PRIVILEGED | INSN_STOPS | INSN_SEGMENT)) {
		s->kind = STEP_REFUSED;
	} else if (i->classes & (INSN_NOP | INSN_PREFETCH)) {
		s->kind = STEP_NOTHING;
	} else if (i->classes & INSN_BRANCH) {
		decode_branch(s, i, r);
	} else if (i->classes & INSN_STACK) {
		decode_stack(s, i, r);
	} else if (i->classes & INSN_ADDRESS) {
		s->kind = STEP_ADDRESS;
		take_recipe(s, i, r);
		s->segment = 0;
		s->reg = i->operand[0].reg;
		s->bits = (uint8_t)i->operand[0].bits;
	} else if (is_bit_test(i)) {
		s->kind = STEP_BIT;
		take_recipe(s, i, r);
		s->reg = i->operand[1].reg;
		s->bits = (uint8_t)i->operand[1].bits;
		if (i->classes & INSN_LOCK && !i->memories)
			s->kind = STEP_REFUSED;
	} else if (r->string && i->memories) {
		decode_string(s, r);
	} else {
		decode_executed(v, s, i, r);
	}
}

/* ---- what is kept of it ---- */

static uint16_t generals(const struct insn_registers *r)
{
	return (uint16_t)r->word[0];
}

static uint32_t vector_set(const struct insn_registers *r)
{
	return (uint32_t)(r->word[0] >> REG_VECTOR);
}

static void see_of_result(struct step *s, const struct insn *i)
{
	struct insn_operand o;

	if (!isa_result(i, &o))
		return;
	s->result = o.reg;
	s->result_class = VALUE_INTEGER;
	s->result_bits = (uint8_t)o.bits;
	s->high = o.high;
	if (o.kind == OPERAND_VECTOR) {
		s->result_class = s->element ? VALUE_FLOAT : VALUE_VECTOR;
		s->result_bits = s->element ? (uint8_t)(8 * s->element) : 64;
	}
	s->sees |= SEES_RESULT;
}

/* A register that it reads besides a memory operand or the destination. */
static void find_other_operands(struct step *s, const struct insn *i)
{
	s->source = s->other = REG_NONE;
	for (unsigned k = 0; k < i->operands; k++) {
		const struct insn_operand *o = &i->operand[k];

		if (!o->reads || (o->kind != OPERAND_GENERAL && o->kind != OPERAND_VECTOR))
			continue;
		if (s->source != REG_NONE)
			s->other = s->source;
		s->source = o->reg;
		s->source_bits = (uint8_t)(o->bits > 64 ? 64 : o->bits);
		s->source_high = o->high;
	}
}

static void see_of_operation(struct step *s, const struct insn *i)
{
	bool integer = !(i->classes & (INSN_VECTOR | INSN_X87));

	find_other_operands(s, i);
	if (s->kind != STEP_EXECUTE)
		return;
	if (integer && (is_named(i, "div") || is_named(i, "idiv")))
		s->sees |= SEES_DIVIDE;
	else if (integer && (begins(i, "mul") || is_named(i, "imul")))
		s->sees |= SEES_MULTIPLY;
	else if (integer && (s->opcode == 0xd2 || s->opcode == 0xd3) && begins(i, "s"))
		s->sees |= SEES_SHIFT;
	else if (integer && is_named(i, "add") && !i->has_immediate)
		s->sees |= SEES_ADD;
	else if (i->classes & INSN_FP && s->element && i->classes & INSN_VECTOR)
		s->sees |= SEES_FLOAT;
	if (s->sees & SEES_DIVIDE) {
		s->source_bits = (uint8_t)i->operand[0].bits;
		if (s->memory)
			s->source_bits = (uint8_t)(8 * s->size);
	}
}

static void decode_sees(struct step *s, const struct insn *i)
{
	bool moves = begins(i, "mov") || begins(i, "vmov") || begins(i, "lddqu");

	s->uses = generals(&i->reads);
	s->sets = generals(&i->writes);
	s->vector_uses = vector_set(&i->reads);
	s->vector_sets = vector_set(&i->writes);
	if (i->classes & INSN_ZEROES) {
		s->uses &= (uint16_t)~s->sets;
		s->vector_uses &= ~s->vector_sets;
	}
	s->element = (uint8_t)isa_element(i);
	if (s->kind == STEP_EXECUTE || s->kind == STEP_ADDRESS)
		see_of_result(s, i);
	if (s->kind == STEP_EXECUTE && s->memory) {
		if (s->reads && !moves)
			s->sees |= SEES_LOAD;
		if (s->writes)
			s->sees |= SEES_STORE;
		if (s->base != REG_RSP && (s->base != REG_NONE || s->index != REG_NONE))
			s->sees |= SEES_ADDRESS;
	}
	see_of_operation(s, i);
	if (s->unknown)
		s->sees = 0;
}

/*
 * ---- instructions like one before ----
 *
 * The usual ones differ from others in their displacement and immediate only: what was decoded is
 * taken from those, which takes a tenth of the time.
 */

static int64_t step_number(const uint8_t *bytes, size_t size)
{
	uint64_t number = 0;
	unsigned rest = 64 - 8 * (unsigned)size;

	if (!size)
		return 0;
	memcpy(&number, bytes, size);
	return (int64_t)(number << rest) >> rest;
}

static uint32_t *alike_at(struct values *v, const uint8_t *bytes, size_t head)
{
	uint64_t key = 0;

	memcpy(&key, bytes, head < sizeof(key) ? head : sizeof(key));
	return &v->steps.alike[(key * 0x9e3779b97f4a7c15u >> 32) % STEPS_ALIKE];
}

/* Its own thunk has another immediate than the one of `of`. */
static void take_thunk(struct values *v, struct step *s, const struct step *of, size_t immediate)
{
	uint8_t bytes[INSN_LENGTH_MAX];

	if (memcmp(s->bytes + s->length - immediate, of->bytes + s->length - immediate,
		    immediate) == 0)
		return;
	machine_bytes(&v->machine, of->thunk, bytes, s->copy);
	memcpy(bytes + s->copy - immediate, s->bytes + s->length - immediate, immediate);
	s->thunk = machine_add(&v->machine, bytes, s->copy, s->copied_at, 0);
	if (!s->thunk)
		s->kind = STEP_REFUSED;
}

static void decode_as(
	struct values *v, struct step *s, const struct step *of, const struct insn_shape *shape)
{
	const uint8_t *bytes = s->bytes + shape->head + shape->displacement;
	size_t immediate = (size_t)(shape->length - shape->head - shape->displacement);
	struct step own = *of;

	own.pc = s->pc;
	own.next = s->pc + shape->length;
	own.epoch = own.after = 0;
	own.loaded = 0;
	memcpy(own.bytes, s->bytes, sizeof(own.bytes));
	if (shape->displacement)
		own.displacement = step_number(s->bytes + shape->head, shape->displacement);
	if (shape->relative)
		own.displacement += (int64_t)own.next;
	if (own.kind == STEP_CONDITION || ((own.kind == STEP_JUMP || own.kind == STEP_CALL) &&
						  own.operand == OPERAND_IS_CONSTANT))
		own.target = own.next + (uint64_t)step_number(bytes, immediate);
	if (own.kind == STEP_PUSH && own.operand == OPERAND_IS_CONSTANT)
		own.target = (uint64_t)step_number(bytes, immediate);
	if (own.kind == STEP_EXECUTE && immediate)
		take_thunk(v, &own, of, immediate);
	*s = own;
}

/* False: there is none before, or it is unusual. */
static bool decode_alike(struct values *v, struct step *s, uint32_t **alike)
{
	struct insn_shape shape;
	const struct step *of;

	*alike = NULL;
	if (s->length < INSN_LENGTH_MAX - 1 || !isa_brief_shape(s->bytes, sizeof(s->bytes), &shape))
		return false;
	*alike = alike_at(v, s->bytes, shape.head);
	s->head = shape.head;
	of = **alike ? &v->steps.all[**alike - 1] : NULL;
	if (!of || of == s || of->kind == STEP_REFUSED || of->head != shape.head ||
		of->length != shape.length || memcmp(of->bytes, s->bytes, shape.head) != 0)
		return false;
	decode_as(v, s, of, &shape);
	return true;
}

/* ---- finding it ---- */

static void decode_step(struct values *v, struct step *s)
{
	struct isa_redirect r;
	uint32_t *alike;
	struct insn i;

	s->kind = STEP_REFUSED;
	if (decode_alike(v, s, &alike))
		return;
	s->base = s->index = s->result = s->source = s->other = REG_NONE;
	if (!isa_redirect(s->bytes, s->length, s->pc, &i, &r))
		return;
	s->length = i.length;
	s->next = s->pc + i.length;
	s->unknown = r.unknown;
	decode_kind(v, s, &i, &r);
	decode_sees(s, &i);
	value_clock_decode(s, &i);
	if (alike)
		*alike = (uint32_t)(s - v->steps.all) + 1;
}

/* Up to the longest instruction's bytes; at the end of an area, fewer. */
static uint8_t code_at(struct values *v, uint64_t pc, uint8_t bytes[INSN_LENGTH_MAX])
{
	size_t size = INSN_LENGTH_MAX - 1, here, next = 0;
	const uint8_t *code = snapshot_code(&v->snapshot, pc, &here);

	if (!code)
		return 0;
	memcpy(bytes, code, here < size ? here : size);
	if (here >= size)
		return (uint8_t)size;
	code = snapshot_code(&v->snapshot, pc + here, &next);
	if (code)
		memcpy(bytes + here, code, size - here);
	return (uint8_t)(code ? size : here);
}

/* Whether its bytes are there still. */
static bool is_unchanged(struct values *v, const struct step *s)
{
	uint8_t bytes[INSN_LENGTH_MAX];
	size_t here;
	const uint8_t *code = snapshot_code(&v->snapshot, s->pc, &here);

	if (code && here >= s->length)
		return memcmp(code, s->bytes, s->length) == 0;
	return code && code_at(v, s->pc, bytes) >= s->length &&
	       memcmp(bytes, s->bytes, s->length) == 0;
}

/*
 * ---- by address ----
 *
 * Instructions that are near to each other are so in the list of places, too: what is needed for
 * code that is new is in few lines of the caches.
 */

/* All room is used: decoding begins anew. */
static void steps_clear(struct values *v)
{
	memset(v->steps.places, 0, sizeof(v->steps.places));
	v->steps.count = 0;
	memset(v->steps.alike, 0, sizeof(v->steps.alike));
	v->steps.last = 0;
	machine_clear(&v->machine);
}

/* Where the number of an address is, or would be. */
static uint32_t *steps_place(struct values *v, uint64_t pc)
{
	size_t at = (pc >> 1) + ((pc >> REGION) * 0x9e3779b97f4a7c15u >> 40);
	uint32_t *place;

	do
		place = &v->steps.places[at++ % STEPS_PLACES];
	while (*place && v->steps.all[*place - 1].pc != pc);
	return place;
}

static struct step *decode_anew(struct values *v, uint64_t pc, uint32_t *place)
{
	uint8_t bytes[INSN_LENGTH_MAX], size = code_at(v, pc, bytes);
	struct step *s;

	if (!size)
		return NULL;
	if (v->steps.count == STEPS_MOST || !machine_has_room(&v->machine)) {
		steps_clear(v);
		place = steps_place(v, pc);
	}
	if (!*place)
		*place = ++v->steps.count;
	s = &v->steps.all[*place - 1];
	*s = (struct step){.pc = pc, .length = size};
	memcpy(s->bytes, bytes, size);
	decode_step(v, s);
	return s;
}

static struct step *step_sought(struct values *v, uint64_t pc)
{
	uint32_t *place = steps_place(v, pc);
	struct step *s = *place ? &v->steps.all[*place - 1] : NULL;

	return s && is_unchanged(v, s) ? s : decode_anew(v, pc, place);
}

/* The program has had the caches since the last window: the step that will probably be next is
 * fetched while this one is executed. */
static void fetch_next(const struct values *v, const struct step *s)
{
	const struct step *next = s->after ? &v->steps.all[s->after - 1] : NULL;

	if (!next)
		return;
	__builtin_prefetch(next);
	__builtin_prefetch((const char *)next + 64);
	__builtin_prefetch((const char *)(next + 1) - 1);
}

struct step *value_steps_find(struct values *v, uint64_t pc)
{
	struct step *before = v->steps.last ? &v->steps.all[v->steps.last - 1] : NULL,
		    *s = before && before->after ? &v->steps.all[before->after - 1] : NULL;
	uint32_t last = v->steps.last;

	if (!s || s->pc != pc || !is_unchanged(v, s)) {
		s = step_sought(v, pc);
		if (!s)
			return NULL;
		/* Nothing is known of it if decoding has begun anew. */
		if (last && v->steps.last)
			v->steps.all[last - 1].after = (uint32_t)(s - v->steps.all) + 1;
	}
	v->steps.last = (uint32_t)(s - v->steps.all) + 1;
	fetch_next(v, s);
	return s;
}

/* Executed once where it is not aligned: the processor knows. */
static bool accepts_unaligned(struct values *v, const struct step *s, uint64_t address)
{
	static struct machine_state before;
	struct isa_redirect r;
	struct insn i;
	uint64_t thunk;
	bool fits;

	if (!isa_redirect(s->bytes, s->length, s->pc, &i, &r))
		return false;
	thunk = machine_add(&v->machine, r.bytes, r.length, r.displacement, address % ALIGNED);
	if (!thunk)
		return true;
	before = *v->machine.state;
	fits = machine_run(&v->machine, thunk, s->state);
	*v->machine.state = before;
	return fits;
}

bool value_steps_fits(struct values *v, struct step *s, uint64_t address)
{
	if (s->unaligned || s->size < ALIGNED_LEAST || address % s->size == 0)
		return true;
	s->unaligned = accepts_unaligned(v, s, address);
	return s->unaligned;
}
