/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch records in software, where there is no hardware for them: a thread of ours follows the
 * threads of a program with ptrace, and at random moments of their CPU time
 *
 *   a burst has a thread run copies of its code that count every transfer of control (cache.h), or,
 *   where that cannot be, follows it from one to the next for some hundred;
 *   a window lets a breakpoint at one instruction count its executions for some milliseconds.
 *
 * Breakpoints (int3) stand on instructions that transfer control, nowhere else: whoever meets one
 * is stopped, we do what the instruction does (step.c) and let it go on behind it.  So a breakpoint
 * need not be taken out to pass it, and no other thread is stopped or can slip by.
 *
 * Between bursts some direct calls and jumps of a program of one thread lead over stubs of ours
 * that count (native.c): these stay what they are if we are killed.
 *
 * What the program notices: a few dozen microseconds at the birth of a thread, some at each signal;
 * a debugger in it cannot trace what we trace; a set-user-id program in it runs without its
 * privileges, unless we are root.  Breakpoints stand, and threads are in copies, only during bursts
 * and windows; but if we are killed (SIGKILL) then, the program dies of SIGTRAP when it gets to
 * one, or to where there is no copy.
 *
 * Only code of files that is mapped privately and not writable is followed: what a program makes
 * for itself is not.  Processes that block, catch or ignore SIGTRAP, have a shadow stack or run
 * 32-bit code are left alone.
 */
#ifndef BRANCHES_BRANCHES_H
#define BRANCHES_BRANCHES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"

/* Bursts a second of CPU time, unless that costs too much or another rate is asked for. */
#define BRANCHES_RATE 300

enum branch_record_kind {
	BRANCH_RUN,   /* instructions from begin to the transfer at end, which went to `to` */
	BRANCH_QUIET, /* a burst of process pid: from begin to end (times) samples are not its own
		       */
	BRANCH_SITE,  /* a number, id, for the instruction at begin */
	BRANCH_RATE,  /* of site id: hits in ns of CPU time in some windows; span: ns of CPU time in
			 which they could have been */
	BRANCH_WAY,   /* a number, id, for the run from begin to end that went to `to` */
	BRANCH_MET,   /* of run id: hits in all bursts; of those that are timed: how many met it
			 (windows), the sum of its rates and of their squares */
	BRANCH_TALLY, /* id: enum experiment_tally_kind, hits: how many more */
};

struct branch_record {
	enum branch_record_kind kind;
	pid_t pid;     /* whose addresses these are */
	uint64_t time; /* CLOCK_MONOTONIC, ns */
	uint64_t begin, end, to;
	uint32_t id, windows;
	uint64_t hits, ns, span;
	double rate, squares; /* executions a second of native CPU time */
};

struct branches_request {
	pid_t pid;    /* to be followed, with all that comes of it */
	bool running; /* it is not our own child, held at its gate */
	double rate;  /* bursts a second of CPU time, and windows; 0: the usual, or fewer if that
			 cost  too much */
	uint64_t seed;
	/* Called from the thread that traces: a burst begins (on) or ends.  May be NULL. */
	void (*quiet)(void *context, bool on);
	void *context;
};

struct branches;

/* Begins to follow; everything is done by a thread of its own.  The caller has SIGCHLD blocked in
 * all threads and waits for none of the processes that are followed.  NULL with *e: it is not
 * allowed, or this is no x86-64. */
struct branches *branches_new(const struct branches_request *r, struct error *e);
/* A descriptor that can be read when our own child has ended. */
int branches_descriptor(const struct branches *b);
/* Has our own child ended? */
bool branches_ended(struct branches *b, int *status, struct rusage *usage);
/* All records before this time are there to be taken. */
uint64_t branches_horizon(struct branches *b);
/* Hands on what there is in order of time.  *count records, borrowed until the next call. */
const struct branch_record *branches_take(struct branches *b, size_t *count);
/* What a user should know: processes that are not followed and why; NULL: nothing (more).  Borrowed
 * until the next call. */
const char *branches_notice(struct branches *b);
/* Ends what is going on and lets go of all; records can still be taken. */
void branches_stop(struct branches *b);
void branches_free(struct branches *b);

#endif
