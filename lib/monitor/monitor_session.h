/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One session of monitor_follow.h: a thread that looks at an image, runs `ssrun -branches` on a
 * process, and stores what that recorded. Only its owner begins and ends it.
 */
#ifndef MONITOR_MONITOR_SESSION_H
#define MONITOR_MONITOR_SESSION_H

#include <pthread.h>

#include "store/store.h"

enum session_outcome {
	SESSION_HELD,   /* records are stored */
	SESSION_FAILED, /* why */
	SESSION_UNFIT,  /* no optimiser could use them: why */
	SESSION_KNOWN,  /* there are enough already */
};

struct monitor_session {
	const struct store *store; /* borrowed, as the next two */
	const char *ssrun;
	const char *readable;          /* a path by which the image can be read */
	struct experiment_image image; /* borrowed, with its path */
	pid_t pid;
	uint64_t began;     /* proc_began: by then pid had been found fit */
	bool examine;       /* nothing is known of the image yet */
	double sample_cost; /* ns */

	/* once it has ended */
	enum session_outcome outcome;
	struct store_sums known; /* that were stored before, if examine */
	uint64_t bursts, branches;
	double spent; /* ns of processor time, of the program as well */
	double own;   /* of that, the thread's */
	char why[256];

	pthread_t thread;
	pthread_mutex_t lock; /* of child */
	pid_t child;          /* 0: none runs */
	bool stop, ended;     /* atomic */
};

/* -1: there is no thread. monitor_session_join afterwards. */
int monitor_session_begin(struct monitor_session *s);
bool monitor_session_ended(const struct monitor_session *s);
/* Waits for its end; with stop, that is soon. */
void monitor_session_join(struct monitor_session *s, bool stop);

/* Are there enough records of an image? */
bool monitor_session_enough(uint64_t bursts, uint64_t branches, uint64_t sessions);

#endif
