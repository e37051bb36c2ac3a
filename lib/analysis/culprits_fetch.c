/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Causes that depend on how an instruction was reached.
 *
 * Misses of code: an instruction in the same line as all of its predecessors cannot have missed
 * (the paper's rule). An instruction in a loop without calls that fits the first level has missed
 * at most once per entry of the loop.
 *
 * Mispredictions: a predictor that always foresees the more frequent direction of a branch is
 * wrong as often as the other direction is taken; one that foresees both, at most twice as often.
 * So the exit of a long loop is suspicious and its back edge is not.
 */
#include <math.h>

#include "analysis/culprits_private.h"

/* Edges that lead here less often than this share of the block's executions do not count. */
#define RARE 0.02
/* Usual shares of the possible mispredictions. */
#define USUAL_BRANCH   0.5
#define USUAL_INDIRECT 0.2
#define USUAL_ENTRY    0.02
#define USUAL_RETURN   0.01
/* Least share of mispredictions of a branch, whatever the estimates of its edges are. */
#define LEAST_BRANCH 0.005
/* Without a better guess. */
#define USUAL_LINE 0.01
#define USUAL_PAGE 0.001
#define USUAL_JUMP 0.3

/* Executions by the kind of edge that they came by. */
struct arrival {
	double total;          /* all that are known, and those that must have come from outside */
	double outside;        /* callers, unknown jumps */
	double lines, pages;   /* came from another line */
	double jumped;         /* taken branches */
	double wrong, wrongly; /* mispredictions: at most, and usually */
	uint32_t branch, line_from; /* instruction to blame: the last one before */
};

static uint64_t unit_of(const struct insn *i, uint32_t unit)
{
	return (i->address + i->length - 1) / unit;
}

/* The executions of an edge; if unknown, of the current instruction. */
static double edge_times(const struct culprit_search *s, uint32_t edge)
{
	double n = s->in->edges ? s->in->edges[edge] : NAN;

	return isnan(n) ? s->executions : n;
}

static void fetch_count_wrong(const struct culprit_search *s, struct arrival *a, uint32_t edge)
{
	const struct flow *f = s->in->flow;
	const struct flow_edge *e = &f->edges.data[edge];
	const struct flow_block *b = &f->blocks.data[e->from];
	const struct insn *last = flow_last(f, b);
	double here = edge_times(s, edge), others = 0, lesser, wrong;

	if (last->classes & INSN_INDIRECT && !(last->classes & INSN_CALL)) {
		a->wrong += here;
		a->wrongly += USUAL_INDIRECT * here;
		a->branch = b->first + b->count - 1;
		return;
	}
	if (!(last->classes & INSN_CONDITIONAL))
		return;
	for (uint32_t k = b->first_out; k < b->first_out + b->outs; k++)
		others += k == edge ? 0 : edge_times(s, k);
	if (b->outs < 2) /* its other edge leads out of the procedure */
		others = fmax(s->in->executions[e->from] - here, 0);
	lesser = fmax(fmin(here, others), LEAST_BRANCH * (here + others));
	wrong = fmin(here, 2 * lesser);
	a->wrong += wrong;
	/* After a misprediction, the other direction had been foreseen. */
	a->wrongly += here + others > 0
			      ? fmin(USUAL_BRANCH * lesser * others / (here + others) * 2, wrong)
			      : 0;
	a->branch = b->first + b->count - 1;
}

static void count_edge(const struct culprit_search *s, struct arrival *a, uint32_t edge)
{
	const struct flow *f = s->in->flow;
	const struct flow_edge *e = &f->edges.data[edge];
	const struct flow_block *b = &f->blocks.data[e->from];
	const struct insn *insn = &f->insns.data[s->insn], *last = flow_last(f, b);
	double n = edge_times(s, edge);

	a->total += n;
	if (e->kind != FLOW_FALL)
		a->jumped += n;
	fetch_count_wrong(s, a, edge);
	if (n < RARE * s->executions)
		return;
	if (unit_of(last, s->in->machine->line) != unit_of(insn, s->in->machine->line)) {
		a->lines += n;
		a->line_from = b->first + b->count - 1;
	}
	if (unit_of(last, s->in->machine->page) != unit_of(insn, s->in->machine->page))
		a->pages += n;
}

static void count_block(const struct culprit_search *s, struct arrival *a)
{
	const struct flow *f = s->in->flow;
	const struct flow_block *b = &f->blocks.data[s->block];

	for (uint32_t k = b->first_in; k < b->first_in + b->ins; k++)
		count_edge(s, a, f->in[k]);
	if (b->flags & (FLOW_ENTRY | FLOW_ORPHAN) || !b->ins || f->missing)
		a->outside = b->flags & (FLOW_ENTRY | FLOW_ORPHAN) || !b->ins
				     ? fmax(s->executions - a->total, LEAST_BRANCH * s->executions)
				     : fmax(s->executions - a->total, 0);
	a->lines += a->outside;
	a->pages += a->outside;
	a->jumped += a->outside;
	a->wrong += a->outside;
	a->wrongly += a->outside * (b->flags & FLOW_ENTRY ? USUAL_ENTRY : USUAL_INDIRECT);
}

/* The greatest number of code misses if loops around keep the code. */
double culprit_held(const struct culprit_search *s, double times, double room, double unit)
{
	const struct flow *f = s->in->flow;
	uint32_t at = f->blocks.data[s->block].loop;

	for (; at != FLOW_NONE; at = f->loops.data[at].parent) {
		const struct flow_loop *l = &f->loops.data[at];
		const struct flow_block *first = &f->blocks.data[l->first];
		const struct insn *end = flow_last(f, &f->blocks.data[l->last]);
		double bytes =
			(double)(end->address + end->length - f->insns.data[first->first].address);

		if (s->loops[at].calls || bytes > room * unit / 2)
			break;
		if (!isnan(s->loops[at].entries))
			times = fmin(times, s->loops[at].entries);
	}
	return times;
}

static void suspect_code(struct culprit_search *s, const struct arrival *a)
{
	const struct culprits_machine *m = s->in->machine;
	double lines = culprit_held(s, a->lines, m->fetch_lines, m->line);
	double pages = culprit_held(s, a->pages, m->fetch_pages, m->page);

	if (lines > 0)
		culprit_suspect(s, CULPRIT_ICACHE, lines,
			lines * (s->in->line_misses ? s->in->line_misses[s->insn] : USUAL_LINE),
			a->line_from);
	if (pages > 0)
		culprit_suspect(s, CULPRIT_ITLB, pages,
			pages * (s->in->page_misses ? s->in->page_misses[s->insn] : USUAL_PAGE),
			a->line_from);
}

/* The instruction after a call is reached from any return of the callee. */
static void count_return(const struct culprit_search *s, struct arrival *a, uint32_t call)
{
	double n = s->executions;

	a->lines += n;
	a->pages += n;
	a->jumped += n;
	a->wrong += n;
	a->wrongly += USUAL_RETURN * n;
	a->branch = a->line_from = call;
}

static void count_straight(const struct culprit_search *s, struct arrival *a)
{
	const struct insn *insn = &s->in->flow->insns.data[s->insn];

	if (unit_of(insn - 1, s->in->machine->line) != unit_of(insn, s->in->machine->line))
		a->lines += s->executions;
	if (unit_of(insn - 1, s->in->machine->page) != unit_of(insn, s->in->machine->page))
		a->pages += s->executions;
	a->line_from = s->insn - 1;
}

void culprit_reached(struct culprit_search *s)
{
	const struct flow *f = s->in->flow;
	const struct flow_block *b = &f->blocks.data[s->block];
	const struct insn *insn = &f->insns.data[s->insn];
	struct arrival a = {.branch = FLOW_NONE, .line_from = FLOW_NONE};

	if (s->insn == b->first)
		count_block(s, &a);
	else if (!s->in->behind_calls && insn[-1].classes & (INSN_CALL | INSN_SYSCALL))
		count_return(s, &a, s->insn - 1);
	else
		count_straight(s, &a);
	if (s->in->behind_calls && insn->classes & INSN_CALL)
		count_return(s, &a, s->insn);
	suspect_code(s, &a);
	if (a.wrong > 0)
		culprit_suspect(s, CULPRIT_MISPREDICT, a.wrong, a.wrongly, a.branch);
	if (a.wrong > 0 && !s->in->counted)
		s->suspect[CULPRIT_MISPREDICT].spare =
			fmax(s->executions - a.wrong, 0) *
			s->in->machine->cost[CULPRIT_MISPREDICT].maximum;
	if (a.jumped > 0)
		culprit_suspect(s, CULPRIT_FRONT_END, a.jumped, a.jumped * USUAL_JUMP, a.branch);
}

/* The possible waits at an edge's end: waits that came from elsewhere are not shown. */
static double room_of(const struct culprit_search *s, uint32_t edge)
{
	const struct flow *f = s->in->flow;
	uint32_t to = f->blocks.data[f->edges.data[edge].to].first;
	double code = s->in->events[CULPRIT_ICACHE] ? s->in->events[CULPRIT_ICACHE][to] : 0;

	return fmax(s->in->cycles[to] - code, 0);
}

/* Likewise, beyond the instruction's own cycles. */
static double surplus_of(const struct culprit_search *s, uint32_t edge)
{
	const struct flow *f = s->in->flow;
	const struct flow_block *to = &f->blocks.data[f->edges.data[edge].to];
	struct op op;
	double own;

	op_make_block(s->in->core, &f->insns.data[to->first], 1, false, &op);
	own = fmax((double)op.latency - 1, 0) + (op.loads ? (double)op.load_latency : 0);
	return fmax(room_of(s, edge) - own * s->in->executions[f->edges.data[edge].to], 0);
}

/* Of a conditional branch, rather at the end of the less frequent edge, as the other direction was
 * foreseen. Of others, at the edge whose end waited. */
static void divide_wrong(struct culprit_search *s, const struct flow_block *from, double wrong)
{
	bool conditional = flow_last(s->in->flow, from)->classes & INSN_CONDITIONAL;
	uint32_t end = from->first_out + from->outs;
	double all = 0, weights = 0, left = wrong, room = 0;

	for (uint32_t k = from->first_out; k < end; k++)
		all += edge_times(s, k);
	for (uint32_t k = from->first_out; k < end; k++)
		weights += s->wrong[k] =
			conditional && from->outs > 1 ? all - edge_times(s, k) : room_of(s, k);
	for (uint32_t k = from->first_out; k < end; k++) {
		s->wrong[k] = fmin(weights > 0 ? wrong * s->wrong[k] / weights : 0, room_of(s, k));
		left -= s->wrong[k];
		room += fmax(surplus_of(s, k) - s->wrong[k], 0);
	}
	for (uint32_t k = from->first_out; k < end && room > 0 && left > 0; k++)
		s->wrong[k] += fmax(surplus_of(s, k) - s->wrong[k], 0) * fmin(left / room, 1);
}

/* The possible waits at a block, as far as no known edge explains its executions. */
static double unknown_room(const struct culprit_search *s, const struct flow_block *b)
{
	double n = s->in->executions[b - s->in->flow->blocks.data], known = 0;

	for (uint32_t k = b->first_in; k < b->first_in + b->ins; k++) {
		double times = s->in->edges ? s->in->edges[s->in->flow->in[k]] : NAN;

		known += isnan(times) ? n : times;
	}
	return b->flags & FLOW_ORPHAN && n > known ? s->in->cycles[b->first] * (1 - known / n) : 0;
}

void culprit_wrong_ways(struct culprit_search *s)
{
	const struct flow *f = s->in->flow;
	double unknown = 0;

	for (size_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		double wrong = s->in->events[CULPRIT_MISPREDICT][b->first + b->count - 1];

		s->block = (uint32_t)i;
		s->executions = s->in->executions[i];
		unknown += unknown_room(s, b);
		if (wrong > 0 && b->flags & FLOW_UNKNOWN)
			s->wrong_unknown += wrong;
		else if (wrong > 0)
			divide_wrong(s, b, wrong);
	}
	s->wrong_unknown = fmin(s->wrong_unknown / fmax(unknown, 1), 1);
}

/* Mispredictions that were counted at the branches before it. */
void culprit_mispredicted(struct culprit_search *s)
{
	const struct flow *f = s->in->flow;
	const struct flow_block *b = &f->blocks.data[s->block];
	const double *most = s->in->events_most[CULPRIT_MISPREDICT];
	const struct culprit_cost *cost = &s->in->machine->cost[CULPRIT_MISPREDICT];
	const struct insn *insn = &f->insns.data[s->insn];
	double n, top, wrong = 0;
	uint32_t blame = FLOW_NONE;

	if (!s->suspect[CULPRIT_MISPREDICT].there)
		return;
	if (s->insn > b->first || (s->in->behind_calls && insn->classes & INSN_CALL))
		wrong = s->in->wrong_returns;
	else if (b->flags & FLOW_ENTRY)
		wrong = s->in->wrong_calls;
	wrong *= s->executions;
	n = wrong * cost->typical;
	top = fmin(4 * wrong, s->executions) * cost->maximum;
	for (uint32_t k = b->first_in; s->insn == b->first && k < b->first_in + b->ins; k++) {
		const struct flow_block *from = &f->blocks.data[f->edges.data[f->in[k]].from];
		uint32_t branch = from->first + from->count - 1;

		n += s->wrong[f->in[k]];
		top += fmin(most[branch], edge_times(s, f->in[k]) * cost->maximum);
		blame = branch;
	}
	if (s->insn == b->first) {
		double others = unknown_room(s, b);

		n += others * s->wrong_unknown;
		top += others;
	}
	culprit_counted(s, CULPRIT_MISPREDICT, n, top, blame);
}
