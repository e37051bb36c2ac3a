/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Monitor: watches where time goes on a machine, all the time, and writes it into a store
 * (store.h), by image and day.
 *
 * Samples are added up in memory and written at intervals and at the end. What the Monitor itself
 * costs is measured: its own processor time, and that of its samples by their number and the cost
 * of one. If it is more than the budget allows, samples become fewer.
 *
 * While it runs it holds a lock on the store's file `.monitor`; `monitor.status` says what it does.
 */
#ifndef MONITOR_MONITOR_H
#define MONITOR_MONITOR_H

#include "monitor/monitor_clock.h"
#include "monitor/monitor_status.h"

struct monitor_request {
	const char *directory; /* the store; NULL: the usual one */
	double every;          /* seconds from one writing to the next */
	double seconds;        /* then it ends; 0: at SIGTERM, SIGINT or SIGHUP */
	double budget;         /* part of the machine's processor time, for all of it */
	bool branches;         /* two thirds of it are for branch records (monitor_follow.h) */
	const char *const *spared, *const *only; /* as in monitor_follow.h */
	const char *ssrun;                       /* the program that records branches */
	enum monitor_clock_kind clock;
	const char *listen; /* where to serve HTTP (monitor_http.h); NULL: nowhere */
	bool own; /* only processes of this user; else the system, and only those if it is forbidden
		   */
	void (*say)(void *context, const char *line); /* a message to the user; may be NULL */
	void *context;
};

/* Until the end: 0. -1 with *e set: it could not begin (ERR_BUSY: another one writes to this
 * store), or memory was out. SIGUSR1 writes at once. */
int monitor_run(const struct monitor_request *r, struct error *e);

#endif
