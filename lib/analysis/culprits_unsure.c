/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Bounds of culprits if executions F are known only between two bounds.
 *
 * An instruction took S cycles, of which F * e were its turns. A cause has at most F * b of them,
 * b cycles each time, and at most the waited S - F * e. One of these grows with F and the other
 * falls. So the most that a cause can have is at their intersection, or at the nearest bound of F.
 * The least is the rest at the greatest F, where turns, the schedule and all other causes have the
 * most, or all that it can have at the least F.
 *
 * e and b of each instruction are found by looking for culprits once more, with F so small that S
 * limits nothing.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprits.h"

/* Factor of F for that. */
#define SMALL 1e-3
/* If bounds are nearer than this, culprits are not searched again. */
#define NEAR 1.05

struct unsure {
	struct culprits *c;
	const struct culprits_input *in;
	struct culprits small;
	VEC(struct culprit) list; /* the new one */
};

/* One instruction. */
struct range {
	double cycles, low, high; /* S, bounds of F */
	double turn, fixed;       /* e, and the schedule's wait per execution */
	double others;            /* sum of all b */
};

static double most(const struct range *r, double each)
{
	double f = fmin(fmax(r->cycles / (r->turn + each), r->low), r->high);

	return fmax(fmin(r->cycles - f * r->turn, f * each), 0);
}

/* sure: of each, the part that holds whatever the other causes are. */
static double unsure_least(const struct range *r, double each, double sure)
{
	double left = r->cycles - r->high * (r->turn + r->fixed + r->others - each);

	return fmax(fmin(left, r->low * sure), 0);
}

static bool is_counted(const struct unsure *u, unsigned cause)
{
	return u->in->events[cause] != NULL;
}

static struct culprit *unsure_add(struct unsure *u, const struct culprit *from)
{
	struct culprit *x = vec_push(&u->list);

	if (x)
		*x = *from;
	return x;
}

/* Copies the instruction's culprits to the end of the new list. */
static int unsure_keep(struct unsure *u, uint32_t insn)
{
	struct culprit_wait *w = &u->c->wait[insn];
	uint32_t first = (uint32_t)u->list.count;

	for (uint32_t k = w->first; k < w->first + w->count; k++)
		if (!unsure_add(u, &u->c->list.data[k]))
			return -1;
	w->first = first;
	return 0;
}

/* The position of a cause in the list of an instruction that is being rebuilt. */
static struct culprit *unsure_find(struct unsure *u, uint32_t first, unsigned cause)
{
	for (size_t k = first; k < u->list.count; k++)
		if (u->list.data[k].cause == cause)
			return &u->list.data[k];
	return NULL;
}

static int unsure_widen(struct unsure *u, uint32_t insn, const struct range *r, double executions)
{
	struct culprit_wait *w = &u->c->wait[insn];
	const struct culprit_wait *s = &u->small.wait[insn];
	double data = 0, each;

	if (unsure_keep(u, insn))
		return -1;
	for (uint32_t k = s->first; k < s->first + s->count; k++) {
		const struct culprit *from = &u->small.list.data[k];
		struct culprit *x = unsure_find(u, w->first, from->cause);

		each = from->high / executions;
		data += CULPRIT_DATA >> from->cause & 1 ? each : 0;
		if (is_counted(u, from->cause))
			continue;
		if (!x) {
			x = unsure_add(
				u, &(struct culprit){.cause = from->cause, .blame = from->blame});
			if (!x)
				return -1;
		}
		x->high = fmax(x->high, most(r, each));
		x->low = fmin(x->low, unsure_least(r, each, from->low / executions));
	}
	w->count = (uint32_t)u->list.count - w->first;
	w->unsure = true;
	w->fixed_low = fmin(w->fixed, unsure_least(r, r->fixed, r->fixed));
	w->fixed_high = fmax(w->fixed, most(r, r->fixed));
	w->data_low = is_counted(u, CULPRIT_L2) ? 0 : unsure_least(r, data, data);
	w->data_high = most(r, data);
	return 0;
}

static int unsure_look(struct unsure *u, uint32_t insn)
{
	const struct culprits_input *in = u->in;
	const struct culprit_wait *s = &u->small.wait[insn];
	uint32_t block = in->flow->block_of[insn];
	double f = in->executions[block], executions = f * SMALL;
	struct range r = {.cycles = in->cycles[insn]};

	r.low = fmin(in->least[block], f);
	r.high = fmax(in->most[block], f);
	if (!(f > 0) || !(r.cycles > 0) || r.high <= NEAR * r.low)
		return unsure_keep(u, insn);
	r.turn = s->execution / executions;
	r.fixed = s->most / executions;
	for (uint32_t k = s->first; k < s->first + s->count; k++)
		r.others += u->small.list.data[k].high / executions;
	return unsure_widen(u, insn, &r, executions);
}

/* Culprits with all executions multiplied by SMALL. */
static int find_small(struct unsure *u, struct error *e)
{
	const struct flow *f = u->in->flow;
	struct culprits_input in = *u->in;
	double *executions = calloc(f->blocks.count + f->edges.count + 1, sizeof(double));
	double *edges;
	int rc;

	if (!executions)
		return error_nomem(e);
	edges = executions + f->blocks.count;
	for (size_t i = 0; i < f->blocks.count; i++)
		executions[i] = in.executions[i] * SMALL;
	for (size_t i = 0; in.edges && i < f->edges.count; i++)
		edges[i] = in.edges[i] * SMALL;
	in.executions = executions;
	in.edges = in.edges ? edges : NULL;
	in.survey = false;
	in.sample = 0; /* nothing is scatter */
	rc = culprits_find(&u->small, &in, e);
	free(executions);
	return rc;
}

int culprits_unsure(struct culprits *c, const struct culprits_input *in, struct error *e)
{
	struct unsure u = {.c = c, .in = in};
	int rc;

	if (!in->least || !in->most)
		return 0;
	rc = find_small(&u, e);
	for (uint32_t i = 0; rc == 0 && i < c->count; i++)
		if (unsure_look(&u, i))
			rc = error_nomem(e);
	culprits_fini(&u.small);
	if (rc) {
		vec_fini(&u.list);
		return rc;
	}
	vec_fini(&c->list);
	memcpy(&c->list, &u.list, sizeof(c->list));
	return 0;
}
