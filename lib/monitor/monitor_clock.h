/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the Monitor samples by, and what a sample costs here.
 *
 *   tick       the tracepoint of the local timer's interrupt (x86-64), which comes anyway: a record
 *              more in it costs a few hundred cycles. It needs tracefs for its number, and
 *              CAP_PERFMON
 *   cpu-clock  a timer of its own for each processor: an interrupt more for each sample, in virtual
 *              machines with exits of the guest. The rate is what the budget allows
 *
 * The cost is measured: a loop that reads the clock sees interrupts as gaps, with the event and
 * without it.
 */
#ifndef MONITOR_MONITOR_CLOCK_H
#define MONITOR_MONITOR_CLOCK_H

#include <linux/perf_event.h>

#include "base/error.h"
#include "monitor/monitor_watch.h"

enum monitor_clock_kind { MONITOR_CLOCK_AUTO, MONITOR_CLOCK_TICK, MONITOR_CLOCK_CPU };
extern const char *const monitor_clock_names[]; /* "auto", "tick", "cpu"; NULL-terminated */

#define MONITOR_TICK "irq_vectors/local_timer_entry"

struct monitor_clock {
	enum monitor_clock_kind kind; /* not AUTO */
	struct watch_clock watch;
	unsigned every;  /* tick: one of this number is recorded */
	uint64_t paced;  /* ns: the shortest period that the budget allows */
	bool unlimited;  /* tick: the kernel allows no rate that is high enough */
	uint64_t config; /* the event's */
	bool user_only;  /* the kernel may not be sampled */
	double cost;     /* ns of a sample, measured */
	char lacks[256]; /* why it is not the tick; "": it is, or was not to be */
};

/* own: an event of our own processes, not of the system. budget: part of the machine's time, of
 * which half is for samples. -1 with *e set: this machine or our rights have no such event. */
int monitor_clock_choose(struct monitor_clock *c, enum monitor_clock_kind wanted, bool own,
	double budget, struct error *e);
/* Samples that cost less: by half at least. False: they cannot be fewer. */
bool monitor_clock_slower(struct monitor_clock *c);
/* One step back. False: they cannot be more. */
bool monitor_clock_faster(struct monitor_clock *c);
/* Samples as frequent as the budget allows. */
void monitor_clock_pace(struct monitor_clock *c, double budget);
/* Samples become fewer where it is they that cost too much, or where half of them is little enough;
 * more where twice as many leave some of the budget. share: of the machine's time, what all costs;
 * samples: what samples do. -1: fewer; 1: more; 0: as they are. */
int monitor_clock_wanted(double budget, double share, double samples);
/* In the kernel's form: with records of mappings and tasks. */
struct perf_event_attr monitor_clock_attr(const struct monitor_clock *c);

/* The number of a tracepoint, such as MONITOR_TICK; -1 with *e set: what is missing, and the
 * remedy. */
int monitor_tick_number(const char *event, uint64_t *number, struct error *e);
/* ns that a sample takes from the program; at least what the clock can resolve. -1 with errno
 * where the event cannot be opened. */
int monitor_cost(const struct monitor_clock *c, double *cost);

#endif
