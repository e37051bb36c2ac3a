/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One repetition of a block after another: private to lib/schedule. */
#ifndef SCHEDULE_FOLLOW_H
#define SCHEDULE_FOLLOW_H

#include "schedule/schedule.h"

#define CALENDAR     (1u << 15) /* cycles for which ports are kept; more than any window lasts */
#define STORES_KEPT  64
#define STORE_CHAINS 128 /* by base and index; a power of two */
#define FULL_KEPT    64  /* sets of ports; a power of two */

struct value { /* of a general register: origin plus offset, which wraps */
	uint32_t origin;
	uint64_t offset;
};

struct stored {
	uint32_t base, index;
	uint64_t at;
	uint32_t size, ready; /* ready: cycle in which a load can have the data */
	uint32_t before;      /* the number of the one before in its chain; 0: none */
	uint32_t op;
};

struct schedule_work {
	struct op *ops;
	size_t room;
	uint32_t busy[CALENDAR];  /* ports in use, by cycle modulo CALENDAR */
	uint32_t banks[CALENDAR]; /* loads of each of eight banks, four bits each */
	struct full {
		uint32_t ports, before; /* all of these ports are taken in each cycle before */
	} full[FULL_KEPT];
	uint32_t used[CORE_PORTS_MAX];
	uint32_t ready[REG_COUNT], ready_op[REG_COUNT];
	struct value value[32];
	uint32_t origins;
	struct stored stores[STORES_KEPT];
	struct chain {
		uint64_t eights; /* bit n: one may touch eight bytes whose number modulo 64 is n */
		uint32_t last;   /* its number; 0: none */
	} chains[STORE_CHAINS];
	uint32_t store_count;
	uint32_t commit, committed,
		lines; /* cycle in which stores leave, how many, to how many lines */
	struct value last_line_value;
	uint64_t last_line;
	uint32_t unlocked; /* cycle in which the next locked instruction may begin */
	/* rings */
	uint32_t *retired; /* of the last window micro-operations */
	uint32_t horizon;  /* cycles before it are cleared */
	uint32_t latest;   /* last cycle in which a port was taken */
};

struct times {
	uint32_t rename, start, issue, complete, retire;
	enum schedule_cause cause;
	uint32_t blame; /* op's number in its repetition */
	uint32_t ports;
};

struct walk {
	struct schedule_work *w;
	const struct core *c;
	const struct schedule_options *options;
	uint32_t front, place; /* cycle of renaming, and half slots renamed in it */
	uint64_t fetched;      /* bytes */
	uint32_t slot;         /* of the window: where the next micro-operation is, fused */
	uint32_t last_retire, retired_in_cycle;
	uint32_t serial; /* nothing begins before this cycle */
	uint32_t first;  /* the index of a repetition's first op, for blame */
};

/* Before the first repetition of a block. */
void follow_begin(struct schedule_work *w, const struct schedule_options *options, unsigned window);
/* One more repetition; taken: its last instruction may branch away. t[count]: the times of each
 * instruction. */
void follow(struct walk *k, const struct op *ops, size_t count, bool taken, struct times *t);

#endif
