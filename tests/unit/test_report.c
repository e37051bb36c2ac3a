/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Readings to rows: means of runs, costs, time on the processor, and the labels of all these. */
#include "../tap.h"
#include "report/counts.h"

#include <stdlib.h>

enum { CY, DSC, TCLK, EVENTS, RUNS = 3 };
static struct event_spec specs[EVENTS];
static struct machine machine = {.name = "made up", .model = {.clock_hz = 2000000000}};
static struct cost_table costs = {.clock_hz = 2e9};
static struct reading readings[RUNS];
static double elapsed[RUNS] = {1.0, 2.0, 3.0};

static struct counts_report *report(unsigned long runs, bool with_costs)
{
	struct counts_input in = {
		.specs = specs,
		.count = EVENTS,
		.readings = readings,
		.elapsed = elapsed,
		.runs = runs,
		.passes = 1,
		.groups = 1,
		.source = "pmu",
		.machine = &machine,
		.costs = with_costs ? &costs : NULL,
	};
	struct error e;

	return counts_report_new(&in, &e);
}

static void count(int run, int event, double value, enum label label)
{
	readings[run].counts[event].quantity = quantity_exact(value, label);
}

static void begin(void)
{
	static const char *const names[] = {"cy", "dsc", "tclk"};
	struct error e;

	for (int i = 0; i < EVENTS; i++)
		ok(event_parse(names[i], &specs[i], &e) == 0, "%s", names[i]);
	for (int r = 0; r < RUNS; r++) {
		reading_init(&readings[r], EVENTS, &e);
		count(r, CY, 1e9, LABEL_MEASURED);
		count(r, DSC, 100 + 10 * r, LABEL_MEASURED);
		count(r, TCLK, 3e9, LABEL_MEASURED);
	}
	costs.cost[EV_L2D_MISSES] = (struct cost){
		.known = true, .unit = COST_CYCLES, .typical = 20, .minimum = 10, .maximum = 40};
}

/* A run of 0.5 s on the model, with what its cycles waited for. */
static struct counts_report *modelled(bool host, const struct native_times *native)
{
	struct counts_input in = {
		.specs = specs,
		.count = EVENTS,
		.readings = readings,
		.elapsed = elapsed,
		.runs = 2,
		.passes = 1,
		.groups = 1,
		.source = "model",
		.machine = &machine,
		.costs = &costs,
		.host = host,
		.native = native,
	};
	struct error e;

	return counts_report_new(&in, &e);
}

static void test_native(void)
{
	struct native_times native = {.runs = 3,
		.user = {0.25, 0.2, 0.3, LABEL_MEASURED},
		.system = {0.05, 0.04, 0.06, LABEL_MEASURED},
		.elapsed = {0.31, 0.31, 0.32, LABEL_MEASURED}};
	struct counts_report *r;

	for (int i = 0; i < 2; i++) {
		readings[i].counts[CY].quantity.label = LABEL_MODEL;
		readings[i].clocked = true;
		for (int c = 0; c < MODEL_CAUSES; c++)
			readings[i].causes[c] = quantity_exact(0, LABEL_MODEL);
		readings[i].causes[MODEL_CAUSE_BASE].value = 100e6;
		readings[i].causes[MODEL_CAUSE_MEMORY].value = 800e6 + 200e6 * i;
	}
	r = modelled(true, NULL);
	is_int((long)r->cause_count, 2, "two causes");
	ok(r->clocked, "from the clock");
	is_str(r->causes[0].name, "L2 data misses", "what is behind L2 here is memory");
	is_near(r->causes[0].share, 0.9, 1e-12, "shares are means of the runs");
	is_near(r->causes[0].seconds.value, 0.45, 1e-12, "of the modelled time");
	is_int(r->causes[0].seconds.label, LABEL_MODEL, "all of it the model's");
	ok(r->cost_cause_count > 0 && strcmp(r->cost_causes[0].name, "L2 data misses") == 0,
		"the causes of costs are there, too");
	is_int(r->cost_causes[0].share_label, LABEL_ESTIMATED, "estimated");
	ok(r->ratio == 0, "without a measured time nothing is compared");
	counts_report_free(r);

	machine.model.ll.size = 1;
	r = modelled(true, &native);
	is_str(r->causes[0].name, "last-level data misses", "or behind the last level");
	is_near(r->ratio, 2, 1e-12, "twice the measured user time");
	is_near(r->divided.value, 0.25, 1e-12, "that one is divided");
	is_near(r->causes[0].seconds.value, 0.225, 1e-12, "among causes");
	is_int(r->causes[0].seconds.label, LABEL_ESTIMATED,
		"by shares of something else: estimated");
	is_int(r->causes[0].share_label, LABEL_MODEL, "shares are the model's");
	counts_report_free(r);

	r = modelled(false, &native);
	ok(r->ratio == 0 && r->divided.value == 0.5, "another machine is not compared");
	is_int((int)r->native.runs, 3, "but shown");
	counts_report_free(r);
	native.exit_status = 1;
	r = modelled(true, &native);
	ok(r->ratio == 0 && r->divided.value == 0.5, "nor a run that failed");
	counts_report_free(r);
	readings[1].clocked = false;
	r = modelled(true, NULL);
	ok(!r->clocked && r->cost_cause_count == 0, "a run without causes: those of costs");
	is_int(r->causes[0].share_label, LABEL_ESTIMATED, "estimated");
	counts_report_free(r);
	for (int i = 0; i < 2; i++) {
		readings[i].counts[CY].quantity.label = LABEL_MEASURED;
		readings[i].clocked = false;
	}
}

static void test_one_run(void)
{
	struct counts_report *r = report(1, true);
	const struct event_row *dsc = &r->events[DSC];

	ok(dsc->costed && !r->events[TCLK].costed, "what has a cost is costed");
	is_near(dsc->typical, 100 * 20 / 2e9, 1e-15, "typical seconds");
	is_near(dsc->minimum, 100 * 10 / 2e9, 1e-15, "minimum");
	is_near(dsc->maximum, 100 * 40 / 2e9, 1e-15, "maximum");
	is_near(r->seconds.value, 0.5, 1e-12, "cycles by the clock are the time");
	is_int(r->seconds.label, LABEL_ESTIMATED, "estimated, as the clock is nominal");
	counts_report_free(r);
	for (int i = 0; i < EVENTS; i++)
		readings[0].counts[i].quantity.label = LABEL_MODEL;
	r = report(1, false);
	is_int(r->seconds.label, LABEL_MODEL, "the model's clock is the model's");
	counts_report_free(r);
	for (int i = 0; i < EVENTS; i++)
		readings[0].counts[i].quantity.label = LABEL_MEASURED;
	readings[0].counts[CY].quantity.label = LABEL_NONE;
	r = report(1, false);
	is_near(r->seconds.value, 3.0, 1e-12, "without cycles, the kernel's clock");
	is_int(r->seconds.label, LABEL_MEASURED, "measured");
	readings[0].counts[CY].quantity.label = LABEL_MEASURED;
	counts_report_free(r);
}

/* 100, 110, 120: mean 110, standard deviation 10, t(2) = 4.3027. */
static void test_runs(void)
{
	struct counts_report *r = report(RUNS, false);
	const struct quantity *q = &r->events[DSC].count.quantity;
	double half = 4.3027 * 10 / sqrt(3);

	is_near(q->value, 110, 1e-9, "the mean of the runs");
	is_near(q->low, 110 - half, 0.01, "its interval: low");
	is_near(q->high, 110 + half, 0.01, "high");
	is_int(q->label, LABEL_MEASURED, "measured in all");
	is_near(r->elapsed.value, 2.0, 1e-12, "mean time");
	ok(r->elapsed.low < 2 && r->elapsed.low >= 0 && r->elapsed.high > 2, "with its interval");
	counts_report_free(r);

	count(1, DSC, 110, LABEL_SCALED);
	r = report(RUNS, false);
	is_int(r->events[DSC].count.quantity.label, LABEL_SCALED, "scaled in one: scaled");
	counts_report_free(r);

	count(1, DSC, 0, LABEL_NONE);
	strcpy(readings[1].counts[DSC].why, "it got no turn");
	r = report(RUNS, false);
	is_int(r->events[DSC].count.quantity.label, LABEL_NONE, "not counted in one: no mean");
	is_str(r->events[DSC].count.why, "it got no turn", "and why");
	counts_report_free(r);
	count(1, DSC, 110, LABEL_MEASURED);
	readings[1].counts[DSC].why[0] = '\0';
}

static void test_order(void)
{
	struct counts_report *r = report(1, true);
	size_t *order = counts_report_by_cost(r);

	is_int((long long)order[0], DSC, "most costly first");
	is_int((long long)order[1], CY, "those without cost by number");
	is_int((long long)order[2], TCLK, "last");
	free(order);
	counts_report_free(r);
}

int main(void)
{
	begin();
	test_one_run();
	test_native();
	test_runs();
	test_order();
	for (int r = 0; r < RUNS; r++)
		reading_fini(&readings[r]);
	return done();
}
