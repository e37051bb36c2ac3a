/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which source counts what, in which run: on made-up sources. */
#include "../tap.h"
#include "fake_sources.h"
#include "sources/plan.h"

enum { CY, GI, DSC, SWITCHES, RAW, EVENTS };
static struct event_spec specs[EVENTS];
static const struct source_options options = {.user = true};
static struct plan plan;
static struct error e;

/* cycles, instructions, L2 data misses, context switches, and a raw code. */
static void name_events(void)
{
	static const char *const names[] = {"cy", "gi", "dsc", "csw", "r1234"};

	for (int i = 0; i < EVENTS; i++) {
		memset(&specs[i], 0, sizeof(specs[i]));
		ok(event_parse(names[i], &specs[i], &e) == 0, "%s", names[i]);
	}
}

static void machine_has(bool pmu, bool model)
{
	fake_pmu = (struct fake){.works = pmu};
	fake_model = (struct fake){.works = model};
	fake_os = (struct fake){.works = true};
}

/* Of the first count events; 0 or -1. */
static int make(struct plan_request request, size_t count)
{
	memset(&e, 0, sizeof(e));
	plan_fini(&plan);
	if (!request.source)
		request.source = "auto";
	return plan_make(&plan, &request, &options, specs, count, &e);
}

static const char *source_of(int event)
{
	return plan.entries[event].source ? plan.entries[event].source->name : "none";
}

static void test_auto_with_counters(void)
{
	machine_has(true, true);
	is_int(make((struct plan_request){0}, EVENTS), 0, "auto, counters work");
	is_str(source_of(CY), "pmu", "cycles by the pmu");
	is_str(source_of(RAW), "pmu", "a raw code by the pmu");
	is_str(source_of(SWITCHES), "os", "context switches by the kernel");
	is_int(plan.passes, 1, "in one run");
	ok(!plan.fell_back, "nothing to announce");
}

static void test_auto_without_counters(void)
{
	machine_has(false, true);
	is_int(make((struct plan_request){.all = true}, EVENTS), 0, "auto, no counters");
	ok(plan.fell_back, "it is told");
	is_str(plan.reason.message, "does not work", "with the reason");
	is_str(plan.reason.hint, "mend it", "and the remedy");
	is_str(source_of(CY), "model", "cycles by the model");
	is_str(source_of(SWITCHES), "none", "context switches would be the model's");
	ok(strstr(plan.entries[SWITCHES].why.hint, "-passes"), "hint: %s",
		plan.entries[SWITCHES].why.hint);
	is_str(source_of(RAW), "none", "no model knows a raw code");
	ok(plan.entries[RAW].why.message[0], "why: %s", plan.entries[RAW].why.message);

	is_int(make((struct plan_request){0}, EVENTS), -1, "events asked for by name must count");
	ok(strstr(e.message, specs[SWITCHES].name), "%s", e.message);

	is_int(make((struct plan_request){.all = true, .passes = true}, EVENTS), 0, "-passes");
	is_str(source_of(SWITCHES), "os", "context switches by the kernel");
	is_int(plan.passes, 2, "in two runs");
	ok(plan.entries[SWITCHES].pass != plan.entries[CY].pass, "the kernel's not in the model's");
	is_int(plan.entries[CY].pass, plan.entries[DSC].pass, "all of the model's in one");
}

static void test_nothing_works(void)
{
	machine_has(false, false);
	is_int(make((struct plan_request){.all = true}, EVENTS), 0, "no counters, no model");
	is_str(source_of(CY), "none", "no cycles");
	is_str(source_of(SWITCHES), "os", "but context switches, next to nothing that disturbs");
	is_int(make((struct plan_request){.all = true}, SWITCHES), -1, "no event that counts: %s",
		e.message);
	is_int(make((struct plan_request){0}, 1), -1, "cycles by name: %s", e.message);
	machine_has(false, true);
	is_int(make((struct plan_request){.attach = true}, 1), -1, "the model cannot attach");
	ok(strstr(e.hint, "attach"), "%s; %s", e.message, e.hint);
}

static void test_os_alone(void)
{
	struct event_spec saved = specs[0];

	machine_has(true, true);
	specs[0] = specs[SWITCHES];
	is_int(make((struct plan_request){0}, 1), 0, "context switches alone");
	is_str(source_of(0), "os", "by the kernel");
	is_int(fake_pmu.opened + fake_model.opened, 0, "nobody else is troubled");
	ok(!plan.fell_back, "and there is nothing to announce");
	specs[0] = saved;
}

static void test_named(void)
{
	machine_has(true, true);
	is_int(make((struct plan_request){.source = "model", .all = true}, EVENTS), 0,
		"-source model");
	is_str(source_of(CY), "model", "cycles by the model, though counters work");
	is_str(source_of(SWITCHES), "none", "and nothing by others");
	machine_has(false, true);
	is_int(make((struct plan_request){.source = "pmu"}, 1), -1, "-source pmu without counters");
	is_str(e.message, "does not work", "no falling back");
	is_int(make((struct plan_request){.source = "nothing"}, 1), -1, "%s", e.message);
}

/* Two counters: cycles and instructions; misses and the raw code; the kernel's ride along. */
static void test_passes(void)
{
	machine_has(true, true);
	is_int(make((struct plan_request){.passes = true}, EVENTS), 0, "-passes on two counters");
	is_int(plan.passes, 2, "four hardware events: two runs");
	is_int(plan.entries[CY].pass, 0, "cycles first");
	is_int(plan.entries[GI].pass, 0, "instructions fit beside them");
	is_int(plan.entries[DSC].pass, 1, "misses do not");
	is_int(plan.entries[RAW].pass, 1, "the raw code fits beside those");
	ok(plan.entries[SWITCHES].pass < 2, "context switches need no run of their own");
	is_int(make((struct plan_request){.passes = true}, 2), 0, "two events");
	is_int(plan.passes, 1, "fit in one run");
	is_int(fake_pmu.opened, fake_pmu.closed, "what was opened to try was closed");
}

int main(void)
{
	name_events();
	test_auto_with_counters();
	test_auto_without_counters();
	test_nothing_works();
	test_os_alone();
	test_named();
	test_passes();
	plan_fini(&plan);
	return done();
}
