/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
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
	struct explain_code code; /* until it is taken; without flow: not kept */
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
	size_t kept; /* instructions of code */
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

struct alone {
	struct explain_code code;
	struct analysis_classes *classes;
	struct analysis_fit *fit; /* NULL: no code, or no samples */
};

static int fit_alone(struct alone *u, const struct explain_analysis *a, struct error *e)
{
	bool few = u->code.sums[a->metric] < FEW;
	int last = few ? 0 : REFINEMENTS, rc = 0;
	struct explain_analysed p;
	double *edges = NULL;

	for (int round = 0; round <= last && rc == 0; round++) {
		struct analysis_input in = {.flow = u->code.flow, .classes = u->classes};

		rc = explain_schedule(&p, a, &u->code, edges, NULL, e);
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

struct program_walk {
	struct explain_program *program;
	struct explain_procedures all;
};

static int alone_make(void *context, size_t i, void *result, struct error *e)
{
	const struct program_walk *w = context;
	const struct explain_analysis *a = w->program->analysis;
	struct alone *u = result;

	if (explain_code_load(&u->code, a->d, &w->all, &w->all.list.data[i], e))
		return -1;
	if (!u->code.flow || !u->code.sums[a->metric])
		return 0;
	u->classes = analysis_classes_new(u->code.flow, e);
	return u->classes ? fit_alone(u, a, e) : -1;
}

static int alone_take(void *context, size_t i, void *result, struct error *e)
{
	const struct program_walk *w = context;
	const struct explain_procedure *p = &w->all.list.data[i];
	struct explain_program *g = w->program;
	struct unit *own, key = {.key = {.begin = p->begin, .image = p->image}};
	struct alone *u = result;

	profile_progress(g->analysis->d, i, w->all.list.count, "estimating executions");
	if (!u->fit)
		return 0;
	own = table_add(&g->units, &key.key);
	if (!own || note_calls(g, u->code.flow))
		return error_nomem(e);
	own->name = profile_string_at(g->analysis->d, p->name);
	own->fit = u->fit;
	u->fit = NULL;
	if (g->kept + u->code.flow->insns.count <= EXPLAIN_CODE_KEPT) {
		g->kept += u->code.flow->insns.count;
		own->code = u->code;
		memset(&u->code, 0, sizeof(u->code));
	}
	return 0;
}

static void alone_drop(void *context, void *result)
{
	struct alone *u = result;

	(void)context;
	analysis_fit_free(u->fit);
	analysis_classes_free(u->classes);
	explain_code_fini(&u->code);
}

static int fit_each(struct explain_program *g, struct error *e)
{
	struct program_walk w = {.program = g};
	int rc = explain_procedures_all(&w.all, g->analysis->d) ? error_nomem(e) : 0;
	const struct parallel each = {.count = w.all.list.count,
		.size = sizeof(struct alone),
		.context = &w,
		.make = alone_make,
		.take = alone_take,
		.drop = alone_drop};

	if (rc == 0)
		rc = parallel_run(&each, e);
	explain_procedures_fini(&w.all);
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

enum { STEPPED = 16 }; /* units that a thread does together */

static int step_some(void *context, size_t i, void *result, struct error *e)
{
	const struct explain_program *g = context;
	size_t end = (i + 1) * STEPPED < g->units.count ? (i + 1) * STEPPED : g->units.count;

	(void)result, (void)e;
	for (size_t k = i * STEPPED; k < end; k++)
		analysis_fit_step(unit_at(g, k)->fit);
	return 0;
}

static int step_all(struct explain_program *g, struct error *e)
{
	const struct parallel all = {.count = (g->units.count + STEPPED - 1) / STEPPED,
		.size = 1,
		.context = g,
		.make = step_some};

	return parallel_run(&all, e);
}

static int fit_together(struct explain_program *g, struct error *e)
{
	int rc = 0;

	for (int step = 0; step < TOGETHER && rc == 0; step++) {
		profile_progress(g->analysis->d, (size_t)step, TOGETHER, "joining functions");
		if (step >= 2)
			tie(g);
		rc = step_all(g, e);
	}
	return rc;
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
	if (fit_each(g, e) == 0 && (find_callees(g) == 0 || error_nomem(e) == 0) &&
		fit_together(g, e) == 0)
		return g;
	explain_program_free(g);
	return NULL;
}

void explain_program_free(struct explain_program *g)
{
	if (!g)
		return;
	for (size_t i = 0; i < g->units.count; i++) {
		analysis_fit_free(unit_at(g, i)->fit);
		explain_code_fini(&unit_at(g, i)->code);
	}
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

bool explain_program_take_code(
	struct explain_program *g, uint32_t image, uint64_t begin, struct explain_code *code)
{
	uint32_t number = find_unit(g, image, begin);
	struct unit *u = number == UINT32_MAX ? NULL : unit_at(g, number);

	if (!u || !u->code.flow)
		return false;
	*code = u->code;
	memset(&u->code, 0, sizeof(u->code));
	return true;
}
