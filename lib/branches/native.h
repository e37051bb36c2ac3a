/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of bursts and of the stretches between them (native.c). */
#ifndef BRANCHES_NATIVE_H
#define BRANCHES_NATIVE_H

#include "branches/anchors.h"

/* Executions per second of the program's time, of all anchors together that are always in place; a
 * count takes about a nanosecond. */
#define COUNTS_STEADY 8e6
#define COUNTS_LOCKED 2e6 /* a locked one takes some */
/* The most others, which are in place now and then. */
#define ANCHORS_SELDOM 12u

/* The time between two bursts. */
struct stretch {
	double ns;                         /* CPU time, without that of counting */
	uint64_t active[ANCHORS_MAX / 64]; /* anchors that were in place */
};

struct native_burst {
	size_t first;          /* of its entries; they end where the next burst's begin */
	double seconds;        /* native time of it, as far as known */
	struct stretch before; /* since the last burst */
};

/* What an anchor has counted since the log began: in stretches that are over, of which it was in
 * place. A stretch counts in the sums the more, the less likely it was to be one of these. */
struct native_count {
	double hits, ns;  /* executions; CPU time */
	double sum, time; /* the same, each divided by the anchor's duty then */
	double squares;   /* of hits, divided by time and duty */
	double weights;   /* squares of times, likewise */
	double now;       /* hits in the open stretch */
};

struct native_entry {
	uint32_t run, count;
};

/* Table entry: a run in bursts. */
struct native_run {
	struct {
		uint64_t begin, end, to;
	} key;
	uint32_t id;      /* of its records */
	unsigned checked; /* anchors, whether they count it; those that do: */
	VEC(uint8_t) anchors;
};

_Static_assert(ANCHORS_MAX <= UINT8_MAX, "their numbers fit");

struct native {
	VEC(struct native_burst) bursts;
	VEC(struct native_entry) entries;
	struct table runs;
	struct native_count counted[ANCHORS_MAX];
	struct stretch now; /* since the last burst */
	uint64_t began;     /* CPU time of the process */
	double pairs;       /* stretches in which an anchor has counted something */
	size_t next_choice; /* at this number of bursts */
	bool paused;        /* no stretch is open */
	bool in;            /* anchors have been in place since it was opened */
	bool fresh;         /* a burst was noted since anchors were chosen */
};

static inline bool stretch_has(const struct stretch *s, unsigned anchor)
{
	return s->active[anchor / 64] >> anchor % 64 & 1;
}

/* Executions per second, by bursts. */
static inline double anchor_rate(const struct anchor *a)
{
	return a->seconds > 0 ? a->counts / a->seconds : 0;
}

static inline double native_most(const struct cache *c)
{
	return c->locked ? COUNTS_LOCKED : COUNTS_STEADY;
}

/* The end of a burst's entries. */
static inline size_t native_last(const struct native *n, size_t burst)
{
	return burst + 1 < n->bursts.count ? n->bursts.data[burst + 1].first : n->entries.count;
}

/* native.c: a run, with its anchors. */
const struct native_run *native_run_at(const struct cache *c, size_t i);
/* native_choose.c: more anchors, where bursts have none. */
void native_choose(struct cache *c, struct held *f);
/* native_duty.c: in which part of the stretches anchors are to be in place. */
void native_set_duties(struct cache *c);
/* native_settle.c: executions of all runs in the log, by weights of bursts; records what rates
 * lack.
 */
void native_settle(struct cache *c);

#endif
