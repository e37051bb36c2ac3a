/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprits_private.h"
#include "base/sort.h"

static const struct {
	const char *name, *key;
	char letter;
} causes[CULPRITS] = {
	[CULPRIT_ICACHE] = {"I-cache miss", "icache", 'i'},
	[CULPRIT_ITLB] = {"ITLB miss", "itlb", 'I'},
	[CULPRIT_L2] = {"D-cache miss, from L2", "dcache-l2", 'd'},
	[CULPRIT_LL] = {"D-cache miss, from the last level", "dcache-ll", 'd'},
	[CULPRIT_MEMORY] = {"D-cache miss, from memory", "dcache-memory", 'd'},
	[CULPRIT_DTLB] = {"DTLB miss", "dtlb", 'D'},
	[CULPRIT_MISPREDICT] = {"Branch mispredict", "mispredict", 'p'},
	[CULPRIT_STORES] = {"Store buffer", "store-buffer", 'w'},
	[CULPRIT_FORWARD] = {"Store forwarding", "forward", 'F'},
	[CULPRIT_DIVIDER] = {"Divider", "divider", 'x'},
	[CULPRIT_MULTIPLIER] = {"Multiplier", "multiplier", 'm'},
	[CULPRIT_LOCKED] = {"Locked instruction", "locked", 'L'},
	[CULPRIT_SERIALISING] = {"Serialising, system call", "serialising", 'S'},
	[CULPRIT_FAULT] = {"Page fault", "fault", 'P'},
	[CULPRIT_DEPENDENCY] = {"Dependency beyond the schedule", "dependency", 'b'},
	[CULPRIT_FRONT_END] = {"Fetch behind a jump", "taken-branch", 'f'},
};

const char *culprit_name(enum culprit_cause cause)
{
	return causes[cause].name;
}

const char *culprit_key(enum culprit_cause cause)
{
	return causes[cause].key;
}

char culprit_letter(enum culprit_cause cause)
{
	return causes[cause].letter;
}

/* ---- suspects ---- */

/* The last instruction that wrote an operand of op; FLOW_NONE: unknown. */
static uint32_t producer(const struct culprit_search *s, const struct op *op)
{
	uint32_t last = 0;

	for (unsigned k = 0; k < op->input_count; k++)
		last = s->writer[op->input[k].reg] > last ? s->writer[op->input[k].reg] : last;
	for (unsigned k = 0; k < op->address_count; k++)
		last = s->writer[op->address[k]] > last ? s->writer[op->address[k]] : last;
	return last ? last - 1 : FLOW_NONE;
}

/* Whether a load is a link of a chain: it takes about its own latency per execution. A load that
 * takes longer has missed, and then its latency was not part of the wait. */
#define CHAIN_FROM  0.5
#define CHAIN_UNTIL 1.25
#define CHAIN       3.0
#define MISSED      0.4
/* A load whose address was known early has hit early. */
#define AHEAD 0.03

/* Likelihood, relative to 1, that the wait was the load's own latency. */
static double trust_latency(const struct culprit_search *s, const struct op *op)
{
	double own = op->latency > op->flags_latency ? op->latency : op->flags_latency, ratio;

	if (s->in->core->in_order)
		return 1e6;
	if (!op->load.there || s->in->events[CULPRIT_L2])
		return 1;
	ratio = s->in->cycles[s->insn] / (s->executions * (own + (double)op->load_latency));
	return ratio > CHAIN_UNTIL ? MISSED : ratio > CHAIN_FROM && s->in->counted ? CHAIN : 1;
}

/* The operands of the oldest instruction are ready: only its own latency is left. */
static void suspect_execution(
	struct culprit_search *s, const struct op *op, const struct insn *insn, double trust)
{
	double n = s->executions, mi = s->in->mi[s->insn];
	unsigned latency = op->latency > op->flags_latency ? op->latency : op->flags_latency;
	/* A load may get its data from a store that has only just retired. */
	unsigned forward =
		s->in->core->forward > op->load_latency ? s->in->core->forward : op->load_latency;
	double own = (double)(latency + (op->loads ? op->load_latency : 0));
	double most = (double)(latency + (op->loads ? forward : 0));
	uint32_t blame = producer(s, op);

	if (insn->classes & INSN_DIVIDE)
		culprit_suspect(s, CULPRIT_DIVIDER, n, n * 0.5, s->insn);
	else if (insn->classes & INSN_MULTIPLY && !(insn->classes & INSN_FP))
		culprit_suspect(s, CULPRIT_MULTIPLIER, n, n * 0.02, s->insn);
	if (insn->classes & INSN_LOCK)
		culprit_suspect(s, CULPRIT_LOCKED, n, n, s->insn);
	if (insn->classes & (INSN_SERIALISING | INSN_SYSCALL | INSN_PRIVILEGED))
		culprit_suspect_cycles(s, CULPRIT_SERIALISING, INFINITY,
			n * s->in->machine->cost[CULPRIT_SERIALISING].typical, s->insn);
	else if (insn->classes & INSN_FENCE)
		culprit_suspect(s, CULPRIT_SERIALISING, n, n * 0.3, s->insn);
	if (most > mi)
		culprit_suspect_cycles(s, CULPRIT_DEPENDENCY, n * (most - mi),
			n * trust * (fmax(own - mi, 0) * 0.3 + (most - fmax(own, mi)) * 0.1),
			blame);
	if (most > mi && !s->in->core->in_order && culprit_runs_ahead(s, op))
		s->suspect[CULPRIT_DEPENDENCY].weight *= fmax((double)latency / most, AHEAD);
}

/* In order, an instruction waits for the loads that produce its operands. */
static void suspect_operands(struct culprit_search *s, const struct op *op)
{
	const struct flow *f = s->in->flow;
	uint32_t load = producer(s, op);
	struct op at;

	if (load == FLOW_NONE || !(f->insns.data[load].classes & INSN_LOAD))
		return;
	op_make_block(s->in->core, &f->insns.data[load], 1, false, &at);
	culprit_memory(s, &at, &f->insns.data[load]);
	for (unsigned k = CULPRIT_L2; k <= CULPRIT_DTLB; k++)
		s->suspect[k].blame = load;
}

/* A store's miss delays retirement through the store buffer. */
static void store_events(struct culprit_search *s)
{
	double usual = 0;

	for (unsigned k = CULPRIT_L2; k <= CULPRIT_DTLB; k++) {
		if (!s->in->events[k])
			continue;
		usual += s->in->events[k][s->insn];
		s->suspect[k].there = false;
	}
	if (s->suspect[CULPRIT_STORES].there)
		s->suspect[CULPRIT_STORES].weight += usual;
}

/* The rest limits the instruction's own latency. */
static void show_hidden(struct culprit_search *s, const struct op *op, struct culprit_wait *w)
{
	struct culprit_suspect *x = &s->suspect[CULPRIT_DEPENDENCY];
	double left = culprit_hidden(s, op, s->in->cycles[s->insn] - w->execution);

	if (left < 0)
		return;
	if (w->most > 0)
		w->trust = fmin(w->trust, left / w->most);
	x->weight = fmin(x->weight, fmax(left - w->most * w->trust, CULPRIT_DOUBT * left));
	s->suspect[CULPRIT_FRONT_END].weight *= CULPRIT_DOUBT;
}

static void culprits_all_events(struct culprit_search *s, const struct op *op,
	const struct insn *insn, struct culprit_wait *w)
{
	bool stores = insn->classes & INSN_STORE && !(insn->classes & INSN_LOAD);

	for (unsigned k = 0; k < CULPRITS; k++)
		if (s->in->events[k] && k != CULPRIT_MISPREDICT &&
			!(stores && k >= CULPRIT_L2 && k <= CULPRIT_DTLB))
			culprit_counted(s, (enum culprit_cause)k, s->in->events[k][s->insn],
				s->in->events_most[k][s->insn], s->insn);
	if (s->in->events[CULPRIT_MISPREDICT])
		culprit_mispredicted(s);
	if (stores)
		store_events(s);
	else
		show_hidden(s, op, w);
}

/* ---- the division of a wait among its culprits ---- */

/* to = min(room, weight * scale), so that the sum is the wait if possible; those without weight
 * share alike what others leave. Returns the rest. */
static double pour(
	double *to, const double *room, const double *weight, uint32_t count, double wait)
{
	bool full[CULPRITS + 1] = {false};
	uint32_t open = count, before;
	double left = wait;

	do {
		double weights = 0;

		before = open;
		for (uint32_t k = 0; k < count; k++)
			weights += full[k] ? 0 : weight[k];
		for (uint32_t k = 0; k < count; k++)
			if (!full[k])
				to[k] = fmin(
					left * (weights > 0 ? weight[k] / weights : 1.0 / open),
					room[k]);
		for (uint32_t k = 0; k < count; k++) {
			if (full[k] || to[k] < room[k])
				continue;
			full[k] = true;
			open--;
		}
		left = wait;
		for (uint32_t k = 0; k < count; k++)
			left -= full[k] ? room[k] : 0;
	} while (open && open < before && left > 0);
	return open ? 0 : fmax(left, 0);
}

double culprits_divide(struct culprit *list, const double *weight, uint32_t count, double wait)
{
	double to[CULPRITS + 1] = {0}, room[CULPRITS + 1] = {0}, left;

	for (uint32_t k = 0; k < count; k++)
		room[k] = list[k].usual > 0 ? fmin(list[k].usual, list[k].high) : list[k].high;
	left = pour(to, room, weight, count, wait);
	for (uint32_t k = 0; k < count; k++) {
		list[k].likely = to[k];
		room[k] = list[k].high - to[k];
	}
	if (!(left > 0))
		return 0;
	left = pour(to, room, weight, count, left);
	for (uint32_t k = 0; k < count; k++)
		list[k].likely += to[k];
	return left;
}

static int by_likely(const void *a, const void *b)
{
	const struct culprit *x = a, *y = b;

	return sort_falling_number(x->likely, y->likely) ?: sort_rising(x->cause, y->cause);
}

/* The weight of a cause, in cycles, with its factor. */
static double culprits_weigh(const struct culprits_input *in, unsigned cause, double weight)
{
	return weight * (in->factor && !in->events[cause] ? in->factor[cause] : 1);
}

/* Everything possible, seen or not: for culprits_learn. */
static void survey(struct culprits *c, const struct culprit_search *s, const struct culprit_wait *w)
{
	for (unsigned k = 0; k < CULPRITS; k++)
		if (s->suspect[k].there)
			c->possible[k] += s->suspect[k].weight;
	c->possible[CULPRITS] += w->most * w->trust;
}

/* If executions of edges are estimates, or events are those of a model, so are bounds that follow
 * from them: causes may get the unexplained rest beyond their bounds. */
static void take_spare(const struct culprit_search *s, struct culprit_wait *w, struct culprit *list,
	const double *weight, uint32_t n)
{
	double room[CULPRITS + 1] = {0}, to[CULPRITS + 1] = {0}, all = 0;

	for (uint32_t k = 0; k < n; k++) {
		room[k] = list[k].cause < CULPRITS ? s->suspect[list[k].cause].spare : 0;
		all += room[k];
	}
	if (!(all > 0) || !(w->unexplained > 0))
		return;
	w->unexplained = pour(to, room, weight, n, w->unexplained);
	for (uint32_t k = 0; k < n; k++) {
		list[k].high += to[k];
		list[k].likely += to[k];
	}
}

static int culprits_keep(
	struct culprits *c, struct culprit_wait *w, const struct culprit *list, uint32_t n)
{
	w->first = (uint32_t)c->list.count;
	for (uint32_t k = 0; k < n; k++) {
		if (vec_add(&c->list, list[k]))
			return -1;
		w->count++;
	}
	return 0;
}

/* The schedule is one of the suspects: another wait may hide the schedule's. */
static int culprits_judge(struct culprits *c, struct culprit_search *s, struct culprit_wait *w)
{
	struct culprit list[CULPRITS + 1];
	double weight[CULPRITS + 1], all = 0;
	uint32_t n = 0;

	if (w->most > 0) {
		list[n] = (struct culprit){.cause = CULPRITS, .high = fmin(w->most, w->wait)};
		weight[n++] = w->most * w->trust * (s->in->factor ? s->in->factor[CULPRITS] : 1);
	}
	for (unsigned k = 0; k < CULPRITS; k++) {
		const struct culprit_suspect *x = &s->suspect[k];

		if (!x->there || !(x->high > 0))
			continue;
		list[n] = (struct culprit){.cause = (uint8_t)k,
			.blame = x->blame,
			.high = fmin(x->high, w->wait),
			.usual = x->usual,
			.weight = x->weight};
		weight[n++] = fmax(culprits_weigh(s->in, k, x->weight), 1e-9 * s->executions);
	}
	for (uint32_t k = 0; k < n; k++)
		all += list[k].high;
	for (uint32_t k = 0; k < n; k++)
		list[k].low = fmax(0, fmin(w->wait - (all - list[k].high), list[k].high));
	w->unexplained = culprits_divide(list, weight, n, w->wait);
	take_spare(s, w, list, weight, n);
	if (w->most > 0)
		w->fixed = list[0].likely;
	w->dynamic = w->wait - w->fixed;
	if (n)
		qsort(list + (w->most > 0), n - (w->most > 0), sizeof(*list), by_likely);
	return culprits_keep(c, w, list + (w->most > 0), n - (w->most > 0));
}

/* ---- an instruction, a block, all ---- */

/* Cycles of an instruction's own turn to retire. The schedule gives those of all instructions that
 * retire together to the first; samples are spread over all of them. */
static double turn(const struct culprits_input *in, const struct op *op, uint32_t i)
{
	double width = in->core->retire ? in->core->retire : in->core->rename;

	if (in->core->in_order || !(width > 0))
		return fmin(in->mi[i], 1);
	return op->half_slots / (2 * width);
}

/* False if there is no wait to divide. */
static bool culprits_split(const struct culprits_input *in, const struct op *op, uint32_t i,
	double n, struct culprit_wait *w)
{
	double cycles = in->cycles[i], own = n * turn(in, op, i), least = fmax(n * in->mi[i], own);
	double scatter = sqrt(fmax(cycles, least) * in->sample);

	w->execution = own;
	w->most = least - own;
	if (fabs(cycles - least) <= scatter) {
		w->fixed = w->most;
		w->error = cycles - least;
		return false;
	}
	w->wait = fmax(cycles - own, 0);
	w->gain = fmin(cycles - own, 0);
	return w->wait > 0;
}

/* Counted misses are not scatter. */
static bool counted_here(struct culprit_search *s, struct culprit_wait *w)
{
	double sure = 0;

	for (unsigned k = 0; k < CULPRITS; k++)
		if (s->in->events[k] && s->suspect[k].there)
			sure += s->suspect[k].weight;
	if (!(sure > 0) || !(s->in->cycles[s->insn] > w->execution))
		return false;
	w->error = w->fixed = 0;
	w->wait = s->in->cycles[s->insn] - w->execution;
	return true;
}

static int culprits_look_at(struct culprits *c, struct culprit_search *s, const struct op *op)
{
	const struct insn *insn = &s->in->flow->insns.data[s->insn];
	struct culprit_wait *w = &c->wait[s->insn];
	bool waits;

	if (!(s->executions > 0)) {
		c->untold += s->in->cycles[s->insn];
		return 0;
	}
	waits = culprits_split(s->in, op, s->insn, s->executions, w);
	if (!waits && !s->in->survey && !s->in->any_events)
		return 0;
	w->trust = trust_latency(s, op);
	memset(s->suspect, 0, sizeof(s->suspect));
	culprit_reached(s);
	if (s->in->core->in_order)
		suspect_operands(s, op);
	else
		culprit_memory(s, op, insn);
	suspect_execution(s, op, insn, s->in->core->in_order ? 1 : w->trust);
	culprits_all_events(s, op, insn, w);
	survey(c, s, w);
	if (!waits && s->in->any_events)
		waits = counted_here(s, w);
	return waits ? culprits_judge(c, s, w) : 0;
}

static bool follows_alone(const struct flow *f, uint32_t block)
{
	const struct flow_block *b = &f->blocks.data[block];

	return block && b->ins == 1 && !(b->flags & FLOW_ENTRY) &&
	       f->edges.data[f->in[b->first_in]].from == block - 1;
}

static int look_at_block(struct culprits *c, struct culprit_search *s)
{
	const struct culprits_input *in = s->in;
	const struct flow_block *b = &in->flow->blocks.data[s->block];
	double n = in->executions[s->block];

	if (!follows_alone(in->flow, s->block))
		culprit_clear(s);
	for (uint32_t from = 0; from < b->count; from += SCHEDULE_BLOCK_MAX) {
		uint32_t left = b->count - from, first = b->first + from;
		uint32_t count = left < SCHEDULE_BLOCK_MAX ? left : SCHEDULE_BLOCK_MAX;

		op_make_block(in->core, in->flow->insns.data + first, count, false, s->ops);
		for (uint32_t k = 0; k < count; k++) {
			s->insn = first + k;
			s->executions = n;
			if (culprits_look_at(c, s, &s->ops[k]))
				return -1;
			culprit_pass(s, &s->ops[k], &in->flow->insns.data[first + k], first + k);
		}
	}
	return 0;
}

/* Whether the first blocks keep the stack pointer in rbp. */
static bool makes_frame(const struct culprit_search *s)
{
	const struct flow *f = s->in->flow;
	uint32_t n = f->insns.count < FRAME_INSNS ? (uint32_t)f->insns.count : FRAME_INSNS;

	op_make_block(s->in->core, f->insns.data, n, false, s->ops);
	for (uint32_t i = 0; i < n; i++)
		if (s->ops[i].change == OP_CHANGE_COPY && s->ops[i].from == REG_RSP &&
			s->ops[i].changed == REG_GENERAL + 5)
			return true;
	return false;
}

int culprits_find(struct culprits *c, const struct culprits_input *in, struct error *e)
{
	struct culprit_search s = {.in = in};
	int rc = 0;

	memset(c, 0, sizeof(*c));
	c->count = in->flow->insns.count;
	c->wait = calloc(c->count + 1, sizeof(*c->wait));
	s.ops = culprit_ops(in->flow);
	s.writer = calloc(REG_COUNT, sizeof(*s.writer));
	s.loops = s.ops ? culprit_loops(in, s.ops) : NULL;
	s.wrong = calloc(in->flow->edges.count + 1, sizeof(*s.wrong));
	if (!c->wait || !s.ops || !s.writer || !s.loops || !s.wrong)
		rc = -1;
	if (rc == 0)
		s.framed = makes_frame(&s);
	if (rc == 0 && in->events[CULPRIT_MISPREDICT])
		culprit_wrong_ways(&s);
	for (s.block = 0; rc == 0 && s.block < in->flow->blocks.count; s.block++)
		rc = look_at_block(c, &s);
	if (rc == 0)
		culprit_net(c, in);
	free(s.ops);
	free(s.writer);
	free(s.loops);
	free(s.wrong);
	return rc ? error_nomem(e) : 0;
}

void culprits_fini(struct culprits *c)
{
	free(c->wait);
	vec_fini(&c->list);
	memset(c, 0, sizeof(*c));
}

/* ---- sums ---- */

uint32_t culprit_scheduled(const struct culprits *c, uint32_t insn)
{
	const struct culprit_wait *w = &c->wait[insn];

	return w->shown > w->fixed / 2 ? w->shown_of : insn;
}

unsigned culprit_fixed(const struct culprits *c, const struct culprits_input *in, uint32_t waited)
{
	uint32_t insn = culprit_scheduled(c, waited);

	return in->flow->insns.data[insn].classes & INSN_DIVIDE ? CULPRIT_FIXED_DIVISION
								: in->rows[insn].cause;
}

const char *culprit_fixed_name(unsigned fixed)
{
	return fixed == CULPRIT_FIXED_DIVISION ? "divider"
	       : fixed == SCHEDULE_NONE        ? "other"
					       : schedule_cause_name((enum schedule_cause)fixed);
}

/* The rest if no cause but these (bits) is possible. */
static double least_of(const struct culprits *c, uint32_t insn, unsigned set)
{
	const struct culprit_wait *w = &c->wait[insn];
	double others = fmin(w->most, w->wait), own = 0;

	for (uint32_t k = w->first; k < w->first + w->count; k++)
		*(set >> c->list.data[k].cause & 1 ? &own : &others) += c->list.data[k].high;
	return fmax(0, fmin(w->wait - others, own));
}

static void add_culprits(
	struct culprits_sum *s, const struct culprits *c, uint32_t i, bool only_bounds)
{
	const struct culprit_wait *w = &c->wait[i];
	double data = 0;

	for (uint32_t k = w->first; k < w->first + w->count; k++) {
		const struct culprit *x = &c->list.data[k];

		s->low[x->cause] += x->low;
		s->high[x->cause] += x->high;
		s->likely[x->cause] += only_bounds ? 0 : x->likely;
		data += CULPRIT_DATA >> x->cause & 1 ? x->high : 0;
	}
	s->data_low += w->unsure ? w->data_low : least_of(c, i, CULPRIT_DATA);
	s->data_high += w->unsure ? w->data_high : fmin(data, w->wait);
}

void culprits_add(struct culprits_sum *s, const struct culprits *c, const struct culprits_input *in,
	const bool *unsure)
{
	for (uint32_t i = 0; i < c->count; i++) {
		const struct culprit_wait *w = &c->wait[i];
		unsigned fixed = culprit_fixed(c, in, i);

		s->cycles += in->cycles[i];
		s->fixed_low[fixed] += w->unsure ? w->fixed_low : w->fixed;
		s->fixed_high[fixed] += w->unsure ? w->fixed_high : w->fixed;
		add_culprits(s, c, i, unsure && unsure[i]);
		if (unsure && unsure[i]) {
			s->unsure += in->cycles[i];
			continue;
		}
		s->execution += w->execution;
		s->fixed[fixed] += w->fixed;
		s->dynamic += w->dynamic;
		s->gain += w->gain;
		s->error += w->error;
		s->unexplained += w->unexplained;
	}
	s->untold += c->untold;
}
