/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/perf_open.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/proc.h"

#define CAPABILITY_SYS_ADMIN 21
#define CAPABILITY_PERFMON   38

static int open_once(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	return (int)syscall(SYS_perf_event_open, attr, pid, cpu, group, PERF_FLAG_FD_CLOEXEC);
}

static bool raise_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= limit.rlim_max)
		return false;
	limit.rlim_cur = limit.rlim_max;
	return setrlimit(RLIMIT_NOFILE, &limit) == 0;
}

int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group)
{
	int fd;

	attr->size = sizeof(*attr);
	fd = open_once(attr, pid, cpu, group);
	if (fd < 0 && errno == EMFILE) {
		if (raise_limit())
			return open_once(attr, pid, cpu, group);
		errno = EMFILE;
	}
	return fd;
}

/* Drivers of a processor's own counters have a directory with "cpu" or "pmu" in its name: cpu,
 * cpu_core, armv8_pmuv3_0, armv8_cortex_a72 ... Those of devices besides the cores (uncore, imc,
 * iommu) are of no use here. */
static bool core_pmu_exists(void)
{
	DIR *d = opendir("/sys/bus/event_source/devices");
	const char *name;
	bool found = false;

	while (!found && (name = file_next(d, "")))
		found = strcmp(name, "cpu") == 0 || strncmp(name, "cpu_", 4) == 0 ||
			strncmp(name, "armv", 4) == 0;
	if (d)
		closedir(d);
	return found;
}

/* What any process may count, if it may call it. */
static bool is_forbidden(void)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	int fd = perf_open(&attr, 0, -1, -1);

	if (fd >= 0)
		close(fd);
	return fd < 0 && (errno == EPERM || errno == EACCES);
}

static void find_circumstances(struct perf_circumstances *c)
{
	char line[256];
	unsigned long long capabilities;

	memset(c, 0, sizeof(*c));
	c->has_pmu = core_pmu_exists();
	c->paranoid_known = file_line("/proc/sys/kernel/perf_event_paranoid", line, sizeof(line));
	c->paranoid = atoi(line);
	proc_status(getpid(), "CapEff", line, sizeof(line));
	capabilities = strtoull(line, NULL, 16);
	c->privileged = (capabilities >> CAPABILITY_PERFMON & 1) ||
			(capabilities >> CAPABILITY_SYS_ADMIN & 1);
	c->seccomp = proc_status_number(getpid(), "Seccomp", 0) != 0;
	c->forbidden = is_forbidden();
	c->nmi_watchdog =
		file_line("/proc/sys/kernel/nmi_watchdog", line, sizeof(line)) && line[0] == '1';
}

static int perf_open_refused(
	enum error_code code, int errnum, const char *message, const char *hint, struct error *e)
{
	error_set(e, code, "%s", message);
	if (e)
		e->errnum = errnum;
	return error_hint(e, "%s", hint);
}

/* EACCES, EPERM: which setting forbids it? */
static int explain_permission(int errnum, const struct perf_event_attr *attr, pid_t pid,
	const struct perf_circumstances *c, struct error *e)
{
	int need =
		attr->exclude_kernel ? 2 : 1; /* the largest perf_event_paranoid that allows it */
	char message[160], hint[256];

	if (!c->privileged && c->paranoid_known && c->paranoid > need) {
		snprintf(message, sizeof(message),
			"the kernel forbids %s counters to ordinary users: perf_event_paranoid is "
			"%d",
			attr->exclude_kernel ? "performance" : "kernel-level", c->paranoid);
		snprintf(hint, sizeof(hint),
			"as root: sysctl kernel.perf_event_paranoid=%d, or setcap cap_perfmon+ep "
			"this program",
			need);
		return perf_open_refused(ERR_PERMISSION, errnum, message, hint, e);
	}
	if (pid > 0 && !c->forbidden) {
		snprintf(message, sizeof(message), "the kernel forbids counting process %d",
			(int)pid);
		return perf_open_refused(ERR_PERMISSION, errnum, message,
			"it belongs to another user or changed its privileges: run this as its "
			"owner or as root",
			e);
	}
	if (c->seccomp)
		return perf_open_refused(ERR_PERMISSION, errnum,
			"this container's seccomp filter forbids perf_event_open",
			"start the container with --cap-add PERFMON, or with a seccomp profile "
			"that allows "
			"perf_event_open",
			e);
	return perf_open_refused(ERR_PERMISSION, errnum,
		"perf_event_open is forbidden here, though perf_event_paranoid would allow it",
		"a container's seccomp filter, a security module or kernel lockdown does that: "
		"--cap-add PERFMON, or "
		"a profile that allows perf_event_open",
		e);
}

static int explain_absence(int errnum, const struct perf_event_attr *attr,
	const struct perf_circumstances *c, struct error *e)
{
	if (attr->type == PERF_TYPE_SOFTWARE)
		return perf_open_refused(ERR_UNSUPPORTED, errnum,
			"this kernel does not count that software event", "", e);
	if (!c->has_pmu)
		return perf_open_refused(ERR_UNSUPPORTED, errnum, "no PMU in this virtual machine",
			"run on bare metal, or on a host that gives its guests a virtual PMU", e);
	return perf_open_refused(ERR_UNSUPPORTED, errnum,
		"this kernel's PMU driver does not know the event",
		"perfex -list shows what this machine can count", e);
}

int perf_explain(int errnum, const struct perf_event_attr *attr, pid_t pid,
	const struct perf_circumstances *c, struct error *e)
{
	struct perf_circumstances here;

	if (!c) {
		find_circumstances(&here);
		c = &here;
	}
	switch (errnum) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
	case EOPNOTSUPP:
		return explain_absence(errnum, attr, c, e);
	case EACCES:
	case EPERM:
		return explain_permission(errnum, attr, pid, c, e);
	case ENOSYS:
		return perf_open_refused(ERR_UNSUPPORTED, errnum,
			c->seccomp ? "this container's seccomp filter hides perf_event_open"
				   : "perf_event_open is not available: the kernel was built "
				     "without it, or a container's seccomp filter hides it",
			"start the container with --cap-add PERFMON, or with a seccomp profile "
			"that allows "
			"perf_event_open",
			e);
	case EBUSY:
		return perf_open_refused(ERR_BUSY, errnum, "the hardware counters are taken",
			c->nmi_watchdog ? "the NMI watchdog uses one (as root: sysctl "
					  "kernel.nmi_watchdog=0); another profiler may use more"
					: "another profiler uses them: stop it, or wait for it",
			e);
	case EMFILE:
	case ENFILE:
		return perf_open_refused(ERR_SYSTEM, errnum,
			"too many open files for that many counters",
			errnum == EMFILE
				? "raise the hard limit (ulimit -Hn), count fewer events, or leave "
				  "out -mp"
				: "the system's table of files is full (sysctl fs.file-max)",
			e);
	case EINVAL:
		return perf_open_refused(ERR_UNSUPPORTED, errnum,
			"the kernel rejects the event's encoding",
			"the code may be for another processor, or its levels (-x, -k) cannot be "
			"separated here",
			e);
	case E2BIG:
		return perf_open_refused(
			ERR_UNSUPPORTED, errnum, "this kernel is too old for the event", "", e);
	case ESRCH:
		error_set(e, ERR_NOT_FOUND, "process %d does not exist", (int)pid);
		if (e)
			e->errnum = errnum;
		return -1;
	default:
		return error_sys(e, errnum, "perf_event_open");
	}
}
