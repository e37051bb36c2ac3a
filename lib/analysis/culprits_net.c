/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The schedule of neighbours. Retirement and the skid of interrupts divide the time of straight
 * code among its instructions otherwise than the schedule does: of a multiplication and an addition
 * that form a chain, the multiplication has all samples. So a wait beyond the schedule at one
 * instruction and a lack at a neighbour are netted before they are reported. What is left is the
 * dynamic wait.
 *
 * Only what is "beyond the schedule" by its definition is netted: the front end, the multiplier,
 * dependences beyond the schedule, and the unexplained rest. A miss or a misprediction hides the
 * schedule of its neighbours: these lack their waits as well, and yet the miss cost all of its
 * time.
 *
 * Neighbours are executed together: the same block, and blocks next to each other that nearly all
 * executions pass one after the other; the last one is next to the first one if that is a loop.
 * They are within reach: as many instructions as retire within some cycles. The nearest lack is
 * taken first. In order, nothing is shown elsewhere.
 */
#include <math.h>

#include "analysis/culprits_private.h"

/* This share of executions passes the edge between neighbours. */
#define TOGETHER 0.9
/* Cycles of retirement within reach. */
#define REACH 8
/* What is netted, in this order; CULPRITS: the unexplained rest. */
static const unsigned netted[] = {
	CULPRITS, CULPRIT_FRONT_END, CULPRIT_MULTIPLIER, CULPRIT_DEPENDENCY};
enum { NETTED = sizeof(netted) / sizeof(*netted) };

/* Instructions that are executed together. */
struct region {
	struct culprits *c;
	uint32_t first, count, reach;
	bool closed; /* a loop */
	double lack; /* of all */
};

/* Moves at most `room` cycles of the wait to the schedule's part; what was moved. */
static double net_part(struct culprits *c, struct culprit_wait *w, unsigned part, double room)
{
	double moved = 0;

	if (part == CULPRITS) {
		moved = fmax(fmin(w->unexplained, room), 0);
		w->unexplained -= moved;
	}
	for (uint32_t k = w->first; k < w->first + w->count; k++) {
		struct culprit *x = &c->list.data[k];

		if (x->cause != part)
			continue;
		moved = fmax(fmin(x->likely, room), 0);
		x->likely -= moved;
		x->low = fmin(x->low, x->likely);
	}
	w->dynamic -= moved;
	w->fixed += moved;
	return moved;
}

static double net_all(struct culprits *c, struct culprit_wait *w, double room)
{
	double left = room;

	for (unsigned k = 0; k < NETTED && left > 0; k++)
		left -= net_part(c, w, netted[k], left);
	return room - left;
}

/* The part of the schedule's wait that the instruction's own cycles do not hold; 0 within the
 * scatter of samples. Turns do not count: they are in the waits of others. */
static double net_lack(const struct culprits_input *in, const struct culprit_wait *w, uint32_t i)
{
	double waited = fmax(in->cycles[i] - w->execution, 0);

	return w->error == 0 ? fmax(w->most - waited, 0) : 0;
}

/* Takes what neighbour j lacks for the wait at i. */
static void net_take(struct region *r, uint32_t i, uint32_t j)
{
	struct culprit_wait *w = &r->c->wait[i], *from = &r->c->wait[j];
	double moved = from->lack > 0 ? net_all(r->c, w, from->lack) : 0;

	if (!(moved > 0))
		return;
	from->lack -= moved;
	r->lack -= moved;
	w->shown += moved;
	if (moved > w->shown_most) {
		w->shown_most = moved;
		w->shown_of = j;
	}
}

static bool net_has(const struct culprits *c, const struct culprit_wait *w)
{
	double all = w->unexplained;

	for (uint32_t k = w->first; k < w->first + w->count; k++)
		for (unsigned n = 0; n < NETTED; n++)
			all += c->list.data[k].cause == netted[n] ? c->list.data[k].likely : 0;
	return all > 0;
}

/* What retires later first: the samples of a result that takes long are shown early. */
static void net_instruction(struct region *r, uint32_t at)
{
	uint32_t half = r->closed ? r->count / 2 : r->count - 1;
	uint32_t reach = r->reach < half ? r->reach : half;
	struct culprit_wait *w = &r->c->wait[r->first + at];

	for (uint32_t d = 1; d <= reach && r->lack > 0 && net_has(r->c, w); d++) {
		uint32_t later = at + d, sooner = at + r->count - d;

		if (r->closed || later < r->count)
			net_take(r, r->first + at, r->first + later % r->count);
		if (r->closed || at >= d)
			net_take(r, r->first + at, r->first + sooner % r->count);
	}
}

static void net_region(struct region *r, const struct culprits_input *in)
{
	r->lack = 0;
	for (uint32_t i = r->first; i < r->first + r->count; i++) {
		struct culprit_wait *w = &r->c->wait[i];

		/* The instruction's own schedule comes first. */
		if (w->wait > 0)
			net_all(r->c, w, fmin(w->most, w->wait) - w->fixed);
		r->lack += w->lack = net_lack(in, w, i);
	}
	for (uint32_t at = 0; at < r->count && r->lack > 0; at++)
		if (r->c->wait[r->first + at].wait > 0)
			net_instruction(r, at);
}

/* Whether nearly all executions of both blocks pass an edge between them. */
static bool net_together(const struct culprits_input *in, uint32_t from, uint32_t to)
{
	const struct flow *f = in->flow;
	const struct flow_block *b = &f->blocks.data[from];
	double x = in->executions[from], y = in->executions[to], most = fmax(x, y);

	if (!(x >= TOGETHER * most && y >= TOGETHER * most))
		return false;
	for (uint32_t k = b->first_out; k < b->first_out + b->outs; k++) {
		double n = in->edges ? in->edges[k] : NAN;

		if (f->edges.data[k].to == to)
			return isnan(n) || n >= TOGETHER * most;
	}
	return false;
}

void culprit_net(struct culprits *c, const struct culprits_input *in)
{
	const struct flow *f = in->flow;
	uint32_t width = in->core->retire ? in->core->retire : in->core->rename;
	uint32_t blocks = (uint32_t)f->blocks.count, next;

	for (uint32_t b = 0; b < blocks && !in->core->in_order; b = next) {
		const struct flow_block *first = &f->blocks.data[b], *last;
		struct region r = {.c = c, .first = first->first, .reach = REACH * width};

		for (next = b + 1; next < blocks && net_together(in, next - 1, next);)
			next++;
		last = &f->blocks.data[next - 1];
		r.count = last->first + last->count - r.first;
		r.closed = net_together(in, next - 1, b);
		if (in->executions[b] > 0 && r.count)
			net_region(&r, in);
	}
}
