/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts per thread, without touching the program.
 *
 * The kernel's own way: an inherited event with inherit_stat writes a PERF_RECORD_READ when a
 * thread that inherited it ends, with all that the thread counted.  The threads that the events
 * were opened on leave no such record; theirs is what remains of the sum.
 *
 * Three things make that sound.  (Rings for each processor with several events, which is the
 * obvious way, were seen to lose records and to add one event's counts to another's.)
 *
 * - Rings.  The kernel maps no ring for an inherited event that follows a thread over all
 *   processors, but lets it write into one of another event of that thread
 *   (PERF_EVENT_IOC_SET_OUTPUT).  So each event gets a companion, a dummy that is not inherited,
 * for its ring.  The kernel's rings are made for one writer at a time, and threads end on all
 *   processors; but it writes a READ under the mutex of the parent event, so a ring with the READs
 * of one event and nothing else is safe.  Hence no ring is shared.
 * - News of threads (names, beginnings, ends) is written under no such mutex.  It comes through
 * dummy events bound to one processor each, whose rings only that processor writes.
 * - Order.  When the scheduler switches between two threads with the same inherited events it may
 *   swap their contexts, and then swaps the counts back, pairing the events by their place in a
 * list. That order is the same in all threads as long as the kernel does not rotate groups (and
 * with the first threads it never swaps, because of the companions, which are not inherited).  So
 * whoever uses this lets the kernel have no more groups enabled than fit the counters at once, and
 * switches between them himself.
 *
 * What is lost is noticed: every thread that ended must have left one READ
 * for each event.
 */
#ifndef SOURCES_THREADS_H
#define SOURCES_THREADS_H

#include "sources/bank.h"
#include "sources/source.h"

struct threads;

/* The bank has all its events, and outlives it.  NULL with *e set on failure. */
struct threads *threads_new(struct bank *b, struct error *e);
/* Takes what the kernel has written; to be called often enough that the rings do not overflow. */
int threads_drain(struct threads *t, struct error *e);
/*
 * Adds a row to r for every thread that ended, and for those that the events were opened on.  count
 * turns the row's values (one per event of the bank) into its counts.  ended: no more can come, so
 * what is missing is lost; the rows concerned then have no counts, and say so.
 */
int threads_report(struct threads *t, bool ended, struct reading *r,
	void (*count)(void *context, const struct bank_value *values, struct count *counts),
	void *context, struct error *e);
void threads_free(struct threads *t);

#endif
