/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "analysis/culprits_lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/culprits_private.h"
#include "base/sort.h"

/* Programs work in phases: code that is often requested misses at the beginning of each, as often
 * as this times its share. */
#define BURSTS 0.1

struct unit { /* a line, or a page */
	uint64_t number;
	uint32_t image;
	double rate; /* requests */
};

struct units {
	VEC(struct unit) list; /* in order of image and number, once settled */
	uint32_t bytes, room;  /* of one unit; number of units that fit */
	double memory;         /* time that a unit is kept, as 1 / rate */
	double often;          /* of all requests, the share that misses */
};

struct culprit_lines {
	const struct culprits_machine *machine;
	struct units lines, pages;
};

struct culprit_lines *culprit_lines_new(const struct culprits_machine *m, struct error *e)
{
	struct culprit_lines *l = calloc(1, sizeof(*l));

	if (!l) {
		error_nomem(e);
		return NULL;
	}
	l->machine = m;
	l->lines.bytes = m->line;
	l->lines.room = m->fetch_lines;
	l->pages.bytes = m->page;
	l->pages.room = m->fetch_pages;
	return l;
}

void culprit_lines_free(struct culprit_lines *l)
{
	if (!l)
		return;
	vec_fini(&l->lines.list);
	vec_fini(&l->pages.list);
	free(l);
}

/* ---- adding ---- */

/* The most requested code of a unit: a unit is requested as a whole. */
static int ask(struct units *u, uint32_t image, uint64_t address, double rate)
{
	uint64_t number = address / u->bytes;
	struct unit *x = u->list.count ? &u->list.data[u->list.count - 1] : NULL;

	if (!x || x->image != image || x->number != number) {
		x = vec_push(&u->list);
		if (!x)
			return -1;
		x->number = number;
		x->image = image;
	}
	x->rate = fmax(x->rate, rate);
	return 0;
}

static int lines_add_block(
	struct culprit_lines *l, uint32_t image, struct culprit_search *s, double executions)
{
	const struct flow *f = s->in->flow;
	const struct flow_block *b = &f->blocks.data[s->block];
	const struct insn *last = flow_last(f, b);
	uint64_t from = f->insns.data[b->first].address, end = last->address + last->length;
	double lines = culprit_held(s, executions, l->lines.room, l->lines.bytes);
	double pages = culprit_held(s, executions, l->pages.room, l->pages.bytes);

	for (uint64_t at = from; at < end; at = (at / l->lines.bytes + 1) * l->lines.bytes)
		if (ask(&l->lines, image, at, lines) || ask(&l->pages, image, at, pages))
			return -1;
	return 0;
}

int culprit_lines_add(
	struct culprit_lines *l, uint32_t image, const struct culprits_input *in, struct error *e)
{
	struct culprit_search s = {.in = in, .ops = culprit_ops(in->flow)};
	int rc = 0;

	s.loops = s.ops ? culprit_loops(in, s.ops) : NULL;
	if (!s.loops)
		rc = -1;
	for (s.block = 0; rc == 0 && s.block < in->flow->blocks.count; s.block++)
		if (in->executions[s.block] > 0)
			rc = lines_add_block(l, image, &s, in->executions[s.block]);
	free(s.ops);
	free(s.loops);
	return rc ? error_nomem(e) : 0;
}

/* ---- the time that they are kept ---- */

static int lines_by_place(const void *a, const void *b)
{
	const struct unit *x = a, *y = b;

	return sort_rising(x->image, y->image) ?:
	       sort_rising(x->number, y->number) ?:
	       sort_falling_number(x->rate, y->rate);
}

static void merge(struct units *u)
{
	size_t kept = 0;

	if (u->list.count)
		qsort(u->list.data, u->list.count, sizeof(*u->list.data), lines_by_place);
	for (size_t i = 0; i < u->list.count; i++) {
		const struct unit *x = &u->list.data[i];

		if (kept && u->list.data[kept - 1].image == x->image &&
			u->list.data[kept - 1].number == x->number)
			continue;
		u->list.data[kept++] = *x;
	}
	u->list.count = kept;
}

static double expected(const struct units *u, double memory)
{
	double sum = 0;

	for (size_t i = 0; i < u->list.count; i++)
		sum -= expm1(-u->list.data[i].rate * memory);
	return sum;
}

static double share_missing(const struct units *u)
{
	double all = 0, missing = 0;

	for (size_t i = 0; i < u->list.count; i++) {
		double rate = u->list.data[i].rate;

		all += rate;
		missing += rate * exp(-rate * u->memory);
	}
	return all > 0 ? missing / all : 0;
}

static void lines_settle(struct units *u)
{
	double low = -40, high = 40; /* log2 */

	merge(u);
	u->memory = INFINITY;
	if (u->list.count <= u->room)
		return;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (expected(u, exp2(middle)) < u->room)
			low = middle;
		else
			high = middle;
	}
	u->memory = exp2(high);
	u->often = share_missing(u);
}

void culprit_lines_settle(struct culprit_lines *l)
{
	lines_settle(&l->lines);
	lines_settle(&l->pages);
}

static double missing(const struct units *u, uint32_t image, uint64_t address)
{
	const struct unit key = {.number = address / u->bytes, .image = image}, *all = u->list.data;
	size_t low = vec_search(i, u->list.count,
		all[i].image < image || (all[i].image == image && all[i].number < key.number));

	if (low == u->list.count || u->list.data[low].image != image ||
		u->list.data[low].number != key.number)
		return 1;
	/* Code that is executed once misses once. */
	return fmax(fmax(exp(-u->list.data[low].rate * u->memory), BURSTS * u->often),
		fmin(1 / fmax(u->list.data[low].rate, 1), 1));
}

static void missing_of_all(
	const struct units *u, uint32_t image, const struct flow *f, double *each)
{
	uint64_t before = UINT64_MAX;

	for (size_t i = 0; i < f->insns.count; i++) {
		const struct insn *insn = &f->insns.data[i];
		uint64_t last = insn->address + insn->length - 1;
		bool same = i && last / u->bytes == before / u->bytes;

		each[i] = same ? each[i - 1] : missing(u, image, last);
		before = last;
	}
}

void culprit_lines_misses(const struct culprit_lines *l, uint32_t image, const struct flow *f,
	double *lines, double *pages)
{
	missing_of_all(&l->lines, image, f, lines);
	missing_of_all(&l->pages, image, f, pages);
}
