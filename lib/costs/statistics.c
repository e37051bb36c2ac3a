/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The statistics under a report: first those of the classic perfex, by their names and formulas,
 * then those that today's events allow. Each is one row of a static table. Intervals come from
 * interval arithmetic on the inputs' intervals: they are never too narrow, and too wide if inputs
 * are correlated.
 */
#include <math.h>

#include "costs/breakdown.h"

#define INPUTS_MAX 6
#define SECONDS    (-2) /* an input other than events: c->seconds */

struct context {
	const struct cost_table *costs;
	const struct machine *machine;
	struct quantity seconds;
	struct quantity event[EVENT_LIMIT];
};

typedef struct quantity (*formula)(const struct quantity *in, const struct context *x);

struct row {
	const char *name, *unit;
	formula formula;
	double scale;
	int inputs; /* how many of input[] */
	int input[INPUTS_MAX];
};

/* ---- intervals ---- */

static const struct quantity none;

static struct quantity statistics_add(struct quantity a, struct quantity b)
{
	return (struct quantity){
		a.value + b.value, a.low + b.low, a.high + b.high, label_join(a.label, b.label)};
}

/* Events that are part of others: the rest cannot be negative, even after scaling. */
static struct quantity statistics_less(struct quantity a, struct quantity b)
{
	return (struct quantity){fmax(a.value - b.value, 0), fmax(a.low - b.high, 0),
		fmax(a.high - b.low, 0), label_join(a.label, b.label)};
}

static struct quantity times(struct quantity a, double factor)
{
	return (struct quantity){a.value * factor, a.low * factor, a.high * factor, a.label};
}

/* Counts are not negative; where the divisor's interval reaches zero there is no upper bound. */
static struct quantity over(struct quantity a, struct quantity b)
{
	struct quantity q = {.label = label_join(a.label, b.label)};

	if (!(b.value > 0))
		return none;
	q.value = a.value / b.value;
	q.low = b.high > 0 ? a.low / b.high : q.value;
	q.high = b.low > 0 ? a.high / b.low : INFINITY;
	return q;
}

/* 1 - q, for a part q of a whole. */
static struct quantity complement(struct quantity q)
{
	return q.label == LABEL_NONE ? q
				     : (struct quantity){fmax(1 - q.value, 0), fmax(1 - q.high, 0),
					       fmax(1 - q.low, 0), q.label};
}

/* ---- formulas ---- */

static struct quantity statistics_ratio(const struct quantity *in, const struct context *x)
{
	(void)x;
	return over(in[0], in[1]);
}

static struct quantity ratio_of_sum(const struct quantity *in, const struct context *x)
{
	(void)x;
	return over(statistics_add(in[0], in[1]), in[2]);
}

static struct quantity ratio_to_sum(const struct quantity *in, const struct context *x)
{
	(void)x;
	return over(in[0], statistics_add(in[1], in[2]));
}

static struct quantity ratio_to_rest(const struct quantity *in, const struct context *x)
{
	(void)x;
	return over(in[0], statistics_less(in[1], in[2]));
}

static struct quantity hit_rate(const struct quantity *in, const struct context *x)
{
	return complement(statistics_ratio(in, x));
}

static struct quantity hit_rate_to_sum(const struct quantity *in, const struct context *x)
{
	return complement(ratio_to_sum(in, x));
}

/* (a - b) / b = a / b - 1: written so, b's interval counts once. */
static struct quantity minus_one(struct quantity q)
{
	return q.label == LABEL_NONE ? q
				     : (struct quantity){fmax(q.value - 1, 0), fmax(q.low - 1, 0),
					       fmax(q.high - 1, 0), q.label};
}

static struct quantity reuse(const struct quantity *in, const struct context *x)
{
	return minus_one(statistics_ratio(in, x));
}

static struct quantity reuse_of_sum(const struct quantity *in, const struct context *x)
{
	return minus_one(ratio_of_sum(in, x));
}

static struct quantity typical_seconds(struct quantity count, int number, const struct context *x)
{
	const struct cost *cost = &x->costs->cost[number];
	double each = cost_seconds(cost, cost->typical, x->costs->clock_hz);

	if (!cost->known || isnan(each))
		return none;
	count = times(count, each);
	count.label = label_join(count.label, LABEL_ESTIMATED);
	return count;
}

/* Loads and stores, as instructions and with their further cost, misses, and TLB misses, over the
 * time. */
static struct quantity memory_time(const struct quantity *in, const struct context *x)
{
	struct quantity accesses = statistics_add(in[0], in[1]);
	struct quantity sum = typical_seconds(accesses, EV_INSTRUCTIONS, x);

	sum = statistics_add(sum, typical_seconds(in[0], EV_LOADS, x));
	sum = statistics_add(sum, typical_seconds(in[1], EV_STORES, x));
	sum = statistics_add(sum, typical_seconds(in[2], EV_L1D_MISSES, x));
	sum = statistics_add(sum, typical_seconds(in[3], EV_L2D_MISSES, x));
	sum = statistics_add(sum, typical_seconds(in[4], EV_TLB_MISSES, x));
	if (x->event[EV_LL_DATA_MISSES].label != LABEL_NONE)
		sum = statistics_add(
			sum, typical_seconds(x->event[EV_LL_DATA_MISSES], EV_LL_DATA_MISSES, x));
	return sum.label == LABEL_NONE ? none : over(sum, in[5]);
}

/* Misses of a line each, quadwords written back, time: megabytes a second. */
static struct quantity bandwidth(const struct quantity *in, unsigned line, bool written)
{
	struct quantity bytes = times(in[0], line);

	if (written)
		bytes = statistics_add(bytes, times(in[2], 16));
	return line ? times(over(bytes, in[1]), 1e-6) : none;
}

static struct quantity bandwidth_l1(const struct quantity *in, const struct context *x)
{
	return bandwidth(in, x->machine->model.l1d.line, true);
}

static struct quantity bandwidth_l2_to_ll(const struct quantity *in, const struct context *x)
{
	return x->machine->model.ll.size ? bandwidth(in, x->machine->model.l2.line, true) : none;
}

static struct quantity bandwidth_l2_to_memory(const struct quantity *in, const struct context *x)
{
	return x->machine->model.ll.size ? none : bandwidth(in, x->machine->model.l2.line, true);
}

static struct quantity bandwidth_ll(const struct quantity *in, const struct context *x)
{
	return x->machine->model.ll.size ? bandwidth(in, x->machine->model.ll.line, false) : none;
}

static struct quantity bytes_per_operation(const struct quantity *in, const struct context *x)
{
	return x->machine->model.ll.size ? over(times(in[0], x->machine->model.ll.line), in[1])
					 : none;
}

/* ---- the table ---- */

#define COUNT_INPUTS(...) (int)(sizeof((int[]){__VA_ARGS__}) / sizeof(int))
#define ROW(name, unit, scale, formula, ...)                                                       \
	{                                                                                          \
		name, unit, formula, scale, COUNT_INPUTS(__VA_ARGS__),                             \
		{                                                                                  \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define RATIO(name, a, b)                ROW(name, "", 1, statistics_ratio, a, b)
#define PER_1000(name, a)                ROW(name, "", 1000, statistics_ratio, a, EV_INSTRUCTIONS)
#define PER_SECOND(name, unit, a, scale) ROW(name, unit, scale, statistics_ratio, a, SECONDS)

/* clang-format off */
static const struct row statistics_table[] = {
	/* The classic ones. */
	RATIO("Graduated instructions/cycle", EV_INSTRUCTIONS, EV_CYCLES),
	RATIO("Graduated floating point instructions/cycle", EV_FP_INSTRUCTIONS, EV_CYCLES),
	ROW("Graduated loads & stores/cycle", "", 1, ratio_of_sum, EV_LOADS, EV_STORES, EV_CYCLES),
	ROW("Graduated loads & stores/floating point instruction", "", 1, ratio_of_sum,
	    EV_LOADS, EV_STORES, EV_FP_INSTRUCTIONS),
	RATIO("Mispredicted branches/Decoded branches", EV_MISPREDICTED_BRANCHES, EV_DECODED_BRANCHES),
	RATIO("Graduated loads/Issued loads", EV_LOADS, EV_ISSUED_LOADS),
	RATIO("Graduated stores/Issued stores", EV_STORES, EV_ISSUED_STORES),
	ROW("Data mispredict/Data scache hits", "", 1, ratio_to_rest,
	    EV_D_WAY_MISPREDICTS, EV_L1D_MISSES, EV_L2D_MISSES),
	ROW("Instruction mispredict/Instruction scache hits", "", 1, ratio_to_rest,
	    EV_I_WAY_MISPREDICTS, EV_L1I_MISSES, EV_L2I_MISSES),
	ROW("L1 Cache Line Reuse", "", 1, reuse_of_sum, EV_LOADS, EV_STORES, EV_L1D_MISSES),
	ROW("L2 Cache Line Reuse", "", 1, reuse, EV_L1D_MISSES, EV_L2D_MISSES),
	ROW("L1 Data Cache Hit Rate", "", 1, hit_rate_to_sum, EV_L1D_MISSES, EV_LOADS, EV_STORES),
	ROW("L2 Data Cache Hit Rate", "", 1, hit_rate, EV_L2D_MISSES, EV_L1D_MISSES),
	ROW("Time accessing memory/Total time", "", 1, memory_time,
	    EV_LOADS, EV_STORES, EV_L1D_MISSES, EV_L2D_MISSES, EV_TLB_MISSES, SECONDS),
	ROW("L1--L2 bandwidth used (MB/s, average per process)", "MB/s", 1, bandwidth_l1,
	    EV_L1D_MISSES, SECONDS, EV_L1_WRITEBACK_QUADWORDS),
	ROW("Memory bandwidth used (MB/s, average per process)", "MB/s", 1, bandwidth_l2_to_memory,
	    EV_L2D_MISSES, SECONDS, EV_L2_WRITEBACK_QUADWORDS),
	PER_SECOND("MFLOPS (average per process)", "MFLOPS", EV_FP_INSTRUCTIONS, 1e-6),

	/* Today's. */
	RATIO("Micro-ops/cycle", EV_MICRO_OPS, EV_CYCLES),
	RATIO("Micro-ops/instruction", EV_MICRO_OPS, EV_INSTRUCTIONS),
	RATIO("Vector instructions/instruction", EV_VECTOR_INSTRUCTIONS, EV_INSTRUCTIONS),
	RATIO("Floating point operations/cycle", EV_FP_OPERATIONS, EV_CYCLES),
	RATIO("Floating point operations/floating point instruction", EV_FP_OPERATIONS, EV_FP_INSTRUCTIONS),
	PER_SECOND("Floating point operations", "million/s", EV_FP_OPERATIONS, 1e-6),
	ROW("Memory bytes read/floating point operation", "bytes", 1, bytes_per_operation,
	    EV_LL_DATA_MISSES, EV_FP_OPERATIONS),
	RATIO("Front-end stall cycles/cycle", EV_FRONTEND_STALLS, EV_CYCLES),
	RATIO("Back-end stall cycles/cycle", EV_BACKEND_STALLS, EV_CYCLES),
	RATIO("Divider busy cycles/cycle", EV_DIVIDER_CYCLES, EV_CYCLES),
	RATIO("Instructions/branch", EV_INSTRUCTIONS, EV_BRANCHES),
	RATIO("Taken branches/branch", EV_TAKEN_BRANCHES, EV_BRANCHES),
	RATIO("Mispredicted branches/branch", EV_MISPREDICTED_BRANCHES, EV_BRANCHES),
	RATIO("Mispredicted conditional branches/conditional branch",
	    EV_MISPREDICTED_CONDITIONALS, EV_CONDITIONAL_BRANCHES),
	RATIO("Mispredicted indirect branches/indirect branch", EV_MISPREDICTED_INDIRECTS, EV_INDIRECT_BRANCHES),
	RATIO("Mispredicted returns/return", EV_MISPREDICTED_RETURNS, EV_RETURNS),
	PER_1000("Mispredicted branches/1000 instructions", EV_MISPREDICTED_BRANCHES),
	PER_1000("Calls/1000 instructions", EV_CALLS),
	PER_1000("L1 instruction misses/1000 instructions", EV_L1I_MISSES),
	PER_1000("L2 instruction misses/1000 instructions", EV_L2I_MISSES),
	PER_1000("L1 data misses/1000 instructions", EV_L1D_MISSES),
	PER_1000("L2 data misses/1000 instructions", EV_L2D_MISSES),
	PER_1000("Last-level data misses/1000 instructions", EV_LL_DATA_MISSES),
	ROW("Last-level Data Cache Hit Rate", "", 1, hit_rate, EV_LL_DATA_MISSES, EV_L2D_MISSES),
	ROW("L2--last level bandwidth used (MB/s, average per process)", "MB/s", 1, bandwidth_l2_to_ll,
	    EV_L2D_MISSES, SECONDS, EV_L2_WRITEBACK_QUADWORDS),
	ROW("Memory read bandwidth used (MB/s, average per process)", "MB/s", 1, bandwidth_ll,
	    EV_LL_DATA_MISSES, SECONDS),
	PER_1000("TLB misses/1000 instructions", EV_TLB_MISSES),
	PER_1000("Data TLB walks/1000 instructions", EV_DTLB_WALKS),
	PER_1000("Instruction TLB walks/1000 instructions", EV_ITLB_WALKS),
	ROW("Second-level Data TLB Hit Rate", "", 1, hit_rate, EV_DTLB_WALKS, EV_DTLB_MISSES),
	RATIO("Walk cycles/TLB miss", EV_WALK_CYCLES, EV_TLB_MISSES),
	RATIO("Software prefetches/load", EV_SOFTWARE_PREFETCHES, EV_LOADS),
	RATIO("Store forwarding failures/load", EV_STORE_FORWARD_FAILURES, EV_LOADS),
	ROW("Split accesses/load or store", "", 1, ratio_to_sum, EV_SPLIT_ACCESSES, EV_LOADS, EV_STORES),
	PER_1000("Memory order clears/1000 instructions", EV_MEMORY_ORDER_CLEARS),
	PER_1000("Locked instructions/1000 instructions", EV_LOCKED_INSTRUCTIONS),
	RATIO("Stores to shared lines/store", EV_STORES_TO_SHARED, EV_STORES),
	RATIO("Intervention hits/intervention", EV_INTERVENTION_HITS, EV_INTERVENTIONS),
	RATIO("Invalidation hits/invalidation", EV_INVALIDATION_HITS, EV_INVALIDATIONS),
	RATIO("Failed store conditionals/store conditional", EV_FAILED_STORE_CONDITIONALS, EV_STORE_CONDITIONALS),
	PER_SECOND("System calls", "per second", EV_SYSTEM_CALLS, 1),
	PER_SECOND("Page faults", "per second", EV_PAGE_FAULTS, 1),
	PER_SECOND("Context switches", "per second", EV_CONTEXT_SWITCHES, 1),
};
/* clang-format on */
_Static_assert(sizeof(statistics_table) / sizeof(statistics_table[0]) <= STATISTICS_MAX,
	"more statistics than callers have room for");

/* The count of a formula's event, or of its duplicate if only that was counted. */
static void statistics_merge_twins(struct context *x)
{
	static const int twin[][2] = {{EV_CYCLES, EV_CYCLES_16},
		{EV_INSTRUCTIONS, EV_INSTRUCTIONS_15},
		{EV_LOCKED_INSTRUCTIONS, EV_STORE_CONDITIONALS}};

	for (size_t i = 0; i < sizeof(twin) / sizeof(twin[0]); i++)
		if (x->event[twin[i][0]].label == LABEL_NONE)
			x->event[twin[i][0]] = x->event[twin[i][1]];
}

size_t costs_statistics(const struct counted *c, const struct cost_table *costs,
	const struct machine *machine, struct statistic *out)
{
	struct context x = {.costs = costs, .machine = machine, .seconds = c->seconds};
	size_t count = 0;

	for (int i = 0; i < EVENT_LIMIT; i++)
		x.event[i] = c->event[i];
	statistics_merge_twins(&x);
	for (size_t r = 0; r < sizeof(statistics_table) / sizeof(statistics_table[0]); r++) {
		const struct row *row = &statistics_table[r];
		struct quantity in[INPUTS_MAX], q;
		bool counted = true;

		for (int i = 0; i < row->inputs; i++) {
			in[i] = row->input[i] == SECONDS ? x.seconds : x.event[row->input[i]];
			counted = counted && in[i].label != LABEL_NONE;
		}
		if (!counted)
			continue;
		q = times(row->formula(in, &x), row->scale);
		if (q.label != LABEL_NONE)
			out[count++] = (struct statistic){row->name, row->unit, q};
	}
	return count;
}
