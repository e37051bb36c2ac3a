/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"

/* ---- what is counted ---- */

/* Which events tell of a cause, and whether they are some of another cause's: a load from memory
 * is a miss of each level. */
static const struct {
	enum culprit_cause cause;
	int event, less; /* less: of those, an event that belongs to another cause; 0: none */
} tells[] = {
	{CULPRIT_ICACHE, EV_L1I_MISSES, 0},
	{CULPRIT_ITLB, EV_ITLB_MISSES, 0},
	{CULPRIT_L2, EV_L1D_MISSES, EV_L2D_MISSES},
	{CULPRIT_LL, EV_L2D_MISSES, EV_LL_DATA_MISSES},
	{CULPRIT_MEMORY, EV_LL_DATA_MISSES, 0},
	{CULPRIT_DTLB, EV_DTLB_MISSES, 0},
	{CULPRIT_MISPREDICT, EV_MISPREDICTED_BRANCHES, 0},
	{CULPRIT_FORWARD, EV_STORE_FORWARD_FAILURES, 0},
	{CULPRIT_DIVIDER, EV_DIVIDES, 0},
	{CULPRIT_LOCKED, EV_STORE_CONDITIONALS, 0},
	{CULPRIT_FAULT, EV_PAGE_FAULTS, 0},
};

/* The metric of an event; -1: none. */
static long metric_of(const struct prof_data *d, int event)
{
	for (size_t i = 0; event && i < d->metrics.count; i++)
		if (d->metrics.data[i].metric->event == event)
			return (long)i;
	return -1;
}

static double count_of(
	const struct prof_explained *p, const struct prof_explain *x, long metric, uint32_t insn)
{
	size_t k = (size_t)metric;

	if (metric < 0)
		return 0;
	return x->d->metrics.data[k].unit *
	       (p->moved[k] ? p->moved[k][insn].value
			    : (double)p->code.counts[insn * x->d->metrics.count + k]);
}

static void take_events(struct prof_explained *p, const struct prof_explain *x, double *room)
{
	size_t n = p->code.flow->insns.count;

	for (size_t i = 0; i < sizeof(tells) / sizeof(*tells); i++) {
		long metric = metric_of(x->d, tells[i].event),
		     less = metric_of(x->d, tells[i].less);
		double *to = room + tells[i].cause * n;

		if (metric < 0)
			continue;
		p->input.events[tells[i].cause] = to;
		p->input.event_unit[tells[i].cause] = x->d->metrics.data[metric].unit;
		for (uint32_t k = 0; k < n; k++)
			to[k] = fmax(count_of(p, x, metric, k) - count_of(p, x, less, k), 0);
	}
}

/* ---- a procedure ---- */

static int move_samples(struct prof_explained *p, struct prof_explain *x)
{
	const struct flow *f = p->code.flow;
	size_t metrics = x->d->metrics.count;
	struct prof_skid s = {.flow = f, .entered = NAN};

	p->moved = calloc(metrics + 1, sizeof(*p->moved));
	if (!p->moved)
		return -1;
	if (x->edges.any) {
		const uint64_t *times =
			x->analysis.exact ? p->code.counts + x->analysis.counted : NULL;

		s.edges = p->counted_edges = prof_edges_of(
			&x->edges, f, p->procedure->image, times, metrics, &s.entered);
		if (!p->counted_edges)
			return -1;
	}
	for (size_t k = 0; k < metrics; k++) {
		if (!(x->d->metrics.data[k].metric->flags & METRIC_SKID))
			continue;
		p->moved[k] = calloc(f->insns.count + 1, sizeof(**p->moved));
		if (!p->moved[k] || prof_skid_move(&s, p->code.counts + k, metrics, p->moved[k]))
			return -1;
	}
	return 0;
}

static void take_frequencies(struct prof_explained *p, double *executions, double *edges)
{
	const struct flow *f = p->code.flow;
	double unit = p->analysed.analysis->cycles;

	for (uint32_t i = 0; i < f->blocks.count; i++)
		executions[i] = prof_executed(&p->analysed, f->blocks.data[i].first);
	for (size_t i = 0; i < f->edges.count; i++) {
		const struct analysis_estimate *x =
			p->analysed.frequencies.edge ? &p->analysed.frequencies.edge[i] : NULL;

		if (p->counted_edges)
			edges[i] = p->counted_edges[i];
		else
			edges[i] = x && x->confidence != ANALYSIS_UNKNOWN ? x->value * unit : NAN;
	}
}

static int make_input(struct prof_explained *p, struct prof_explain *x)
{
	const struct flow *f = p->code.flow;
	const struct prof_metric *m = &x->d->metrics.data[x->analysis.metric];
	size_t n = f->insns.count;
	size_t room = n * (3 + CULPRITS) + f->blocks.count + f->edges.count + 1;
	double *cycles = calloc(room, sizeof(double)), *lines, *pages, *events, *executions, *edges;

	p->memory = cycles;
	if (!cycles)
		return -1;
	lines = cycles + n;
	pages = lines + n;
	events = pages + n;
	executions = events + n * CULPRITS;
	edges = executions + f->blocks.count;
	take_frequencies(p, executions, edges);
	for (size_t i = 0; i < n; i++)
		cycles[i] = p->analysed.samples[i] * x->analysis.cycles;
	p->input = (struct culprits_input){.flow = f,
		.core = &x->analysis.core,
		.machine = &x->machine,
		.cycles = cycles,
		.sample = x->analysis.cycles,
		.executions = executions,
		.edges = edges,
		.mi = p->analysed.mi,
		.rows = p->analysed.rows,
		.unsure = p->analysed.unsure,
		.line_misses = lines,
		.page_misses = pages,
		.behind_calls = m->metric->flags & METRIC_SKID,
		.faults = m->metric->flags & METRIC_WALL};
	take_events(p, x, events);
	culprit_lines_misses(x->lines, p->procedure->image, f, lines, pages);
	return 0;
}

static int load(struct prof_explained *p, struct prof_explain *x,
	const struct prof_procedure *procedure, struct error *e)
{
	memset(p, 0, sizeof(*p));
	p->procedure = procedure;
	p->name = prof_string_at(x->d, procedure->name);
	if (prof_code_load(&p->code, x->d, &x->procedures, procedure, e))
		return -1;
	if (!p->code.flow || p->code.machine != ISA_X86_64)
		return 0;
	if (move_samples(p, x))
		return error_nomem(e);
	if (prof_analyse(&p->analysed, &x->analysis, &p->code, p->moved[x->analysis.metric], e))
		return -1;
	if (make_input(p, x))
		return error_nomem(e);
	p->told = true;
	return 0;
}

int prof_explained_make(struct prof_explained *p, struct prof_explain *x,
	const struct prof_procedure *procedure, struct error *e)
{
	if (load(p, x, procedure, e))
		return -1;
	return p->told ? culprits_find(&p->culprits, &p->input, e) : 0;
}

void prof_explained_fini(struct prof_explained *p, const struct prof_explain *x)
{
	culprits_fini(&p->culprits);
	free(p->memory);
	prof_analysed_fini(&p->analysed);
	free(p->counted_edges);
	for (size_t k = 0; p->moved && k < x->d->metrics.count; k++)
		free(p->moved[k]);
	free(p->moved);
	prof_code_fini(&p->code);
}

/* ---- a program ---- */

/* Also of what -only and -exclude do not show: it takes room as well. */
static int all_procedures(struct prof_procedures *all, const struct prof_data *d)
{
	struct prof_request request = *d->request;
	struct prof_data whole = *d;

	request.only = request.exclude = NULL;
	whole.request = &request;
	return prof_procedures_init(all, &whole);
}

static int find_lines(struct prof_explain *x, struct error *e)
{
	struct prof_procedures all;
	int rc = all_procedures(&all, x->d) ? error_nomem(e) : 0;

	x->lines = culprit_lines_new(&x->machine, e);
	for (size_t i = 0; x->lines && rc == 0 && i < all.list.count; i++) {
		struct prof_explained p;

		rc = load(&p, x, &all.list.data[i], e);
		if (rc == 0 && p.told)
			rc = culprit_lines_add(x->lines, p.procedure->image, &p.input, e);
		prof_explained_fini(&p, x);
	}
	prof_procedures_fini(&all);
	if (!x->lines || rc)
		return -1;
	culprit_lines_settle(x->lines);
	return 0;
}

int prof_explain_init(struct prof_explain *x, struct prof_data *d, struct error *e)
{
	memset(x, 0, sizeof(*x));
	x->d = d;
	if (!d->metrics.count)
		return error_set(e, ERR_NOT_FOUND, "the experiment holds no metric");
	if (prof_analysis_init(&x->analysis, d, e) || prof_explain_machine(x, e))
		return -1;
	x->total = (double)d->metrics.data[x->analysis.metric].samples;
	for (size_t i = 0; i < sizeof(tells) / sizeof(*tells); i++)
		x->events[tells[i].cause] = metric_of(d, tells[i].event) >= 0;
	if (prof_edges_init(&x->edges, d) || prof_procedures_init(&x->procedures, d))
		return error_nomem(e);
	return find_lines(x, e);
}

void prof_explain_fini(struct prof_explain *x)
{
	culprit_lines_free(x->lines);
	prof_procedures_fini(&x->procedures);
	prof_edges_fini(&x->edges);
	prof_analysis_fini(&x->analysis);
}
