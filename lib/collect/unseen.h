/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Waits that were not recorded one by one, in gaps between windows (wait_windows.h). The kernel
 * counts the time that each thread is on a processor, and how often it came to one: what these
 * leave of the time, and recorded waits do not explain, are unseen waits, exactly. They are divided
 * as the thread's latest recorded ones are. What a thread waits for of which none was recorded
 * lately is asked now and then, and takes the place of these.
 */
#ifndef COLLECT_UNSEEN_H
#define COLLECT_UNSEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "experiment/pauses.h"

#define UNSEEN_LATEST 32
#define UNSEEN_NO_ROW UINT32_MAX

/* What the kernel had counted of a thread at a time. */
struct unseen_counts {
	uint64_t time; /* 0: not counted */
	uint64_t used; /* ns on a processor */
	uint64_t turns;
};

/* A recorded pause, or a part of the unseen ones that is like it. */
struct unseen_pause {
	uint32_t row;      /* of the experiment's pauses; UNSEEN_NO_ROW: only what is waited for is
			      known */
	uint32_t obstacle; /* then */
	uint32_t node;     /* of its call path */
	bool missed;       /* what ended it was not recorded */
	uint64_t time, count, longest;
};

struct unseen_latest {
	struct unseen_pause pauses[UNSEEN_LATEST];
	size_t added;
};

/* What is usual in gaps. */
struct unseen_usual {
	double gaps, time, count; /* ns; ns off; pauses */
};

struct unseen { /* of a thread */
	struct unseen_counts then;
	uint64_t known, back; /* recorded since: ns off, and how often it came back */
	int64_t time, count;  /* not yet divided */
	struct unseen_usual usual;
	struct unseen_latest *latest; /* NULL: none was recorded */
	bool glanced;                 /* it has what the thread was seen to wait for */
	unsigned age;                 /* gaps since the last one */
};

/* Reads what the kernel has counted up to now. false: it says nothing. */
bool unseen_read(pid_t tid, struct unseen_counts *now);
/* The same of the text of /proc/TID/schedstat. */
bool unseen_parse(const char *text, struct unseen_counts *now);
/* A recorded wait; it came back: at `to`. */
void unseen_known(struct unseen *u, uint64_t from, uint64_t to);
void unseen_back(struct unseen *u, uint64_t time);
/* A recorded pause, to divide by. -1: memory is out. */
int unseen_remember(struct unseen *u, const struct unseen_pause *p);
/* Whether nothing is unseen since the last counts: all turns were recorded, and either the thread
 * waits since then, as is known (waits), or it was on its processor. */
bool unseen_is_none(const struct unseen *u, const struct unseen_counts *now, bool waits);
/* Then there is nothing to be added in these gaps. */
void unseen_none(struct unseen *u, const struct unseen_counts *now, uint64_t gaps);
/* What it waits for now, which takes the place of all that was remembered before it was stale. */
int unseen_glance(struct unseen *u, uint32_t obstacle, uint32_t node);
/* The rows of pauses are about to go: remembers what was waited for without them. What is not yet
 * divided is dropped. */
void unseen_detach(struct unseen *u, const struct experiment *x);
/* Whether none was recorded lately. */
bool unseen_is_stale(const struct unseen *u);
/* Adds what is unseen up to now, of which `gaps` ns are gaps. */
void unseen_add(
	struct unseen *u, struct unseen_usual *all, const struct unseen_counts *now, uint64_t gaps);
/* The same at a time when the kernel could not be asked: as usual in gaps of the thread, or of
 * all. */
void unseen_guess(struct unseen *u, const struct unseen_usual *all, uint64_t gaps);
/* Divides what was added into at most UNSEEN_LATEST parts; how many. */
size_t unseen_divide(struct unseen *u, struct unseen_pause *parts);
void unseen_fini(struct unseen *u);

#endif
