/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/machine: constants of this host, from figures that are made up. */
#include "../tap.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "build_data.h"
#include "kernels/kernels.h"
#include "machine/kept.h"
#include "machine/private.h"

#include "kept_files.h"

static struct machine m;

static struct machine_constant of(const char *key)
{
	struct machine_constant k;

	for (size_t i = 0; machine_constant(&m, i, &k); i++)
		if (strcmp(k.key, key) == 0)
			return k;
	return (struct machine_constant){"", 0, MACHINE_CONSTANT_DESCRIBED};
}

static void has(const char *key, uint32_t value, enum machine_constant_from from, const char *what)
{
	struct machine_constant k = of(key);

	ok(k.value == value && k.from == from, "%s (%s %u, %d)", what, key, k.value, (int)k.from);
}

static void taken(void)
{
	struct model_config before;

	machine_defaults(&m);
	before = m.model;
	machine_take_constants(&m, "some processor, boot of today\n"
				   "clock 3000000000 Hz, scatter 0.010\n"
				   "L2 13.60 cycles, spread 0.10\n"
				   "LL 61.20 cycles, spread 3.00\n"
				   "memory 412.30 cycles, spread 8.00\n"
				   "L2-line 0.40 cycles, spread 0.00\n"
				   "walk 55.10 cycles, spread 2.00\n"
				   "window 4 cycles, spread 0.00\n");
	has("L2", 14, MACHINE_CONSTANT_MEASURED, "whole cycles");
	has("LL", 61, MACHINE_CONSTANT_MEASURED, "the last level");
	has("memory", 412, MACHINE_CONSTANT_MEASURED, "memory");
	has("L2-line", 1, MACHINE_CONSTANT_MEASURED, "a cycle at least");
	has("walk", 55, MACHINE_CONSTANT_MEASURED, "a walk");
	has("mispredict", before.mispredict_penalty, MACHINE_CONSTANT_DESCRIBED,
		"what is not given stays");
	ok(m.model.window == before.window && m.model.clock_hz == before.clock_hz,
		"what is no constant stays");
	ok(m.model.l2.size == before.l2.size && m.model.ll.ways == before.ll.ways,
		"the geometry stays");
}

static void refused(void)
{
	struct model_config before;

	machine_defaults(&m);
	before = m.model;
	machine_take_constants(&m, "L2 3.90 cycles, spread 0.10\n"
				   "LL 13.00 cycles, spread 0.10\n"
				   "memory 2801.00 cycles, spread 0.10\n"
				   "STLB 0.20 cycles, spread 0.00\n"
				   "walk 80.00 cycles, spread 21.00\n"
				   "mispredict 1.20 cycles, spread 0.00\n"
				   "locked -3.00 cycles, spread 0.00\n"
				   "divide nan cycles, spread 0.00\n"
				   "fp-add-chain 4.00 cycles\n");
	has("L2", before.l2.latency, MACHINE_CONSTANT_REFUSED, "not above the first level's");
	has("LL", before.ll.latency, MACHINE_CONSTANT_REFUSED, "not above the second level's");
	has("memory", before.memory_latency, MACHINE_CONSTANT_REFUSED, "over ten times");
	has("STLB", 1, MACHINE_CONSTANT_MEASURED, "a seventh is possible");
	has("walk", before.walk_latency, MACHINE_CONSTANT_REFUSED, "it scatters");
	has("mispredict", before.mispredict_penalty, MACHINE_CONSTANT_REFUSED, "under a tenth");
	has("locked", before.lock_latency, MACHINE_CONSTANT_DESCRIBED, "a negative one is none");
	has("divide", before.divide_latency, MACHINE_CONSTANT_DESCRIBED, "no number is none");
	has("fp-add-chain", before.execution.fp_add_chain, MACHINE_CONSTANT_DESCRIBED,
		"half a line is none");
	machine_defaults(&m);
	machine_take_constants(&m, "forward 0.20 cycles, spread 0.00\n"
				   "forward-renamed 0.00 cycles, spread 0.00\n"
				   "scaled-load 1.00 cycles, spread 0.00\n"
				   "taken-return 2.90 cycles, spread 0.10\n"
				   "taken-indirect 21.00 cycles, spread 0.00\n"
				   "LL-later 301.00 cycles, spread 60.00\n"
				   "system-call 2100.40 cycles, spread 0.00\n"
				   "page-fault 23000.00 cycles, spread 0.00\n"
				   "kernel-flush 45.50 cycles, spread 0.00\n"
				   "steal 951.00 cycles, spread 0.00\n");
	has("forward", before.execution.forward, MACHINE_CONSTANT_REFUSED,
		"not before the first level has data");
	has("forward-renamed", 0, MACHINE_CONSTANT_MEASURED, "renamed data may be there at once");
	has("scaled-load", 1, MACHINE_CONSTANT_MEASURED, "what no description has");
	has("taken-return", 3, MACHINE_CONSTANT_MEASURED, "rounded");
	has("taken-indirect", before.indirect_interval, MACHINE_CONSTANT_REFUSED, "too many");
	has("LL-later", 301, MACHINE_CONSTANT_MEASURED, "a last level with neighbours");
	has("system-call", 2100, MACHINE_CONSTANT_MEASURED, "a hypervisor's part");
	has("page-fault", 23000, MACHINE_CONSTANT_MEASURED, "which no description has");
	has("kernel-flush", 46, MACHINE_CONSTANT_MEASURED, "nor this");
	has("steal", 0, MACHINE_CONSTANT_REFUSED, "next to all of the time");
	machine_defaults(&m);
	m.model.ll = (struct model_cache_config){0, 0, 0, 0};
	machine_take_constants(&m, "LL 61.20 cycles, spread 3.00\n");
	has("LL", 0, MACHINE_CONSTANT_DESCRIBED, "a level that is not there stays away");
	machine_take_constants(&m, "");
	ok(m.measured == 0 && m.refused == 0, "nothing from nothing");
}

static void given(void)
{
	char path[] = "/tmp/test_constants.XXXXXX";
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	struct error e = {0};

	if (!f)
		return;
	fputs("clock 3100000000 Hz, scatter 0.000\nmispredict 19.00 cycles, spread 0.00\n", f);
	fclose(f);
	setenv("PERFEX_HOST", path, 1);
	ok(machine_host("", &m, &e) == 0 && m.model.clock_hz == 3100000000 &&
			m.clock_from == MACHINE_CLOCK_GIVEN,
		"the clock is as given");
	has("mispredict", 19, MACHINE_CONSTANT_MEASURED, "and a figure");
	ok(!machine_unmeasured(NULL) && !machine_unmeasured("host"), "nothing is to be measured");
	setenv("PERFEX_HOST", "none", 1);
	ok(machine_host("", &m, &e) == 0 && m.measured == 0 && m.refused == 0, "none");
	ok(!machine_unmeasured("host:L2=512K") && !machine_unmeasured("zen4"),
		"nothing is measured then");
	unlink(path);
}

#define PROBES "probes 9\n" /* of today */

static bool is_probed(const char *text)
{
	return strncmp(text, "probes ", 7) == 0;
}

static void keep_time(
	const struct machine_identity *id, const char *name, const char *probes, const char *time)
{
	struct kept_file file = {name, is_probed};
	char text[512];

	snprintf(text, sizeof(text), "%s%s", probes, time);
	kept_write(&file, id, KEPT_BOOT, text);
}

/* A time beside a busy neighbour must not stay. */
static void times_of_a_boot(void)
{
	static char dir[] = "/tmp/test_constants.XXXXXX"; /* used as long as it is the directory */
	struct machine_identity id;
	char now[64];

	if (!mkdtemp(dir))
		return;
	unsetenv("PERFEX_HOST");
	setenv("XDG_CACHE_HOME", dir, 1);
	kept_directories(dir, NULL);
	machine_identify("", &id);
	ok(machine_unmeasured("host") && machine_measure_due("host"), "none yet");
	keep_time(&id, "host", "", "taken at 1000\nLL-later 900.00 cycles, spread 1.00\n");
	ok(machine_unmeasured("host"), "figures of earlier probes are measured again");
	keep_time(&id, "host", PROBES,
		"taken at 1000\ntaken 1.98 cycles, spread 0.00\n"
		"mispredict 13.00 cycles, spread 0.00\nLL 50.00 cycles, spread 1.00\n"
		"memory 500.00 cycles, spread 1.00\n"
		"LL-later 450.00 cycles, spread 1.00\n"
		"page-fault 41000.00 cycles, spread 0.00\n");
	ok(!machine_unmeasured("host") && machine_measure_due("host"), "one, long ago");
	snprintf(now, sizeof(now), "taken at %lld\ntaken 1.02 cycles, spread 0.00\n",
		(long long)time(NULL));
	keep_time(&id, "host-2", PROBES, now);
	ok(!machine_measure_due("host"), "two, the last just now");
	keep_time(&id, "host-3", PROBES,
		"taken at 2000\nmispredict 17.00 cycles, spread 0.00\n"
		"LL 50.00 cycles, spread 1.00\n"
		"memory 700.00 cycles, spread 1.00\nLL-later 500.00 cycles, spread 1.00\n");
	ok(machine_measure_due("host"), "three that do not agree");
	keep_time(&id, "host-4", PROBES,
		"taken at 3000\nclock 3400000000 Hz\ntaken 1.10 cycles, spread 0.00\n"
		"mispredict 13.90 cycles, spread 0.00\nLL 50.00 cycles, spread 1.00\n"
		"memory 510.00 cycles, spread 1.00\n"
		"LL-later 320.00 cycles, spread 1.00\n"
		"page-fault 22000.00 cycles, spread 0.00\n");
	ok(!machine_measure_due("host"), "the least of each figure was found twice: enough");
	keep_time(&id, "host-5", PROBES,
		"taken at 4000\nclock 3300000000 Hz\ntaken 1.00 cycles, spread 3.00\n"
		"mispredict 6.00 cycles, spread 40.00\nLL 50.00 cycles, spread 1.00\n"
		"memory 710.00 cycles, spread 1.00\n"
		"LL-later 600.00 cycles, spread 1.00\n");
	keep_time(&id, "host-6", PROBES, "taken at 5000\nmispredict 10.00 cycles, spread 0.00\n");
	machine_defaults(&m);
	machine_host_constants(&m, &id);
	ok(m.model.clock_hz == 3000000000, "a clock that was not measured stays");
	m.clock_from = MACHINE_CLOCK_MEASURED;
	machine_host_constants(&m, &id);
	ok(m.model.clock_hz == 3400000000, "one that was becomes the fastest of all times");
	has("taken", 1, MACHINE_CONSTANT_MEASURED, "the least of two");
	has("mispredict", 13, MACHINE_CONSTANT_MEASURED,
		"one time may lack a figure, its rounds disagree, or it alone have found less");
	has("memory", 500, MACHINE_CONSTANT_MEASURED, "also of two times");
	has("LL-later", 362, MACHINE_CONSTANT_MEASURED,
		"the lower median of what was gone: 59, 69, 83 and 89%");
	has("page-fault", 22000, MACHINE_CONSTANT_MEASURED,
		"the least of two, which no other time need find");
	kept_directories(NULL, NULL);
	kept_files_remove(dir);
}

/* What the kernels that are timed compute. */
static void timed(void)
{
	static char line[64 * 8] __attribute__((aligned(64)));
	uint64_t value = 1, same = 1;

	kernel_decisions(&value, 0, 100);
	kernel_decisions(&same, UINT64_C(1) << 40, 100);
	ok(value == same && value != 1, "branches do not change the chain");
	kernel_pass(line, line, 16);
	is_int(((uint64_t *)line)[7], 8, "two values pass through memory by turns");
	memset(line, 0, sizeof(line));
	kernel_pass_halves(line, line, 8);
	is_int(((uint64_t *)line)[0], (1ll << 32) + 1, "halves replace a part of it");
	memset(line, 0, sizeof(line));
	kernel_exchange(line, 8, 9);
	is_int(*(uint64_t *)line, 0, "exchanges go round");
	is_int(*(uint64_t *)(line + 64), 0, "by one line");
}

int main(void)
{
	build_data();
	taken();
	refused();
	given();
	times_of_a_boot();
	timed();
	return done();
}
