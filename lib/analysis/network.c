/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

enum {
	STEPS = 60,     /* of conjugate gradients, where the factor is not complete */
	WORK = 8,       /* pairs of neighbours per arc, and in any case ... */
	ROOM = 1 << 17, /* ... this number; beyond these the factor is not completed */
};
#define CLOSE 1e-18 /* square of the residual, relative to the first */
#define NONE  UINT32_MAX

struct next { /* of a node's list of neighbours */
	uint32_t node, slot;
	uint32_t more; /* NONE: the last */
};

struct update { /* of the factor: by two neighbours of an eliminated node */
	uint32_t left, right, slot;
};

struct analysis_network {
	uint32_t nodes, arcs;
	struct analysis_pair *arc;
	uint32_t *slot_of; /* of arcs: between two nodes; NONE: to the outside, or a self-loop */
	VEC(struct analysis_pair) slots; /* pairs of nodes, those of the factor last */
	uint32_t *order;                 /* of elimination */
	uint32_t *first, *first_update;  /* of each place in order: in neighbours, in updates */
	VEC(struct next) neighbours;     /* eliminated later; the rest is unused */
	VEC(struct update) updates;      /* left and right: in neighbours */
	bool complete;
	double *conductance, *diagonal, *factor; /* of arcs; of nodes; of slots */
	double *potential, *residual, *direction, *product, *better; /* of nodes */
	double *place;                                               /* of slots: without fill */
};

/* ---- order and structure ---- */

struct ordering {
	struct analysis_network *n;
	VEC(struct next) lists;
	uint32_t *head, *degree;
	bool *gone;
	uint64_t *hash; /* slot + 1 in the low half, a check above */
	size_t mask;
	VEC(struct analysis_pair) queue; /* of nodes by degree: from is the node, to the next */
	uint32_t *bucket, buckets, lowest;
	uint64_t work;
	bool failed;
};

static size_t hash_of(uint32_t a, uint32_t b)
{
	uint64_t h = ((uint64_t)a << 32 | b) * 0x9e3779b97f4a7c15u;

	return (size_t)(h ^ h >> 29);
}

static void grow_hash(struct ordering *o)
{
	const struct analysis_network *n = o->n;
	uint64_t *old = o->hash;

	o->mask = 2 * o->mask + 1;
	o->hash = calloc(o->mask + 1, sizeof(*o->hash));
	if (!o->hash) {
		o->failed = true;
		o->hash = old;
		o->mask /= 2;
		return;
	}
	free(old);
	for (uint32_t s = 0; s < n->slots.count; s++) {
		size_t at = hash_of(n->slots.data[s].from, n->slots.data[s].to) & o->mask;

		while (o->hash[at])
			at = (at + 1) & o->mask;
		o->hash[at] = s + 1;
	}
}

static void link_to(struct ordering *o, uint32_t from, uint32_t to, uint32_t slot)
{
	struct next *own = vec_push(&o->lists);

	if (!own) {
		o->failed = true;
		return;
	}
	*own = (struct next){to, slot, o->head[from]};
	o->head[from] = (uint32_t)o->lists.count - 1;
	o->degree[from]++;
}

/* The slot of two nodes; a new one is added if wanted. */
static uint32_t slot_between(struct ordering *o, uint32_t a, uint32_t b, bool make)
{
	struct analysis_network *n = o->n;
	struct analysis_pair key =
		a < b ? (struct analysis_pair){a, b} : (struct analysis_pair){b, a};
	struct analysis_pair *own;
	size_t at = hash_of(key.from, key.to) & o->mask;

	for (; o->hash[at]; at = (at + 1) & o->mask) {
		const struct analysis_pair *p = &n->slots.data[o->hash[at] - 1];

		if (p->from == key.from && p->to == key.to)
			return (uint32_t)o->hash[at] - 1;
	}
	if (!make)
		return NONE;
	own = vec_push(&n->slots);
	if (!own) {
		o->failed = true;
		return NONE;
	}
	*own = key;
	o->hash[at] = n->slots.count;
	link_to(o, a, b, (uint32_t)n->slots.count - 1);
	link_to(o, b, a, (uint32_t)n->slots.count - 1);
	if (2 * n->slots.count > o->mask)
		grow_hash(o);
	return (uint32_t)n->slots.count - 1;
}

static void queue_node(struct ordering *o, uint32_t node)
{
	struct analysis_pair *own = vec_push(&o->queue);
	uint32_t d = o->degree[node] < o->buckets ? o->degree[node] : o->buckets - 1;

	if (!own) {
		o->failed = true;
		return;
	}
	*own = (struct analysis_pair){node, o->bucket[d]};
	o->bucket[d] = (uint32_t)o->queue.count - 1;
	if (d < o->lowest)
		o->lowest = d;
}

/* A node of least degree; NONE: all are eliminated. */
static uint32_t next_node(struct ordering *o)
{
	while (o->lowest < o->buckets) {
		uint32_t at = o->bucket[o->lowest], node;

		if (at == NONE) {
			o->lowest++;
			continue;
		}
		o->bucket[o->lowest] = o->queue.data[at].to;
		node = o->queue.data[at].from;
		if (!o->gone[node] && (o->degree[node] == o->lowest || o->lowest == o->buckets - 1))
			return node;
	}
	return NONE;
}

static void eliminate(struct ordering *o, uint32_t node)
{
	struct analysis_network *n = o->n;
	uint32_t from = (uint32_t)n->neighbours.count, to;
	uint64_t limit = (uint64_t)WORK * (n->arcs + n->nodes) + ROOM;

	o->gone[node] = true;
	for (uint32_t i = o->head[node]; i != NONE; i = o->lists.data[i].more) {
		struct next *own;

		if (o->gone[o->lists.data[i].node])
			continue;
		own = vec_push(&n->neighbours);
		if (!own) {
			o->failed = true;
			return;
		}
		*own = o->lists.data[i];
		o->degree[own->node]--;
	}
	to = (uint32_t)n->neighbours.count;
	for (uint32_t i = from; i < to; i++)
		for (uint32_t k = i + 1; k < to; k++) {
			bool make = o->work < limit;
			uint32_t slot = slot_between(
				o, n->neighbours.data[i].node, n->neighbours.data[k].node, make);
			struct update *own;

			o->work++;
			if (slot == NONE) {
				n->complete = false;
				if (o->failed || o->work > 2 * limit)
					break; /* even the check is too much work */
				continue;
			}
			own = vec_push(&n->updates);
			if (!own) {
				o->failed = true;
				return;
			}
			*own = (struct update){i, k, slot};
		}
	for (uint32_t i = from; i < to; i++)
		queue_node(o, n->neighbours.data[i].node);
}

static int order_nodes(struct analysis_network *n)
{
	struct ordering o = {.n = n, .mask = 63, .buckets = 1024, .lowest = 1023};
	uint32_t node, at = 0;

	o.head = malloc((n->nodes + 1) * sizeof(*o.head));
	o.degree = calloc(n->nodes + 1, sizeof(*o.degree));
	o.gone = calloc(n->nodes + 1, sizeof(*o.gone));
	o.hash = calloc(o.mask + 1, sizeof(*o.hash));
	o.bucket = malloc(o.buckets * sizeof(*o.bucket));
	o.failed = !o.head || !o.degree || !o.gone || !o.hash || !o.bucket;
	if (!o.failed) {
		memset(o.head, 0xff, (n->nodes + 1) * sizeof(*o.head));
		memset(o.bucket, 0xff, o.buckets * sizeof(*o.bucket));
		n->complete = true;
	}
	for (uint32_t a = 0; a < n->arcs && !o.failed; a++) {
		const struct analysis_pair *p = &n->arc[a];

		n->slot_of[a] = p->from && p->to && p->from != p->to
					? slot_between(&o, p->from, p->to, true)
					: NONE;
	}
	for (node = 1; node < n->nodes && !o.failed; node++)
		queue_node(&o, node);
	while (!o.failed && (node = next_node(&o)) != NONE) {
		n->order[at] = node;
		n->first[at] = (uint32_t)n->neighbours.count;
		n->first_update[at++] = (uint32_t)n->updates.count;
		eliminate(&o, node);
	}
	n->first[at] = (uint32_t)n->neighbours.count;
	n->first_update[at] = (uint32_t)n->updates.count;
	vec_fini(&o.lists);
	vec_fini(&o.queue);
	free(o.head);
	free(o.degree);
	free(o.gone);
	free(o.hash);
	free(o.bucket);
	return o.failed ? -1 : 0;
}

struct analysis_network *analysis_network_new(
	uint32_t nodes, const struct analysis_pair *arcs, uint32_t count)
{
	struct analysis_network *n = calloc(1, sizeof(*n));
	size_t room = (size_t)nodes + 1;

	if (!n)
		return NULL;
	n->nodes = nodes;
	n->arcs = count;
	n->arc = malloc((count + 1) * sizeof(*n->arc));
	n->slot_of = malloc((count + 1) * sizeof(*n->slot_of));
	n->order = malloc(room * sizeof(*n->order));
	n->first = calloc(room, sizeof(*n->first));
	n->first_update = calloc(room, sizeof(*n->first_update));
	n->conductance = malloc((count + 1) * sizeof(*n->conductance));
	n->diagonal = malloc(7 * room * sizeof(*n->diagonal));
	if (n->arc && n->slot_of && n->order && n->first && n->first_update && n->conductance &&
		n->diagonal) {
		memcpy(n->arc, arcs, count * sizeof(*arcs));
		n->potential = n->diagonal + room;
		n->residual = n->potential + room;
		n->direction = n->residual + room;
		n->product = n->direction + room;
		n->better = n->product + room;
		if (order_nodes(n) == 0) {
			n->factor = malloc((n->slots.count + 1) * sizeof(*n->factor));
			if (n->factor)
				return n;
		}
	}
	analysis_network_free(n);
	return NULL;
}

void analysis_network_free(struct analysis_network *n)
{
	if (!n)
		return;
	free(n->arc);
	free(n->slot_of);
	free(n->order);
	free(n->first);
	free(n->first_update);
	free(n->conductance);
	free(n->diagonal);
	free(n->factor);
	vec_fini(&n->slots);
	vec_fini(&n->neighbours);
	vec_fini(&n->updates);
	free(n);
}

/* ---- numbers ---- */

/* Elimination in order; slots become the entries of the factor, divided by the diagonal. */
static void make_factor(struct analysis_network *n)
{
	memset(n->factor, 0, n->slots.count * sizeof(*n->factor));
	memset(n->diagonal, 0, n->nodes * sizeof(*n->diagonal));
	for (uint32_t a = 0; a < n->arcs; a++) {
		const struct analysis_pair *p = &n->arc[a];

		if (p->from == p->to)
			continue;
		n->diagonal[p->from] += n->conductance[a];
		n->diagonal[p->to] += n->conductance[a];
		if (n->slot_of[a] != NONE)
			n->factor[n->slot_of[a]] -= n->conductance[a];
	}
	for (uint32_t i = 0; i + 1 < n->nodes; i++) {
		double d = n->diagonal[n->order[i]];

		if (!(d > 0)) /* not connected to the outside: rounding */
			d = n->diagonal[n->order[i]] = INFINITY;
		for (uint32_t k = n->first_update[i]; k < n->first_update[i + 1]; k++) {
			const struct update *u = &n->updates.data[k];

			n->factor[u->slot] -= n->factor[n->neighbours.data[u->left].slot] *
					      n->factor[n->neighbours.data[u->right].slot] / d;
		}
		for (uint32_t k = n->first[i]; k < n->first[i + 1]; k++) {
			double *f = &n->factor[n->neighbours.data[k].slot];

			n->diagonal[n->neighbours.data[k].node] -= *f * *f / d;
			*f /= d;
		}
	}
}

/* x = factor^-1 b; may be the same. */
static void apply_factor(const struct analysis_network *n, const double *b, double *x)
{
	if (x != b)
		memcpy(x, b, n->nodes * sizeof(*x));
	for (uint32_t i = 0; i + 1 < n->nodes; i++) {
		double own = x[n->order[i]];

		for (uint32_t k = n->first[i]; k < n->first[i + 1]; k++)
			x[n->neighbours.data[k].node] -=
				n->factor[n->neighbours.data[k].slot] * own;
	}
	for (uint32_t i = n->nodes - 1; i-- > 0;) {
		double own = x[n->order[i]] / n->diagonal[n->order[i]];

		for (uint32_t k = n->first[i]; k < n->first[i + 1]; k++)
			own -= n->factor[n->neighbours.data[k].slot] *
			       x[n->neighbours.data[k].node];
		x[n->order[i]] = own;
	}
	x[0] = 0;
}

static void multiply(const struct analysis_network *n, const double *x, double *y)
{
	memset(y, 0, n->nodes * sizeof(*y));
	for (uint32_t a = 0; a < n->arcs; a++) {
		double flow = n->conductance[a] * (x[n->arc[a].from] - x[n->arc[a].to]);

		y[n->arc[a].from] += flow;
		y[n->arc[a].to] -= flow;
	}
	y[0] = 0;
}

static double dot(const struct analysis_network *n, const double *a, const double *b)
{
	double sum = 0;

	for (uint32_t i = 1; i < n->nodes; i++)
		sum += a[i] * b[i];
	return sum;
}

/* Laplacian * potential = residual, which is used up. */
static void find_potential(struct analysis_network *n)
{
	double rho, begin;

	memset(n->potential, 0, n->nodes * sizeof(*n->potential));
	apply_factor(n, n->residual, n->better);
	memcpy(n->direction, n->better, n->nodes * sizeof(*n->direction));
	rho = begin = dot(n, n->residual, n->better);
	for (int step = 0; step < (n->complete ? 2 : STEPS) && rho > CLOSE * begin; step++) {
		double alpha, next;

		multiply(n, n->direction, n->product);
		alpha = rho / dot(n, n->direction, n->product);
		if (!isfinite(alpha))
			return;
		for (uint32_t i = 1; i < n->nodes; i++) {
			n->potential[i] += alpha * n->direction[i];
			n->residual[i] -= alpha * n->product[i];
		}
		apply_factor(n, n->residual, n->better);
		next = dot(n, n->residual, n->better);
		for (uint32_t i = 1; i < n->nodes; i++)
			n->direction[i] = n->better[i] + next / rho * n->direction[i];
		rho = next;
	}
}

void analysis_network_solve(
	struct analysis_network *n, const double *weight, const double *target, double *flow)
{
	for (uint32_t a = 0; a < n->arcs; a++)
		n->conductance[a] = 1 / weight[a];
	make_factor(n);
	memset(n->residual, 0, n->nodes * sizeof(*n->residual));
	for (uint32_t a = 0; a < n->arcs; a++) {
		n->residual[n->arc[a].from] -= target[a];
		n->residual[n->arc[a].to] += target[a];
	}
	n->residual[0] = 0;
	find_potential(n);
	for (uint32_t a = 0; a < n->arcs; a++)
		flow[a] = target[a] + n->conductance[a] * (n->potential[n->arc[a].from] -
								  n->potential[n->arc[a].to]);
}

double analysis_network_potential(const struct analysis_network *n, uint32_t node)
{
	return node ? n->potential[node] : 0;
}
