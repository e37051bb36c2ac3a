/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Grouping, identities, the self-test's judgement and the meaning of errnos: what needs no
 * counters. */
#include "../tap.h"

#include <errno.h>
#include <stdlib.h>

#include "sources/grouping.h"
#include "sources/identities.h"
#include "sources/perf_open.h"
#include "sources/selftest.h"

/* ---- grouping -------------------------------------------------------------------------------- */

/* A processor with so many counters, on the first of which alone events of a multiple of 10 fit,
 * and on none event 13. */
struct processor {
	size_t counters;
	size_t calls;
};

static bool fits(void *context, const size_t *members, size_t count)
{
	struct processor *p = context;
	size_t first = 0;

	p->calls++;
	for (size_t i = 0; i < count; i++) {
		if (members[i] == 13)
			return false;
		first += members[i] % 10 == 0;
	}
	return count <= p->counters && first <= 1;
}

static void test_grouping(void)
{
	struct processor p = {.counters = 6};
	struct error e;
	size_t group_of[24], sizes[24] = {0}, groups;

	is_int(grouping_make(0, fits, &p, group_of, &e), 0, "no events, no groups");
	is_int(grouping_make(6, fits, &p, group_of, &e), 1,
		"six events on six counters are one group");
	groups = grouping_make(24, fits, &p, group_of, &e);
	is_int(groups, 4, "23 events on six counters are four");
	ok(group_of[13] == GROUP_NONE, "one that fits nowhere is in none");
	ok(group_of[0] != group_of[10] && group_of[10] != group_of[20] &&
			group_of[0] != group_of[20],
		"three that want the same counter are apart");
	for (size_t i = 0; i < 24; i++)
		if (group_of[i] != GROUP_NONE)
			sizes[group_of[i]]++;
	ok(sizes[0] == 6 && sizes[0] + sizes[1] + sizes[2] + sizes[3] == 23 && sizes[3] > 0,
		"all others are in one each: %zu %zu %zu %zu", sizes[0], sizes[1], sizes[2],
		sizes[3]);
	ok(p.calls <= 24 * 5 + 10, "tried %zu times", p.calls);
	p.counters = 0;
	is_int(grouping_make(3, fits, &p, group_of, &e), 0, "no counters, no groups");
}

/* ---- identities ------------------------------------------------------------------------------ */

static struct event table[2];
static struct event_spec specs[2] = {
	{.origin = EVENT_ORIGIN_TABLE, .event = &table[0]},
	{.origin = EVENT_ORIGIN_TABLE, .event = &table[1]},
};

static void clamp(struct count counts[2], struct quantity small, struct quantity large)
{
	memset(counts, 0, 2 * sizeof(*counts));
	counts[0].quantity = small;
	counts[1].quantity = large;
	identities_clamp(specs, counts, 2);
}

static bool in_order(const struct quantity *q)
{
	return 0 <= q->low && q->low <= q->value && q->value <= q->high;
}

static void test_identities(void)
{
	struct quantity exact = quantity_exact(100, LABEL_MEASURED);
	struct count c[2];

	table[0].number = EV_MISPREDICTED_BRANCHES;
	table[1].number = EV_BRANCHES;
	clamp(c, (struct quantity){110, 80, 140, LABEL_SCALED}, exact);
	ok(c[0].clamped && c[0].quantity.value == 100 && c[0].quantity.high == 100 &&
			in_order(&c[0].quantity),
		"more mispredictions than branches, by chance: as many");
	ok(!c[1].clamped && c[1].quantity.value == 100, "what was measured stays");
	clamp(c, exact, (struct quantity){90, 70, 110, LABEL_SCALED});
	ok(c[1].clamped && c[1].quantity.value == 100 && in_order(&c[1].quantity),
		"and moves what was scaled");
	clamp(c, (struct quantity){110, 105, 140, LABEL_SCALED}, exact);
	ok(!c[0].clamped && c[0].quantity.value == 110, "beyond chance: left to be seen");
	clamp(c, (struct quantity){110, 95, 140, LABEL_SCALED},
		(struct quantity){90, 70, 100, LABEL_SCALED});
	ok(c[0].quantity.value >= 0 && in_order(&c[0].quantity) && in_order(&c[1].quantity) &&
			c[1].clamped && c[1].quantity.value == 100,
		"both scaled, and the smaller has more: they meet as far as they can");
	clamp(c, (struct quantity){50, 40, 60, LABEL_SCALED}, exact);
	ok(!c[0].clamped && !c[1].clamped, "what is in order is not touched");
	clamp(c, (struct quantity){110, 80, 140, LABEL_SCALED}, quantity_exact(0, LABEL_NONE));
	ok(!c[0].clamped, "no count, no bound");
	table[1].number = EV_PAGE_FAULTS;
	clamp(c, (struct quantity){110, 80, 140, LABEL_SCALED}, exact);
	ok(!c[0].clamped, "unrelated events do not bound each other");
}

/* ---- the self-test --------------------------------------------------------------------------- */

static void test_selftest(void)
{
	struct error e = {0};

	is_int(selftest_judge(1000400, 500000, 1e6, &e), 0, "right within 1%%");
	is_int(selftest_judge(1e6, 1, 0, &e), 0,
		"where the loop's length is not known, anything but nothing");
	is_int(selftest_judge(2.6e3, 500000, 1e6, &e), -1, "far too few: %s", e.message);
	ok(strstr(e.message, "2600") && strstr(e.message, "1000000") && e.hint[0],
		"with both numbers");
	is_int(selftest_judge(1020000, 500000, 1e6, &e), -1, "2%% too many: %s", e.message);
	is_int(selftest_judge(0, 500000, 0, &e), -1, "none: %s", e.message);
	is_int(selftest_judge(1e6, 0, 1e6, &e), -1, "no cycles: %s", e.message);
	provoke();
	provoke();
	ok(true, "provoking twice");
}

/* ---- errnos ---------------------------------------------------------------------------------- */

static const struct {
	const char *what;
	int errnum;
	struct perf_circumstances c;
	bool kernel; /* the kernel level is asked for */
	pid_t pid;
	enum error_code code;
	const char *message, *hint; /* parts of them */
} rows[] = {
	{"no PMU", ENOENT, {.paranoid_known = true}, false, 0, ERR_UNSUPPORTED,
		"no PMU in this virtual machine", "bare metal"},
	{"no PMU, other word", EOPNOTSUPP, {.paranoid_known = true}, false, 0, ERR_UNSUPPORTED,
		"no PMU in this virtual machine", "virtual PMU"},
	{"PMU without that event", ENOENT, {.has_pmu = true}, false, 0, ERR_UNSUPPORTED,
		"does not know the event", "-list"},
	{"paranoid 3", EACCES, {.has_pmu = true, .paranoid = 3, .paranoid_known = true}, false, 0,
		ERR_PERMISSION, "perf_event_paranoid is 3", "kernel.perf_event_paranoid=2"},
	{"paranoid 2, kernel level", EACCES,
		{.has_pmu = true, .paranoid = 2, .paranoid_known = true}, true, 0, ERR_PERMISSION,
		"kernel-level", "kernel.perf_event_paranoid=1"},
	{"paranoid 4, EPERM", EPERM,
		{.has_pmu = true, .paranoid = 4, .paranoid_known = true, .seccomp = true}, false, 0,
		ERR_PERMISSION, "perf_event_paranoid is 4", "CAP_PERFMON"},
	{"seccomp", EPERM,
		{.has_pmu = true, .paranoid = 2, .paranoid_known = true, .seccomp = true}, false, 0,
		ERR_PERMISSION, "seccomp", "--cap-add PERFMON"},
	{"seccomp, of another process", EPERM,
		{.paranoid = 2, .paranoid_known = true, .seccomp = true, .forbidden = true}, false,
		77, ERR_PERMISSION, "seccomp", "--cap-add PERFMON"},
	{"seccomp for root", EPERM,
		{.has_pmu = true,
			.paranoid = 4,
			.paranoid_known = true,
			.seccomp = true,
			.privileged = true},
		false, 0, ERR_PERMISSION, "seccomp", "--cap-add PERFMON"},
	{"forbidden, who knows why", EPERM,
		{.has_pmu = true, .paranoid = 1, .paranoid_known = true}, false, 0, ERR_PERMISSION,
		"forbidden here", "security module"},
	{"somebody else's process", EACCES,
		{.has_pmu = true, .paranoid = 2, .paranoid_known = true}, false, 4711,
		ERR_PERMISSION, "process 4711", "owner"},
	{"hidden by seccomp", ENOSYS, {.seccomp = true}, false, 0, ERR_UNSUPPORTED, "seccomp",
		"--cap-add PERFMON"},
	{"not in the kernel", ENOSYS, {.seccomp = false}, false, 0, ERR_UNSUPPORTED,
		"perf_event_open is not available", "container"},
	{"taken", EBUSY, {.has_pmu = true}, false, 0, ERR_BUSY, "taken", "profiler"},
	{"taken by the watchdog", EBUSY, {.has_pmu = true, .nmi_watchdog = true}, false, 0,
		ERR_BUSY, "taken", "kernel.nmi_watchdog=0"},
	{"descriptors", EMFILE, {.has_pmu = true}, false, 0, ERR_SYSTEM, "too many open files",
		"ulimit"},
	{"system's files", ENFILE, {.has_pmu = true}, false, 0, ERR_SYSTEM, "too many open files",
		"fs.file-max"},
	{"encoding", EINVAL, {.has_pmu = true}, false, 0, ERR_UNSUPPORTED, "encoding",
		"another processor"},
	{"process gone", ESRCH, {.has_pmu = true}, false, 4711, ERR_NOT_FOUND,
		"process 4711 does not exist", ""},
	{"anything else", EIO, {.has_pmu = true}, false, 0, ERR_SYSTEM, "perf_event_open", ""},
};

static void test_errnos(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct perf_event_attr attr = {
			.type = PERF_TYPE_HARDWARE, .exclude_kernel = !rows[i].kernel};
		struct error e = {0};

		is_int(perf_explain(rows[i].errnum, &attr, rows[i].pid, &rows[i].c, &e), -1, "%s",
			rows[i].what);
		ok(e.code == rows[i].code && e.errnum == rows[i].errnum &&
				strstr(e.message, rows[i].message) &&
				strcasestr(e.hint, rows[i].hint),
			"%s: %s (%s)", rows[i].what, e.message, e.hint);
	}
	perf_explain(EPERM, &(struct perf_event_attr){.type = PERF_TYPE_HARDWARE}, 0, NULL, NULL);
	ok(true, "nobody need listen");
}

int main(void)
{
	test_grouping();
	test_identities();
	test_selftest();
	test_errnos();
	return done();
}
