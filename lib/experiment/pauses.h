/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pauses: intervals in which a thread was not on a processor, and the obstacles that it waited for.
 * They are measured one by one, not sampled, unless they are very frequent. Times of the run are
 * not kept.
 *
 * An obstacle is the kind of thing, the system call, and the thing itself as far as it is known: a
 * file's path, a connection, the address of a futex, a child.
 */
#ifndef EXPERIMENT_PAUSES_H
#define EXPERIMENT_PAUSES_H

#include "experiment/experiment.h"

/* Numbers are those of the file. */
enum experiment_pause_reason {
	PAUSE_UNKNOWN,
	PAUSE_PROCESSOR, /* it could run: others were on the processors */
	PAUSE_SLEEP,
	PAUSE_FUTEX, /* a lock, a condition, the end of a thread */
	PAUSE_PIPE,
	PAUSE_SOCKET,
	PAUSE_FILE,
	PAUSE_TERMINAL,
	PAUSE_EVENT, /* eventfd, timerfd, inotify ... */
	PAUSE_POLL,  /* several descriptors at once */
	PAUSE_CHILD,
	PAUSE_SIGNAL,
	PAUSE_IPC, /* System V's and POSIX's message queues and semaphores */
	PAUSE_FAULT,
	PAUSE_STOPPED, /* by a signal or a debugger */
	PAUSE_CALL,    /* another system call */
	PAUSE_KERNEL,  /* a thread of the kernel */
	PAUSE_REASONS
};

/* "unknown", "processor", "sleep" ... */
extern const char *const experiment_pause_words[PAUSE_REASONS];

/* table entry ("key" first, see base/table.h); number 0 exists always and has no texts */
struct experiment_obstacle {
	struct {
		uint64_t address; /* of a futex; number of a child or of a thread that is to end;
				     else 0 */
		uint64_t hash;    /* of call and name as they were first known */
		uint32_t image;   /* that address is in; 0: an address of memory, or none */
		uint32_t reason;
	} key;
	char *call; /* "read"; "": none, or not known */
	char *name; /* "/etc/passwd"; "": not known */
};

/* What ended a pause. */
enum experiment_wake {
	WAKE_UNSEEN,
	WAKE_THREAD,
	WAKE_INTERRUPT, /* a timer, a device */
	WAKE_KINDS
};

extern const char *const experiment_wake_words[WAKE_KINDS];

/* The fact that says whether it was seen. */
#define PAUSE_WAKES_FACT "wakes"
/* It begins so where they were recorded in a part of the run only, and says in which. What of waits
 * is a wait for a processor, and what ended them, is estimated there by that part. */
#define PAUSE_SAMPLED "recorded in "
/* Likewise of pauses: those of other parts are divided as those of this one. Their sums by thread
 * are the kernel's. */
#define PAUSE_WAITS_FACT "waits"

struct experiment_pause { /* likewise */
	struct {
		uint32_t obstacle, thread, phase, node; /* node: where it began */
		uint32_t wake;                          /* enum experiment_wake */
		uint32_t waker, waker_node;             /* the thread, and where it did so */
		uint32_t reserved;
	} key;
	uint64_t count;   /* pauses that ended there, or had not ended at the end of the run */
	uint64_t time;    /* ns; not 0 */
	uint64_t longest; /* ns, of one pause */
};

static inline const struct experiment_obstacle *experiment_obstacle_at(
	const struct experiment *x, size_t i)
{
	return (const struct experiment_obstacle *)(const void *)x->obstacles.entries + i;
}

static inline const struct experiment_pause *experiment_pause_at(
	const struct experiment *x, size_t i)
{
	return (const struct experiment_pause *)(const void *)x->pauses.entries + i;
}

/* The obstacle's row, of UNKNOWN number 0; -1 when memory is out. The texts are copied. */
long experiment_obstacle(struct experiment *x, enum experiment_pause_reason reason,
	const char *call, const char *name, uint32_t image, uint64_t address);

#endif
