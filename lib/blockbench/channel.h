/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the bench and its workers: their common memory, the descriptors that a worker starts
 * with, and the layout of its address space.
 *
 * A worker is a program of its own (worker*.c, no C library), started from memory. It keeps its
 * own pages and the ones below; everything else of its address space is unmapped, so that every
 * page that a block touches faults, and is then mapped.
 */
#ifndef BLOCKBENCH_CHANNEL_H
#define BLOCKBENCH_CHANNEL_H

#include <stdint.h>

/* Descriptors that a worker starts with. */
enum worker_descriptor {
	FD_CHANNEL = 3, /* struct channel, shared */
	FD_CODE,        /* CODE_BYTES: room for copies of the block */
	FD_DATA,        /* DATA_PAGES pages: the block's memory */
	FD_COMMAND,     /* a byte: there are jobs.  End of file: leave */
	FD_REPLY,       /* a byte: ready; then one whenever they are done */
	FD_END
};

/* Far from each other and from addresses that blocks are likely to compute. */
#define CODE_ADDRESS    0x100000000000ull /* executable, not writable */
#define WORKER_ADDRESS  0x5e5e00000000ull /* the program; the same address is in module.mk */
#define CHANNEL_ADDRESS 0x5e6000000000ull
#define CODE_WRITABLE   0x5e6100000000ull
#define WORKER_END      0x5e6200000000ull
/* Operands relative to the program counter refer to code that the worker does not have: they are
 * moved this far away from it, all copies of one to the same place. */
/* A page for loops without a free register as counter. */
#define COUNTER_ADDRESS  (CODE_ADDRESS + 0x10000000)
#define RELATIVE_ADDRESS (CODE_ADDRESS + 0x20000000)

#define BLOCK_BYTES_MAX 16384
#define CODE_BYTES      (BLOCK_BYTES_MAX * 3 + 8192)
/* Limits of copies: code that fills half a cache of decoded instructions or more is sometimes in
 * it, and sometimes not. */
#define CODE_WANTED     6144 /* bytes */
#define COPIES_WANTED   1000 /* instructions */
#define DATA_PAGES      64
#define JOBS_MAX        128
#define JOB_BYTES       (JOBS_MAX * 512 + BLOCK_BYTES_MAX)
#define JOB_RELOCATIONS 2048
#define SERIES_MAX      12

/* A displacement relative to the program counter. */
struct relocation {
	uint16_t at;    /* of its four bytes, in the block */
	uint16_t end;   /* of its instruction, in the block */
	int32_t target; /* relative to RELATIVE_ADDRESS */
};

enum job_flag {
	JOB_X87 = 1 << 0,    /* or MMX */
	JOB_WIDE = 1 << 1,   /* vectors wider than 128 bits, or VEX: upper halves are initialised */
	JOB_AVX512 = 1 << 2, /* needs zmm16..31 or masks */
	JOB_REPEATS = 1 << 3, /* rep: a small count first */
	JOB_DIVIDES = 1 << 4, /* rdx = 0 first */
	JOB_STORES = 1 << 5,  /* memory is restored before each run */
	JOB_LOOP = 1 << 6,    /* loop mode */
	JOB_QUICK = 1 << 7,   /* one short series */
};

struct job {
	uint32_t code, length, instructions; /* in channel.bytes */
	uint32_t relocation, relocations;    /* in channel.relocations */
	uint32_t flags;                      /* enum job_flag */
	uint16_t indexes; /* general registers that scale addresses, and are not bases */
	uint16_t resets;  /* general registers in addresses that the block also writes */
	uint8_t low[16];  /* added to general registers, so that wide operands are aligned */
	uint8_t counter;  /* loop mode: a general register, or NO_REGISTER */
};
#define NO_REGISTER 255

struct answer {
	uint32_t class;   /* enum block_class */
	uint32_t trap;    /* number of the processor's exception, if one ended it */
	uint64_t address; /* page that could not be mapped */
	uint32_t state;   /* index of the initial state */
	uint32_t unroll[2];
	uint32_t pages, physical_pages;
	uint32_t pmu;                /* cycles are counted, not from time stamps */
	uint32_t few;                /* not 0: with more copies it faults */
	uint32_t reset;              /* address registers were set again before each copy */
	uint32_t runs;               /* timed ones that count */
	uint32_t series;             /* of cycles[] */
	uint32_t waited;             /* series discarded because of a neighbour */
	uint32_t disturbed;          /* series kept though the canary was slow */
	uint32_t misses, misaligned; /* PMU only: events per copy, in thousandths */
	double cycles[SERIES_MAX];   /* core cycles per copy */
	double ratio;                /* core cycles per tick of the time stamp counter */
};

struct channel {
	/* Set by the bench. */
	uint32_t jobs;
	uint32_t pmu;       /* use the core cycle counter; the worker clears it if it cannot */
	double canary_best; /* core cycles of the fastest canary so far; 0: none yet */
	uint32_t distinct;  /* physical pages that fit the first-level data cache */
	uint32_t wait_left; /* microseconds left for waiting for neighbours to leave */
	/* Set by the worker. */
	volatile uint32_t begun; /* index of the current job, plus one */
	double ratio;
	struct job job[JOBS_MAX];
	struct answer answer[JOBS_MAX];
	/* The bytes at the ends are for the worker's own blocks. */
	struct relocation relocations[JOB_RELOCATIONS * 2];
	uint8_t bytes[JOB_BYTES + BLOCK_BYTES_MAX];
};

#endif
