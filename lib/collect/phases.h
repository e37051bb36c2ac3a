/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Phases of a run: caliper points that the program passes (points.h), and those from outside,
 * sorted by time together with samples.
 */
#ifndef COLLECT_PHASES_H
#define COLLECT_PHASES_H

#include "collect/points.h"
#include "collect/spaces.h"

struct phase_point {
	uint64_t time;
	uint32_t kind;  /* enum point_kind */
	pid_t pid, tid; /* 0: from outside */
	char name[POINT_NAME];
};

struct phases {
	struct experiment *experiment;   /* borrowed */
	struct spaces *spaces;           /* borrowed */
	VEC(struct phase_point) pending; /* in order of time, from `next` on not yet passed */
	size_t next;
	uint32_t current; /* phase */
	bool suspended, ended;
	bool cut;   /* samples of some times are not counted */
	char *path; /* of the file of points; NULL: there is none */
	bool named; /* it is a file in a directory, which we remove */
	int fd;     /* of that file, which is locked while it has a reader; -1 */
	struct points *points;
	size_t size;
	uint64_t seen, lost; /* points */
	unsigned outside;    /* that came from outside */
	/* Called before a point changes anything; may be NULL. It does all that POINT_CLEAR asks.
	 */
	int (*changing)(void *context, const struct phase_point *point);
	void *context;
};

void phases_init(struct phases *p, struct experiment *x, struct spaces *spaces);
/* Makes the file of points. */
int phases_listen(struct phases *p, struct error *e);
/* Reads the points that programs have passed since. -1: memory is out. */
int phases_read(struct phases *p);
/* A point from outside; it gets a name. */
int phases_point(struct phases *p, uint64_t time);
/* Passes all points up to time. -1: memory is out. */
int phases_advance(struct phases *p, uint64_t time);
void phases_fini(struct phases *p);

#endif
