/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Probes: the figures that are measured on this host. Costs of events are differences between them
 * (costs_calibrate.c), and so are constants of the modelled host (constants.c). A rig has their
 * resources: buffers, code, two processors.
 */
#ifndef KERNELS_PROBE_H
#define KERNELS_PROBE_H

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>

#include "base/error.h"
#include "kernels/kernels.h"

/* Places of lines: packed, to fit a level of the memory, or one per page. */
enum place {
	PLACE_L1,
	PLACE_L2,
	PLACE_LL,
	PLACE_MEMORY, /* the lines of PLACE_LL, flushed */
	PLACE_STLB,   /* a line per page; more pages than the first-level TLB has, fewer than the
			 second */
	PLACE_WALK,   /* a line per page, more pages than any TLB has */
	PLACE_WALK_PACKED, /* as many lines, packed */
	PLACE_COUNT
};

enum code_place {
	CODE_STRAIGHT_L1,
	CODE_STRAIGHT_L2,
	CODE_STRAIGHT_LL,
	CODE_JUMPS_L1, /* as many jumps as CODE_JUMPS_STLB */
	CODE_JUMPS_L2,
	CODE_JUMPS_STLB, /* one per page */
	CODE_JUMPS_WALK,
	CODE_JUMPS_WALK_PACKED,
	CODE_COUNT
};

#define COINS 16384

struct rig {
	uint64_t random;
	struct layout layout[PLACE_COUNT];

	void *at[PLACE_COUNT];             /* position in the chase */
	void *chains[PLACE_COUNT][CHAINS]; /* positions in simultaneous chases */
	struct layout evict;               /* lines that replace those of PLACE_LL in L2 */
	size_t swept[PLACE_COUNT];         /* position in the sweep */
	struct layout code[CODE_COUNT];    /* count 0: there is no such code */
	char *packed, *pages, *scratch, *code_memory;
	size_t packed_size, pages_size, code_size;
	char *wide; /* large pages, where the system has them */
	size_t wide_size;
	void *scattered;       /* position in a chase through few lines, anywhere in wide */
	uint8_t *coins, *even; /* COINS conditions of branches */
	int pipe_out[2], pipe_back[2];
	int cpu, other_cpu; /* -1: there is none */
	cpu_set_t before;   /* the affinity to restore */
	double own_ns;      /* set by a probe that timed itself */
};

/* What there is to fill: bytes of caches (0: there is none), entries of TLBs. */
struct rig_shape {
	size_t l1i, l1d, l2, ll, itlb, dtlb, stlb;
};

/* Pins the calling thread until rig_fini. */
int rig_init(struct rig *r, const struct rig_shape *shape, struct error *e);
/* New pages, and so new places in physically indexed caches. */
int rig_shuffle(struct rig *r, struct error *e);
void rig_fini(struct rig *r);
double rig_now_ns(void);

enum probe_number {
	PROBE_MIX,
	PROBE_CHASE, /* and the next PLACE_COUNT - 1 */
	PROBE_CHAINS = PROBE_CHASE + PLACE_COUNT,
	PROBE_FREE = PROBE_CHAINS + PLACE_COUNT,
	PROBE_SWEEP = PROBE_FREE + PLACE_COUNT,
	PROBE_STORES = PROBE_SWEEP + PLACE_COUNT, /* of the first four places */
	PROBE_BRANCH_RANDOM = PROBE_STORES + 4,
	PROBE_BRANCH_EVEN,
	PROBE_EARLY_RANDOM,
	PROBE_EARLY_EVEN,
	PROBE_DIVIDE_CHAIN_SMALL,
	PROBE_DIVIDE_CHAIN_LARGE,
	PROBE_DIVIDE_FREE,
	PROBE_FP_DIVIDE_CHAIN,
	PROBE_FP_DIVIDE_FREE,
	PROBE_FP_ADD_CHAIN,
	PROBE_FORWARD_CHAIN,
	PROBE_FORWARD_FAIL_CHAIN,
	PROBE_FORWARD_FREE,
	PROBE_FORWARD_FAIL_FREE,
	PROBE_ALIAS,
	PROBE_NO_ALIAS,
	PROBE_WHOLE_FREE,
	PROBE_SPLIT_FREE,
	PROBE_WHOLE_CHAIN,
	PROBE_SPLIT_CHAIN,
	PROBE_LOCK_CHAIN,
	PROBE_LOCK_FREE,
	PROBE_UNLOCKED_CHAIN,
	PROBE_UNLOCKED_FREE,
	PROBE_CODE, /* and the next CODE_COUNT - 1 */
	PROBE_TRANSFER_CHASE = PROBE_CODE + CODE_COUNT,
	PROBE_TRANSFER_FREE,
	PROBE_TRANSFER_SWEEP,
	PROBE_SHARED_STORE,
	PROBE_SHARED_LOCK,
	PROBE_OWN_STORE,
	PROBE_OWN_LOCK,
	PROBE_FAULT,
	PROBE_ZERO_FAULT,
	PROBE_COPY_FAULT,
	PROBE_SYSTEM_CALL,
	PROBE_PIPE,
	PROBE_SWITCH,
	PROBE_COSTS, /* those before are for costs */
	PROBE_SCATTERED = PROBE_COSTS,
	PROBE_LL_GONE, /* a part, not a time */
	PROBE_DECISIONS,
	PROBE_NO_DECISIONS,
	PROBE_PASS,
	PROBE_PASS_HALVES,
	PROBE_PASS_SAME,
	PROBE_PASS_VECTOR,
	PROBE_CHASE_SCALED,
	PROBE_ADDRESSES,
	PROBE_ROOTS,
	PROBE_RETURNS,
	PROBE_TARGETS,
	PROBE_EXCHANGE,
	PROBE_DIVIDE_FREE_LARGE,
	PROBE_COUNT
};

/* Runs probe number `number` once, for about a tenth of a millisecond. Returns the number of
 * operations; 0 if it cannot run here. If r->own_ns is not negative afterwards, that is their
 * time, else all of it. */
double probe_run(struct rig *r, int number);
/* Brings its code and data to their level of the caches. */
void probe_warm(struct rig *r, int number);
/* The unit of the probe's figure: cycles, or else nanoseconds. */
bool probe_in_cycles(int number);
/* A few words for the progress bar. */
const char *probe_name(int number);

#endif
