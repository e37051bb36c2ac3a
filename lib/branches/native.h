/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The log of bursts and of the stretches between them (native.c). */
#ifndef BRANCHES_NATIVE_H
#define BRANCHES_NATIVE_H

#include "branches/anchors.h"
#include "branches/weigh.h"

/* Executions per second of the program's time, of all anchors together; a count takes about a
 * nanosecond. */
#define COUNTS_STEADY 6e6
#define COUNTS_LOCKED 3e6 /* a locked one takes some */
/* With more threads, anchors are in place always or never: all have to stop while they change. */
#define TURN_THREADS 8
/* The most others, which are in place now and then. */
#define ANCHORS_SELDOM 12u

/* How well a burst goes with an anchor is known from the last bursts of this number ... */
#define BURSTS_LOOKED_AT 96
/* ... as if there were this number of others: a constant ratio in few bursts says little. */
#define BURSTS_PRIOR 3.0

/* A time in which the same anchors are in place: a part of a stretch between two bursts. */
struct spell {
	double ns;    /* CPU time, without that of counting */
	size_t first; /* of its counts; they end where the next spell's begin */
};

struct spell_count { /* of an anchor that was in place */
	double hits;
	uint8_t anchor;
};

struct native_burst {
	size_t first;   /* of its entries; they end where the next burst's begin */
	double seconds; /* native time of it, as far as known */
	double doubt;   /* as native_note has it */
	double before;  /* ns of the program's own time since the last burst */
};

/* What an anchor has counted since the log began: in spells that are over, of which it was in
 * place. */
struct native_count {
	double hits, ns; /* executions; CPU time */
	double now;      /* hits in the open spell */
	bool in;         /* and it is in place */
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
	VEC(struct spell) spells;
	VEC(struct spell_count) counts;
	double open;        /* ns of the spell that is open */
	double now, all;    /* ns of the program's own time: since the last burst; in the log */
	uint64_t began;     /* CPU time of the process */
	double heat;        /* counts per second of the last surprise, half of it after each turn */
	double pairs;       /* stretches, or parts, in which an anchor has counted something */
	size_t next_choice; /* at this number of bursts */
	bool paused;        /* no stretch is open */
	bool in;            /* anchors have been in place since it was opened */
	bool fresh;         /* a burst was noted since anchors were chosen */
};

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
/* Which are to be in place in the next spell, by number; rest: only those that always are. */
void native_draw(const struct cache *c, bool *want, bool rest);
/* A burst is over: how often anchors were executed in it. */
void native_look_back(struct cache *c);
/* Counts per second of those that are in place. */
double native_expects(const struct cache *c);
/* native_spells.c: a spell is over. */
void native_close_spell(struct cache *c);
/* Executions of all anchors in the time of the log, into w->total, and their doubt. Counts and
 * weights by the clock of bursts are there. -1: memory is out. */
int native_totals(const struct cache *c, struct weigh *w);
/* native_settle.c: executions of all runs in the log, by weights of bursts; records what rates
 * lack.
 */
void native_settle(struct cache *c);

#endif
