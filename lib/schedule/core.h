/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a processor core executes instructions: its widths, its ports, and for each instruction its
 * micro-operations, their ports and the latency of their results. Text files, perfex-core(5),
 * shipped as share/perfex/cores/NAME.core.
 *
 * Rules name mnemonics and kinds of operands. The last rule that fits an instruction applies, so
 * that a file can be corrected by lines at its end. A rule describes the computation of the
 * instruction; its memory accesses (loads, addresses and data of stores) are added from the core's
 * own lines, unless the rule has them all ("whole"). If a rule has no memory operand (m), a memory
 * operand fits any of its kinds of operands.
 */
#ifndef SCHEDULE_CORE_H
#define SCHEDULE_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"

enum {
	CORE_PORTS_MAX = 32,
	CORE_GROUPS_MAX = 64,  /* names of sets of ports */
	CORE_UOPS_MAX = 8,     /* kinds of micro-operations of one rule */
	CORE_OPERANDS_MAX = 5, /* of a rule's signature */
	CORE_MNEMONICS_MAX = 4096
};

enum core_operand {
	CORE_ANY,
	CORE_NOTHING, /* no operand here */
	CORE_GENERAL, /* r r8 r16 r32 r64 */
	CORE_VECTOR,  /* v x y z */
	CORE_MASK,    /* k */
	CORE_MMX,     /* mm */
	CORE_X87,     /* st */
	CORE_HIGH,    /* r8h: ah bh ch dh */
	CORE_SCALED,  /* ms: memory with a scaled index */
	CORE_THREE,   /* m3: memory with base, index and displacement, or a scaled index and one of
			 these */
	CORE_MEMORY,  /* m */
	CORE_IMMEDIATE, /* i */
	CORE_SAME       /* the same register as the operand before it */
};

struct core_signature {
	uint8_t kind;  /* enum core_operand */
	uint16_t bits; /* 0: any */
};

struct core_uops {
	uint32_t ports; /* bit n: port n; 0: none, it only takes a slot */
	uint8_t count;
	uint8_t busy; /* cycles for which each keeps its port; 1: pipelined */
};

struct core_rule {
	int32_t next; /* the rule before it for the same mnemonic; -1: none */
	uint16_t mnemonic;
	uint8_t operands; /* of signature; later entries are unused */
	struct core_signature signature[CORE_OPERANDS_MAX];
	bool reads_flags; /* its result in the flags depends on their old value */
	bool whole;       /* all of its memory traffic is in uops */
	bool memory;      /* all of its memory traffic is in uops */
	uint8_t kinds;    /* of uops */
	struct core_uops uops[CORE_UOPS_MAX];
	uint8_t slots;   /* of renaming; 0: as many as micro-operations (fused ones counted once) */
	uint8_t latency; /* cycles from the last input to the result */
	uint8_t late[CORE_OPERANDS_MAX]; /* latency from this operand, where it differs; 0: not */
	uint8_t flags_latency;           /* to the flags, where it differs; 0: not */
	uint32_t line;                   /* of the file */
};

struct core {
	char name[32], description[96], method[160];
	char origin[512]; /* its name for descriptions based on it: name or path; "" of mere text */
	bool in_order;
	bool x86; /* mnemonics are lib/isa's; else the file's own */
	unsigned rename, retire, window, scheduler; /* micro-operations */
	unsigned decode, fetch;                     /* instructions, bytes per cycle; 0: no limit */
	unsigned load_latency, vector_load_latency; /* cycles, address to result */
	unsigned vector_forward;
	unsigned forward, forward_renamed; /* store's data to load's result; renamed: where
					      base register and displacement are the same, 0:
					      not done */
	unsigned indexed_load;             /* cycles more where there is an index */
	unsigned
		store_lines; /* stores to different lines that leave the store buffer in 2 cycles */
	unsigned locked;     /* cycles between locked instructions, and until the result of one */
	unsigned bank_loads; /* loads per cycle from one bank (8 bytes modulo a line); 0: any */
	unsigned loads, stores; /* a cycle at most; 0: no limit but the ports' */
	unsigned vector_stores; /* the same for vectors */
	unsigned taken;         /* cycles at least between taken branches */
	uint32_t load, vector_load, store_address, store_data, vector_store_data; /* ports */
	bool stack_engine, stack_sync;  /* sync: a micro-operation where rsp is used otherwise */
	bool unlaminate;                /* indexed addresses with an operation take slots apart */
	bool move_general, move_vector; /* eliminated */
	unsigned add_bits; /* additions of constants of at most this many bits are done in renaming;
			      0: none */
	bool rename_memory; /* forward_renamed holds */
	bool zero_idioms, ones_idioms;
	unsigned nop_slots_x2;              /* half slots that a nop takes (2: a whole one) */
	bool fuse_compare, fuse_arithmetic; /* with a conditional branch after them */
	unsigned ports;                     /* how many */
	char port_names[CORE_PORTS_MAX][12];
	struct core_group {
		char name[20];
		uint32_t ports;
	} groups[CORE_GROUPS_MAX];
	unsigned group_count;
	VEC(struct core_rule) rules;
	int32_t first[CORE_MNEMONICS_MAX]; /* last rule of a mnemonic; -1: none */
	int32_t fallback;                  /* last rule for all of them */
	/* Without x86: the file's own names of instructions, by number. */
	VEC(char *) own_mnemonics;
};

/* Reads a description; name is for messages. */
int core_parse(struct core *c, const char *text, size_t length, const char *name, struct error *e);
/* The names of ours, sorted. */
int core_walk(void (*each)(const char *name, void *context), void *context, struct error *e);
/* By name ("golden-cove") or path. */
int core_find(struct core *c, const char *name, struct error *e);
/* The same, for blocks of x86-64: "none" and cores of other architectures are errors. */
int core_find_x86(struct core *c, const char *name, struct error *e);
/* The description that fits this host's processor, or a near one; borrowed.  *exact: it is its own.
 */
const char *core_host_name(bool *exact);
void core_fini(struct core *c);

/* The number of a mnemonic; -1: unknown. */
int core_mnemonic(const struct core *c, const char *name);

/* The name of the set of ports, or the ports themselves ("0 1 5"). */
const char *core_ports_name(const struct core *c, uint32_t ports, char text[64]);

#endif
