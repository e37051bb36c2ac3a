/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel's records say, added up by image and address: the part of the Monitor that needs
 * no kernel. Memory is bounded: addresses by WATCH_ADDRESSES, processes by those that run.
 * A file that was removed before it could be read is known by its name and build-id.
 *
 * A sample is the user's address, in user mode or in the kernel on the program's behalf. Of the
 * tick of the timer, the kernel says only where the user was: a thread in a system call is
 * distinguished by its registers (x86-64: `syscall` puts the address after it into rcx). Timers of
 * programs come through the same interrupt and would be samples too many, so a sample that comes
 * early counts with the probability of its part of the period. Where there are very many, the
 * kernel records one of several, which counts for the periods that have passed.
 */
#ifndef MONITOR_MONITOR_WATCH_H
#define MONITOR_MONITOR_WATCH_H

#include "collect/spaces.h"
#include "store/store.h"

#define WATCH_ADDRESSES 32768
/* With this many files, samples in others that were removed unread are dropped. */
#define WATCH_IMAGES 8192

/* User registers of a sample: what monitor_watch_take reads. */
#if defined(__x86_64__)
#define WATCH_REGISTERS (1u << 2 | 1u << 8) /* cx, ip */
#elif defined(__aarch64__)
#define WATCH_REGISTERS ((uint64_t)1 << 32) /* pc */
#else
#define WATCH_REGISTERS 0
#endif

struct watch_clock {
	uint64_t period; /* ns from one sample of a processor to the next */
	bool tick;       /* the timer's tick: it also fires in between, and on idle processors */
};

struct watch_counts {
	uint64_t records;   /* samples that the kernel wrote, of all kinds */
	uint64_t early;     /* left out: see above */
	uint64_t idle;      /* of idle processors */
	uint64_t kernel;    /* of the kernel's own threads, and of 32-bit programs */
	uint64_t user;      /* in user mode */
	uint64_t system;    /* in the kernel, for a program */
	uint64_t generated; /* of both, as the next two: in code that programs made, which is not
			       stored */
	uint64_t gone;      /* in files without build-id that could not be read any more */
	uint64_t unmapped;  /* in no known mapping */
	uint64_t between;   /* of system: in no mapping, as when a program is replaced by another */
	uint64_t lost;      /* records that the kernel dropped */
	uint64_t stored, dropped; /* written into the store; not, for want of room there */
};

struct watch {
	struct watch_clock clock;
	struct experiment experiment; /* of this interval */
	struct collect_images images;
	struct spaces spaces;
	struct watch_counts counts;
	VEC(uint64_t) last;   /* by processor: the time of its last sample */
	VEC(pid_t) seen;      /* by image: the process that was sampled last there; 0: none */
	struct table waiting; /* samples in files that were removed before any with their build-id
				 was read: if none is in this interval, their addresses are
				 offsets in the file */
	uint64_t random;
	bool recording; /* samples are also in record */
	struct experiment record;
	uint64_t began;    /* of the interval, ns since 1970 */
	uint64_t wall;     /* time of a record + this: ns since 1970; 0: unknown */
	size_t trimmed_to; /* processes and images after the last trimming */
};

/* now: ns since 1970. -1 when memory is out; monitor_watch_fini in every case. */
int monitor_watch_init(struct watch *w, const struct watch_clock *clock, uint64_t now);
void monitor_watch_fini(struct watch *w);
/* One record; in order of their times. -1 when memory is out. */
int monitor_watch_take(struct watch *w, const struct record *r);
/* It is time to write: there is room for the addresses of a round, but not for many more. */
bool monitor_watch_fills(const struct watch *w);
/* No address can be added: samples are dropped. */
bool monitor_watch_full(const struct watch *w);
/* Samples from now on are recorded as well, with as many addresses as an interval has at most. -1
 * when memory is out. */
int monitor_watch_record(struct watch *w);
/* Ends that; x is the caller's. */
void monitor_watch_recorded(struct watch *w, struct experiment *x);
/* Frees what is kept of ended processes if there is much of it. */
int monitor_watch_trim(struct watch *w);
/*
 * Writing takes three steps, so that records can be taken meanwhile: monitor_watch_detach ends the
 * interval and begins another with this clock; monitor_watch_put, perhaps in another thread, adds
 * the samples to the store under the day on which their interval began; monitor_watch_settle keeps
 * what could not be written for the next time, or drops it if there is no room for more.
 */
struct watch_part {
	struct experiment experiment;
	bool *unwritten; /* by image: it could not be */
	int failed;      /* -1: some was not written, and why */
	struct error why;
};
/* -1 when memory is out; nothing is detached. */
int monitor_watch_detach(struct watch *w, struct watch_part *part, const struct watch_clock *clock,
	uint64_t now, uint64_t elapsed);
void monitor_watch_put(struct watch_part *part, struct store *s);
/* Frees it. -1 when memory is out. */
int monitor_watch_settle(struct watch *w, struct watch_part *part);

#endif
