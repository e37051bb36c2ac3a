/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Costs from probes. A cost is the increase over the costs of an event's preconditions, so each is
 * a difference of differences. The walk of a page table, for example, is a chase over a line in
 * each of many pages, less the chase over as many adjacent lines, less the cost of a first-level
 * TLB miss.
 *
 * Misses: a pointer chase of dependent loads gives the maximum. The cheaper of a sweep and of
 * independent accesses in random order, with the greatest overlap, gives the minimum. Four
 * simultaneous chases, with the overlap of ordinary programs, give the typical cost. (The paper
 * took its typical costs from stride-1 sweeps. Today hardware prefetches those, and prefetched
 * lines are not counted as misses: a sweep may be the cheapest access to a level.)
 *
 * An event without a kernel has the cost of the processor's family, and the row says so. Cost:
 * kernels/sample.h.
 */
#include "costs/costs_calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/file.h"
#include "kernels/sample.h"

#define NO    (-1)
#define TERMS 2

/* scale * ((a - b) - (c - d)) - less */
struct term {
	double scale;
	int a, b, c, d;
	double less;
};

struct recipe {
	int number;
	const char *how;
	struct term typical[TERMS]; /* the greatest; scale 0: there is none.  Likewise: */
	struct term minimum[TERMS]; /* the least, of these and of typical */
	struct term maximum[TERMS]; /* the greatest, of these and of typical */
	bool widen; /* the family's bounds are used if wider: not all of its kinds are measured */
	bool guess_typical; /* the family's typical cost is used, within the measured bounds */
};

#define LEVEL(kind, outer, inner)                                                                  \
	{                                                                                          \
		1, PROBE_##kind + PLACE_##outer, PROBE_##kind + PLACE_##inner, NO, NO, 0           \
	}
#define LEVEL2(kind, a, b, c, d)                                                                   \
	{                                                                                          \
		1, PROBE_##kind + PLACE_##a, PROBE_##kind + PLACE_##b, PROBE_##kind + PLACE_##c,   \
			PROBE_##kind + PLACE_##d, 0                                                \
	}
#define CODE(a, b)                                                                                 \
	{                                                                                          \
		1, PROBE_CODE + CODE_##a, PROBE_CODE + CODE_##b, NO, NO, 0                         \
	}
#define DIFF(a, b)                                                                                 \
	{                                                                                          \
		1, PROBE_##a, PROBE_##b, NO, NO, 0                                                 \
	}
#define ALONE(a, l)                                                                                \
	{                                                                                          \
		1, PROBE_##a, NO, NO, NO, l                                                        \
	}

/* clang-format off */
static const struct recipe recipes[] = {
	{EV_INSTRUCTIONS, "minimum: adds, loads and floating adds mixed; maximum: a chain of adds, the yardstick; typical: the family's",
	 .minimum = {ALONE(MIX, 0)}, .guess_typical = true, .widen = false},
	{EV_LOADS, "maximum: pointer chase inside L1, less the instruction; typical: the family's",
	 .maximum = {ALONE(CHASE + PLACE_L1, 1)}, .guess_typical = true},
	{EV_FP_INSTRUCTIONS, "maximum: chain of adds, less the instruction; typical: the family's",
	 .maximum = {ALONE(FP_ADD_CHAIN, 1)}, .guess_typical = true, .widen = true},
	{EV_DIVIDES, "64-bit integer and double divides: typical and maximum in chains, minimum free of each other",
	 .typical = {ALONE(DIVIDE_CHAIN_SMALL, 2)}, .minimum = {ALONE(DIVIDE_FREE, 0), ALONE(FP_DIVIDE_FREE, 0)},
	 .maximum = {ALONE(DIVIDE_CHAIN_LARGE, 2), ALONE(FP_DIVIDE_CHAIN, 0)}},
	{EV_TAKEN_BRANCHES, "maximum: a chain of jumps, less the instruction; typical: the family's",
	 .maximum = {{1, PROBE_CODE + CODE_JUMPS_L1, PROBE_MIX, NO, NO, 0}}, .guess_typical = true},
	{EV_MISPREDICTED_BRANCHES, "random conditions known early (typical) or just loaded (maximum), less the same code with regular ones; minimum: the family's",
	 .typical = {{2, PROBE_EARLY_RANDOM, PROBE_EARLY_EVEN, NO, NO, 0}},
	 .maximum = {{2, PROBE_BRANCH_RANDOM, PROBE_BRANCH_EVEN, NO, NO, 0}}, .widen = true},
	{EV_L1D_MISSES, "in L2 less the same in L1: pointer chase (maximum), four side by side (typical), sweep or independent loads (minimum)",
	 .typical = {LEVEL(CHAINS, L2, L1)}, .minimum = {LEVEL(SWEEP, L2, L1), LEVEL(FREE, L2, L1)},
	 .maximum = {LEVEL(CHASE, L2, L1)}},
	{EV_L2D_MISSES, "in the last level less the same in L2, without TLB misses: pointer chase (maximum), four side by side (typical), sweep or independent loads (minimum)",
	 .typical = {LEVEL2(CHAINS, LL, L2, STLB, L1)},
	 .minimum = {LEVEL(SWEEP, LL, L2), LEVEL2(FREE, LL, L2, STLB, L1)},
	 .maximum = {LEVEL2(CHASE, LL, L2, STLB, L1)}},
	{EV_LL_DATA_MISSES, "flushed to memory less the same in the last level: pointer chase (maximum), four side by side (typical), sweep or independent loads (minimum)",
	 .typical = {LEVEL(CHAINS, MEMORY, LL)},
	 .minimum = {LEVEL(SWEEP, MEMORY, LL), LEVEL(FREE, MEMORY, LL)},
	 .maximum = {LEVEL(CHASE, MEMORY, LL)}},
	{EV_L1_WRITEBACK_QUADWORDS, "sweep of stores less sweep of loads in L2, 4 a line",
	 .typical = {{0.25, PROBE_STORES + PLACE_L2, PROBE_SWEEP + PLACE_L2, PROBE_STORES + PLACE_L1, PROBE_SWEEP + PLACE_L1, 0}},
	 .widen = true},
	{EV_L2_WRITEBACK_QUADWORDS, "sweep of stores less sweep of loads in the last level, 4 a line",
	 .typical = {{0.25, PROBE_STORES + PLACE_LL, PROBE_SWEEP + PLACE_LL, PROBE_STORES + PLACE_L2, PROBE_SWEEP + PLACE_L2, 0}},
	 .widen = true},
	{EV_L1I_MISSES, "straight code and jumps in L2 less the same in L1; maximum: as for data",
	 .typical = {CODE(STRAIGHT_L2, STRAIGHT_L1), CODE(JUMPS_L2, JUMPS_L1)},
	 .minimum = {CODE(JUMPS_L2, JUMPS_L1)}, .maximum = {LEVEL(CHASE, L2, L1)}},
	{EV_L2I_MISSES, "straight code in the last level less the same in L2; maximum: as for data",
	 .typical = {CODE(STRAIGHT_LL, STRAIGHT_L2)}, .maximum = {LEVEL2(CHASE, LL, L2, STLB, L1)}},
	{EV_DTLB_MISSES, "a line in each of some pages less as many packed: pointer chase (maximum), four side by side (typical), sweep or independent loads (minimum)",
	 .typical = {LEVEL(CHAINS, STLB, L1)},
	 .minimum = {LEVEL(SWEEP, STLB, L1), LEVEL(FREE, STLB, L1)}, .maximum = {LEVEL(CHASE, STLB, L1)}},
	{EV_ITLB_MISSES, "a jump in each of some pages less as many packed; maximum: as for data",
	 .typical = {CODE(JUMPS_STLB, JUMPS_L1)}, .maximum = {LEVEL(CHASE, STLB, L1)}},
	{EV_TLB_MISSES, "a line in each of many pages less as many packed, less the first level's: pointer chase (maximum), four side by side (typical), sweep or independent loads (minimum)",
	 .typical = {LEVEL2(CHAINS, WALK, WALK_PACKED, STLB, L1)},
	 .minimum = {LEVEL2(SWEEP, WALK, WALK_PACKED, STLB, L1), LEVEL2(FREE, WALK, WALK_PACKED, STLB, L1)},
	 .maximum = {LEVEL2(CHASE, WALK, WALK_PACKED, STLB, L1)}},
	{EV_STORE_CONDITIONALS, "locked adds less plain ones: to lines in turn, or to one line",
	 .typical = {DIFF(LOCK_FREE, UNLOCKED_FREE), DIFF(LOCK_CHAIN, UNLOCKED_CHAIN)},
	 .minimum = {DIFF(LOCK_FREE, UNLOCKED_FREE), DIFF(LOCK_CHAIN, UNLOCKED_CHAIN)}, .widen = true},
	{EV_STORE_FORWARD_FAILURES, "two halves stored, then loaded as one, less the same stored whole; minimum: free of each other",
	 .typical = {DIFF(FORWARD_FAIL_CHAIN, FORWARD_CHAIN)}, .minimum = {DIFF(FORWARD_FAIL_FREE, FORWARD_FREE)}},
	{EV_ALIASES_4K, "loads 4096 bytes from a store just before, less 6144 bytes from it",
	 .typical = {DIFF(ALIAS, NO_ALIAS)}, .widen = true},
	{EV_SPLIT_ACCESSES, "loads across two lines less aligned ones; chain for the maximum; stores are not measured",
	 .typical = {DIFF(SPLIT_FREE, WHOLE_FREE)}, .maximum = {DIFF(SPLIT_CHAIN, WHOLE_CHAIN)}, .widen = true},
	{EV_INTERVENTION_HITS, "lines that another core has just written, less the last level's: pointer chase (maximum), sweep, independent loads",
	 .typical = {{1, PROBE_TRANSFER_SWEEP, PROBE_SWEEP + PLACE_LL, NO, NO, 0}, {1, PROBE_TRANSFER_FREE, PROBE_FREE + PLACE_LL, NO, NO, 0}},
	 .minimum = {{1, PROBE_TRANSFER_SWEEP, PROBE_SWEEP + PLACE_LL, NO, NO, 0}, {1, PROBE_TRANSFER_FREE, PROBE_FREE + PLACE_LL, NO, NO, 0}},
	 .maximum = {{1, PROBE_TRANSFER_CHASE, PROBE_CHASE + PLACE_LL, PROBE_CHASE + PLACE_L1, PROBE_CHASE + PLACE_STLB, 0}}, .widen = true},
	{EV_STORES_TO_SHARED, "stores to lines that another core has just read, less to own ones; maximum: locked",
	 .typical = {DIFF(SHARED_STORE, OWN_STORE)}, .maximum = {DIFF(SHARED_LOCK, OWN_LOCK)}},
	{EV_SYSTEM_CALLS, "typical: half a byte's way through a pipe; minimum: getppid; maximum: the family's",
	 .typical = {{0.5, PROBE_PIPE, NO, NO, NO, 0}}, .minimum = {ALONE(SYSTEM_CALL, 0)}, .widen = true},
	{EV_PAGE_FAULTS, "first write to fresh pages; minimum: first read; maximum: first write after a read",
	 .typical = {ALONE(FAULT, 0)}, .minimum = {ALONE(ZERO_FAULT, 0)}, .maximum = {ALONE(COPY_FAULT, 0)}, .widen = true},
	{EV_CONTEXT_SWITCHES, "a byte to and fro between two threads on one processor, less the pipe",
	 .typical = {DIFF(SWITCH, PIPE)}, .widen = true},
};
/* clang-format on */

/* The greatest (or least) of the terms' figures; NaN if a necessary one was not measured. */
static struct figure calibrate_choose(
	const struct samples *s, const struct term *term, bool greatest)
{
	struct figure best = {NAN, NAN, NAN};

	for (int i = 0; i < TERMS && term[i].scale > 0; i++) {
		struct figure f = samples_difference(s, term[i].a, term[i].b, term[i].c, term[i].d);

		f.value = fmax(f.value * term[i].scale - term[i].less, 0);
		f.spread *= term[i].scale;
		if (isnan(f.spread))
			return (struct figure){NAN, NAN, NAN};
		if (isnan(best.value) || (greatest ? f.value > best.value : f.value < best.value))
			best = f;
	}
	return best;
}

/* Three significant digits, and at most thousandths: the rest is noise. */
static double rounded(double x)
{
	char text[32];

	snprintf(text, sizeof(text), "%.3g", x);
	return round(strtod(text, NULL) * 1000) / 1000;
}

/* One row from its kernels. False: not measured, the family's is kept. */
static bool cook(const struct recipe *r, const struct samples *s, struct cost *cost, double *spread)
{
	struct figure typical = calibrate_choose(s, r->typical, true),
		      low = calibrate_choose(s, r->minimum, false),
		      high = calibrate_choose(s, r->maximum, true), basis = typical;
	struct cost family = *cost;
	const uint8_t now = COST_FROM_MEASURED;

	if ((r->typical[0].scale > 0 && isnan(typical.value)) ||
		(r->minimum[0].scale > 0 && isnan(low.value)) ||
		(r->maximum[0].scale > 0 && isnan(high.value)))
		return false;
	if (r->guess_typical) {
		if (!family.known)
			return false;
		basis = isnan(low.value) ? high : low;
		cost->minimum = isnan(low.value) ? family.minimum : low.value;
		cost->maximum = isnan(high.value) ? family.maximum : high.value;
		cost->typical = fmin(fmax(family.typical, cost->minimum), cost->maximum);
		cost->from[COST_MINIMUM] = isnan(low.value) ? family.from[COST_MINIMUM] : now;
		cost->from[COST_MAXIMUM] = isnan(high.value) ? family.from[COST_MAXIMUM] : now;
		if (cost->typical != family.typical)
			cost->from[COST_TYPICAL] = now;
	} else {
		memset(cost->from, now, sizeof(cost->from));
		cost->typical = typical.value;
		cost->minimum = fmin(typical.value, isnan(low.value) ? typical.value : low.value);
		cost->maximum = fmax(typical.value, isnan(high.value) ? typical.value : high.value);
	}
	if (r->widen && family.known) {
		if (family.minimum < cost->minimum)
			cost->from[COST_MINIMUM] = family.from[COST_MINIMUM];
		if (family.maximum > cost->maximum)
			cost->from[COST_MAXIMUM] = family.from[COST_MAXIMUM];
		cost->minimum = fmin(cost->minimum, family.minimum);
		cost->maximum = fmax(cost->maximum, family.maximum);
	}
	cost->known = true;
	cost->unit = family.known ? family.unit : COST_CYCLES;
	cost->typical = rounded(cost->typical);
	cost->minimum = fmin(rounded(cost->minimum), cost->typical);
	cost->maximum = fmax(rounded(cost->maximum), cost->typical);
	*spread = basis.spread / fmax(basis.value, 0.01);
	return true;
}

static void calibrate_describe(
	struct cost_table *t, const struct machine *host, const struct samples *s, double seconds)
{
	time_t now = time(NULL);
	struct tm day;

	snprintf(t->name, sizeof(t->name), "%s", host->costs);
	costs_name_processor(host->description, t->processor, sizeof(t->processor));
	t->origin[0] = '\0';
	if (gmtime_r(&now, &day))
		strftime(t->date, sizeof(t->date), "%Y-%m-%d", &day);
	t->clock_hz = round(samples_clock(s) / 1e6) * 1e6;
	snprintf(t->method, sizeof(t->method),
		"perfex -calibrate: %d kernels timed in %d rounds over %.0f seconds", PROBE_COSTS,
		s->rounds, seconds);
}

int calibrate(const struct machine *host, double seconds, struct calibration *c,
	struct progress *progress, struct error *e)
{
	double begin = rig_now_ns();
	struct samples *s;
	struct rig_shape shape = machine_shape(host);
	struct rig rig;
	int probes[PROBE_COSTS], rc = -1;

	memset(c, 0, sizeof(*c));
	if (costs_ours(host->costs, &c->table, e))
		return -1;
	costs_disown(&c->table);
	s = calloc(1, sizeof(*s));
	if (!s)
		return error_nomem(e);
	for (int i = 0; i < PROBE_COSTS; i++)
		probes[i] = i;
	if (rig_init(&rig, &shape, e))
		goto out;
	rc = samples_take(s, &rig, probes, PROBE_COSTS, 0,
		fmax(seconds * 0.95 - (rig_now_ns() - begin) * 1e-9, 0), progress, e);
	rig_fini(&rig);
	if (rc)
		goto out;
	for (size_t i = 0; i < sizeof(recipes) / sizeof(recipes[0]); i++) {
		const struct recipe *r = &recipes[i];
		struct calibration_row *row = &c->row[r->number];

		row->number = r->number;
		if (cook(r, s, &c->table.cost[r->number], &row->spread))
			row->how = r->how;
	}
	calibrate_describe(&c->table, host, s, (rig_now_ns() - begin) * 1e-9);
out:
	free(s);
	return rc;
}

void calibrate_print(const struct calibration *c, struct strbuf *out)
{
	strbuf_puts(out, "# Costs of this machine, perfex-costs(5).  Spread: interquartile range / "
			 "median of the "
			 "rounds' typical\n"
			 "# cost (of the bound that was measured where that is the family's).\n");
	costs_print_header(&c->table, out);
	strbuf_printf(out, "\n%-24s %9s %9s %9s unit source\n", "# event", "typical", "minimum",
		"maximum");
	for (int i = 0; i < EVENT_LIMIT; i++) {
		if (!c->table.cost[i].known)
			continue;
		if (c->row[i].how)
			strbuf_printf(out, "\n# %s\n", c->row[i].how);
		else
			strbuf_puts(out, "\n");
		costs_print_row(&c->table, i, out);
		if (c->row[i].how)
			strbuf_printf(out, "  # spread %.1f%%\n", c->row[i].spread * 100);
		else
			strbuf_puts(out, "  # not measured: the family's\n");
	}
}
