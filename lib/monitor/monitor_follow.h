/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch records of what is hot. Now and then, `ssrun -branches` follows a process for half a
 * second, and what it records goes into the store. Such a session is held if
 *
 * - an image has more than a hundredth of the samples of the interval;
 * - an optimiser could use the records: the image has lines for a compiler, or relocations and
 *   symbols for BOLT;
 * - the store has fewer than FOLLOW_BURSTS bursts and FOLLOW_BRANCHES branches of this build, or
 *   all of them are of fewer than FOLLOW_SESSIONS sessions: one run's profile may be of one phase;
 * - it fits into what the Monitor may spend, by what sessions cost so far.
 *
 * Not followed are process 1, what a debugger follows already, what runs in real time, with changed
 * users or capabilities, and what the user names. A session is a process of its own, so that its
 * end never is the Monitor's; a thread waits for it and stores its records.
 */
#ifndef MONITOR_MONITOR_FOLLOW_H
#define MONITOR_MONITOR_FOLLOW_H

#include "monitor/monitor_status.h"
#include "monitor/monitor_watch.h"

#define FOLLOW_BURSTS   100
#define FOLLOW_BRANCHES 10000000
#define FOLLOW_SESSIONS 4

struct monitor_follow;

struct monitor_follow_request {
	const struct store *store; /* borrowed */
	const char *ssrun;         /* the program that records */
	/* Globs of paths or base names, NULL-terminated; NULL or empty: none. Of programs that are
	 * never followed; of images that may be (none: all). */
	const char *const *spared, *const *only;
};

/* NULL with *e set: ERR_UNSUPPORTED: branches cannot be recorded on this machine. */
struct monitor_follow *monitor_follow_new(const struct monitor_follow_request *r, struct error *e);
/*
 * To be called about once a second, between records: begins a session, or takes note of one that
 * has ended. earned: ns of processor time that all sessions since the first call may have cost; it
 * never decreases. 1: monitor_follow_settle has news. -1 when memory is out.
 */
int monitor_follow_round(
	struct monitor_follow *f, const struct watch *w, double earned, uint64_t now);
/* ms until the next round: shorter while a process of a short-lived program is awaited. */
int monitor_follow_wait(const struct monitor_follow *f, int usual);
/* ns of processor time of sessions that have ended, of those programs as well; *own: the part that
 * is of this process. */
double monitor_follow_spent(const struct monitor_follow *f, double *own);
void monitor_follow_settle(const struct monitor_follow *f, struct monitor_status *s);
/* Ends a session and stores what it has; NULL is allowed. */
void monitor_follow_end(struct monitor_follow *f);
void monitor_follow_free(struct monitor_follow *f);

/* May process pid be followed? Else why not, at most size bytes. */
bool monitor_follow_may(pid_t pid, const char *const *spared, char *why, size_t size);
/* Can an optimiser use records of the file at this path? Else why not. */
bool monitor_follow_fits(const char *path, char *why, size_t size);

#endif
