/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/costs: statistics and the breakdown. */
#include "../chance.h"
#include "../tap.h"

#include <stdlib.h>

#include "costs/breakdown.h"
#include "events/event.h"

static struct cost_table zen4;

static void set(struct counted *c, int number, double value)
{
	c->event[number] = quantity_exact(value, LABEL_MODEL);
}

static const struct statistic *find(const struct statistic *s, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(s[i].name, name) == 0)
			return &s[i];
	return NULL;
}

static void statistics(void)
{
	struct counted c = {0};
	struct machine machine = {0};
	struct statistic s[STATISTICS_MAX];
	const struct statistic *one;
	size_t n, wrong = 0;

	machine.model.l1d.line = machine.model.l2.line = machine.model.ll.line = 64;
	machine.model.ll.size = 1 << 20;
	is_int(costs_statistics(&c, &zen4, &machine, s), 0, "nothing counted, no statistics");
	c.event[EV_CYCLES] = (struct quantity){1000, 900, 1100, LABEL_SCALED};
	c.event[EV_INSTRUCTIONS] = quantity_exact(2000, LABEL_MEASURED);
	n = costs_statistics(&c, &zen4, &machine, s);
	is_int(n, 1, "cycles and instructions give one");
	is_str(s[0].name, "Graduated instructions/cycle", "the classic one");
	is_near(s[0].quantity.value, 2, 1e-12, "2 instructions a cycle");
	is_near(s[0].quantity.low, 2000 / 1100.0, 1e-12, "at least");
	is_near(s[0].quantity.high, 2000 / 900.0, 1e-12, "at most");
	is_int(s[0].quantity.label, LABEL_SCALED, "as scaled as its worst input");
	set(&c, EV_CYCLES, 0);
	is_int(costs_statistics(&c, &zen4, &machine, s), 0,
		"no statistic with a denominator of zero");
	memset(&c, 0, sizeof(c));
	set(&c, EV_INSTRUCTIONS_15, 3000);
	set(&c, EV_CYCLES_16, 1000);
	n = costs_statistics(&c, &zen4, &machine, s);
	ok(n == 1 && s[0].quantity.value == 3, "events 15 and 16 stand in for 17 and 0");

	memset(&c, 0, sizeof(c));
	for (int i = 0; i < EV_COUNT; i++)
		set(&c, i, 1000);
	set(&c, EV_LOADS, 70000);
	set(&c, EV_STORES, 30000);
	set(&c, EV_L1D_MISSES, 5000);
	set(&c, EV_L2D_MISSES, 1000);
	set(&c, EV_LL_DATA_MISSES, 100);
	set(&c, EV_L1_WRITEBACK_QUADWORDS, 4000);
	c.seconds = quantity_exact(0.001, LABEL_MODEL);
	n = costs_statistics(&c, &zen4, &machine, s);
	ok(n >= 50, "all counted, %zu statistics", n);
	for (size_t i = 0; i < n; i++) {
		const struct quantity *q = &s[i].quantity;

		wrong += !(q->low <= q->value && q->value <= q->high) || q->label == LABEL_NONE ||
			 isnan(q->value);
		for (size_t k = 0; k < i; k++)
			wrong += strcmp(s[i].name, s[k].name) == 0;
	}
	is_int(wrong, 0, "each once, labelled, inside its interval");
	one = find(s, n, "L1 Cache Line Reuse");
	is_near(one ? one->quantity.value : NAN, 19, 1e-9, "L1 Cache Line Reuse");
	one = find(s, n, "L2 Cache Line Reuse");
	is_near(one ? one->quantity.value : NAN, 4, 1e-9, "L2 Cache Line Reuse");
	one = find(s, n, "L1 Data Cache Hit Rate");
	is_near(one ? one->quantity.value : NAN, 0.95, 1e-9, "L1 Data Cache Hit Rate");
	one = find(s, n, "L2 Data Cache Hit Rate");
	is_near(one ? one->quantity.value : NAN, 0.8, 1e-9, "L2 Data Cache Hit Rate");
	one = find(s, n, "L1--L2 bandwidth used (MB/s, average per process)");
	is_near(one ? one->quantity.value : NAN, (5000 * 64 + 4000 * 16) / 0.001 * 1e-6, 1e-6,
		"L1--L2 bandwidth");
	one = find(s, n, "Memory read bandwidth used (MB/s, average per process)");
	is_near(one ? one->quantity.value : NAN, 6.4, 1e-9,
		"memory bandwidth is that of the last level's misses");
	ok(!find(s, n, "Memory bandwidth used (MB/s, average per process)"), "and not of L2's");
	machine.model.ll.size = 0;
	n = costs_statistics(&c, &zen4, &machine, s);
	ok(find(s, n, "Memory bandwidth used (MB/s, average per process)") &&
			!find(s, n, "Memory read bandwidth used (MB/s, average per process)"),
		"where there is no last level, the other way round");
	one = find(s, n, "Time accessing memory/Total time");
	ok(one && one->quantity.label == LABEL_ESTIMATED,
		"what comes from typical costs is estimated");
}

/* Adds up to 1; inside its bounds; largest first; remainder last, and only when nothing else can
 * give. */
static int faults(const struct cause *cause, size_t n, double whole)
{
	double shares = 0, seconds = 0, size = 1;
	bool all_high = true, all_low = true;
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		const struct quantity *q = &cause[i].seconds;

		shares += cause[i].share;
		size += fabs(cause[i].share);
		seconds += q->value;
		wrong += q->label == LABEL_NONE || q->label == LABEL_MEASURED;
		if (cause[i].number < 0) {
			wrong += i != n - 1;
			wrong += strcmp(cause[i].name, q->value > 0 ? "unexplained" : "overlap") !=
				 0;
			wrong += q->value > 0 ? !all_high : !all_low;
			continue;
		}
		wrong += !(q->value >= q->low * (1 - 1e-9) && q->value <= q->high * (1 + 1e-9));
		all_high = all_high && q->value >= q->high * (1 - 1e-9);
		all_low = all_low && q->value <= q->low * (1 + 1e-9);
		wrong += i > 0 && cause[i - 1].number >= 0 && cause[i - 1].seconds.value < q->value;
	}
	return wrong + !(fabs(shares - 1) < 1e-12 * size) +
	       !(fabs(seconds - whole) < 1e-12 * size * whole);
}

static void properties(void)
{
	int wrong = 0, unexplained = 0, overlap = 0, fitted = 0;

	for (int run = 0; run < 5000; run++) {
		struct counted c = {0};
		struct cause cause[CAUSES_MAX];
		size_t n;
		double whole = pow(10, chance_uniform() * 8 - 6);

		for (int i = 0; i < EV_COUNT; i++) {
			double value = floor(pow(10, chance_uniform() * 9));

			if (chance_uniform() < 0.6)
				c.event[i] = (struct quantity){value,
					floor(value * (1 - 0.1 * chance_uniform())),
					ceil(value * (1 + 0.1 * chance_uniform())), LABEL_SCALED};
		}
		c.seconds = quantity_exact(whole, LABEL_MEASURED);
		n = costs_breakdown(&c, &zen4, 3.7e9, cause);
		wrong += n == 0 || faults(cause, n, whole) != 0;
		if (n && cause[n - 1].number < 0)
			*(cause[n - 1].seconds.value > 0 ? &unexplained : &overlap) += 1;
		else
			fitted++;
	}
	is_int(wrong, 0, "5000 random breakdowns add up, inside the bounds");
	ok(unexplained > 100 && overlap > 100 && fitted > 100,
		"of which %d leave something unexplained, %d overlap, %d fit", unexplained, overlap,
		fitted);
}

/* True costs drawn inside the bounds: the fit must beat taking typical costs scaled to the whole.
 */
static void recovery(void)
{
	static const int number[] = {EV_INSTRUCTIONS, EV_L1D_MISSES, EV_L2D_MISSES,
		EV_MISPREDICTED_BRANCHES, EV_DIVIDES};
	enum { N = sizeof(number) / sizeof(number[0]) };
	double fit_error = 0, scaled_error = 0;

	for (int run = 0; run < 2000; run++) {
		struct counted c = {0};
		struct cause cause[CAUSES_MAX];
		double truth[EVENT_LIMIT] = {0}, typical[EVENT_LIMIT] = {0}, whole = 0, sum = 0;
		size_t n;

		for (int i = 0; i < N; i++) {
			const struct cost *cost = &zen4.cost[number[i]];
			double count = floor(1e6 * chance_uniform() / cost->maximum),
			       u = chance_uniform();
			double each = chance_uniform() < 0.5
					      ? cost->typical + u * (cost->maximum - cost->typical)
					      : cost->typical - u * (cost->typical - cost->minimum);

			set(&c, number[i], count);
			truth[number[i]] = count * each / 3.7e9;
			typical[number[i]] = count * cost->typical / 3.7e9;
			whole += truth[number[i]];
			sum += typical[number[i]];
		}
		c.seconds = quantity_exact(whole, LABEL_MODEL);
		n = costs_breakdown(&c, &zen4, 3.7e9, cause);
		for (size_t i = 0; i < n; i++) {
			int k = cause[i].number;

			if (k < 0)
				continue;
			fit_error += fabs(cause[i].seconds.value - truth[k]) / whole;
			scaled_error += fabs(typical[k] * whole / sum - truth[k]) / whole;
		}
	}
	ok(fit_error < scaled_error,
		"drawn costs are found better (error %.3f of the time a run) than by scaling "
		"(%.3f)",
		fit_error / 2000, scaled_error / 2000);
}

static const struct cause *by_name(const struct cause *cause, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(cause[i].name, name) == 0)
			return &cause[i];
	return NULL;
}

static void charged_once(void)
{
	struct counted c = {0};
	struct cause cause[CAUSES_MAX];
	size_t n;

	is_int(costs_breakdown(&c, &zen4, 3.7e9, cause), 0, "no time, no breakdown");
	c.seconds = quantity_exact(1, LABEL_MEASURED);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	ok(n == 1 && cause[0].share == 1 && strcmp(cause[0].name, "unexplained") == 0,
		"nothing counted: all unexplained");
	ok(cause[0].seconds.label == LABEL_ESTIMATED, "and labelled");

	set(&c, EV_TLB_MISSES, 1000);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	ok(n == 2 && by_name(cause, n, "TLB walks"), "walks as a sum");
	is_near(cause[0].seconds.high,
		1000 * (zen4.cost[EV_TLB_MISSES].maximum + zen4.cost[EV_DTLB_MISSES].maximum) /
			3.7e9,
		1e-15, "with the first level's cost, which was not counted");
	set(&c, EV_DTLB_WALKS, 600);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	ok(by_name(cause, n, "data TLB walks") && by_name(cause, n, "other TLB walks") &&
			!by_name(cause, n, "TLB walks"),
		"one part counted: it and the rest");
	is_near(by_name(cause, n, "other TLB walks")->seconds.high,
		400 * (zen4.cost[EV_TLB_MISSES].maximum + zen4.cost[EV_DTLB_MISSES].maximum) /
			3.7e9,
		1e-15, "the rest is 400");
	set(&c, EV_ITLB_WALKS, 400);
	set(&c, EV_DTLB_MISSES, 2000);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	ok(!by_name(cause, n, "other TLB walks") && by_name(cause, n, "instruction TLB walks"),
		"both counted: no sum");
	is_near(by_name(cause, n, "data TLB walks")->seconds.high,
		600 * zen4.cost[EV_TLB_MISSES].maximum / 3.7e9, 1e-15,
		"without the first level's cost, which is a cause itself");

	memset(&c, 0, sizeof(c));
	c.seconds = quantity_exact(1, LABEL_MODEL);
	set(&c, EV_STORE_CONDITIONALS, 10);
	set(&c, EV_LOCKED_INSTRUCTIONS, 10);
	set(&c, EV_INSTRUCTIONS, 100);
	set(&c, EV_MICRO_OPS, 120);
	set(&c, EV_CYCLES, 1000);
	set(&c, EV_BACKEND_STALLS, 500);
	set(&c, EV_WALK_CYCLES, 500);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	is_int(n, 3, "locked instructions and instructions once each, no stalls, and the rest");
	memset(&c, 0, sizeof(c));
	c.seconds = quantity_exact(100 / 3.7e9, LABEL_MODEL);
	set(&c, EV_CYCLES, 100);
	set(&c, EV_INSTRUCTIONS, 100);
	set(&c, EV_L2D_MISSES, 10);
	set(&c, EV_FRONTEND_STALLS, 10);
	set(&c, EV_BACKEND_STALLS, 70);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	ok(by_name(cause, n, "instructions")->share <= 0.2,
		"instructions take no more than what is not stalled");
	is_near(by_name(cause, n, "L2 data misses")->share,
		1 - by_name(cause, n, "instructions")->share, 1e-9, "the misses the rest");
	{
		/* Typical costs explain twice the time: both give up the same part of what they
		 * can. */
		const struct cost *l1 = &zen4.cost[EV_L1D_MISSES], *l2 = &zen4.cost[EV_L2D_MISSES];
		double typical = 1000 * (l1->typical + l2->typical),
		       least = 1000 * (l1->minimum + l2->minimum),
		       lambda = (typical - typical / 2) / (typical - least);

		memset(&c, 0, sizeof(c));
		c.seconds = quantity_exact(typical / 2 / 3.7e9, LABEL_MODEL);
		set(&c, EV_L1D_MISSES, 1000);
		set(&c, EV_L2D_MISSES, 1000);
		n = costs_breakdown(&c, &zen4, 3.7e9, cause);
		is_near(by_name(cause, n, "L2 data misses")->seconds.value * 3.7e9,
			1000 * (l2->typical - lambda * (l2->typical - l2->minimum)), 1e-6,
			"one lambda for all: L2 data misses");
		is_near(by_name(cause, n, "L1 data misses")->seconds.value * 3.7e9,
			1000 * (l1->typical - lambda * (l1->typical - l1->minimum)), 1e-6,
			"one lambda for all: L1 data misses");
	}
	memset(&c, 0, sizeof(c));
	set(&c, EV_CYCLES, 3.7e6);
	set(&c, EV_INSTRUCTIONS_15, 3e6);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	is_near(n ? cause[0].seconds.value / cause[0].share : 0, 0.001, 1e-12,
		"time from cycles where it is not given");
	is_str(n ? cause[0].name : "", "instructions", "instructions by their other number");
}

/* Intervals of counts go on into statistics and causes, each end with the bound on its side. */
static void intervals(void)
{
	const struct cost *l1 = &zen4.cost[EV_L1D_MISSES], *l2 = &zen4.cost[EV_L2D_MISSES],
			  *ll = &zen4.cost[EV_LL_DATA_MISSES];
	struct counted c = {0};
	struct machine machine = {0};
	struct statistic s[STATISTICS_MAX];
	struct cause cause[CAUSES_MAX];
	const struct statistic *one;
	const struct cause *rest;
	size_t n;

	c.event[EV_LOADS] = c.event[EV_STORES] = quantity_exact(500, LABEL_MEASURED);
	c.event[EV_L1D_MISSES] = (struct quantity){100, 80, 130, LABEL_SCALED};
	c.event[EV_L2D_MISSES] = (struct quantity){20, 10, 40, LABEL_SCALED};
	c.event[EV_D_WAY_MISPREDICTS] = quantity_exact(40, LABEL_MEASURED);
	n = costs_statistics(&c, &zen4, &machine, s);
	one = find(s, n, "L1 Data Cache Hit Rate");
	ok(one && fabs(one->quantity.low - 0.87) < 1e-12 && fabs(one->quantity.high - 0.92) < 1e-12,
		"a hit rate is lowest with most misses");
	one = find(s, n, "Data mispredict/Data scache hits");
	ok(one && fabs(one->quantity.low - 40 / 120.0) < 1e-12 &&
			fabs(one->quantity.high - 40 / 40.0) < 1e-12,
		"over a difference: lowest where that is largest");

	memset(&c, 0, sizeof(c));
	c.seconds = quantity_exact(1, LABEL_MEASURED);
	c.event[EV_LL_DATA_MISSES] = (struct quantity){100, 80, 130, LABEL_SCALED};
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	is_int(n, 2, "misses and the rest");
	is_near(cause[0].seconds.low, 80 * (l1->minimum + l2->minimum + ll->minimum) / 3.7e9, 1e-15,
		"the least: lowest count, minimum costs, of all levels passed");
	is_near(cause[0].seconds.high, 130 * (l1->maximum + l2->maximum + ll->maximum) / 3.7e9,
		1e-15, "the most: highest count, maximum costs");
	is_int(cause[0].seconds.label, LABEL_ESTIMATED, "estimated, however it was counted");
	rest = &cause[n - 1];
	ok(fabs(rest->seconds.low - (1 - cause[0].seconds.high)) < 1e-12 &&
			fabs(rest->seconds.high - (1 - cause[0].seconds.low)) < 1e-12,
		"unexplained is what they leave");
	ok(rest->seconds.low <= rest->seconds.value && rest->seconds.value <= rest->seconds.high,
		"inside its interval");
}

static bool by_number(const struct cause *cause, size_t n, int number)
{
	for (size_t i = 0; i < n; i++)
		if (cause[i].number == number)
			return true;
	return false;
}

/* What the kernel does takes no time at user level; and every cause is an event that -explain
 * finds.
 */
static void levels(void)
{
	static const int kernels[] = {EV_SYSTEM_CALLS, EV_PAGE_FAULTS, EV_MAJOR_FAULTS,
		EV_CONTEXT_SWITCHES, EV_CPU_MIGRATIONS};
	struct counted c = {0};
	struct cause cause[CAUSES_MAX];
	int unknown = 0;
	size_t n, without;

	for (int i = 0; i < EV_COUNT; i++)
		set(&c, i, 1000);
	c.seconds = quantity_exact(1, LABEL_MEASURED);
	n = costs_breakdown(&c, &zen4, 3.7e9, cause);
	for (size_t i = 0; i < n; i++) {
		struct event_spec spec;
		struct error e;

		if (cause[i].number >= 0 && event_parse(cause[i].name, &spec, &e)) {
			printf("# no event: %s\n", cause[i].name);
			unknown++;
		}
	}
	is_int(unknown, 0, "causes can be explained by their names");
	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		ok(by_number(cause, n, kernels[k]), "time with the kernel's: event %d", kernels[k]);
	c.user_level = true;
	without = costs_breakdown(&c, &zen4, 3.7e9, cause);
	is_int(n - without, sizeof(kernels) / sizeof(kernels[0]),
		"time of user level: without the kernel's causes");
	for (size_t k = 0; k < sizeof(kernels) / sizeof(kernels[0]); k++)
		ok(!by_number(cause, without, kernels[k]), "without event %d", kernels[k]);
}

int main(void)
{
	struct error e = {0};

	is_int(costs_load("lib/costs/data/zen4.costs", &zen4, &e), 0, "zen4.costs %s", e.message);
	statistics();
	properties();
	recovery();
	charged_once();
	intervals();
	levels();
	return done();
}
