/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"
#include "process/executable.h"
#include "process/seize.h"
#include "sources/model_install.h"
#include "sources/perf_open.h"
#include "sources/source.h"

#ifdef __x86_64__
#define FOLLOWS_BRANCHES true
#else
#define FOLLOWS_BRANCHES false
#endif

/* ---- one after the other; each fills what is zeroed but for `what` and `used` ---- */

static void doctor_refused(
	struct doctor_finding *f, enum doctor_state state, const struct error *why)
{
	f->state = state;
	snprintf(f->detail, sizeof(f->detail), "%s", why->message);
	snprintf(f->remedy, sizeof(f->remedy), "%s", why->hint);
}

static void doctor_says(
	struct doctor_finding *f, enum doctor_state state, const char *detail, const char *remedy)
{
	f->state = state;
	snprintf(f->detail, sizeof(f->detail), "%s", detail);
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
}

static void examine_counters(struct doctor_finding *f)
{
	struct source_options options = {.user = true};
	struct error why = {0};

	if (source_pmu.probe(&options, &why))
		doctor_refused(f, DOCTOR_NOT, &why);
	else
		doctor_says(f, DOCTOR_WORKS, "they count a loop of known counts exactly", "");
}

/* The kernel's clock, as ssrun -fpcsamp opens it. */
static int try_clock(bool kernel, int cpu, pid_t pid)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = 1000003,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = !kernel,
		.exclude_hv = 1};
	int fd = perf_open(&attr, pid, cpu, -1);

	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int seized(void *context, pid_t tid, struct error *e)
{
	(void)context, (void)tid, (void)e;
	return 0;
}

static int try_ptrace(const char *purpose, struct error *why)
{
	const struct seizer seizer = {
		.options = PTRACE_O_EXITKILL, .purpose = purpose, .begins = seized};
	pid_t child = fork();
	int rc;

	if (child == 0) {
		pause();
		_exit(0);
	}
	if (child < 0)
		return error_sys(why, errno, "fork");
	rc = seize_thread(&seizer, child, why);
	kill(child, SIGKILL);
	proc_wait(child, NULL, 0);
	return rc;
}

/* Where the kernel forbids its clock, threads are stopped for samples. */
static void examine_sampling(struct doctor_finding *f)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE};
	struct error why = {0}, none;

	if (try_clock(true, -1, 0) == 0) {
		doctor_says(f, DOCTOR_WORKS, "with the kernel", "");
		return;
	}
	perf_explain(errno, &attr, 0, NULL, &why);
	doctor_refused(f, DOCTOR_PART, &why);
	attr.exclude_kernel = 1;
	if (try_clock(false, -1, 0) == 0)
		return;
	perf_explain(errno, &attr, 0, NULL, &why);
	doctor_refused(f, DOCTOR_NOT, &why);
	if (!FOLLOWS_BRANCHES || try_ptrace("samples", &none))
		return;
	f->state = DOCTOR_PART;
	snprintf(f->detail, sizeof(f->detail), "threads are stopped for samples, as %.400s",
		why.message);
}

static void examine_system(struct doctor_finding *f)
{
	if (try_clock(true, 0, -1) == 0)
		doctor_says(f, DOCTOR_WORKS, "", "");
	else
		doctor_says(f, DOCTOR_NOT, "the kernel does not allow it",
			"as root: sysctl kernel.perf_event_paranoid=0, or setcap cap_perfmon+ep "
			"ssrun");
}

static void examine_paranoid(struct doctor_finding *f)
{
	char text[32];
	bool known = file_line("/proc/sys/kernel/perf_event_paranoid", text, sizeof(text));
	int level = known ? atoi(text) : 0;

	if (!known) {
		doctor_says(f, DOCTOR_NOT, "there is none: this kernel has no perf_event_open",
			"use a kernel with CONFIG_PERF_EVENTS");
		return;
	}
	snprintf(f->detail, sizeof(f->detail), "%d: ordinary users see %s", level,
		level < 0    ? "everything"
		: level == 0 ? "everything but raw tracepoints"
		: level == 1 ? "their own processes, with the kernel"
		: level == 2 ? "their own processes, without the kernel"
			     : "nothing");
	if (try_clock(true, 0, -1) == 0) /* privileged, or the most permissive level */
		snprintf(f->detail + strlen(f->detail), sizeof(f->detail) - strlen(f->detail),
			"; this user sees everything");
	else
		f->state = level > 2 ? DOCTOR_NOT : level > 1 ? DOCTOR_PART : DOCTOR_WORKS;
	if (f->state != DOCTOR_WORKS)
		snprintf(f->remedy, sizeof(f->remedy),
			"as root: sysctl kernel.perf_event_paranoid=1, or run as root");
}

static void examine_ptrace(struct doctor_finding *f)
{
	struct error why = {0};

	if (try_ptrace("branch records", &why))
		doctor_refused(f, DOCTOR_NOT, &why);
	else if (!FOLLOWS_BRANCHES)
		doctor_says(f, DOCTOR_PART,
			"ptrace works, but branches are followed on x86-64 only", "");
	else
		doctor_says(f, DOCTOR_WORKS, "", "");
}

static void examine_attach(struct doctor_finding *f)
{
	char text[32];
	int scope = file_line("/proc/sys/kernel/yama/ptrace_scope", text, sizeof(text)) ? atoi(text)
											: 0;

	if (scope == 0 || geteuid() == 0)
		doctor_says(f, scope > 2 ? DOCTOR_NOT : DOCTOR_WORKS, "", "");
	else
		doctor_says(f, DOCTOR_PART,
			"-branches cannot follow a process that runs already: "
			"kernel.yama.ptrace_scope forbids it",
			"as root: sysctl kernel.yama.ptrace_scope=0, or run as root");
	if (f->state == DOCTOR_NOT)
		doctor_says(f, DOCTOR_NOT,
			"kernel.yama.ptrace_scope is 3: no process may attach, until the next boot",
			"boot with another value");
}

static void examine_symbols(struct doctor_finding *f)
{
	char *text = file_read("/proc/kallsyms", 0, NULL, NULL);
	bool hidden = text && strspn(text, "0") >= 8;

	if (!text || !*text)
		doctor_says(f, DOCTOR_NOT, "/proc/kallsyms is missing or empty",
			"use a kernel with CONFIG_KALLSYMS");
	else if (hidden)
		doctor_says(f, DOCTOR_NOT, "the kernel hides its addresses",
			"as root: sysctl kernel.kptr_restrict=0, or run as root");
	else
		doctor_says(f, DOCTOR_WORKS, "", "");
	free(text);
}

static void examine_tracefs(struct doctor_finding *f)
{
	static const char *const places[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};

	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if (access(places[i], R_OK | X_OK) == 0) {
			snprintf(f->detail, sizeof(f->detail), "in %s", places[i]);
			return;
		}
	doctor_says(f, DOCTOR_NOT, "tracefs is not mounted, or not to be read",
		"as root: mount -t tracefs nodev /sys/kernel/tracing");
}

static void examine_model(struct doctor_finding *f)
{
	struct model_install install;
	struct error why = {0};

	if (model_install_find(&install, &why))
		doctor_refused(f, DOCTOR_NOT, &why);
	else
		doctor_says(f, DOCTOR_WORKS, "its tool fits the installed Valgrind", "");
	model_install_fini(&install);
}

static void examine_room(struct doctor_finding *f)
{
	enum { LEAST = 64 }; /* megabytes; a run on the model takes a few for each process */
	const char *directory = getenv("TMPDIR");
	struct statvfs fs;
	double megabytes;

	directory = directory && *directory ? directory : "/dev/shm";
	if (statvfs(directory, &fs) || access(directory, W_OK | X_OK)) {
		snprintf(f->detail, sizeof(f->detail), "%s cannot be written", directory);
		f->state = DOCTOR_PART;
		snprintf(f->remedy, sizeof(f->remedy),
			"set TMPDIR to a directory that can be written");
		return;
	}
	megabytes = (double)fs.f_bavail * (double)fs.f_frsize / 1e6;
	f->state = megabytes < LEAST ? DOCTOR_PART : DOCTOR_WORKS;
	snprintf(f->detail, sizeof(f->detail), "%.0f MB free in %s", megabytes, directory);
	if (megabytes < LEAST)
		snprintf(f->remedy, sizeof(f->remedy), "set TMPDIR to a directory with more room");
}

static void examine_host(struct doctor_finding *f)
{
	struct machine machine;
	struct error why = {0};

	if (machine_find("host", &machine, &why)) {
		doctor_refused(f, DOCTOR_PART, &why);
		return;
	}
	snprintf(f->detail, sizeof(f->detail), "%s, %.2f GHz %s, core %s, costs of %s",
		machine.description, (double)machine.model.clock_hz / 1e9,
		machine_clock_word(machine.clock_from), machine.core, machine.costs);
	if (machine_unmeasured("host")) {
		f->state = DOCTOR_PART;
		snprintf(f->remedy, sizeof(f->remedy),
			"its constants are not measured yet: the first run on the model does so");
	}
}

static void examine_tool(struct doctor_finding *f, const char *tool, const char *package)
{
	char path[512];

	if (executable_find(tool, path, sizeof(path), &(struct error){0}) == 0) {
		doctor_says(f, DOCTOR_WORKS, path, "");
		return;
	}
	f->state = DOCTOR_NOT;
	snprintf(f->detail, sizeof(f->detail), "%s is not installed", tool);
	snprintf(f->remedy, sizeof(f->remedy), "install %s", package);
}

static void examine_gnuplot(struct doctor_finding *f)
{
	examine_tool(f, "gnuplot", "gnuplot-nox");
}

static void examine_as(struct doctor_finding *f)
{
	examine_tool(f, "as", "binutils");
}

static void examine_dot(struct doctor_finding *f)
{
	examine_tool(f, "dot", "graphviz");
}

/* ---- all ---- */

const char *doctor_state_word(enum doctor_state state)
{
	static const char *const words[] = {
		[DOCTOR_WORKS] = "works", [DOCTOR_PART] = "in part", [DOCTOR_NOT] = "no"};

	return words[state];
}

int doctor_examine(doctor_findings *list, struct error *e)
{
	static const struct {
		const char *what, *used;
		void (*examine)(struct doctor_finding *f);
	} examined[] = {
		{"this processor", "-machine host, prof -calc", examine_host},
		{"hardware counters", "perfex -e, ssrun -X_hwc", examine_counters},
		{"the model", "perfex and ssrun -source model", examine_model},
		{"room for the model", "its counts", examine_room},
		{"sampling by time", "ssrun -fpcsamp, -usertime", examine_sampling},
		{"perf_event_paranoid", "counters and samples", examine_paranoid},
		{"the whole system", "ssrun -a", examine_system},
		{"branch records", "ssrun -branches, -explain", examine_ptrace},
		{"running processes", "-pid", examine_attach},
		{"names of the kernel", "prof", examine_symbols},
		{"tracepoints (tracefs)", "no report so far", examine_tracefs},
		{"pictures (gnuplot)", "perfex -plot, prof -plot", examine_gnuplot},
		{"assembler (as)", "prof block -asm", examine_as},
		{"graphs (dot)", "prof -cfg -dot", examine_dot},
	};

	for (size_t i = 0; i < sizeof(examined) / sizeof(examined[0]); i++) {
		struct doctor_finding *f = vec_push(list);

		if (!f)
			return error_nomem(e);
		f->what = examined[i].what;
		f->used = examined[i].used;
		examined[i].examine(f);
	}
	return 0;
}
