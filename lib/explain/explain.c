/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/explain.h"
#include "explain/seen.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/parallel.h"
#include "events/numbers.h"
#include "explain/program.h"

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
static bool second_run_counts(const struct explain_result *p, const struct explain *x)
{
	const struct explain_analysis *a = &x->analysis;

	return !a->compared || p->analysed.exact || p->code.sums[a->counted] > 0;
}

static void take_events(struct explain_result *p, const struct explain *x, double *room)
{
	size_t n = p->code.flow->insns.count;

	for (size_t i = 0; i < EXPLAIN_EVENTS && second_run_counts(p, x); i++) {
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

/* Events, and what was found of the whole program. */
static void take_evidence(struct explain_result *p, const struct explain *x, double *lines,
	double *pages, double *events)
{
	p->input.line_misses = lines;
	p->input.page_misses = pages;
	p->input.factor = x->learnt ? x->factor : NULL;
	take_events(p, x, events);
	p->input.seen = p->seen;
	culprit_lines_misses(x->lines, p->procedure->image, p->code.flow, lines, pages);
}

static int make_input(struct explain_result *p, const struct explain *x)
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
		.counted = uses_counted_edges(p),
		.modelled = x->analysis.modelled,
		.behind_calls = m->metric->flags & METRIC_SKID,
		.faults = m->metric->flags & METRIC_WALL};
	if (explain_seen_make(&p->seen, &x->values, &p->code))
		return -1;
	if (x->settled)
		take_evidence(p, x, lines, pages, events);
	return 0;
}

/* Analyses are kept as long as they take little room. */
enum { KEPT_MAX = 4 << 20 }; /* instructions */

struct kept { /* table entry */
	struct {
		uint64_t begin;
		uint32_t image, reserved;
	} key;
	struct explain_analysed analysed;
	struct explain_code code; /* without flow: not kept */
};

static const struct kept *find_kept(const struct explain *x, const struct explain_procedure *p)
{
	const struct kept key = {.key = {p->begin, p->image, 0}};

	return x->settled ? table_find(&x->kept, &key.key) : NULL;
}

static int keep_analysed(struct explain *x, struct explain_result *p)
{
	size_t n = p->code.flow->insns.count;
	struct kept key = {.key = {p->procedure->begin, p->procedure->image, 0}}, *kept;

	if (x->kept_insns + n > KEPT_MAX)
		return 0;
	kept = table_add(&x->kept, &key.key);
	if (!kept)
		return -1;
	kept->analysed = p->analysed;
	p->borrowed = true;
	if (x->kept_insns + n <= EXPLAIN_CODE_KEPT) {
		kept->code = p->code;
		p->borrowed_code = true;
	}
	x->kept_insns += n;
	return 0;
}

static int analyse(struct explain_result *p, struct explain *x, struct error *e)
{
	const struct kept *kept = find_kept(x, p->procedure);

	if (!kept)
		return explain_analyse(&p->analysed, &x->analysis, &p->code,
			p->moves.moved[x->analysis.metric], e);
	p->analysed = kept->analysed;
	p->analysed.code = &p->code;
	p->borrowed = true;
	return 0;
}

static int explain_prepare(struct explain_result *p, struct explain *x, struct error *e)
{
	const uint64_t *times;

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

/* Procedures of `all`, thought about by any thread, and taken in order. Meanwhile x changes only in
 * what no thought reads. */
struct look {
	struct explain *x;
	const struct explain_procedures *all;
	const char *words;                                       /* for the progress bar */
	int (*think)(struct explain_result *p, struct error *e); /* NULL: nothing to do */
	explain_take *take;
	void *to;
};

static int load_code(struct explain_result *p, const struct look *l, struct error *e)
{
	struct explain_program *program = l->x->analysis.program;
	const struct explain_procedure *own = p->procedure;
	const struct kept *kept = find_kept(l->x, own);

	if (kept && kept->code.flow) {
		p->code = kept->code;
		p->borrowed_code = true;
		return 0;
	}
	if (program && explain_program_take_code(program, own->image, own->begin, &p->code))
		return 0;
	return explain_code_load(&p->code, l->x->d, l->all, own, e);
}

static int look_into(const struct look *l, struct explain_result *p,
	const struct explain_procedure *procedure, struct error *e)
{
	p->procedure = procedure;
	p->name = profile_string_at(l->x->d, procedure->name);
	if (load_code(p, l, e) || explain_prepare(p, l->x, e))
		return -1;
	return p->told && l->think ? l->think(p, e) : 0;
}

static int look_make(void *context, size_t i, void *result, struct error *e)
{
	const struct look *l = context;

	return look_into(l, result, &l->all->list.data[i], e);
}

static int look_take(void *context, size_t i, void *result, struct error *e)
{
	const struct look *l = context;

	profile_progress(l->x->d, i, l->all->list.count, l->words);
	return l->take(l->to, result, e);
}

static void look_drop(void *context, void *result)
{
	const struct look *l = context;

	explain_result_fini(result, l->x);
}

static int look_through(struct look *l, struct error *e)
{
	const struct parallel all = {.count = l->all->list.count,
		.size = sizeof(struct explain_result),
		.context = l,
		.make = look_make,
		.take = look_take,
		.drop = look_drop};

	return parallel_run(&all, e);
}

static int think_of_culprits(struct explain_result *p, struct error *e)
{
	return culprits_find(&p->culprits, &p->input, e) ||
			       culprits_unsure(&p->culprits, &p->input, e)
		       ? -1
		       : 0;
}

int explain_result_make(struct explain_result *p, struct explain *x,
	const struct explain_procedure *procedure, struct error *e)
{
	const struct look one = {.x = x, .all = &x->procedures, .think = think_of_culprits};

	memset(p, 0, sizeof(*p));
	return look_into(&one, p, procedure, e);
}

void explain_result_fini(struct explain_result *p, const struct explain *x)
{
	culprits_fini(&p->culprits);
	free(p->memory);
	free(p->seen);
	if (!p->borrowed)
		explain_analysed_fini(&p->analysed);
	explain_moves_fini(&p->moves, x->d);
	if (!p->borrowed_code)
		explain_code_fini(&p->code);
}

/* ---- a program ---- */

static int add_lines(void *to, struct explain_result *p, struct error *e)
{
	struct explain *x = to;

	if (!p->told)
		return 0;
	count_wrong(x, p);
	if (x->analysis.compared && !p->analysed.exact)
		x->differs += (double)p->code.sums[x->analysis.metric];
	if (keep_analysed(x, p))
		return error_nomem(e);
	return culprit_lines_add(x->lines, p->procedure->image, &p->input, e);
}

static int think_of_all(struct explain_result *p, struct error *e)
{
	p->input.survey = true;
	return culprits_find(&p->culprits, &p->input, e);
}

static int add_waits(void *to, struct explain_result *p, struct error *e)
{
	struct explain *x = to;

	return p->told ? culprits_learn_add(x->learn, &p->culprits, e) : 0;
}

static int look_around(struct explain *x, struct error *e)
{
	struct explain_procedures all; /* including hidden ones: they occupy caches as well */
	struct look lines = {x, &all, "estimating executions", NULL, add_lines, x};
	struct look waits = {x, &all, "learning causes", think_of_all, add_waits, x};
	int rc = explain_procedures_all(&all, x->d) ? error_nomem(e) : 0;

	x->lines = culprit_lines_new(&x->machine, e);
	x->learn = culprits_learn_new(e);
	if (rc == 0)
		rc = x->lines && x->learn && explain_analysis_ready(&x->analysis, e) == 0
			     ? look_through(&lines, e)
			     : -1;
	if (rc == 0) {
		culprit_lines_settle(x->lines);
		x->settled = true;
		rc = look_through(&waits, e);
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
	if (profile_values_init(&x->values, d, false))
		return error_nomem(e);
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
	struct look all = {x, &x->procedures, "explaining waits", think_of_culprits, take, to};

	return look_through(&all, e);
}

void explain_fini(struct explain *x)
{
	for (size_t i = 0; i < x->kept.count; i++) {
		struct kept *kept = table_at(&x->kept, i);

		explain_analysed_fini(&kept->analysed);
		explain_code_fini(&kept->code);
	}
	table_fini(&x->kept);
	profile_values_fini(&x->values);
	culprit_lines_free(x->lines);
	culprits_learn_free(x->learn);
	explain_procedures_fini(&x->procedures);
	explain_edges_fini(&x->edges);
	explain_analysis_fini(&x->analysis);
}
