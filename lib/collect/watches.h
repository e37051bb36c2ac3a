/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Watched addresses (ssrun -values=watch): when a thread is visited, one store and one load of
 * those that it is about to execute are chosen, and two debug registers are set for each (the
 * kernel's breakpoint events: they send no signal, and they go when we do). What they saw is read
 * at later visits.
 *
 * A thread's registers are taken for long if an address is not accessed again. So the chance that a
 * watched address gives way to a new one is 1/k at the k-th visit since: each access had the same
 * chance to be watched until then.
 */
#ifndef COLLECT_WATCHES_H
#define COLLECT_WATCHES_H

#include "base/error.h"
#include "branches/branches.h"
#include "experiment/values.h"
#include "values/value_watch.h"

#define WATCHES 32 /* at a time, of all threads */

struct watch {
	pid_t pid, tid;  /* 0: unused */
	int any, writes; /* descriptors: of all accesses, of writes */
	void *ring;
	uint64_t writes_id;
	unsigned visits; /* since it was set */
	struct value_touch touch;
};

struct watches {
	bool wanted;
	bool kernel; /* its accesses are seen */
	double ns_of_hit;
	uint64_t chance;
	struct watch list[WATCHES];
	uint64_t told[VALUE_TALLIES]; /* increases of tallies, not yet taken */
};

/* Tries debug registers, on ourselves. -1: there are none to be had. */
int watches_begin(struct watches *w, struct error *e);
/* At a visit, with its window: appends what became of earlier accesses of the process to the
 * window's `seen`, and watches others. Returns ns of CPU time that watching has cost the program.
 */
uint64_t watches_visit(
	struct watches *w, const struct branches_visit *visit, struct value_window *window);
/* A process has another address space. */
void watches_renew(struct watches *w, pid_t pid);
void watches_fini(struct watches *w);

#endif
