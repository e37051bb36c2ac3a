/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of experiments: names, periods, what -e and -both make of them. */
#include "collect/experiments.h"

#include <stdlib.h>

#include "../tap.h"
#include "base/strbuf.h"
#include "experiment/experiment.h"

static struct collect_experiment find(const char *name)
{
	struct collect_experiment x = {0};
	struct error e = {0};

	if (!ok(collect_experiment_find(name, &x, &e) == 0, "%s is an experiment", name))
		printf("# %s\n", e.message);
	return x;
}

static void test_table(void)
{
	static const struct {
		const char *name;
		uint64_t hwc, fine;
	} want[] = {
		{"gi_hwc", 32771, 6553},
		{"cy_hwc", 16411, 3779},
		{"dsc_hwc", 131, 29},
		{"tlb_hwc", 257, 53},
		{"gfp_hwc", 32771, 6553},
		{"fsc_hwc", 2003, 401},
		{"ffsc_hwc", 401, 83},
		{"fdc_hwc", 419, 83},
	};
	struct collect_experiment x, y;
	size_t n = 0, twice = 0, odd = 0, fifths = 0;

	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		x = find(want[i].name);
		is_int(x.classic, want[i].hwc, "%s: its period", want[i].name);
		is_int(x.classic_fine, want[i].fine, "%s: the finer one", want[i].name);
	}
	is_int(find("fsc_hwc").event->number, EV_FAILED_STORE_CONDITIONALS,
		"fsc is an event, and not sc made finer");
	is_int(find("dsc_hwctime").flags, METRIC_STACKS, "_hwctime has call stacks");
	is_int(find("br_hwc").event->number, EV_MISPREDICTED_BRANCHES, "br: mispredicts");
	ok(find("totaltime").flags & METRIC_WALL, "totaltime is of elapsed time");
	for (n = 0; collect_experiment_at(n, &x) == 0; n++) {
		for (size_t k = 0; k < n; k++)
			twice += collect_experiment_at(k, &y) == 0 && strcmp(x.name, y.name) == 0;
		odd += !x.help[0] || !x.event || !x.classic || !x.classic_fine;
		if ((x.name[0] == 'f' && strstr(x.name, "_hwc")) || strstr(x.name, "_hwctime"))
			fifths += x.event->short_name[0] != 'f' &&
				  x.classic_fine != collect_prime(x.classic / 5);
	}
	is_int(fifths, 0, "finer periods are the primes after a fifth");
	ok(n > 200, "every event has its experiments");
	is_int(twice, 0, "no name comes twice");
	is_int(odd, 0, "no row is incomplete");
}

static void test_primes(void)
{
	is_int(collect_prime(0), 2, "the first prime");
	is_int(collect_prime(9), 11, "not below");
	is_int(collect_prime(131), 131, "a prime stays");
	is_int(collect_prime(10000000), 10000019, "of ten milliseconds");
	is_int(collect_scale(16411, 195e6), 16411, "the R10000 has its own periods");
	is_int(collect_scale(16411, 100e6), 16411, "slower ones as well");
	ok(collect_scale(16411, 3.9e9) >= 16411 * 20, "faster ones have longer ones");
}

static void test_metrics(void)
{
	struct collect_metrics m = {0};
	struct collect_experiment x = find("pcsamp");
	struct strbuf type = {0};
	struct error e = {0};

	ok(collect_metrics_add(&m, &x, true, &e) == 0 && m.list.count == 2, "-both makes two");
	is_int(m.list.data[0].period, 10000019, "ten milliseconds, prime");
	is_int(m.list.data[1].period, 1000003, "and one");
	is_int(m.list.data[1].flags & METRIC_BOTH, METRIC_BOTH, "the second says so");
	ok(collect_metrics_parse(&m, "dsc:2003:stacks", false, &e) == 0, "-e dsc:2003:stacks");
	is_int(m.list.data[2].period, 2003, "its period is as given");
	is_int(m.list.data[2].flags, METRIC_STACKS, "with stacks");
	collect_metrics_type(&m, &type);
	is_str(strbuf_text(&type), "pcsamp,prof_hwc", "the type names each experiment once");
	is_int(m.list.data[2].spec.event->number, EV_L2D_MISSES, "its event");
	ok(collect_metrics_parse(&m, "dsc", false, &e) != 0, "a period must be there");
	ok(collect_metrics_parse(&m, "dsc:-5", false, &e) != 0, "above zero");
	ok(collect_metrics_parse(&m, "dsc:7x", false, &e) != 0, "and a number");
	ok(collect_metrics_parse(&m, "dsc:3", true, &e) != 0, "with room for a finer one");
	x = find("ideal");
	ok(collect_metrics_add(&m, &x, true, &e) != 0, "what is exact has no periods");
	ok(collect_experiment_find("pcsam", &x, &e) != 0, "pcsam is none");
	ok(strstr(e.hint, "pcsamp") != NULL, "and the hint names the nearest");
	strbuf_fini(&type);
	collect_metrics_fini(&m);
}

int main(void)
{
	test_table();
	test_primes();
	test_metrics();
	return done();
}
