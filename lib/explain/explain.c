/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/explain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "events/numbers.h"

/* ---- counted events ---- */

/* Events of each cause. Costs are exclusive, so several events may belong to one cause. */
static const struct {
	enum culprit_cause cause;
	int event, less; /* less: count subtracted, an event that is another cause's; 0: none */
} tells[] = {
	{CULPRIT_ICACHE, EV_L1I_MISSES, 0},
	{CULPRIT_ICACHE, EV_L2I_MISSES, 0},
	{CULPRIT_ICACHE, EV_LL_INSTRUCTION_MISSES, 0},
	{CULPRIT_ITLB, EV_ITLB_MISSES, 0},
	{CULPRIT_ITLB, EV_ITLB_WALKS, 0},
	{CULPRIT_L2, EV_L1D_MISSES, EV_L2D_MISSES},
	{CULPRIT_LL, EV_L2D_MISSES, EV_LL_DATA_MISSES},
	{CULPRIT_MEMORY, EV_LL_DATA_MISSES, 0},
	{CULPRIT_DTLB, EV_DTLB_MISSES, 0},
	{CULPRIT_DTLB, EV_DTLB_WALKS, 0},
	{CULPRIT_MISPREDICT, EV_MISPREDICTED_BRANCHES, 0},
	{CULPRIT_FORWARD, EV_STORE_FORWARD_FAILURES, 0},
	{CULPRIT_DIVIDER, EV_DIVIDES, 0},
	{CULPRIT_LOCKED, EV_STORE_CONDITIONALS, 0},
	{CULPRIT_FAULT, EV_PAGE_FAULTS, 0},
};
_Static_assert(sizeof(tells) / sizeof(*tells) == EXPLAIN_EVENTS, "costs of all events");

/* The metric of an event; -1: none. */
static long metric_of(const struct prof_data *d, int event)
{
	for (size_t i = 0; event && i < d->metrics.count; i++)
		if (d->metrics.data[i].metric->event == event)
			return (long)i;
	return -1;
}

static double count_of(
	const struct explain_result *p, const struct explain *x, long metric, uint32_t insn)
{
	size_t k = (size_t)metric;

	if (metric < 0)
		return 0;
	return x->d->metrics.data[k].unit * explain_executed_each(&p->analysed, insn) *
	       (p->moves.moved[k] ? p->moves.moved[k][insn].value
				  : (double)p->code.counts[insn * x->d->metrics.count + k]);
}

/* Of one cause, by instruction: struct culprits_input. */
struct counted {
	double *usual, *most, *times, *full;
};

/* The cost of a count; at most, including counts that the samples may have missed. */
static void take_event(
	struct explain_result *p, const struct explain *x, size_t which, struct counted *to)
{
	long metric = metric_of(x->d, tells[which].event);
	long less = metric_of(x->d, tells[which].less);
	const struct culprit_cost *cost = &x->event_cost[which];
	size_t n = p->code.flow->insns.count;
	double unit = x->d->metrics.data[metric].unit;

	for (uint32_t k = 0; k < n; k++) {
		double count = fmax(count_of(p, x, metric, k) - count_of(p, x, less, k), 0);
		double samples = count / unit;

		to->times[k] = fmax(to->times[k], count);
		to->usual[k] += count * cost->typical;
		to->full[k] += count * cost->maximum;
		to->most[k] += (unit > 1 ? (samples + 2 * sqrt(samples) + 1) * unit : count) *
			       cost->maximum;
	}
}

/* Arrays by instruction; NULL if nothing was counted. */
enum { EVENT_ARRAYS = 4 };

static size_t event_room(const struct explain *x)
{
	for (size_t i = 0; i < EXPLAIN_EVENTS; i++)
		if (metric_of(x->d, tells[i].event) >= 0)
			return EVENT_ARRAYS * CULPRITS;
	return 0;
}

/* The other run of -explain may not have executed this procedure at all: it chose another for this
 * processor. Then its counts are no evidence. */
static bool witnessed_run(const struct explain_result *p, const struct explain *x)
{
	const struct explain_analysis *a = &x->analysis;

	return !a->compared || p->analysed.exact || p->code.sums[a->counted] > 0;
}

static void take_events(struct explain_result *p, const struct explain *x, double *room)
{
	size_t n = p->code.flow->insns.count;

	for (size_t i = 0; i < EXPLAIN_EVENTS && witnessed_run(p, x); i++) {
		unsigned cause = tells[i].cause;
		double *at = room + EVENT_ARRAYS * cause * n;
		struct counted c = {at, at + n, at + 2 * n, at + 3 * n};

		if (metric_of(x->d, tells[i].event) < 0)
			continue;
		p->input.events[cause] = c.usual;
		p->input.events_most[cause] = c.most;
		p->input.events_times[cause] = c.times;
		p->input.events_full[cause] = c.full;
		p->input.any_events = true;
		take_event(p, x, i, &c);
	}
	p->input.wrong_returns = x->returns > 0 ? x->wrong_returns / x->returns : 0;
	p->input.wrong_calls = x->calls > 0 ? x->wrong_calls / x->calls : 0;
}

/* Mispredictions of returns and calls, of the whole program. */
static void count_wrong(struct explain *x, const struct explain_result *p)
{
	const struct flow *f = p->code.flow;
	long metric = metric_of(x->d, EV_MISPREDICTED_BRANCHES);

	for (uint32_t i = 0; metric >= 0 && i < f->insns.count; i++) {
		double n = explain_executed(&p->analysed, i), wrong = count_of(p, x, metric, i);

		if (f->insns.data[i].classes & INSN_RETURN) {
			x->returns += n;
			x->wrong_returns += wrong;
		} else if (f->insns.data[i].classes & INSN_CALL) {
			x->calls += n;
			x->wrong_calls += wrong;
		}
	}
}

/* ---- a procedure ---- */

static bool uses_counted_edges(const struct explain_result *p)
{
	return p->moves.edges && (p->analysed.exact || !p->analysed.analysis->compared);
}

/* executions: of blocks, followed by their least and greatest values. */
static void take_frequencies(struct explain_result *p, double *executions, double *edges)
{
	const struct flow *f = p->code.flow;
	double unit = p->analysed.analysis->cycles;

	size_t n = f->blocks.count;

	for (uint32_t i = 0; i < n; i++) {
		struct quantity q = explain_executions_of(&p->analysed, f->blocks.data[i].first);
		bool known = q.label != LABEL_NONE;

		executions[i] = known ? q.value : 0;
		executions[n + i] = known ? q.low : 0;
		executions[2 * n + i] = known ? q.high : 0;
	}
	for (size_t i = 0; i < f->edges.count; i++) {
		const struct analysis_estimate *x =
			p->analysed.frequencies.edge ? &p->analysed.frequencies.edge[i] : NULL;

		if (uses_counted_edges(p))
			edges[i] = p->moves.edges[i];
		else
			edges[i] = x && x->confidence != ANALYSIS_UNKNOWN ? x->value * unit : NAN;
	}
}

static int make_input(struct explain_result *p, struct explain *x)
{
	const struct flow *f = p->code.flow;
	const struct prof_metric *m = &x->d->metrics.data[x->analysis.metric];
	size_t n = f->insns.count;
	size_t arrays = event_room(x);
	size_t room = n * (3 + arrays) + 3 * f->blocks.count + f->edges.count + 1;
	double *cycles = calloc(room, sizeof(double)), *lines, *pages, *events, *executions, *edges;

	p->memory = cycles;
	if (!cycles)
		return -1;
	lines = cycles + n;
	pages = lines + n;
	events = pages + n;
	executions = events + n * arrays;
	edges = executions + 3 * f->blocks.count;
	take_frequencies(p, executions, edges);
	for (size_t i = 0; i < n; i++)
		cycles[i] = p->analysed.samples[i] * x->analysis.cycles;
	p->input = (struct culprits_input){.flow = f,
		.core = &x->analysis.core,
		.machine = &x->machine,
		.cycles = cycles,
		.sample = x->analysis.cycles,
		.executions = executions,
		.least = p->analysed.exact ? NULL : executions + f->blocks.count,
		.most = p->analysed.exact ? NULL : executions + 2 * f->blocks.count,
		.edges = edges,
		.mi = p->analysed.mi,
		.rows = p->analysed.rows,
		.unsure = p->analysed.unsure,
		.factor = x->learnt ? x->factor : NULL,
		.line_misses = lines,
		.page_misses = pages,
		.counted = uses_counted_edges(p),
		.modelled = x->analysis.modelled,
		.behind_calls = m->metric->flags & METRIC_SKID,
		.faults = m->metric->flags & METRIC_WALL};
	take_events(p, x, events);
	culprit_lines_misses(x->lines, p->procedure->image, f, lines, pages);
	return 0;
}

/* Results are kept as long as they take little room. */
enum { KEPT_MAX = 4 << 20 }; /* instructions */

struct kept { /* table entry */
	struct {
		uint64_t begin;
		uint32_t image, reserved;
	} key;
	struct explain_analysed analysed;
};

static int analyse(struct explain_result *p, struct explain *x, struct error *e)
{
	struct kept key = {.key = {p->procedure->begin, p->procedure->image, 0}};
	struct kept *kept = table_find(&x->kept, &key.key);
	size_t n = p->code.flow->insns.count;

	if (kept) {
		p->analysed = kept->analysed;
		p->analysed.code = &p->code;
		p->borrowed = true;
		return 0;
	}
	if (explain_analyse(
		    &p->analysed, &x->analysis, &p->code, p->moves.moved[x->analysis.metric], e))
		return -1;
	if (x->kept_insns + n > KEPT_MAX)
		return 0;
	kept = table_add(&x->kept, &key.key);
	if (!kept)
		return error_nomem(e);
	kept->analysed = p->analysed;
	x->kept_insns += n;
	p->borrowed = true;
	return 0;
}

/* Takes ownership of the code. */
static int explain_prepare(struct explain_result *p, struct explain *x,
	const struct explain_procedure *procedure, struct explain_code *code, struct error *e)
{
	const uint64_t *times;

	memset(p, 0, sizeof(*p));
	p->procedure = procedure;
	p->name = profile_string_at(x->d, procedure->name);
	p->code = *code;
	memset(code, 0, sizeof(*code));
	if (!p->code.flow || p->code.machine != ISA_X86_64)
		return 0;
	times = x->analysis.exact ? p->code.counts + x->analysis.counted : NULL;
	if (explain_moves_make(&p->moves, x->d, &x->edges, &p->code, times))
		return error_nomem(e);
	if (analyse(p, x, e))
		return -1;
	if (make_input(p, x))
		return error_nomem(e);
	p->told = true;
	return 0;
}

int explain_result_make(struct explain_result *p, struct explain *x,
	const struct explain_procedure *procedure, struct error *e)
{
	struct explain_code code = {0};

	if (explain_code_load(&code, x->d, &x->procedures, procedure, e)) {
		memset(p, 0, sizeof(*p));
		return -1;
	}
	if (explain_prepare(p, x, procedure, &code, e))
		return -1;
	if (!p->told)
		return 0;
	return culprits_find(&p->culprits, &p->input, e) ||
			       culprits_unsure(&p->culprits, &p->input, e)
		       ? -1
		       : 0;
}

void explain_result_fini(struct explain_result *p, const struct explain *x)
{
	culprits_fini(&p->culprits);
	free(p->memory);
	if (!p->borrowed)
		explain_analysed_fini(&p->analysed);
	explain_moves_fini(&p->moves, x->d);
	explain_code_fini(&p->code);
}

/* ---- a program ---- */

struct look {
	struct explain *x;
	int (*each)(struct explain *x, struct explain_result *p, struct error *e);
};

static int explain_look_at(void *to, const struct explain_procedure *procedure,
	struct explain_code *code, struct error *e)
{
	const struct look *l = to;
	struct explain_result p;
	int rc = explain_prepare(&p, l->x, procedure, code, e);

	if (rc == 0 && p.told)
		rc = l->each(l->x, &p, e);
	explain_result_fini(&p, l->x);
	return rc;
}

static int add_lines(struct explain *x, struct explain_result *p, struct error *e)
{
	count_wrong(x, p);
	if (x->analysis.compared && !p->analysed.exact)
		x->differs += (double)p->code.sums[x->analysis.metric];
	return culprit_lines_add(x->lines, p->procedure->image, &p->input, e);
}

static int add_waits(struct explain *x, struct explain_result *p, struct error *e)
{
	p->input.survey = true;
	if (culprits_find(&p->culprits, &p->input, e))
		return -1;
	return culprits_learn_add(x->learn, &p->culprits, e);
}

static int look_around(struct explain *x, struct error *e)
{
	struct look lines = {x, add_lines}, waits = {x, add_waits};
	struct explain_procedures all; /* including hidden ones: they occupy caches as well */
	int rc = explain_procedures_all(&all, x->d) ? error_nomem(e) : 0;

	x->lines = culprit_lines_new(&x->machine, e);
	x->learn = culprits_learn_new(e);
	if (rc == 0)
		rc = x->lines && x->learn
			     ? explain_code_each(x->d, &all, explain_look_at, &lines, e)
			     : -1;
	if (rc == 0) {
		culprit_lines_settle(x->lines);
		rc = explain_code_each(x->d, &all, explain_look_at, &waits, e);
	}
	if (rc == 0) {
		culprits_learn_factors(x->learn, x->factor);
		x->learnt = true;
	}
	explain_procedures_fini(&all);
	return rc;
}

int explain_init(struct explain *x, struct prof_data *d, struct error *e)
{
	memset(x, 0, sizeof(*x));
	x->d = d;
	x->kept = TABLE_OF(struct kept);
	if (profile_data_metrics(d, e))
		return -1;
	if (explain_analysis_init(&x->analysis, d, e) || explain_machine(x, e))
		return -1;
	x->total = (double)d->metrics.data[x->analysis.metric].samples;
	for (size_t i = 0; i < EXPLAIN_EVENTS; i++)
		explain_event_cost(x, i, tells[i].event);
	if (explain_edges_init(&x->edges, d) || explain_procedures_init(&x->procedures, d))
		return error_nomem(e);
	return look_around(x, e);
}

int explain_each(struct explain *x, explain_take *take, void *to, struct error *e)
{
	size_t count = x->procedures.list.count;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < count; i++) {
		struct explain_result p;

		profile_progress(x->d, i, count, "explaining waits");
		rc = explain_result_make(&p, x, &x->procedures.list.data[i], e);
		if (rc == 0)
			rc = take(to, &p, e);
		explain_result_fini(&p, x);
	}
	return rc;
}

void explain_fini(struct explain *x)
{
	for (size_t i = 0; i < x->kept.count; i++)
		explain_analysed_fini(&((struct kept *)table_at(&x->kept, i))->analysed);
	table_fini(&x->kept);
	culprit_lines_free(x->lines);
	culprits_learn_free(x->learn);
	explain_procedures_fini(&x->procedures);
	explain_edges_fini(&x->edges);
	explain_analysis_fini(&x->analysis);
}
