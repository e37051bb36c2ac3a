/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loads and stores: which of them can have missed.
 *
 * Ruled out are the stack (it has what a procedure pushed and spilled) and data that the same
 * block, or the block that always precedes it, has just accessed. Partly ruled out are data close
 * to these, and data that a loop reaches by a constant step: only one access in several can be in
 * a new line or page.
 */
#include <math.h>
#include <string.h>

#include "analysis/culprits_private.h"

/* Of loads of unknown addresses, the usual share that hits each level. Only the proportions among
 * these and to other causes matter. */
#define USUAL_L2     0.04
#define USUAL_LL     0.012
#define USUAL_MEMORY 0.003
#define USUAL_WALK   0.008
/* The share of a constant step's misses that a prefetcher leaves. */
#define UNFORESEEN 0.25
/* Of a loop's table of this share of the first level or of a page: how usual its misses are
 * compared with others'. */
#define SMALL_TABLE 0.25
#define USUAL_SMALL 0.03
/* Of stores that miss, the share that finds the store buffer full. */
#define USUAL_FULL  0.01
#define USUAL_FAULT 1e-5

#define REG_RBP (REG_GENERAL + 5)

bool culprit_is_stack(const struct culprit_search *s, const struct op_memory *m)
{
	uint32_t origin;

	if (m->base >= GENERALS || m->index != REG_NONE)
		return false;
	origin = s->value[m->base].origin;
	return m->base == REG_RSP || origin == s->stack || (s->framed && m->base == REG_RBP);
}

static struct culprit_access memory_place_of(
	const struct culprit_search *s, const struct op_memory *m)
{
	struct culprit_access a = {
		.scale = m->scale, .size = m->size, .at = (uint64_t)m->displacement};

	if (m->base < GENERALS) {
		a.base = s->value[m->base].origin;
		a.at += s->value[m->base].offset;
	}
	if (m->index < GENERALS) {
		a.index = s->value[m->index].origin;
		a.at += s->value[m->index].offset * m->scale;
	}
	return a;
}

static bool comparable(const struct culprit_access *a, const struct culprit_access *b)
{
	return a->base == b->base && a->index == b->index && (a->scale == b->scale || !a->index);
}

/* The nearest earlier access, and whether a store wrote any of the bytes. */
struct history {
	double distance;                    /* bytes to the nearest access; INFINITY: none */
	const struct culprit_access *store; /* the last store to any of the bytes */
};

static struct history look_back(const struct culprit_search *s, const struct culprit_access *a)
{
	struct history h = {INFINITY, NULL};
	uint32_t n = s->accesses < ACCESSES_KEPT ? s->accesses : ACCESSES_KEPT;

	for (uint32_t k = 1; k <= n; k++) {
		const struct culprit_access *b = &s->access[(s->accesses - k) % ACCESSES_KEPT];

		if (!comparable(a, b))
			continue;
		h.distance = fmin(h.distance, fabs((double)(int64_t)(a->at - b->at)));
		if (b->store && !h.store && (a->at - b->at < b->size || b->at - a->at < a->size))
			h.store = b;
	}
	return h;
}

static bool covers(const struct culprit_access *store, const struct culprit_access *a)
{
	uint64_t into = a->at - store->at;

	return into <= store->size && into + a->size <= store->size;
}

/* The share of executions that can be in another line (page) than the execution before. */
static double fresh(double distance, double stride, double unit)
{
	double share = fmin(distance / unit, 1);

	return stride >= 0 ? fmin(share, fmin(stride / unit, 1)) : share;
}

/* A loop that steps through more than a level holds finds nothing in it when entered again. The
 * level that has the data; CULPRITS: unknown. */
static unsigned walks_through(const struct culprit_search *s, double stride)
{
	uint32_t loop = s->in->flow->blocks.data[s->block].loop;
	const double *holds = s->in->machine->data;
	double bytes;
	unsigned from = CULPRITS;

	if (!(stride > 0) || loop == FLOW_NONE || !(s->loops[loop].entries > 0))
		return CULPRITS;
	bytes = s->in->executions[s->block] / s->loops[loop].entries * stride;
	for (unsigned k = 0; k < 3 && holds[k] > 0 && bytes > holds[k]; k++)
		from = CULPRIT_L2 + k;
	return from;
}

static void suspect_levels(struct culprit_search *s, double most, double likely, uint32_t blame)
{
	culprit_suspect(s, CULPRIT_L2, most, likely * USUAL_L2, blame);
	culprit_suspect(s, CULPRIT_LL, most, likely * USUAL_LL, blame);
	culprit_suspect(s, CULPRIT_MEMORY, most, likely * USUAL_MEMORY, blame);
}

/* A table at a fixed address with an index of few values is soon in the cache. */
static bool is_small_table(const struct culprit_search *s, const struct op_memory *m)
{
	uint32_t loop = s->in->flow->blocks.data[s->block].loop;
	uint64_t values = m->index < GENERALS ? s->value[m->index].values : 0;

	if (!values || (double)values * m->scale >
			       fmax(s->in->machine->data[0] * SMALL_TABLE, s->in->machine->page))
		return false;
	return m->base == REG_NONE ||
	       (m->base < GENERALS && loop != FLOW_NONE && !s->loops[loop].writes[m->base]);
}

/* Better than rules: where its data came from. Among levels that are alike, rules decide: misses of
 * L1 are so likely. */
static void levels_seen(
	struct culprit_search *s, const struct culprit_seen *seen, double likely, uint32_t blame)
{
	static const double usual[] = {USUAL_L2, USUAL_LL, USUAL_MEMORY};

	for (unsigned k = 0; k < 3; k++)
		culprit_suspect(s, (enum culprit_cause)(CULPRIT_L2 + k),
			s->executions * seen->most[k],
			seen->alike[k] ? likely * usual[k] : s->executions * seen->share[k], blame);
}

static void load_known(struct culprit_search *s, const struct op_memory *m, uint32_t blame)
{
	struct culprit_access a = memory_place_of(s, m);
	struct history h = look_back(s, &a);
	double stride = culprit_stride(s, m), n = s->executions;
	double usual = stride >= 0 ? UNFORESEEN : 1;
	const struct culprit_seen *seen = s->in->seen ? &s->in->seen[s->insn] : NULL;
	double line, page;
	unsigned from;

	if (seen && seen->forwarding)
		culprit_suspect(s, CULPRIT_FORWARD, n * seen->blocked_most, n * seen->blocked,
			h.store ? h.store->insn : blame);
	if (h.store && !covers(h.store, &a) && !(seen && seen->forwarding)) {
		culprit_suspect(s, CULPRIT_FORWARD, n, n, h.store->insn);
		return;
	}
	if (culprit_is_stack(s, m) || h.store) {
		if (seen && seen->levels)
			levels_seen(s, seen, 0, blame);
		return;
	}
	line = n * fresh(h.distance, stride, s->in->machine->line);
	page = n * fresh(h.distance, stride, s->in->machine->page);
	if (m->base == REG_NONE && m->index == REG_NONE)
		usual *= 0.1; /* one place: mostly still in the cache */
	if (is_small_table(s, m))
		usual *= USUAL_SMALL;
	if (seen && seen->levels) {
		levels_seen(s, seen, line * usual, blame);
		line = 0;
	}
	if (line > 0)
		suspect_levels(s, line, line * usual, blame);
	from = walks_through(s, stride);
	if (line > 0 && from < CULPRITS)
		culprit_suspect(s, (enum culprit_cause)from, 1e-9 * line, line * usual, blame);
	if (page > 0)
		culprit_suspect(s, CULPRIT_DTLB, page, page * usual * USUAL_WALK, blame);
}

/* In order, the instruction that uses the data waits, else the load. */
static void loads_at(struct culprit_search *s, const struct op *op, const struct insn *insn)
{
	if (insn->classes & (INSN_PREFETCH | INSN_NOP | INSN_RETURN | INSN_SYSCALL))
		return;
	if (insn->memories && insn->memory[0].segment)
		return; /* thread-local: small and often used */
	if (insn->classes & (INSN_REP | INSN_GATHER) || insn->more_memory) {
		suspect_levels(s, INFINITY, s->executions, s->insn);
		culprit_suspect(s, CULPRIT_DTLB, INFINITY, s->executions * USUAL_WALK, s->insn);
	} else if (op->load.there) {
		load_known(s, &op->load, s->insn);
	}
}

static void stores_at(struct culprit_search *s, const struct op *op, const struct insn *insn)
{
	struct culprit_access a;
	double n = s->executions, usual = USUAL_FULL, stride, distance, page;

	if (insn->classes & INSN_REP) {
		culprit_suspect(s, CULPRIT_STORES, INFINITY, n, s->insn);
		return;
	}
	if (!op->store.there || (insn->memories && insn->memory[0].segment))
		return;
	a = memory_place_of(s, &op->store);
	stride = culprit_stride(s, &op->store);
	distance = look_back(s, &a).distance;
	if (culprit_is_stack(s, &op->store) || insn->classes & INSN_STACK)
		usual *= 0.1;
	culprit_suspect(s, CULPRIT_STORES, n, n * usual, s->insn);
	page = culprit_is_stack(s, &op->store) ? 0
					       : n * fresh(distance, stride, s->in->machine->page);
	if (page > 0)
		culprit_suspect(s, CULPRIT_DTLB, page, page * USUAL_WALK * 0.2, s->insn);
}

void culprit_memory(struct culprit_search *s, const struct op *op, const struct insn *insn)
{
	if (insn->classes & INSN_LOAD)
		loads_at(s, op, insn);
	if (insn->classes & INSN_STORE)
		stores_at(s, op, insn);
	if (s->in->faults && insn->classes & (INSN_LOAD | INSN_STORE) &&
		!(insn->classes & (INSN_PREFETCH | INSN_STACK)))
		culprit_suspect(
			s, CULPRIT_FAULT, s->executions, s->executions * USUAL_FAULT, s->insn);
}

/* ---- the state after an instruction ---- */

/* Registers that a called function preserves: rbx, rsp, rbp, r12 to r15. */
#define KEPT 0xf038u

void culprit_clear(struct culprit_search *s)
{
	s->origins = 1;
	s->accesses = 0;
	for (unsigned r = 0; r < GENERALS; r++)
		s->value[r] = (struct culprit_value){++s->origins, 0, 0};
	s->stack = s->value[REG_RSP].origin;
	memset(s->writer, 0, REG_COUNT * sizeof(*s->writer));
}

static void note_access(
	struct culprit_search *s, const struct op_memory *m, bool store, uint32_t insn)
{
	struct culprit_access a = memory_place_of(s, m);

	a.store = store;
	a.insn = insn;
	s->access[s->accesses++ % ACCESSES_KEPT] = a;
}

/* Exclusive upper bound of a general register that the instruction has written; 0: unknown. */
static uint64_t memory_values_of(const struct culprit_search *s, const struct insn *insn)
{
	const char *mnemonic = isa_mnemonic(ISA_X86_64, insn->mnemonic);
	const struct insn_operand *to = &insn->operand[0], *from = &insn->operand[1];
	unsigned bits = from->kind == OPERAND_GENERAL ? from->bits
			: insn->memories              ? insn->memory[0].size * 8
						      : 64;
	uint64_t before = to->reg < GENERALS ? s->value[to->reg].values : 0;

	if (!strcmp(mnemonic, "movzx"))
		return bits < 32 ? UINT64_C(1) << bits : 0;
	if (!strcmp(mnemonic, "and") && insn->has_immediate && insn->immediate >= 0)
		return (uint64_t)insn->immediate + 1;
	if (!strcmp(mnemonic, "shr") && insn->has_immediate && insn->immediate > 0 &&
		insn->immediate < to->bits && to->bits - insn->immediate < 32)
		return UINT64_C(1) << (to->bits - insn->immediate);
	if (!strcmp(mnemonic, "mov") && from->kind == OPERAND_GENERAL && from->reg < GENERALS)
		return from->bits >= 32 ? s->value[from->reg].values : 0;
	return !strcmp(mnemonic, "and") || !strcmp(mnemonic, "shr") ? before : 0;
}

void culprit_pass(
	struct culprit_search *s, const struct op *op, const struct insn *insn, uint32_t i)
{
	unsigned changed = op->changed < GENERALS ? op->changed : REG_NONE;
	struct culprit_value now = {0, 0, 0};
	struct insn_registers written = insn->writes;
	uint64_t values;

	if (op->load.there)
		note_access(s, &op->load, false, i);
	if (op->store.there)
		note_access(s, &op->store, true, i);
	if (changed != REG_NONE && op->change == OP_CHANGE_ADD)
		now = s->value[changed];
	else if (changed != REG_NONE && op->change == OP_CHANGE_COPY && op->from < GENERALS)
		now = s->value[op->from];
	now.offset += (uint64_t)op->constant;
	for (unsigned r = 0; r < GENERALS; r++)
		if (insn_registers_have(&insn->writes, REG_GENERAL + r) && r != changed)
			s->value[r] = (struct culprit_value){++s->origins, 0, 0};
	values = changed != REG_NONE && insn->operands ? memory_values_of(s, insn) : 0;
	if (changed != REG_NONE) {
		s->value[changed] = now.origin ? now : (struct culprit_value){++s->origins, 0, 0};
		s->value[changed].values = values;
	}
	for (unsigned r; (r = insn_registers_take(&written)) != REG_NONE;)
		s->writer[r] = i + 1;
	if (!(insn->classes & (INSN_CALL | INSN_SYSCALL)))
		return;
	/* The called function may have changed any memory. */
	now = s->value[REG_RSP];
	now.offset += insn->classes & INSN_CALL ? 8 : 0;
	s->accesses = 0;
	for (unsigned r = 0; r < GENERALS; r++)
		if (!(KEPT >> r & 1))
			s->value[r] = (struct culprit_value){++s->origins, 0, 0};
	s->value[REG_RSP] = now;
}
