/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The worker: a program without a C library, linked far away (channel.h) and started from memory.
 * Everything but its own pages is unmapped, and seccomp admits system calls from one instruction
 * only. Its signal handler handles the traps of blocks; a tracer would cost two switches for each
 * page that a block touches.
 */
#ifndef BLOCKBENCH_WORKER_H
#define BLOCKBENCH_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "blockbench/block_states.h"
#include "blockbench/blockbench.h"
#include "blockbench/channel.h"

#define PAGE          4096ull
#define ADDRESS_LIMIT 0x7ffffffff000ull

/* worker_system.c. The only syscall instruction; the seccomp filter checks its address. */
long worker_syscall(long number, long a, long b, long c, long d, long e, long f);
/* Memory, signals, address space, seccomp: afterwards nothing else is reachable. */
int worker_confine(void);
/* This job's limit of processor time; 0 switches it off. */
void worker_limit(unsigned milliseconds);
void worker_sleep(unsigned microseconds);
/* The number of times that it lost the processor. */
long worker_switches(void);

/* worker_entry.S. Runs code made by code_lay(); 0, or 1 when a trap ended it (see trap). */
int worker_run(const void *entry);
void worker_back(void);
void worker_abort(void);
void worker_restore(void); /* of signal handlers */
extern char worker_syscall_end[];

/* Loaded by worker_entry.S, hence fixed offsets in one struct. */
struct worker_image {
	uint64_t stack;      /* 0: of the worker, while a block runs */
	uint64_t running;    /* 8: a trap is the block's */
	uint64_t vectors;    /* 16: 0: none beyond SSE; 1: AVX; 2: AVX-512; what the block uses */
	uint64_t has;        /* 24: likewise, what the processor has */
	uint32_t mxcsr, x87; /* 32, 36: x87: clear it afterwards */
	uint32_t begin, end; /* 40, 44: time stamps, written by the generated code */
	uint64_t mask;       /* 48: of k0..k7 */
	uint64_t pad;
	uint8_t vector[64] __attribute__((aligned(64))); /* 64 */
};
extern struct worker_image image;

/* worker_trap.c */
struct trap {
	uint32_t number; /* of the processor's exception; 256: out of time */
	uint64_t address;
	bool write;
};
extern volatile struct trap trap;
/* The class of a block that ended by a trap of this number. */
enum block_class trap_class(uint32_t number);
#define TRAP_TIMEOUT 256
void worker_handler(int signal, void *info, void *context);

/* worker_pages.c: the pages of the block. */
struct pages {
	unsigned count;
	bool single; /* all of them one physical page */
	uint64_t address[DATA_PAGES * 16];
};
extern struct pages pages;
#define PAGES_MAX (sizeof(pages.address) / sizeof(*pages.address))
void pages_init(void);
void pages_clear(bool single);
/* 0; or the class with the reason. */
enum block_class pages_map(uint64_t address, bool write, unsigned distinct_max);
void pages_fill(uint64_t value);
/* The page mapped last. */
void pages_fill_last(uint64_t value);
/* Saves differences from value ... */
void pages_note(uint64_t value);
/* ... and restores it. */
void pages_restore(uint64_t value);
void pages_flush(void);

/* worker_code.c */
/* Two runs whose difference is taken: few copies, and passes * many. */
struct plan {
	unsigned few, many; /* copies; loop mode: iterations */
	unsigned passes;    /* through the many, if one pass is too short for a coarse clock */
};

struct layout {
	const void *entry[2]; /* for unroll[0] and unroll[1] */
	uint32_t unroll[2];
};
/* counter: how the ends are stamped: -1: time stamp counter, else number of a performance counter.
 * shift: offset of the copies in bytes. */
void code_lay(struct layout *l, const struct channel *c, const struct job *j, const struct state *s,
	const struct plan *plan, int counter, unsigned shift);

/* The job after its resets, at the channel's end; -1: it does not fit. */
int code_reset(struct channel *c, const struct job *j, const struct state *s, struct job *made);

/* worker_measure.c */
void measure_init(struct channel *c);
void measure_batch(struct channel *c);
/* The job has run out of its time. */
extern volatile bool expired;

/* worker_pmu.c */
enum pmu_counter { PMU_CYCLES, PMU_MISSES, PMU_CROSSING, PMU_COUNTERS };
int pmu_open(void); /* before confinement: 0 if there is a cycle counter */
bool pmu_counts(void);
/* For rdpmc, at this moment; -1: there is none. */
int pmu_number(enum pmu_counter which);

#define rdtsc()                                                                                    \
	({                                                                                         \
		uint32_t low_, high_;                                                              \
		__asm__ volatile("lfence; rdtsc; lfence" : "=a"(low_), "=d"(high_)::"memory");     \
		low_ | (uint64_t)high_ << 32;                                                      \
	})

#endif
