/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/experiments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/numeral.h"
#include "base/strbuf.h"
#include "experiment/experiment.h"

#define CLASSIC_HZ 195e6
#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))

/* Experiments that are not of one event. */
struct fixed {
	const char *name, *help;
	int event;
	unsigned flags;
	uint64_t classic, fine;
	bool again;
};

static const struct fixed fixed[] = {
	{"pcsamp", "CPU time by address, every 10 ms", EV_TASK_CLOCK, METRIC_CLOCK, 10000000,
		1000000, false},
	{"fpcsamp", "CPU time by address, every millisecond", EV_TASK_CLOCK, METRIC_CLOCK, 1000000,
		200000, false},
	{"usertime", "CPU time by call path, every 30 ms", EV_TASK_CLOCK,
		METRIC_CLOCK | METRIC_STACKS, 30000000, 6000000, false},
	{"fusertime", "CPU time by call path, every millisecond", EV_TASK_CLOCK,
		METRIC_CLOCK | METRIC_STACKS, 1000000, 200000, false},
	{"totaltime", "elapsed time by call path, blocked or not, every 30 ms", EV_TASK_CLOCK,
		METRIC_CLOCK | METRIC_STACKS | METRIC_WALL, 30000000, 6000000, false},
	{"branches", "CPU time by address, and directions of branches", EV_TASK_CLOCK,
		METRIC_CLOCK | METRIC_BRANCHES, 2000000, 400000, false},
	{"values", "CPU time by address, and values that instructions work on", EV_TASK_CLOCK,
		METRIC_CLOCK | METRIC_VALUES, 1000000, 200000, false},
	{"explain", "the same as branches, and modelled misses and waits of a second run",
		EV_TASK_CLOCK, METRIC_CLOCK | METRIC_BRANCHES, 2000000, 400000, true},
	{"ideal", "exact executions of every instruction and edge", EV_INSTRUCTIONS, METRIC_EXACT,
		1, 1, false},
	{"bbcounts", "the same as ideal", EV_INSTRUCTIONS, METRIC_EXACT, 1, 1, false},
	{"dataspace", "data that misses and coherence requests belong to", EV_L2D_MISSES,
		METRIC_DATA, 1, 1, false},
};

/* The frequency of an event decides its period. */
enum pace { GI, CY, IC, ISC, DC, DSC, TLB, GFP, FSC, KERNEL, PACES };

static const struct {
	uint64_t hwc, fast, stacks; /* X_hwc, fX_hwc, X_hwctime */
	/* Of -both: the primes after a fifth of these. They are not sought at each start. */
	uint64_t fast_fine, stacks_fine;
} classic[PACES] = {
	[GI] = {32771, 6553, 1000003, 1319, 200003},
	[CY] = {16411, 3779, 10000019, 757, 2000003},
	[IC] = {2053, 419, 8009, 83, 1601},
	[ISC] = {131, 29, 2003, 5, 401},
	[DC] = {2053, 419, 8009, 83, 1601},
	[DSC] = {131, 29, 2003, 5, 401},
	[TLB] = {257, 53, 2521, 11, 509},
	[GFP] = {32771, 6553, 10007, 1319, 2003},
	[FSC] = {2003, 401, 5003, 83, 1009},
	/* Not SpeedShop's, and not scaled: these events do not depend on the clock. */
	[KERNEL] = {131, 29, 131, 5, 29},
};

/* Events without a SpeedShop experiment have the period of one with a similar frequency; by
 * default, that of instructions. */
static const unsigned char pace_of[EV_COUNT] = {
	[EV_CYCLES] = CY,
	[EV_CYCLES_16] = CY,
	[EV_FRONTEND_STALLS] = CY,
	[EV_BACKEND_STALLS] = CY,
	[EV_WALK_CYCLES] = CY,
	[EV_DIVIDER_CYCLES] = CY,
	[EV_FP_INSTRUCTIONS] = GFP,
	[EV_FP_OPERATIONS] = GFP,
	[EV_VECTOR_INSTRUCTIONS] = GFP,
	[EV_L1I_MISSES] = IC,
	[EV_ITLB_MISSES] = IC,
	[EV_I_WAY_MISPREDICTS] = IC,
	[EV_L1D_MISSES] = DC,
	[EV_D_WAY_MISPREDICTS] = DC,
	[EV_L1_WRITEBACK_QUADWORDS] = DC,
	[EV_L2_REFERENCES] = DC,
	[EV_DTLB_MISSES] = DC,
	[EV_HARDWARE_PREFETCHES] = DC,
	[EV_SOFTWARE_PREFETCHES] = DC,
	[EV_MISPREDICTED_BRANCHES] = DC,
	[EV_MISPREDICTED_CONDITIONALS] = DC,
	[EV_MISPREDICTED_INDIRECTS] = DC,
	[EV_MISPREDICTED_RETURNS] = DC,
	[EV_DIVIDES] = DC,
	[EV_STORE_FORWARD_FAILURES] = DC,
	[EV_ALIASES_4K] = DC,
	[EV_SPLIT_ACCESSES] = DC,
	[EV_L2I_MISSES] = ISC,
	[EV_LL_INSTRUCTION_MISSES] = ISC,
	[EV_L2D_MISSES] = DSC,
	[EV_LL_DATA_MISSES] = DSC,
	[EV_LL_REFERENCES] = DSC,
	[EV_L2_WRITEBACK_QUADWORDS] = DSC,
	[EV_L2_ECC_ERRORS] = DSC,
	[EV_INTERVENTIONS] = DSC,
	[EV_INVALIDATIONS] = DSC,
	[EV_INTERVENTION_HITS] = DSC,
	[EV_INVALIDATION_HITS] = DSC,
	[EV_STORES_TO_CLEAN] = DSC,
	[EV_STORES_TO_SHARED] = DSC,
	[EV_VIRTUAL_COHERENCY] = DSC,
	[EV_MEMORY_ORDER_CLEARS] = DSC,
	[EV_TLB_MISSES] = TLB,
	[EV_DTLB_WALKS] = TLB,
	[EV_ITLB_WALKS] = TLB,
	[EV_FAILED_STORE_CONDITIONALS] = FSC,
	[EV_STORE_CONDITIONALS] = FSC,
	[EV_ISSUED_STORE_CONDITIONALS] = FSC,
	[EV_LOCKED_INSTRUCTIONS] = FSC,
	[EV_SYSTEM_CALLS] = KERNEL,
	[EV_PAGE_FAULTS] = KERNEL,
	[EV_MAJOR_FAULTS] = KERNEL,
	[EV_CONTEXT_SWITCHES] = KERNEL,
	[EV_CPU_MIGRATIONS] = KERNEL,
};

/* How the name of an event becomes an experiment's. */
static const struct form {
	const char *before, *behind, *help;
	unsigned flags;
} forms[] = {
	{"", "_hwc", "%s by address", 0},
	{"f", "_hwc", "%s by address, about five times finer", 0},
	{"", "_hwctime", "%s by call path", METRIC_STACKS},
};

#define FORM_FAST   1
#define FORM_STACKS 2

uint64_t collect_prime(uint64_t n)
{
	if (n <= 2)
		return 2;
	for (n |= 1;; n += 2) {
		bool prime = true;

		for (uint64_t d = 3; d <= n / d && prime; d += 2)
			prime = n % d != 0;
		if (prime)
			return n;
	}
}

uint64_t collect_scale(uint64_t period, double clock_hz)
{
	double times = clock_hz > CLASSIC_HZ ? clock_hz / CLASSIC_HZ : 1;

	return collect_prime((uint64_t)((double)period * times));
}

static void from_fixed(const struct fixed *f, struct collect_experiment *x)
{
	snprintf(x->name, sizeof(x->name), "%s", f->name);
	snprintf(x->help, sizeof(x->help), "%s", f->help);
	x->event = event_by_number(f->event);
	x->flags = f->flags;
	x->classic = f->classic;
	x->classic_fine = f->fine;
	x->again = f->again;
}

static void from_event(const struct event *event, size_t form, struct collect_experiment *x)
{
	const struct form *f = &forms[form];
	unsigned pace = pace_of[event->number];

	snprintf(x->name, sizeof(x->name), "%s%s%s", f->before, event->short_name, f->behind);
	snprintf(x->help, sizeof(x->help), f->help, event->name);
	x->event = event;
	x->flags = f->flags;
	x->classic = form == FORM_FAST     ? classic[pace].fast
		     : form == FORM_STACKS ? classic[pace].stacks
					   : classic[pace].hwc;
	x->classic_fine = form == FORM_FAST     ? classic[pace].fast_fine
			  : form == FORM_STACKS ? classic[pace].stacks_fine
						: classic[pace].fast;
	x->scaled = pace != KERNEL;
	if (event->number == EV_TASK_CLOCK || event->number == EV_SYSTEM_TIME)
		x->flags |= METRIC_CLOCK;
}

int collect_experiment_at(size_t i, struct collect_experiment *x)
{
	size_t count;
	const struct event *table = event_table(&count);

	memset(x, 0, sizeof(*x));
	if (i < COUNT(fixed)) {
		from_fixed(&fixed[i], x);
		return 0;
	}
	i -= COUNT(fixed);
	if (i >= count * COUNT(forms))
		return -1;
	from_event(&table[i / COUNT(forms)], i % COUNT(forms), x);
	return 0;
}

int collect_experiment_find(const char *name, struct collect_experiment *x, struct error *e)
{
	struct nearest near;

	for (size_t i = 0; collect_experiment_at(i, x) == 0; i++)
		if (strcmp(x->name, name) == 0)
			return 0;
	error_set(e, ERR_NOT_FOUND, "no experiment '%s'", name);
	nearest_init(&near, name);
	for (size_t i = 0; i < COUNT(fixed); i++)
		nearest_offer(&near, fixed[i].name);
	return nearest_hint(&near, e, "ssrun -list shows all of them");
}

static struct collect_metric *experiments_add(struct collect_metrics *m, const char *experiment,
	const struct event_spec *spec, unsigned flags, uint64_t period, struct error *e)
{
	struct collect_metric *new = vec_push(&m->list);

	if (!new) {
		error_nomem(e);
		return NULL;
	}
	snprintf(new->experiment, sizeof(new->experiment), "%s", experiment);
	new->spec = *spec;
	new->flags = flags;
	new->period = period;
	return new;
}

int collect_metrics_add(
	struct collect_metrics *m, const struct collect_experiment *x, bool both, struct error *e)
{
	struct event_spec spec = {.origin = EVENT_ORIGIN_TABLE, .event = x->event};
	uint64_t periods[] = {x->classic, x->classic_fine};

	if (both && (x->flags & (METRIC_EXACT | METRIC_DATA)))
		return error_set(
			e, ERR_CONFLICT, "-both: %s counts exactly and has no periods", x->name);
	snprintf(spec.name, sizeof(spec.name), "%s", x->event->name);
	snprintf(spec.argument, sizeof(spec.argument), "%s", x->event->short_name);
	for (size_t i = 0; i < 1 + (size_t)both; i++) {
		struct collect_metric *new = experiments_add(m, x->name, &spec,
			x->flags | (i ? METRIC_BOTH : 0),
			x->flags & (METRIC_EXACT | METRIC_DATA) ? 1 : collect_prime(periods[i]), e);

		if (!new)
			return -1;
		new->classic = x->scaled ? periods[i] : 0;
		new->again = x->again;
	}
	return 0;
}

/* The period, and "stacks" after it, are parsed from the end: names of libpfm4 contain colons. */
static int experiment_split(
	char *word, uint64_t *period, unsigned *flags, const char *text, struct error *e)
{
	char *colon = strrchr(word, ':');

	if (colon && strcmp(colon + 1, "stacks") == 0) {
		*flags |= METRIC_STACKS;
		*colon = '\0';
		colon = strrchr(word, ':');
	}
	if (!colon || colon == word) {
		error_set(e, ERR_PARSE, "-e %s: no period", text);
		return error_hint(e,
			"give one, as in -e %.100s:20011; primes do not keep step with loops",
			word);
	}
	*colon++ = '\0';
	if (*colon && strspn(colon, "ukhpPGHSDIWe") == strlen(colon) && strlen(colon) < 4) {
		error_set(e, ERR_PARSE, "-e %s: no period", text);
		return error_hint(e,
			"give one, as in -e %.100s:20011; the kernel is sampled only with -x",
			word);
	}
	if (strcmp(colon, "exact") == 0) {
		*flags |= METRIC_EXACT;
		*period = 1;
		return 0;
	}
	if (!numeral_whole(colon, 1, UINT64_MAX >> 2, period))
		return error_set(e, ERR_PARSE, "-e %s: invalid period '%s'", text, colon);
	return 0;
}

int collect_metrics_parse(struct collect_metrics *m, const char *text, bool both, struct error *e)
{
	struct event_spec spec = {0};
	char word[160];
	uint64_t period = 0;
	unsigned flags = 0;

	if (strlen(text) >= sizeof(word))
		return error_set(e, ERR_PARSE, "-e: the name of the event is too long");
	snprintf(word, sizeof(word), "%s", text);
	if (experiment_split(word, &period, &flags, text, e) || event_parse(word, &spec, e))
		return -1;
	if (spec.event && spec.event->number == EV_TASK_CLOCK)
		flags |= METRIC_CLOCK;
	if (!experiments_add(m, "prof_hwc", &spec, flags, period, e))
		return -1;
	if (!both)
		return 0;
	if (period < 10)
		return error_set(e, ERR_RANGE, "-both: there is no finer period than %s", text);
	return experiments_add(
		       m, "prof_hwc", &spec, flags | METRIC_BOTH, collect_prime(period / 5), e)
		       ? 0
		       : -1;
}

void collect_metrics_divide(struct collect_metrics *m)
{
	bool again = false;
	size_t kept = 0;

	for (size_t i = 0; i < m->list.count; i++)
		again |= m->list.data[i].again;
	for (size_t i = 0; again && i < m->list.count; i++) {
		if (m->list.data[i].flags & METRIC_DATA)
			m->data_again = true;
		else
			m->list.data[kept++] = m->list.data[i];
	}
	m->list.count = again ? kept : m->list.count;
}

void collect_metrics_type(const struct collect_metrics *m, struct strbuf *out)
{
	for (size_t i = 0; i < m->list.count; i++) {
		const char *name = m->list.data[i].experiment;
		bool there = false;

		for (size_t j = 0; j < i; j++)
			there |= strcmp(m->list.data[j].experiment, name) == 0;
		if (!there)
			strbuf_printf(out, "%s%s", i ? "," : "", name);
	}
}

void collect_metrics_fini(struct collect_metrics *m)
{
	vec_fini(&m->list);
}
