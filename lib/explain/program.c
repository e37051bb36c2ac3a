/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/table.h"

enum {
	REFINEMENTS = 2, /* of a procedure's schedule and samples by its frequencies ... */
	FEW = 16,        /* ... where it has more samples than that */
	ALONE = 12,      /* steps of a procedure by itself between them */
	TOGETHER = 16,   /* steps of all of them, tied */
};
#define FIRM  20.0 /* weight of a tie: 1 / variance of its logarithm */
#define LOOSE 0.3  /* the share of that if there may be unknown callers */

struct unit { /* table entry */
	struct {
		uint64_t begin;
		uint32_t image, reserved;
	} key;
	const char *name;
	struct analysis_fit *fit;
	double called;
};

struct call {
	uint32_t unit, block; /* the caller */
	uint64_t target;
	uint32_t callee; /* unit */
};

struct explain_program {
	const struct explain_analysis *analysis;
	struct table units;
	VEC(struct call) calls;
};

static struct unit *unit_at(const struct explain_program *g, size_t i)
{
	return table_at(&g->units, i);
}

/* ---- one procedure by itself ---- */

static int note_calls(struct explain_program *g, const struct flow *f)
{
	for (uint32_t i = 0; i < f->insns.count; i++) {
		const struct insn *insn = &f->insns.data[i];
		bool leaves = insn_jumps(insn) && !(insn->classes & INSN_CONDITIONAL) &&
			      (insn->target < f->begin || insn->target >= f->end);

		const struct call own = {
			(uint32_t)g->units.count - 1, f->block_of[i], insn->target, UINT32_MAX};

		if (insn->has_target && (insn->classes & INSN_CALL || leaves) &&
			vec_add(&g->calls, own))
			return -1;
	}
	return 0;
}

static int fit_alone(struct explain_program *g, struct unit *u, const struct explain_code *code,
	struct analysis_classes *classes, struct error *e)
{
	bool few = code->sums[g->analysis->metric] < FEW;
	int last = few ? 0 : REFINEMENTS, rc = 0;
	struct explain_analysed p;
	double *edges = NULL;

	for (int round = 0; round <= last && rc == 0; round++) {
		struct analysis_input in = {.flow = code->flow, .classes = classes};

		rc = explain_schedule(&p, g->analysis, code, edges, NULL, e);
		in.samples = p.samples;
		in.mi = p.mi;
		analysis_fit_free(u->fit);
		u->fit = rc ? NULL : analysis_fit_new(&in);
		explain_analysed_fini(&p);
		free(edges);
		edges = NULL;
		if (!u->fit)
			return error_nomem(e);
		for (int step = 0; step < ALONE && round < last; step++)
			analysis_fit_step(u->fit);
		if (round < last) {
			edges = analysis_fit_edges(u->fit);
			rc = edges ? 0 : error_nomem(e);
		}
	}
	free(edges);
	return rc;
}

static int add_unit(
	void *to, const struct explain_procedure *p, struct explain_code *code, struct error *e)
{
	struct explain_program *g = to;
	struct unit *u, key = {.key = {.begin = p->begin, .image = p->image}};
	struct analysis_classes *classes;
	int rc;

	if (!code->flow || !code->sums[g->analysis->metric])
		return 0;
	classes = analysis_classes_new(code->flow, e);
	if (!classes)
		return -1;
	u = table_add(&g->units, &key.key);
	if (!u || note_calls(g, code->flow)) {
		analysis_classes_free(classes);
		return error_nomem(e);
	}
	u->name = profile_string_at(g->analysis->d, p->name);
	rc = fit_alone(g, u, code, classes, e);
	analysis_classes_free(classes);
	return rc;
}

/* ---- the call graph ---- */

struct by_name {
	const char *name;
	uint32_t unit;
};

static int compare_names(const void *a, const void *b)
{
	const struct by_name *x = a, *y = b;

	return strcmp(x->name, y->name) ?: sort_rising(x->unit, y->unit);
}

/* The unit of this name, the first that is of another image. */
static uint32_t find_name(const struct explain_program *g, const struct by_name *names, size_t n,
	const char *name, size_t length, uint32_t image)
{
	size_t low = vec_search(i, n, strncmp(names[i].name, name, length) < 0);

	for (; low < n && strncmp(names[low].name, name, length) == 0; low++)
		if (names[low].name[length] == '\0' &&
			unit_at(g, names[low].unit)->key.image != image)
			return names[low].unit;
	return UINT32_MAX;
}

static uint32_t find_unit(const struct explain_program *g, uint32_t image, uint64_t begin)
{
	struct unit key = {.key = {.begin = begin, .image = image}};
	const struct unit *u = table_find(&g->units, &key.key);

	return u ? (uint32_t)table_number(&g->units, u) : UINT32_MAX;
}

/* "malloc" of "malloc@plt", in another image; a function without samples has no known calls. */
static uint32_t behind_stub(const struct explain_program *g, const struct by_name *names,
	uint32_t image, const char *stub)
{
	const char *at = strstr(stub, "@plt");

	return at ? find_name(g, names, g->units.count, stub, (size_t)(at - stub), image)
		  : UINT32_MAX;
}

static void find_callee(struct explain_program *g, struct call *c, const struct by_name *names)
{
	const struct prof_names *ask = &g->analysis->d->names;
	uint32_t image = unit_at(g, c->unit)->key.image;
	struct image_symbol symbol;

	c->callee = find_unit(g, image, c->target);
	if (c->callee != UINT32_MAX)
		return;
	if (ask->ops->symbol(ask->context, image, c->target, &symbol) == 0 &&
		symbol.address == c->target)
		c->callee = behind_stub(g, names, image, symbol.name);
}

/* Stubs with samples are procedures, which call the functions that they are stubs of. */
static int find_callees(struct explain_program *g)
{
	size_t n = g->units.count;
	struct by_name *names = calloc(n + 1, sizeof(*names));
	int rc = names ? 0 : -1;

	for (uint32_t i = 0; i < n && rc == 0; i++)
		names[i] = (struct by_name){unit_at(g, i)->name, i};
	if (rc == 0)
		qsort(names, n, sizeof(*names), compare_names);
	for (size_t i = 0; i < g->calls.count && rc == 0; i++)
		find_callee(g, &g->calls.data[i], names);
	for (uint32_t i = 0; i < n && rc == 0; i++) {
		uint32_t callee =
			behind_stub(g, names, unit_at(g, i)->key.image, unit_at(g, i)->name);
		const struct call own = {i, 0, 0, callee};

		if (callee != UINT32_MAX)
			rc = vec_add(&g->calls, own);
	}
	free(names);
	return rc;
}

/* ---- all together ---- */

/* Pulls entries and calls towards their geometric mean; each caller gets its share. */
static void tie(struct explain_program *g)
{
	for (size_t i = 0; i < g->units.count; i++)
		unit_at(g, i)->called = 0;
	for (size_t i = 0; i < g->calls.count; i++) {
		const struct call *c = &g->calls.data[i];

		if (c->callee != UINT32_MAX)
			unit_at(g, c->callee)->called +=
				analysis_fit_block(unit_at(g, c->unit)->fit, c->block);
	}
	for (size_t i = 0; i < g->units.count; i++) {
		const struct unit *u = unit_at(g, i);
		double entered = analysis_fit_entered(u->fit);
		double weight = entered > u->called ? FIRM * LOOSE : FIRM;

		if (u->called > 0 && entered > 0)
			analysis_fit_pull(u->fit, FLOW_NONE, sqrt(entered * u->called),
				2 * weight / (entered * entered));
	}
	for (size_t i = 0; i < g->calls.count; i++) {
		const struct call *c = &g->calls.data[i];
		const struct unit *u;
		double own, entered, weight;

		if (c->callee == UINT32_MAX)
			continue;
		u = unit_at(g, c->callee);
		own = analysis_fit_block(unit_at(g, c->unit)->fit, c->block);
		entered = analysis_fit_entered(u->fit);
		weight = entered > u->called ? FIRM * LOOSE : FIRM;
		if (own > 0 && entered > 0)
			analysis_fit_pull(unit_at(g, c->unit)->fit, c->block,
				own * sqrt(entered / u->called), 2 * weight / (own * u->called));
	}
}

struct explain_program *explain_program_new(const struct explain_analysis *a, struct error *e)
{
	struct explain_program *g = calloc(1, sizeof(*g));

	if (!g) {
		error_nomem(e);
		return NULL;
	}
	g->analysis = a;
	g->units = TABLE_OF(struct unit);
	if (explain_code_all(a->d, add_unit, g, e) || (find_callees(g) && error_nomem(e))) {
		explain_program_free(g);
		return NULL;
	}
	for (int step = 0; step < TOGETHER; step++) {
		if (step >= 2)
			tie(g);
		for (size_t i = 0; i < g->units.count; i++)
			analysis_fit_step(unit_at(g, i)->fit);
	}
	return g;
}

void explain_program_free(struct explain_program *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->units.count; i++)
		analysis_fit_free(unit_at(g, i)->fit);
	table_fini(&g->units);
	vec_fini(&g->calls);
	free(g);
}

const struct analysis_fit *explain_program_find(
	const struct explain_program *g, uint32_t image, uint64_t begin)
{
	uint32_t unit = find_unit(g, image, begin);

	return unit == UINT32_MAX ? NULL : unit_at(g, unit)->fit;
}
