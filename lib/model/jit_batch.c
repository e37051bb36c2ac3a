/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code of segments for batch.h. While it runs, rbx has the record, r12 the batch, r13 the list's
 * next entry, r14 the order, r15 the place where the list is full. Apart from data that span two
 * lines, a full list, and the way to the next segment, there are no branches.
 */
#include "model/jit_x86.h"

#include "model/batch.h"
#include "model/branch.h"
#include "model/run.h"

#if JIT

#define BATCH_ACCESS_BYTES  192
#define BATCH_FETCH_BYTES   128
#define BATCH_OUTCOME_BYTES 128
#define BATCH_OTHER_BYTES   256
/* Of a segment that gets code, at most. */
#define BATCH_ACCESSES 64
#define BATCH_FETCHES  64
#define BATCH_OUTCOMES 8

#define RUNNING(field) jit_at(RDI, offsetof(struct model_segment, run.field))

static struct jit_memory batch_place(const struct model *m, const void *field)
{
	return jit_at(R12, (size_t)((const char *)field - (const char *)&m->batch));
}

typedef void (*batch_routine)(uint64_t, uint64_t, struct model *);
typedef void (*batch_record_routine)(const uint64_t *, uint64_t, struct model *);

static void jit_batch_call(struct jit *e, const struct model *m, batch_routine routine)
{
	jit_memory(e, OP_MOV_TO | WIDE, R13, batch_place(m, &m->batch.at));
	jit_move_wide(e, RDX, (uintptr_t)m);
	jit_call(e, (jit_routine)(void (*)(void))routine);
	jit_memory(e, OP_MOV | WIDE, R13, batch_place(m, &m->batch.at));
}

/* Of the record. */
static void jit_batch_call_record(
	struct jit *e, const struct model *m, batch_record_routine routine)
{
	jit_memory(e, OP_MOV_TO | WIDE, R14, batch_place(m, &m->batch.order));
	jit_registers(e, OP_MOV | WIDE, RDI, RBX);
	jit_batch_call(e, m, (batch_routine)(void (*)(void))routine);
	jit_memory(e, OP_MOV | WIDE, R14, batch_place(m, &m->batch.order));
}

/* ---- the frame ---- */

static void jit_batch_next(struct jit *e, const struct model *m)
{
	jit_memory(e, OP_CMP | WIDE, RBX, batch_place(m, &m->batch.end));
	jit_jump_if(e, NOT_BELOW, e->out);
	jit_memory(e, OP_MOV | WIDE, RDI, jit_at(RBX, 0));
	jit_memory(e, OP_MOV | WIDE, RAX, batch_place(m, &m->core->stamp));
	jit_shift_right(e, WIDE, RDI, MODEL_WORDS_BITS);
	jit_memory(e, OP_CMP | WIDE, RAX, RUNNING(stamp));
	jit_jump_if(e, NOT_EQUAL, e->again);
	jit_memory(e, OP_INC, 4, RUNNING(code)); /* jmp */
}

void jit_batch_frame(struct model *m)
{
	static const uint8_t saved[] = {RBX, RBP, R12, R13, R14, R15};
	struct jit *e = &m->jit;
	unsigned i;

	e->out = e->at;
	jit_memory(e, OP_MOV_TO | WIDE, R13, batch_place(m, &m->batch.at));
	jit_memory(e, OP_MOV_TO | WIDE, R14, batch_place(m, &m->batch.order));
	jit_constant(e, IMM_ADD, WIDE, RSP, 8);
	for (i = sizeof(saved); i-- > 0;)
		jit_push(e, saved[i], 0x58); /* pop */
	jit_byte(e, 0xc3);                   /* ret */
	e->again = e->at;
	jit_batch_call_record(e, m, batch_again);
	jit_memory(e, OP_MOV | WIDE, RDI, jit_at(RBX, 0));
	jit_shift_right(e, WIDE, RDI, MODEL_WORDS_BITS);
	jit_memory(e, OP_INC, 4, RUNNING(code)); /* jmp */
	e->plain = e->at;
	jit_batch_call_record(e, m, batch_record);
	jit_memory(e, OP_MOVZX_WORD, RAX, jit_at(RBX, 0));
	jit_memory(e, OP_LEA | WIDE, RBX, jit_indexed(RBX, RAX, 3, 0));
	jit_batch_next(e, m);
	e->run = (void (*)(const uint64_t *))(uintptr_t)e->at;
	for (i = 0; i < sizeof(saved); i++)
		jit_push(e, saved[i], 0x50);
	jit_constant(e, IMM_SUB, WIDE, RSP, 8);
	jit_registers(e, OP_MOV | WIDE, RBX, RDI);
	jit_move_wide(e, RAX, (uintptr_t)&m->batch);
	jit_registers(e, OP_MOV | WIDE, R12, RAX);
	jit_move_wide(e, RAX, (uintptr_t)(m->batch.list + BATCH_LIST));
	jit_registers(e, OP_MOV | WIDE, R15, RAX);
	jit_memory(e, OP_MOV | WIDE, R13, batch_place(m, &m->batch.at));
	jit_memory(e, OP_MOV | WIDE, R14, batch_place(m, &m->batch.order));
	jit_batch_next(e, m);
}

/* ---- segments ---- */

/* A word of memory becomes a constant, or is compared with it. */
static void jit_batch_constant(struct jit *e, int compare, struct jit_memory at, uint64_t value)
{
	if ((uint64_t)(int32_t)value == value) {
		jit_memory(e, compare ? OP_CMP_CONSTANT | WIDE : OP_MOV_CONSTANT | WIDE,
			compare ? 7 : 0, at);
		jit_word(e, (uint32_t)value);
		return;
	}
	jit_move_wide(e, RDX, value);
	jit_memory(e, compare ? OP_CMP | WIDE : OP_MOV_TO | WIDE, RDX, at);
}

/* The line is the one that its set had last from now on; was it not?  In the low byte of reg. */
static void jit_batch_recent(struct jit *e, const struct model *m, uint64_t line, unsigned reg)
{
	struct jit_memory at =
		batch_place(m, &m->batch.recent[BATCH_CODE][line & m->batch.mask[BATCH_CODE]]);

	jit_batch_constant(e, 1, at, line);
	jit_set_not_equal(e, reg);
	jit_batch_constant(e, 0, at, line);
}

/* The list has one entry more if the low byte of rcx says so. */
static void jit_batch_listed(struct jit *e)
{
	jit_registers(e, OP_MOVZX_BYTE, RCX, RCX);
	jit_memory(e, OP_LEA | WIDE, R13, jit_indexed(R13, RCX, 3, 0));
}

static void jit_batch_line(
	struct jit *e, const struct model *m, const struct model_segment *s, unsigned i)
{
	uint64_t line = s->block->fetches[i].line >> COMMON_LINE, entry = batch_entry(s, i);

	if (batch_is_second(s, i))
		return;
	jit_batch_recent(e, m, line, RCX);
	if (batch_is_second(s, i + 1)) {
		jit_batch_recent(e, m, line + 1, RAX);
		jit_registers(e, OP_OR, RCX, RAX);
	}
	jit_batch_constant(e, 0, jit_at(R13, 0), entry);
	jit_batch_listed(e);
}

/* Data that span two lines. */
struct jit_span {
	uint8_t *jump;
	const uint8_t *back;
};

static void jit_batch_access(
	struct jit *e, struct jit_span *span, const struct model *m, unsigned i, unsigned size)
{
	struct jit_memory recent = batch_place(m, m->batch.recent[BATCH_DATA]);

	jit_memory(e, OP_MOV | WIDE, RAX, jit_at(RBX, (1 + i) * sizeof(uint64_t)));
	span->jump = 0;
	if (size > 1) {
		jit_registers(e, OP_MOV, RCX, RAX);
		jit_constant(e, IMM_AND, 0, RCX, LINE_BYTES - 1);
		jit_constant(e, IMM_CMP, 0, RCX, (int32_t)(LINE_BYTES - size));
		span->jump = jit_jump_ahead(e, ABOVE);
	}
	jit_registers(e, OP_MOV | WIDE, RDX, RAX);
	jit_shift_right(e, WIDE, RDX, COMMON_LINE);
	jit_registers(e, OP_MOV, RCX, RDX);
	jit_constant(e, IMM_AND, 0, RCX, (int32_t)m->batch.mask[BATCH_DATA]);
	recent.index = RCX;
	recent.scale = 3;
	jit_memory(e, OP_CMP | WIDE, RDX, recent);
	jit_memory(e, OP_MOV_TO | WIDE, RDX, recent);
	jit_memory(e, OP_MOV_TO | WIDE, RAX, jit_at(R13, 0));
	jit_set_not_equal(e, RCX);
	jit_batch_listed(e);
	span->back = e->at;
}

static void jit_batch_span(
	struct jit *e, const struct jit_span *span, const struct model *m, unsigned accesses)
{
	if (!span->jump)
		return;
	jit_land(e, span->jump);
	jit_registers(e, OP_MOV | WIDE, RDI, RAX);
	jit_move_constant(e, RSI, accesses);
	jit_batch_call(e, m, batch_span);
	jit_jump(e, span->back);
}

/* A counter is one of four states: from 2 on it predicts that the branch is taken. The carry is
 * what a comparison with a constant says. */
static void jit_batch_conditional(
	struct jit *e, const struct model *m, const struct model_outcome *o)
{
	const struct predictor *p = &m->core->predictor;
	struct jit_memory counter =
		batch_place(m, p->counters + (o->from << COUNTER_HISTORY & p->base_mask));
	struct jit_memory wrong = batch_place(m, &m->batch.conditionals);

	counter.index = RCX;
	jit_memory(e, OP_MOV | WIDE, RAX, batch_place(m, &p->history));
	jit_registers(e, OP_MOV, RCX, RAX);
	jit_constant(e, IMM_AND, 0, RCX, (int32_t)(((1u << COUNTER_HISTORY) - 1) & p->base_mask));
	jit_memory(e, OP_MOVZX_BYTE, RDX, counter);
	jit_byte_constant(e, IMM_CMP, RDX, 2);
	if (o->taken) {
		jit_carry(e, IMM_ADC, wrong, 0);
		jit_byte_constant(e, IMM_CMP, RDX, 3);
	} else {
		jit_carry(e, IMM_SBB, wrong, 0xff);
		jit_byte_constant(e, IMM_SUB, RDX, 1);
	}
	jit_byte_constant(e, IMM_ADC, RDX, 0);
	jit_memory(e, OP_MOV_BYTE_TO, RDX, counter);
	if (o->taken)
		jit_memory(e, OP_LEA | WIDE, RAX, jit_indexed(RAX, RAX, 0, 1));
	else
		jit_registers(e, OP_ADD_TO | WIDE, RAX, RAX);
	jit_memory(e, OP_MOV_TO | WIDE, RAX, batch_place(m, &p->history));
}

static void jit_batch_indirect(struct jit *e, const struct model *m, const struct model_segment *s,
	const struct model_outcome *o)
{
	struct jit_memory at = batch_place(m, branch_counted_target(&m->core->predictor, o->from));

	if (o->target)
		jit_move_wide(e, RAX, o->target);
	else
		jit_memory(e, OP_MOV | WIDE, RAX,
			jit_at(RBX, (s->block->words - 1u) * sizeof(uint64_t)));
	jit_memory(e, OP_CMP | WIDE, RAX, at);
	jit_memory(e, OP_MOV_TO | WIDE, RAX, at);
	jit_set_not_equal(e, RCX);
	jit_registers(e, OP_MOVZX_BYTE, RCX, RCX);
	jit_memory(e, OP_ADD_TO | WIDE, RCX, batch_place(m, &m->batch.indirects));
}

static void jit_batch_outcome(struct jit *e, const struct model *m, const struct model_segment *s,
	const struct model_outcome *o)
{
	if (!(m->parts & MODEL_PART_PREDICTORS))
		return;
	if (o->kind == MODEL_CONDITIONAL)
		jit_batch_conditional(e, m, o);
	else if (o->kind == MODEL_INDIRECT_CALL || o->kind == MODEL_INDIRECT_JUMP)
		jit_batch_indirect(e, m, s, o);
}

static void jit_batch_code(struct jit *e, const struct model *m, const struct model_segment *s)
{
	const struct model_access *a = s->block->accesses;
	struct jit_span spans[BATCH_ACCESSES];
	uint8_t *full;
	const uint8_t *back;
	unsigned i;

	jit_look_at_next(e, s);
	jit_memory(e, OP_INC, 0, RUNNING(count));
	jit_registers(e, OP_CMP | WIDE, R13, R15);
	full = jit_jump_ahead(e, NOT_BELOW);
	back = e->at;
	if (s->block->special_count) {
		jit_move_wide(e, RDI, (uintptr_t)s);
		jit_batch_call(e, m, (batch_routine)(void (*)(void))batch_specials);
	}
	for (i = 0; i < s->fetch_count; i++)
		jit_batch_line(e, m, s, i);
	for (i = 0; i < s->access_count; i++)
		jit_batch_access(e, &spans[i], m, i, a[i].size);
	for (i = 0; i < s->outcome_count; i++)
		jit_batch_outcome(e, m, s, &s->outcomes[i]);
	jit_constant(e, IMM_ADD, WIDE, R14, s->insn_count);
	jit_constant(e, IMM_ADD, WIDE, RBX, s->block->words * (int)sizeof(uint64_t));
	jit_batch_next(e, m);
	jit_turn(e);
	jit_land(e, full);
	jit_batch_call(e, m, batch_full);
	jit_jump(e, back);
	for (i = 0; i < s->access_count; i++)
		jit_batch_span(e, &spans[i], m, a[i].kind == MODEL_ACCESS_MODIFY ? 2 : 1);
	jit_turn(e);
}

static int jit_batch_serves(const struct model_segment *s)
{
	const struct model_access *a = s->block->accesses;

	for (unsigned i = 0; i < s->access_count; i++)
		if (a[i].guarded || a[i].kind == MODEL_ACCESS_PREFETCH || !a[i].size ||
			a[i].size > LINE_BYTES)
			return 0;
	return !s->slow && s->access_count <= BATCH_ACCESSES && s->fetch_count <= BATCH_FETCHES &&
	       s->outcome_count <= BATCH_OUTCOMES;
}

void jit_batch_segment(struct model *m, struct model_segment *s)
{
	struct jit *e = &m->jit;

	s->run.code = e->plain;
	if (!e->begin || !s->often || !jit_batch_serves(s))
		return;
	if (s->code_epoch != e->epoch) {
		if (!jit_has_room(e, BATCH_OTHER_BYTES +
					     s->access_count * (size_t)BATCH_ACCESS_BYTES +
					     s->outcome_count * (size_t)BATCH_OUTCOME_BYTES +
					     s->fetch_count * (size_t)BATCH_FETCH_BYTES))
			jit_again(m);
		s->code = e->at;
		s->code_epoch = e->epoch;
		jit_batch_code(e, m, s);
	}
	s->run.code = s->code;
}

#else

void jit_batch_segment(struct model *m, struct model_segment *s)
{
	(void)m;
	s->run.code = m->jit.out;
}

#endif
