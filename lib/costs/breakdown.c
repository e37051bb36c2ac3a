/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The run's time divided into causes.  After Zagha et al., section 4 (counts times typical costs),
 * with two things added: no cycle is charged by two rows, and the sum is the run's time.
 *
 * Fitting.  Cause i took between low_i and high_i seconds (its counts at minimum and maximum cost),
 * typically t_i.  All causes move the same part lambda of the way from t_i to the bound on the side
 * that matters, until they sum to the run's time T: x_i = t_i + lambda (high_i - t_i) where the
 * typical costs explain less than T, else x_i = t_i - lambda (t_i - low_i).  This is the least
 * squares fit with weights 1/(distance to the bound), and right if costs err all together: if
 * one kind of miss overlaps with other work, so do the others, because overlap is a property of the
 * program.  (Independent errors would have weights 1/distance^2; then the cause with the widest
 * range takes nearly all of the difference, and long misses vanish from programs that overlap
 * theirs.)  Cost: one pass over the causes.
 *
 * Known deviations: the interval of a cause is its bounds, not a confidence interval of the fit.
 */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "costs/breakdown.h"

#define PARTS_MAX 3
#define NOTHING   0 /* in the lists below; no cause is made of cycles */

struct row {
	int number;
	const char *name;
	const char *rest; /* its name when some of its parts are causes of their own */
	int cost_of;      /* row that has its cost, if it has none itself */
	int implies; /* each is also one of these, and has its cost, too, if those were not counted
		      */
	int parts[PARTS_MAX];     /* if counted, these are causes and this row only has the rest */
	int yields_to[PARTS_MAX]; /* if one of these was counted, this row adds nothing */
	bool kernel;              /* its time is in the kernel */
};

/* clang-format off */
static const struct row breakdown_table[] = {
	{.number = EV_INSTRUCTIONS, .name = "instructions"},
	{.number = EV_MICRO_OPS, .name = "instructions", .cost_of = EV_INSTRUCTIONS, .yields_to = {EV_INSTRUCTIONS}},
	{.number = EV_LOADS, .name = "loads"},
	{.number = EV_ISSUED_LOADS, .name = "loads", .cost_of = EV_LOADS, .yields_to = {EV_LOADS}},
	{.number = EV_STORES, .name = "stores"},
	{.number = EV_ISSUED_STORES, .name = "stores", .cost_of = EV_STORES, .yields_to = {EV_STORES}},
	{.number = EV_FP_INSTRUCTIONS, .name = "floating point"},
	{.number = EV_DIVIDES, .name = "divides"},
	{.number = EV_TAKEN_BRANCHES, .name = "taken branches"},
	{.number = EV_MISPREDICTED_BRANCHES, .name = "branch mispredictions", .rest = "other branch mispredictions",
	 .parts = {EV_MISPREDICTED_CONDITIONALS, EV_MISPREDICTED_INDIRECTS, EV_MISPREDICTED_RETURNS}},
	{.number = EV_MISPREDICTED_CONDITIONALS, .name = "conditional branch mispredictions",
	 .cost_of = EV_MISPREDICTED_BRANCHES},
	{.number = EV_MISPREDICTED_INDIRECTS, .name = "indirect branch mispredictions",
	 .cost_of = EV_MISPREDICTED_BRANCHES},
	{.number = EV_MISPREDICTED_RETURNS, .name = "return mispredictions", .cost_of = EV_MISPREDICTED_BRANCHES},
	{.number = EV_L1D_MISSES, .name = "L1 data misses"},
	{.number = EV_L2D_MISSES, .name = "L2 data misses", .implies = EV_L1D_MISSES},
	{.number = EV_LL_DATA_MISSES, .name = "last-level data misses", .implies = EV_L2D_MISSES},
	{.number = EV_L1_WRITEBACK_QUADWORDS, .name = "L1 write-backs"},
	{.number = EV_L2_WRITEBACK_QUADWORDS, .name = "L2 write-backs"},
	{.number = EV_L1I_MISSES, .name = "L1 instruction misses"},
	{.number = EV_L2I_MISSES, .name = "L2 instruction misses", .implies = EV_L1I_MISSES},
	{.number = EV_LL_INSTRUCTION_MISSES, .name = "last-level instruction misses", .implies = EV_L2I_MISSES},
	{.number = EV_I_WAY_MISPREDICTS, .name = "instruction way mispredictions"},
	{.number = EV_D_WAY_MISPREDICTS, .name = "data way mispredictions"},
	{.number = EV_DTLB_MISSES, .name = "data TLB misses (second-level hits)"},
	{.number = EV_ITLB_MISSES, .name = "instruction TLB misses (second-level hits)"},
	{.number = EV_TLB_MISSES, .name = "TLB walks", .rest = "other TLB walks",
	 .implies = EV_DTLB_MISSES, .parts = {EV_DTLB_WALKS, EV_ITLB_WALKS}},
	{.number = EV_DTLB_WALKS, .name = "data TLB walks", .cost_of = EV_TLB_MISSES, .implies = EV_DTLB_MISSES},
	{.number = EV_ITLB_WALKS, .name = "instruction TLB walks", .cost_of = EV_TLB_MISSES, .implies = EV_ITLB_MISSES},
	{.number = EV_STORE_CONDITIONALS, .name = "locked instructions", .yields_to = {EV_LOCKED_INSTRUCTIONS}},
	{.number = EV_LOCKED_INSTRUCTIONS, .name = "locked instructions", .cost_of = EV_STORE_CONDITIONALS},
	{.number = EV_FAILED_STORE_CONDITIONALS, .name = "failed store conditionals"},
	{.number = EV_MEMORY_ORDER_CLEARS, .name = "memory order clears"},
	{.number = EV_STORE_FORWARD_FAILURES, .name = "store forwarding failures"},
	{.number = EV_ALIASES_4K, .name = "4K aliases"},
	{.number = EV_SPLIT_ACCESSES, .name = "split accesses"},
	{.number = EV_INTERVENTION_HITS, .name = "lines from other cores"},
	{.number = EV_STORES_TO_SHARED, .name = "stores to shared lines"},
	{.number = EV_STORES_TO_CLEAN, .name = "stores to clean lines"},
	{.number = EV_VIRTUAL_COHERENCY, .name = "virtual coherency conditions"},
	{.number = EV_L2_ECC_ERRORS, .name = "corrected memory errors"},
	{.number = EV_HARDWARE_PREFETCHES, .name = "hardware prefetches"},
	{.number = EV_SOFTWARE_PREFETCHES, .name = "software prefetches"},
	{.number = EV_SYSTEM_CALLS, .name = "system calls", .kernel = true},
	{.number = EV_PAGE_FAULTS, .name = "page faults", .kernel = true},
	{.number = EV_MAJOR_FAULTS, .name = "major page faults", .implies = EV_PAGE_FAULTS, .kernel = true},
	{.number = EV_CONTEXT_SWITCHES, .name = "context switches", .kernel = true},
	{.number = EV_CPU_MIGRATIONS, .name = "migrations", .kernel = true},
};
/* clang-format on */
#define ROWS (sizeof(breakdown_table) / sizeof(breakdown_table[0]))
_Static_assert(ROWS + 1 <= CAUSES_MAX, "more causes than callers have room for");

struct work {
	const struct cost_table *costs;
	double clock_hz;
	struct quantity event[EVENT_LIMIT];
};

static bool breakdown_counted(const struct work *w, int number)
{
	return number != NOTHING && w->event[number].label != LABEL_NONE;
}

static const struct row *breakdown_row_of(int number)
{
	for (size_t i = 0; i < ROWS; i++)
		if (breakdown_table[i].number == number)
			return &breakdown_table[i];
	return NULL;
}

const char *costs_cause_name(int number)
{
	const struct row *r = breakdown_row_of(number);

	return r ? r->name : NULL;
}

/* Adds the cost of one event of this row, in seconds, to typical, minimum, maximum; false if
 * unknown. */
static bool add_cost(const struct work *w, const struct row *row, double *each)
{
	const struct cost *c = &w->costs->cost[row->number];
	double unit;

	if (!c->known && row->cost_of)
		c = &w->costs->cost[row->cost_of];
	unit = cost_seconds(c, 1, w->clock_hz);
	if (!c->known || isnan(unit))
		return false;
	each[0] += c->typical * unit;
	each[1] += c->minimum * unit;
	each[2] += c->maximum * unit;
	return true;
}

/* The rest of a sum without those of its parts that were counted. *left: the number of parts not
 * counted; *taken: of those counted. */
static struct quantity without_parts(
	const struct work *w, const struct row *row, int *left, int *taken)
{
	struct quantity q = w->event[row->number];

	*left = *taken = 0;
	for (int i = 0; i < PARTS_MAX && row->parts[i] != NOTHING; i++) {
		const struct quantity *part = &w->event[row->parts[i]];

		if (!breakdown_counted(w, row->parts[i])) {
			++*left;
			continue;
		}
		++*taken;
		q.value = fmax(q.value - part->value, 0);
		q.low = fmax(q.low - part->high, 0);
		q.high = fmax(q.high - part->low, 0);
		q.label = label_join(q.label, part->label);
	}
	return q;
}

/* The cause of a row, at its typical cost; false if it makes none here. */
static bool make_cause(const struct work *w, const struct row *row, struct cause *cause)
{
	double each[3] = {0};
	struct quantity q;
	int left, taken;

	if (!breakdown_counted(w, row->number))
		return false;
	for (int i = 0; i < PARTS_MAX; i++)
		if (breakdown_counted(w, row->yields_to[i]))
			return false;
	q = without_parts(w, row, &left, &taken);
	if ((taken && !left) || !(q.high > 0) || !add_cost(w, row, each))
		return false;
	for (const struct row *inner = row;
		inner && inner->implies && !breakdown_counted(w, inner->implies);) {
		inner = breakdown_row_of(inner->implies);
		if (inner)
			add_cost(w, inner, each);
	}
	*cause = (struct cause){.name = taken ? row->rest : row->name, .number = row->number};
	cause->seconds = (struct quantity){q.value * each[0], q.low * each[1], q.high * each[2],
		label_join(q.label, LABEL_ESTIMATED)};
	return cause->seconds.high > 0;
}

/* Instructions take their slots in cycles without stalls; stalls are the effects of other
 * causes. */
static void bound_by_stalls(const struct work *w, struct cause *cause)
{
	const struct quantity *cycles = &w->event[EV_CYCLES],
			      *front = &w->event[EV_FRONTEND_STALLS],
			      *back = &w->event[EV_BACKEND_STALLS];
	struct quantity *q = &cause->seconds;
	double most;

	if (cause->number != EV_INSTRUCTIONS || !(w->clock_hz > 0) || cycles->label == LABEL_NONE ||
		front->label == LABEL_NONE || back->label == LABEL_NONE)
		return;
	most = (cycles->high - front->low - back->low) / w->clock_hz;
	q->high = fmax(fmin(q->high, most), q->low);
	q->value = fmin(q->value, q->high);
}

/* Moves the causes from their typical cost towards their bounds until they sum to whole or all are
 * at a bound. */
static void fit(struct cause *cause, size_t count, double whole)
{
	double typical = 0, room = 0, lambda;
	bool up;

	for (size_t i = 0; i < count; i++)
		typical += cause[i].seconds.value;
	up = whole > typical;
	for (size_t i = 0; i < count; i++) {
		const struct quantity *q = &cause[i].seconds;

		room += up ? q->high - q->value : q->value - q->low;
	}
	if (!(room > 0))
		return;
	lambda = fmin(fabs(whole - typical) / room, 1);
	for (size_t i = 0; i < count; i++) {
		struct quantity *q = &cause[i].seconds;

		q->value += lambda * ((up ? q->high : q->low) - q->value);
	}
}

static int largest_first(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	return sort_falling_number(x->seconds.value, y->seconds.value) ?: x->number - y->number;
}

static void breakdown_merge_twins(struct work *w)
{
	if (!breakdown_counted(w, EV_INSTRUCTIONS))
		w->event[EV_INSTRUCTIONS] = w->event[EV_INSTRUCTIONS_15];
	if (w->event[EV_CYCLES].label == LABEL_NONE)
		w->event[EV_CYCLES] = w->event[EV_CYCLES_16];
}

/* The time to divide: as given, else from the cycles. False: unknown. */
static bool whole_time(const struct work *w, const struct counted *c, struct quantity *whole)
{
	const struct quantity *cycles = &w->event[EV_CYCLES];

	*whole = c->seconds;
	if (whole->label == LABEL_NONE && cycles->label != LABEL_NONE && w->clock_hz > 0)
		*whole = (struct quantity){cycles->value / w->clock_hz, cycles->low / w->clock_hz,
			cycles->high / w->clock_hz,
			cycles->label == LABEL_MODEL ? LABEL_MODEL : LABEL_ESTIMATED};
	return whole->label != LABEL_NONE && whole->value > 0 && !isinf(whole->value);
}

size_t costs_breakdown(
	const struct counted *c, const struct cost_table *costs, double clock_hz, struct cause *out)
{
	struct work w = {.costs = costs, .clock_hz = clock_hz > 0 ? clock_hz : costs->clock_hz};
	double low = 0, high = 0, sum = 0;
	struct quantity whole = {0};
	size_t count = 0, kept = 0;

	for (int i = 0; i < EVENT_LIMIT; i++)
		w.event[i] = c->event[i];
	breakdown_merge_twins(&w);
	if (!whole_time(&w, c, &whole))
		return 0;
	for (size_t i = 0; i < ROWS; i++) {
		if ((breakdown_table[i].kernel && c->user_level) ||
			!make_cause(&w, &breakdown_table[i], &out[count]))
			continue;
		bound_by_stalls(&w, &out[count]);
		count++;
	}
	fit(out, count, whole.value);
	for (size_t i = 0; i < count; i++) {
		low += out[i].seconds.low;
		high += out[i].seconds.high;
		if (!(out[i].seconds.value > 0))
			continue;
		out[kept] = out[i];
		sum += out[kept].seconds.value;
		out[kept].seconds.label = label_join(out[kept].seconds.label, whole.label);
		kept++;
	}
	qsort(out, kept, sizeof(*out), largest_first);
	if (fabs(whole.value - sum) > 1e-9 * whole.value) {
		out[kept].name = whole.value > sum ? "unexplained" : "overlap";
		out[kept].number = -1;
		out[kept].rest = true;
		out[kept].seconds = (struct quantity){whole.value - sum, whole.value - high,
			whole.value - low, label_join(whole.label, LABEL_ESTIMATED)};
		kept++;
	}
	for (size_t i = 0; i < kept; i++) {
		out[i].share = out[i].seconds.value / whole.value;
		out[i].share_label = LABEL_ESTIMATED;
	}
	return kept;
}
