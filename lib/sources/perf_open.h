/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf_event_open, and explanations of its errors.
 *
 * The same errno has many causes (EPERM: perf_event_paranoid, a container's seccomp filter, another
 * user's process), and each has its own remedy, so the explanation uses the machine's state as
 * well.
 */
#ifndef SOURCES_PERF_OPEN_H
#define SOURCES_PERF_OPEN_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* The descriptor (close-on-exec), or -1 with errno.  Sets attr->size.  When descriptors run out it
 * raises the soft limit to the hard one, once. */
int perf_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group);

/* The input of perf_explain, so that tests can use any machine. */
struct perf_circumstances {
	bool has_pmu; /* the kernel has a driver for this processor's counters */
	int paranoid; /* kernel.perf_event_paranoid; -1 is the most permissive */
	bool paranoid_known;
	bool privileged;   /* CAP_PERFMON or CAP_SYS_ADMIN is effective */
	bool seccomp;      /* a filter is on us */
	bool forbidden;    /* perf_event_open is, even of our own time in user mode */
	bool nmi_watchdog; /* it takes a counter on each processor */
};

/*
 * Fills e for errnum, the errno of perf_open on attr; pid is 0 for ourselves.  ERR_UNSUPPORTED,
 * ERR_PERMISSION or ERR_BUSY, with the remedy as hint; e->errnum keeps errnum.  Returns -1.  c may
 * be NULL: of this machine.
 */
int perf_explain(int errnum, const struct perf_event_attr *attr, pid_t pid,
	const struct perf_circumstances *c, struct error *e);

#endif
