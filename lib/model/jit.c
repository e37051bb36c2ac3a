/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes the code of segments. While it runs, rbx has the record, r12 the core, r13 the tick, r14
 * the order, r15 the context: registers that calls preserve.
 *
 * Code is never changed, only given up as a whole when its memory is full: then no segment is seen
 * (model_running.seen), so that none is entered before it gets new code.
 */
#include "model/jit.h"

#include "model/branch.h"
#include "model/jit_stores.h"
#include "model/run.h"

#if JIT

/* Most bytes of an access, and of the rest of a segment. */
#define JIT_ACCESS_BYTES  640
#define JIT_SEGMENT_BYTES 160
#define JIT_FETCH_BYTES   32
#define JIT_OUTCOME_BYTES 224
/* Routines that the code calls, as pointers in front of it: they may be far away. */
#define JIT_ROUTINES 32
/* Accesses, and branches, of a segment at most. */
#define JIT_ACCESSES 64
#define JIT_OUTCOMES 8

#define CONTEXT(field) jit_at(R15, offsetof(struct jit_context, field))
#define RUNNING(field) jit_at(RDI, offsetof(struct model_segment, run.field))

void jit_call(struct jit *e, jit_routine routine)
{
	jit_routine *table = (jit_routine *)(void *)e->begin;
	unsigned i = 0;

	while (table[i] && table[i] != routine)
		i++;
	table[i] = routine;
	jit_byte(e, 0xff); /* call [rip + ...] */
	jit_byte(e, 0x15);
	jit_relative(e, (const uint8_t *)&table[i]);
}

/* ---- the frame ---- */

/* To the code of the record's segment, if its stamp is the core's. */
static void jit_enter(struct jit *e, const uint8_t *otherwise)
{
	jit_memory(e, OP_MOV | WIDE, RDI, jit_at(RBX, 0));
	jit_memory(e, OP_MOV | WIDE, RAX, CORE(stamp));
	jit_shift_right(e, WIDE, RDI, MODEL_WORDS_BITS);
	jit_memory(e, OP_CMP | WIDE, RAX, RUNNING(stamp));
	jit_jump_if(e, NOT_EQUAL, otherwise);
	jit_memory(e, OP_INC, 4, RUNNING(code)); /* jmp */
}

/* Goes on with the next record. */
static void jit_next(struct jit *e)
{
	jit_memory(e, OP_CMP | WIDE, RBX, CONTEXT(end));
	jit_jump_if(e, NOT_BELOW, e->out);
	jit_enter(e, e->again);
}

static void jit_frame(struct jit *e)
{
	static const uint8_t saved[] = {RBX, RBP, R12, R13, R14, R15};
	unsigned i;

	e->out = e->at;
	jit_memory(e, OP_MOV_TO | WIDE, RBX, CONTEXT(at));
	jit_memory(e, OP_MOV_TO | WIDE, R13, CONTEXT(tick));
	jit_memory(e, OP_MOV_TO | WIDE, R14, CONTEXT(order));
	jit_memory(e, OP_MOV_TO | WIDE, RBP, CORE(stores.number));
	jit_constant(e, IMM_ADD, WIDE, RSP, 8);
	for (i = sizeof(saved); i-- > 0;)
		jit_push(e, saved[i], 0x58); /* pop */
	jit_byte(e, 0xc3);                   /* ret */
	e->again = e->at;
	jit_call(e, jit_stamp);
	jit_enter(e, e->out);
	e->enter = (void (*)(struct jit_context *))(uintptr_t)e->at;
	for (i = 0; i < sizeof(saved); i++)
		jit_push(e, saved[i], 0x50);
	jit_constant(e, IMM_SUB, WIDE, RSP, 8);
	jit_registers(e, OP_MOV | WIDE, R15, RDI);
	jit_memory(e, OP_MOV | WIDE, RBX, CONTEXT(at));
	jit_memory(e, OP_MOV | WIDE, R12, CONTEXT(core));
	jit_memory(e, OP_MOV | WIDE, RBP, CORE(stores.number));
	jit_memory(e, OP_MOV | WIDE, R13, CONTEXT(tick));
	jit_memory(e, OP_MOV | WIDE, R14, CONTEXT(order));
	jit_next(e);
}

static void jit_begin(struct model *m)
{
	struct jit *e = &m->jit;
	unsigned i;

	for (i = 0; i < JIT_ROUTINES; i++)
		((jit_routine *)(void *)e->begin)[i] = (jit_routine)0;
	e->at = e->begin + JIT_ROUTINES * sizeof(jit_routine);
	e->rare = e->end;
	e->epoch++;
	if (m->batch.on)
		jit_batch_frame(m);
	else
		jit_frame(e);
}

void model_set_code(struct model *m, void *memory, size_t bytes)
{
	if (!memory)
		return;
	fetched_lose(m, m->core);
	m->jit = (struct jit){.begin = memory,
		.end = (uint8_t *)memory + bytes / 2,
		.rare_end = (uint8_t *)memory + bytes};
	jit_begin(m);
}

/* ---- segments ---- */

void jit_slow_if(struct jit *e, struct jit_slow *slow, unsigned condition)
{
	slow->jumps[slow->count++] = jit_jump_ahead(e, condition);
}

/* rax: the address, rcx: the index of its slot. */
void jit_line(struct jit *e, unsigned i)
{
	jit_memory(e, OP_MOV | WIDE, RAX, jit_at(RBX, (1 + i) * sizeof(uint64_t)));
	jit_registers(e, OP_MOV, RCX, RAX);
	jit_shift_right(e, 0, RCX, COMMON_LINE);
	jit_constant(e, IMM_AND, 0, RCX, LINE_SLOTS - 1);
}

static void jit_slot(struct jit *e, struct jit_slow *slow, unsigned i)
{
	jit_line(e, i);
	jit_registers(e, OP_MOV | WIDE, RDX, RAX);
	jit_shift_right(e, WIDE, RDX, COMMON_LINE + LINE_SLOT_BITS);
	jit_memory(e, OP_CMP, RDX,
		jit_indexed(R12, RCX, 3, offsetof(struct core, line_slots[0].above)));
	jit_slow_if(e, slow, NOT_EQUAL);
}

/* The access is within one line. */
static void jit_within_line(struct jit *e, struct jit_slow *slow, unsigned size)
{
	if (size == 1)
		return;
	jit_registers(e, OP_MOV, RDX, RAX);
	jit_constant(e, IMM_AND, 0, RDX, LINE_BYTES - 1);
	jit_constant(e, IMM_CMP, 0, RDX, (int32_t)(LINE_BYTES - size));
	jit_slow_if(e, slow, ABOVE);
}

static void jit_uses(struct jit *e, const struct model *m)
{
	jit_memory(e, OP_MOVZX_WORD, RDX,
		jit_indexed(R12, RCX, 3, offsetof(struct core, line_slots[0].line)));
	jit_registers(e, OP_INC | WIDE, 0, R13);
	jit_memory(e, OP_MOV_TO | WIDE, R13,
		jit_indexed(R12, RDX, 3, offsetof(struct core, line_used)));
	if (!m->core->dtlb.ways)
		return;
	jit_memory(e, OP_MOVZX_WORD, RDX,
		jit_indexed(R12, RCX, 3, offsetof(struct core, line_slots[0].page)));
	jit_memory(e, OP_MOV_TO | WIDE, R13,
		jit_indexed(R12, RDX, 3, offsetof(struct core, page_used)));
}

void jit_call_access(struct jit *e, jit_routine routine, unsigned i, unsigned insn)
{
	jit_memory(e, OP_MOV_TO | WIDE, RBP, CORE(stores.number));
	jit_move_constant(e, RDI, i);
	jit_memory(e, OP_LEA | WIDE, RSI, jit_at(R14, insn + 1u));
	jit_call(e, routine);
	jit_memory(e, OP_MOV | WIDE, RBP, CORE(stores.number));
}

/* May a store go to the line, and into the buffer? */
static void jit_storable(struct jit *e, struct jit_slow *slow, const struct model *m)
{
	jit_memory(e, OP_CMP_BYTE, 7, jit_indexed(R12, RCX, 0, offsetof(struct core, storable)));
	jit_byte(e, 0);
	jit_slow_if(e, slow, EQUAL);
	if (!m->timed)
		return;
	jit_memory(e, OP_CMP | WIDE, RBP, CORE(clock.stores_full));
	jit_slow_if(e, slow, NOT_BELOW);
}

static int jit_buffers(const struct model *m)
{
	return (m->parts_away & MODEL_PART_STORES) != 0;
}

/* Low bits that the address may not have: it is within one granule, or begins with one. */
static unsigned jit_aligned(const struct model *m, const struct model_access *a)
{
	if (!jit_buffers(m) || a->way == WIDE_LOADS)
		return 0;
	return (a->size < STORE_GRANULE ? a->size : STORE_GRANULE) - 1u;
}

/* aligned: those that it is known not to have. */
static void jit_checks(struct jit *e, struct jit_slow *slow, const struct model *m,
	const struct model_access *a, unsigned aligned)
{
	int wide = a->way == WIDE_LOADS || a->way == WIDE_STORES;

	if (jit_aligned(m, a) > aligned) {
		jit_byte(e, 0xa8); /* test al, ... */
		jit_byte(e, jit_aligned(m, a));
		jit_slow_if(e, slow, NOT_EQUAL);
	}
	if (!jit_buffers(m) || wide)
		jit_within_line(e, slow, a->size);
	if (a->way != LOADS && a->way != WIDE_LOADS)
		jit_storable(e, slow, m);
}

/*
 * The access was in the line of the one before when its code was written, and mostly stays there.
 * Then that line, and its page, are the ones used last, and their slot is in rcx. Time goes on all
 * the same, as if they were used again.
 */
static void jit_together(struct jit *e, struct jit_slow *slow, const struct model *m, unsigned i,
	const struct model_access *a)
{
	unsigned before = jit_aligned(m, a - 1), known = jit_aligned(m, a);

	known = known <= before ? known : 0;
	jit_memory(e, OP_MOV | WIDE, RAX, jit_at(RBX, (1 + i) * sizeof(uint64_t)));
	jit_registers(e, OP_MOV | WIDE, RDX, RAX);
	jit_memory(e, OP_XOR | WIDE, RDX, jit_at(RBX, i * sizeof(uint64_t)));
	jit_registers(e, 0xf7 | WIDE, 0, RDX); /* test rdx, ... */
	jit_word(e, ~(LINE_BYTES - 1) | known);
	slow->apart = jit_jump_ahead(e, NOT_EQUAL);
	jit_checks(e, slow, m, a, known);
	jit_registers(e, OP_INC | WIDE, 0, R13);
	slow->together = e->at;
}

/* It was not, or something else was used since. */
static void jit_apart(struct jit *e, struct jit_slow *slow, const struct model *m, unsigned i,
	const struct model_access *a)
{
	jit_land(e, slow->apart);
	jit_slot(e, slow, i);
	jit_checks(e, slow, m, a, 0);
	jit_uses(e, m);
	jit_jump(e, slow->together);
}

/* A routine does all of it. */
static int jit_is_called(const struct model *m, const struct model_access *a)
{
	return a->way == OTHERWISE ||
	       a->size > (jit_buffers(m) ? (unsigned)JIT_WIDE : (unsigned)LINE_BYTES) ||
	       (jit_buffers(m) && a->way == WIDE_STORES && a->size % STORE_GRANULE);
}

/* together: access i is expected in the line of the one before. */
static void jit_access(struct jit *e, struct jit_slow *slow, const struct model *m, unsigned i,
	const struct model_access *a, int together)
{
	int loads = a->way == LOADS || a->way == MODIFIES || a->way == WIDE_LOADS;

	slow->routine = jit_access_routine(a);
	if (jit_is_called(m, a)) {
		jit_call_access(e, slow->routine, i, a->insn);
		return;
	}
	together = together && !jit_is_called(m, a - 1);
	if (together) {
		jit_together(e, slow, m, i, a);
	} else {
		jit_slot(e, slow, i);
		jit_checks(e, slow, m, a, 0);
	}
	if (jit_buffers(m) && loads)
		jit_far_from_stores(e, slow, a);
	if (jit_buffers(m) && a->way != LOADS && a->way != WIDE_LOADS)
		jit_remember(e, m, a->insn, a->size);
	if (!together)
		jit_uses(e, m);
	slow->back = e->at;
}

/* The rest of access i. What its routine used comes between it and the next. */
static void jit_slow(struct jit *e, struct jit_slow *slow, const struct model *m, unsigned i,
	const struct model_access *a)
{
	if (slow->apart)
		jit_apart(e, slow, m, i, a);
	if (slow->near_count)
		jit_near(e, slow, m, i, a);
	if (!slow->count)
		return;
	for (unsigned k = 0; k < slow->count; k++)
		jit_land(e, slow->jumps[k]);
	jit_call_access(e, slow->routine, i, a->insn);
	if (!slow[1].apart)
		jit_jump(e, slow->back);
}

/* Fetch goes on elsewhere. */
static void jit_taken(struct jit *e, const struct model *m)
{
	uint8_t *no_wait;

	jit_memory(e, OP_MOV | WIDE, RAX, CONTEXT(free));
	jit_memory(e, OP_LEA | WIDE, RDX, jit_at(R14, m->taken_interval));
	jit_registers(e, OP_SUB | WIDE, RAX, R14);
	jit_memory(e, OP_MOV_TO | WIDE, RDX, CONTEXT(free));
	no_wait = jit_jump_ahead(e, NOT_GREATER);
	jit_memory(e, OP_ADD_TO | WIDE, RAX, CORE(clock.front));
	jit_land(e, no_wait);
}

/* The branch was predicted right: enters the history, in rcx. */
static void jit_history(struct jit *e, struct jit_slow *slow, const struct model_outcome *o)
{
	if (o->taken)
		jit_memory(e, OP_LEA | WIDE, RCX, jit_indexed(RCX, RCX, 0, 1));
	else
		jit_registers(e, OP_ADD_TO | WIDE, RCX, RCX);
	jit_memory(e, OP_MOV_TO | WIDE, RCX, CORE(predictor.history));
	slow->back = e->at;
	slow->routine = o->taken ? jit_taken_dynamic : jit_passed_dynamic;
}

/* A settled conditional branch only enters the history. */
static void jit_conditional(
	struct jit *e, struct jit_slow *slow, const struct model *m, const struct model_outcome *o)
{
	jit_memory(e, OP_MOV | WIDE, RAX, CORE(predictor.base));
	jit_memory(e, OP_MOV | WIDE, RCX, CORE(predictor.history));
	jit_memory(
		e, OP_MOVZX_BYTE, RAX, jit_at(RAX, predictor_base(&m->core->predictor, o->from)));
	if (o->taken) {
		jit_byte(e, 0x34); /* xor al, 1 */
		jit_byte(e, 1);
	}
	jit_byte(e, 0xa8); /* test al, ~2 */
	jit_byte(e, 0xfd);
	jit_slow_if(e, slow, NOT_EQUAL);
	jit_history(e, slow, o);
}

/* A counter that predicts right becomes, or stays, a strong one. */
static void jit_counted(
	struct jit *e, struct jit_slow *slow, const struct model *m, const struct model_outcome *o)
{
	size_t at = o->from << COUNTER_HISTORY & m->core->predictor.base_mask;

	jit_memory(e, OP_MOV | WIDE, RCX, CORE(predictor.history));
	jit_memory(e, OP_MOV | WIDE, RDX, CORE(predictor.counters));
	jit_registers(e, OP_MOV, RAX, RCX);
	jit_constant(e, IMM_AND, 0, RAX,
		(int32_t)(((1u << COUNTER_HISTORY) - 1) & m->core->predictor.base_mask));
	jit_memory(e, OP_CMP_BYTE, 7, jit_indexed(RDX, RAX, 0, at));
	jit_byte(e, 2);
	jit_slow_if(e, slow, o->taken ? BELOW : NOT_BELOW);
	jit_memory(e, OP_MOV_BYTE_CONSTANT, 0, jit_indexed(RDX, RAX, 0, at));
	jit_byte(e, o->taken ? 3 : 0);
	jit_history(e, slow, o);
}

/* A return's or an indirect branch's routine has all that it usually needs; 0: it has not. */
static int jit_routine_serves(const struct model *m, const struct model_outcome *o)
{
	if (o->kind == MODEL_RETURN)
		return m->config.return_stack && !m->core->predictor.counters;
	return o->kind == MODEL_CALL || !o->target;
}

/* Neither conditional nor a direct jump. */
static void jit_elsewhere(struct jit *e, const struct model *m, const struct model_segment *s,
	const struct model_outcome *o, unsigned i)
{
	if (!jit_routine_serves(m, o)) {
		jit_move_constant(e, RDI, i);
		jit_call(e, jit_branch_slowly);
		return;
	}
	if (m->timed)
		jit_taken(e, m);
	if (o->kind == MODEL_CALL || o->kind == MODEL_INDIRECT_CALL) {
		jit_move_wide(e, RDI, o->from + s->block->insns[o->insn].length);
		jit_call(e, jit_called);
	}
	if (o->kind == MODEL_CALL)
		return;
	jit_move_wide(e, RDI, o->kind == MODEL_RETURN ? o->target : o->from);
	jit_move_constant(e, RSI, i);
	jit_call(e, o->kind == MODEL_RETURN ? jit_returned : jit_indirect);
}

static void jit_outcome(struct jit *e, struct jit_slow *slow, const struct model *m,
	const struct model_segment *s, unsigned i)
{
	const struct model_outcome *o = &s->outcomes[i];
	int counters = m->core->predictor.counters != 0;
	int known = o->kind == MODEL_CALL || o->kind == MODEL_RETURN;

	if (m->timed && o->taken && (o->kind == MODEL_JUMP || o->kind == MODEL_CONDITIONAL))
		jit_taken(e, m);
	if (!(m->parts_away & MODEL_PART_PREDICTORS))
		return;
	if (o->kind == MODEL_CONDITIONAL && counters)
		jit_counted(e, slow, m, o);
	else if (o->kind == MODEL_CONDITIONAL)
		jit_conditional(e, slow, m, o);
	else if (o->kind != MODEL_JUMP && !(known && counters && !m->timed))
		jit_elsewhere(e, m, s, o, i);
}

/* Instructions up to this one are executed. Only the first-order clock has to wait for them before
 * the record's end. */
static void jit_order(
	struct jit *e, struct jit_slow *slow, const struct model *m, unsigned insns, int last)
{
	if (insns)
		jit_constant(e, IMM_ADD, WIDE, R14, (int32_t)insns);
	if (m->timed ? !insns : !last)
		return;
	jit_memory(e, OP_CMP | WIDE, R14, CONTEXT(stop));
	jit_slow_if(e, slow, NOT_BELOW);
	slow->back = e->at;
	slow->routine = jit_stop;
}

static void jit_slow_part(struct jit *e, const struct jit_slow *slow, unsigned i, uint64_t from)
{
	if (!slow->count)
		return;
	for (unsigned k = 0; k < slow->count; k++)
		jit_land(e, slow->jumps[k]);
	jit_memory(e, OP_MOV_TO | WIDE, RBP, CORE(stores.number));
	jit_move_wide(e, RDI, from);
	jit_move_constant(e, RSI, i);
	jit_call(e, slow->routine);
	jit_jump(e, slow->back);
}

/* As fetched_use. */
static void jit_fetches(struct jit *e, const struct model_segment *s)
{
	jit_memory(e, OP_INC, 0, RUNNING(count));
	jit_memory(e, OP_MOV_TO | WIDE, RDI, CORE(last));
	if (!s->run.fetch_count)
		return;
	jit_memory(e, OP_MOV | WIDE, RDX, CORE(l1i.used));
	for (unsigned i = 0; i < s->run.fetch_count; i++) {
		if (i < MODEL_RUNNING_LINES) {
			jit_memory(e, OP_MOVZX_WORD, RAX,
				jit_at(RDI, offsetof(struct model_segment, run.entry) +
						    i * sizeof(s->run.entry[0])));
		} else {
			uint64_t hint = (uintptr_t)&s->block->fetches[i].hint;

			jit_move_wide(e, RAX, hint);
			jit_memory(e, OP_MOV, RAX, jit_at(RAX, 0));
		}
		jit_registers(e, OP_INC | WIDE, 0, R13);
		jit_memory(e, OP_MOV_TO | WIDE, R13, jit_indexed(RDX, RAX, 3, 0));
	}
}

void jit_look_at_next(struct jit *e, const struct model_segment *s)
{
	jit_memory(e, OP_MOV | WIDE, RAX, jit_at(RBX, s->block->words * sizeof(uint64_t)));
	jit_shift_right(e, WIDE, RAX, MODEL_WORDS_BITS);
	jit_memory(e, OP_PREFETCH, 1, jit_at(RAX, offsetof(struct model_segment, run)));
}

/* record: one of those that it will run. */
static void jit_code(
	struct jit *e, const struct model *m, const struct model_segment *s, const uint64_t *record)
{
	struct jit_slow accesses[JIT_ACCESSES + 1] = {0}, outcomes[JIT_OUTCOMES] = {0};
	struct jit_slow orders[JIT_OUTCOMES + 1] = {0};
	const struct model_access *a = s->run.accesses;
	unsigned i, insns = 0, count = m->addresses ? s->run.access_count : 0;

	jit_look_at_next(e, s);
	jit_fetches(e, s);
	for (i = 0; i < count; i++)
		jit_access(e, &accesses[i], m, i, &a[i],
			i && !((record[i] ^ record[1 + i]) >> COMMON_LINE));
	for (i = 0; i < s->outcome_count; i++) {
		jit_order(e, &orders[i], m, s->outcomes[i].insn + 1u - insns, 0);
		insns = s->outcomes[i].insn + 1u;
		jit_outcome(e, &outcomes[i], m, s, i);
	}
	jit_order(e, &orders[i], m, s->run.insn_count - insns, 1);
	if (m->core->retire && !m->sampled)
		jit_call(e, jit_retire);
	jit_constant(e, IMM_ADD, WIDE, RBX, s->block->words * (int)sizeof(uint64_t));
	jit_next(e);
	jit_turn(e);
	for (i = 0; i < count; i++)
		jit_slow(e, &accesses[i], m, i, &a[i]);
	for (i = 0; i < s->outcome_count; i++) {
		jit_slow_part(e, &orders[i], 0, 0);
		jit_slow_part(e, &outcomes[i], i, s->outcomes[i].from);
	}
	jit_slow_part(e, &orders[i], 0, 0);
	jit_turn(e);
}

void jit_again(struct model *m)
{
	fetched_lose(m, m->core);
	if (m->jit.begin)
		jit_begin(m);
}

static int jit_is_served(const struct model *m, const struct model_segment *s)
{
	for (unsigned i = 0; !m->addresses && i < s->access_count; i++)
		if (s->block->accesses[i].guarded)
			return 0;
	return !(s->run.way & (SPECIAL | WANDERS)) && s->run.access_count <= JIT_ACCESSES &&
	       s->outcome_count <= JIT_OUTCOMES;
}

void jit_segment(struct model *m, struct model_segment *s, const uint64_t *record)
{
	struct jit *e = &m->jit;

	s->run.code = e->out;
	if (!e->begin || !s->often || !jit_is_served(m, s))
		return;
	if (s->code_epoch != e->epoch) {
		if (!jit_has_room(e, JIT_SEGMENT_BYTES +
					     s->run.access_count * (size_t)JIT_ACCESS_BYTES +
					     s->outcome_count * (size_t)JIT_OUTCOME_BYTES +
					     s->run.fetch_count * (size_t)JIT_FETCH_BYTES))
			jit_again(m);
		s->code = e->at;
		s->code_epoch = e->epoch;
		jit_code(e, m, s, record);
	}
	s->run.code = s->code;
}

#else

void model_set_code(struct model *m, void *memory, size_t bytes)
{
	(void)m, (void)memory, (void)bytes;
}

void jit_again(struct model *m)
{
	fetched_lose(m, m->core);
}

void jit_segment(struct model *m, struct model_segment *s, const uint64_t *record)
{
	(void)record;
	s->run.code = m->jit.out;
}

#endif
