/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/selftest.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sources/perf_open.h"

#define ITERATIONS 500000
#define TRIES      5

struct tally {
	uint64_t value, enabled, running;
};

/* ITERATIONS times two instructions; returns their number, 0 on processors without a known loop. */
static double known_loop(void)
{
	uint64_t n = ITERATIONS;

#if defined(__x86_64__)
	__asm__ volatile(".p2align 4\n1:\tdecq %0\n\tjnz 1b" : "+r"(n) : : "cc");
	return 2.0 * ITERATIONS;
#elif defined(__aarch64__)
	__asm__ volatile(".p2align 4\n1:\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(n) : : "cc");
	return 2.0 * ITERATIONS;
#else
	while (n--)
		__asm__ volatile("");
	return 0;
#endif
}

/* Counts what work does; -1 with errno. */
static int tally(
	const struct perf_event_attr *wanted, void (*work)(void *), void *context, struct tally *t)
{
	struct perf_event_attr attr = *wanted;
	ssize_t n;
	int fd;

	attr.disabled = 1;
	attr.inherit = attr.inherit_stat = attr.enable_on_exec = 0;
	attr.sample_type = 0;
	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	fd = perf_open(&attr, 0, -1, -1);
	if (fd < 0)
		return -1;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	work(context);
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	n = read(fd, t, sizeof(*t));
	close(fd);
	if (n == (ssize_t)sizeof(*t) && t->running > 0)
		return 0;
	errno = EBUSY;
	return -1;
}

static void run_known_loop(void *expected)
{
	*(double *)expected = known_loop();
}

static void run_provoke(void *unused)
{
	(void)unused;
	provoke();
}

/* A count of the known loop that was not interrupted by other users of the counters. */
static int count_loop(uint64_t config, double *seen, double *expected, struct error *why)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .config = config, .exclude_kernel = 1, .exclude_hv = 1};
	struct tally t = {0, 0, 0};

	for (int i = 0; i < TRIES; i++) {
		if (tally(&attr, run_known_loop, expected, &t) != 0) {
			if (errno == EBUSY && i + 1 < TRIES)
				continue;
			return perf_explain(errno, &attr, 0, NULL, why);
		}
		if (t.running >= t.enabled)
			break;
	}
	*seen = (double)t.value * (double)t.enabled / (double)t.running;
	return 0;
}

int selftest_judge(double seen_instructions, double seen_cycles, double expected, struct error *why)
{
	if (expected > 0 && fabs(seen_instructions - expected) > 0.01 * expected)
		error_set(why, ERR_UNSUPPORTED,
			"the PMU counts wrongly: %.0f instructions for a loop of %.0f",
			seen_instructions, expected);
	else if (seen_instructions <= 0)
		error_set(why, ERR_UNSUPPORTED, "the PMU opens but counts no instructions");
	else if (seen_cycles <= 0)
		error_set(why, ERR_UNSUPPORTED, "the PMU opens but counts no cycles");
	else
		return 0;
	return error_hint(why,
		"the PMU of this virtual machine is unreliable: -source pmu uses it nevertheless");
}

int selftest_pmu(struct error *why)
{
	double instructions, cycles, expected;

	if (count_loop(PERF_COUNT_HW_INSTRUCTIONS, &instructions, &expected, why) != 0 ||
		count_loop(PERF_COUNT_HW_CPU_CYCLES, &cycles, &expected, why) != 0)
		return -1;
	return selftest_judge(instructions, cycles, expected, why);
}

int selftest_event(const struct perf_event_attr *attr)
{
	struct tally t;

	if (tally(attr, run_provoke, NULL, &t) != 0)
		return -1;
	return t.value > 0;
}
