/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each function between its callers and its callees, where calls were counted (ssrun -ideal): by
 * the edges of calls, and of jumps to the beginning of another function, which are calls that
 * return to the caller's caller. A call through a stub of the dynamic linker is one of the function
 * that the stub jumps to.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "machine/machine.h"
#include "report/report_columns.h"
#include "report/report_objects.h"
#include "report/report_views.h"

#define INSN_BYTES_MAX 15
#define FORWARDS_MAX   16 /* functions between a caller and the callee */

struct counted { /* a function; table entry */
	struct {
		uint64_t address;
		uint64_t image;
	} key;
	uint32_t name;   /* in the strings */
	bool stub;       /* of the dynamic linker */
	uint32_t behind; /* the function that it jumps to, + 1; 0: none */
	uint64_t jumps;  /* by which that was chosen */
	uint64_t calls;  /* of it */
};

/* Table entry. inlined: the program's function that the caller has inlined there, in the strings;
 * 0 where there is none, and in arcs as a whole. */
struct arc {
	struct {
		uint32_t caller, callee, inlined, reserved;
	} key;
	uint64_t calls;
};

struct call_counts {
	struct prof_data *d;
	struct report_table *t;
	struct table functions, arcs, sites; /* sites: arcs by what is inlined */
	enum label label;
	uint64_t all;
	bool forwards; /* callers of callers are shown */
};

static struct counted *counts_at(const struct call_counts *c, size_t i)
{
	return (struct counted *)table_at(&c->functions, i);
}

/* The function at an address of an input's image; -1: memory. */
static long counts_function(struct call_counts *c, size_t input, uint32_t image, uint64_t address)
{
	const struct prof_names *names = &c->d->names;
	struct counted key = {.key = {.image = c->d->image_of.data[input][image]}}, *own;
	struct image_symbol symbol;
	const char *name = "(no symbol)";
	size_t before = c->functions.count;
	long text;

	if (names->ops->symbol(names->context, (uint32_t)key.key.image, address, &symbol) == 0) {
		key.key.address = symbol.address;
		name = symbol.demangled;
	}
	own = table_add(&c->functions, &key.key);
	if (!own)
		return -1;
	if (c->functions.count > before) {
		size_t length = strlen(name);

		text = profile_string(c->d, name);
		if (text < 0)
			return -1;
		own->name = (uint32_t)text;
		own->stub = length > 4 && strcmp(name + length - 4, "@plt") == 0;
	}
	return (long)table_number(&c->functions, own);
}

static bool is_call(const struct experiment_edge *e)
{
	return e->key.kind == MODEL_CALL || e->key.kind == MODEL_INDIRECT_CALL;
}

/* What stubs jump to; the first time, that is the linker itself. */
static int counts_stub(struct call_counts *c, size_t input, const struct experiment_edge *e)
{
	long from, to;

	if (e->key.kind != MODEL_INDIRECT_JUMP && e->key.kind != MODEL_JUMP)
		return 0;
	from = counts_function(c, input, e->key.from_image, e->key.from);
	if (from < 0)
		return -1;
	if (!counts_at(c, (size_t)from)->stub)
		return 0;
	to = counts_function(c, input, e->key.to_image, e->key.to);
	if (to < 0)
		return -1;
	if (to != from && !counts_at(c, (size_t)to)->stub &&
		e->count > counts_at(c, (size_t)from)->jumps) {
		counts_at(c, (size_t)from)->behind = (uint32_t)to + 1;
		counts_at(c, (size_t)from)->jumps = e->count;
	}
	return 0;
}

/* Do jumps from the function leave a call that is counted already, or a part of itself? */
static bool counts_passes_on(const struct call_counts *c, size_t from, size_t to)
{
	const char *name = profile_string_at(c->d, counts_at(c, from)->name);
	const char *target = profile_string_at(c->d, counts_at(c, to)->name);

	return counts_at(c, from)->stub || strncmp(name, "_dl_runtime_resolve", 19) == 0 ||
	       strstr(target, ".cold") != NULL;
}

/* A jump to the first instruction of another function, in place of a call and a return? */
static bool counts_is_tail(
	const struct call_counts *c, const struct experiment_edge *e, size_t from, size_t to)
{
	bool jumps = e->key.kind == MODEL_JUMP || e->key.kind == MODEL_INDIRECT_JUMP ||
		     (e->key.kind == MODEL_CONDITIONAL && e->key.to - e->key.from > INSN_BYTES_MAX);

	return jumps && from != to && counts_at(c, to)->key.address == e->key.to &&
	       !counts_passes_on(c, from, to);
}

/* The innermost function that the caller has inlined at an address, those of libraries apart. */
static long counts_inlined(struct call_counts *c, size_t input, const struct experiment_edge *e)
{
	struct report_code code[REPORT_CODE_FRAMES];
	uint32_t image = c->d->image_of.data[input][e->key.from_image];
	size_t n = report_code_at(c->d, image, e->key.from, code, REPORT_CODE_FRAMES);

	for (size_t i = 0; i + 1 < n; i++)
		if (code[i].function && !report_code_is_library(&code[i]))
			return profile_string(c->d, code[i].function);
	return 0;
}

static int arcs_add(struct table *arcs, long from, long to, long inlined, uint64_t calls)
{
	struct arc key = {.key = {(uint32_t)from, (uint32_t)to, (uint32_t)inlined, 0}}, *own;

	if (inlined < 0)
		return -1;
	own = table_add(arcs, &key.key);
	if (!own)
		return -1;
	own->calls += calls;
	return 0;
}

static int counts_call(struct call_counts *c, size_t input, const struct experiment_edge *e)
{
	long from = counts_function(c, input, e->key.from_image, e->key.from);
	long to = counts_function(c, input, e->key.to_image, e->key.to);

	if (from < 0 || to < 0)
		return -1;
	if (!is_call(e) && !counts_is_tail(c, e, (size_t)from, (size_t)to))
		return 0;
	if (counts_at(c, (size_t)to)->behind)
		to = counts_at(c, (size_t)to)->behind - 1;
	if (arcs_add(&c->arcs, from, to, 0, e->count) ||
		arcs_add(&c->sites, from, to, counts_inlined(c, input, e), e->count))
		return -1;
	counts_at(c, (size_t)to)->calls += e->count;
	c->all += e->count;
	return 0;
}

static int counts_take(struct call_counts *c)
{
	for (int calls = 0; calls < 2; calls++)
		for (size_t i = 0; i < c->d->request->count; i++) {
			const struct experiment *x = c->d->request->inputs[i].experiment;

			for (size_t k = 0; k < x->edges.count; k++) {
				const struct experiment_edge *e = table_at(&x->edges, k);

				if (calls ? counts_call(c, i, e) : counts_stub(c, i, e))
					return -1;
			}
		}
	return 0;
}

/* ---- rows ---- */

/* Arcs in the order of their callees, or callers; those of one by calls. */
struct ranked {
	uint64_t calls;
	uint32_t end, other, inlined;
	const char *name;
};

enum { CALLS, OF_CALLEE }; /* columns */

/* Calls of `callee`: the function itself, or what a caller calls. */
static void counts_row(struct call_counts *c, const struct ranked *r, enum report_role role,
	unsigned depth, uint32_t callee)
{
	uint32_t function = r->other, inlined = role == REPORT_CALLER ? r->inlined : 0;
	const struct counted *f = counts_at(c, function);
	struct report_row row = {.role = role,
		.parent = -1,
		.depth = depth,
		.procedure = profile_string_at(c->d, f->name),
		.image = c->d->images.data[f->key.image].name};
	struct image_line line;
	struct report_cell *cell;

	if (profile_function_line(c->d, (uint32_t)f->key.image, f->key.address, &line) == 0) {
		row.file = line.file;
		row.line = line.line;
	}
	if (inlined)
		row.note = report_text(c->t, "inlined %s", profile_string_at(c->d, inlined));
	cell = report_cells(c->t, report_row_add(c->t, &row));
	cell[CALLS].quantity = quantity_exact((double)r->calls, c->label);
	cell[CALLS].percent = report_percent((double)r->calls, (double)c->all);
	cell[CALLS].cumulative = NAN;
	cell[OF_CALLEE].quantity =
		quantity_exact((double)r->calls / (double)counts_at(c, callee)->calls, c->label);
}

static int counts_by_end(const void *pa, const void *pb)
{
	const struct ranked *a = pa, *b = pb;

	return sort_rising(a->end, b->end)
		       ?: sort_falling(a->calls, b->calls)
		       ?: strcmp(a->name, b->name)
		       ?: sort_rising(a->other, b->other)
		       ?: sort_rising(a->inlined, b->inlined);
}

/* Callers say which of their inlined functions calls. */
static struct ranked *counts_rank(struct call_counts *c, bool by_callee)
{
	const struct table *arcs = by_callee ? &c->sites : &c->arcs;
	struct ranked *r = report_scratch(c->t, arcs->count + 1, sizeof(*r));

	for (size_t i = 0; r && i < arcs->count; i++) {
		const struct arc *a = table_at(arcs, i);
		uint32_t other = by_callee ? a->key.caller : a->key.callee;

		r[i] = (struct ranked){a->calls, by_callee ? a->key.callee : a->key.caller, other,
			a->key.inlined, profile_string_at(c->d, counts_at(c, other)->name)};
	}
	if (r)
		qsort(r, arcs->count, sizeof(*r), counts_by_end);
	return r;
}

static size_t counts_first(const struct ranked *r, size_t count, uint32_t end)
{
	return vec_search(k, count, r[k].end < end);
}

/* Does each call of the caller make one of the callee, as operator new calls malloc? Then the
 * caller's own callers are as much of an answer. An allocator of Rust calls posix_memalign for what
 * is aligned by more, which is rare. */
static bool counts_forwards(const struct call_counts *c, const struct ranked *caller)
{
	uint64_t all = counts_at(c, caller->other)->calls;

	return caller->calls > 1 && caller->calls <= all && all - caller->calls <= all / 20;
}

/* The callers of a function, and before it is the turn of the next, of one that forwards. */
static void counts_callers(
	struct call_counts *c, const struct ranked *r, uint32_t callee, unsigned depth)
{
	size_t count = c->sites.count;

	for (size_t i = counts_first(r, count, callee); i < count && r[i].end == callee; i++) {
		counts_row(c, &r[i], REPORT_CALLER, depth, callee);
		if (!c->d->request->only || !c->d->request->only[0] || depth == FORWARDS_MAX ||
			r[i].other == callee || !counts_forwards(c, &r[i]))
			continue;
		c->forwards = true;
		counts_callers(c, r, r[i].other, depth + 1);
	}
}

static void counts_callees(struct call_counts *c, const struct ranked *r, uint32_t caller)
{
	size_t count = c->arcs.count;

	for (size_t i = counts_first(r, count, caller); i < count && r[i].end == caller; i++)
		counts_row(c, &r[i], REPORT_CALLEE, 0, r[i].other);
}

/* Functions that were called, those most often first. */
static struct ranked *counts_functions(struct call_counts *c, size_t *count)
{
	struct ranked *r = report_scratch(c->t, c->functions.count + 1, sizeof(*r));

	*count = 0;
	for (size_t i = 0; r && i < c->functions.count; i++) {
		const struct counted *f = counts_at(c, i);

		if (f->calls && profile_wanted(c->d, (uint32_t)f->key.image, f->name))
			r[(*count)++] = (struct ranked){
				f->calls, 0, (uint32_t)i, 0, profile_string_at(c->d, f->name)};
	}
	if (r)
		qsort(r, *count, sizeof(*r), counts_by_end);
	return r;
}

static void counts_rows(struct call_counts *c)
{
	struct report_cut cut = {.quit = c->d->request->quit};
	struct report_fold fold = report_fold_of(c->d);
	size_t count = 0;
	const struct ranked *functions = counts_functions(c, &count);
	const struct ranked *callers = counts_rank(c, true), *callees = counts_rank(c, false);
	const struct report_row total = {.role = REPORT_TOTAL, .parent = -1};
	struct report_cell *cell;

	for (size_t i = 0; functions && callers && callees && i < count && !c->t->failed; i++) {
		uint32_t function = functions[i].other;

		if (report_folds(&fold, &functions[i].calls, 1))
			continue;
		if (report_cuts(&cut, report_percent((double)functions[i].calls, (double)c->all))) {
			report_left_out(c->t, count - i, "function", "-q");
			break;
		}
		counts_callers(c, callers, function, 0);
		counts_row(c, &functions[i], REPORT_HEAD, 0, function);
		counts_callees(c, callees, function);
	}
	if (c->forwards)
		report_note(c->t,
			"An indented caller calls the function above it, each call of which, or "
			"nearly, makes one of the function asked for");
	if (fold.left)
		report_note(c->t, "%zu more function%s called once %s left out (-whole)", fold.left,
			plural(fold.left), plural_is(fold.left));
	cell = report_cells(c->t, report_row_add(c->t, &total));
	cell[CALLS].quantity = quantity_exact((double)c->all, c->label);
	cell[CALLS].percent = c->all ? 100 : 0;
	cell[CALLS].cumulative = NAN;
}

bool report_call_counts_wanted(const struct prof_data *d)
{
	bool edges = false;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->metrics.count; k++)
			if (x->metrics.data[k].flags & METRIC_STACKS)
				return false;
		edges |= x->edges.count != 0;
	}
	return edges;
}

int report_call_counts(struct prof_data *d, struct report_table *t, struct error *e)
{
	struct call_counts c = {.d = d,
		.t = t,
		.functions = TABLE_OF(struct counted),
		.arcs = TABLE_OF(struct arc),
		.sites = TABLE_OF(struct arc)};
	struct report_column columns[] = {
		[CALLS] = {.kind = REPORT_COUNT,
			.flags = REPORT_PERCENT | REPORT_EXACT,
			.name = "calls",
			.unit = "calls"},
		[OF_CALLEE] = {.kind = REPORT_RATIO,
			.flags = REPORT_EXACT | REPORT_SHARE,
			.name = "calls/callee",
			.heading = "of callee",
			.unit = ""},
	};
	int rc = 0;

	if (d->request->quit.cumulative > 0)
		return error_set(e, ERR_CONFLICT,
			"-q with cum%% has no meaning for functions that contain each other");
	c.label = d->metrics.count ? d->metrics.data[0].metric->label : LABEL_MODEL;
	report_describe(t, d);
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		columns[i].label = c.label;
		report_column_add(t, &columns[i]);
	}
	t->title = "Callers and callees, in descending order by calls";
	if (t->failed || counts_take(&c))
		rc = error_nomem(e);
	else
		counts_rows(&c);
	report_coverage(t, d);
	table_fini(&c.functions);
	table_fini(&c.arcs);
	table_fini(&c.sites);
	return report_finish(t, rc, e);
}
