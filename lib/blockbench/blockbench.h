/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures how many core cycles a basic block of x86-64 takes in its steady state, on this machine,
 * with or without counters.  After Chen et al., "BHive" (IISWC 2019), section 3: every page that
 * the block touches is mapped when it faults, registers and memory are in a known state, and the
 * figure is the difference between many and few copies, divided by the difference in copies.
 *
 * Beyond the paper: blocks run in confined workers (own process, nothing else in its address
 * space, seccomp); pages are distinct if they fit the first-level cache; without a PMU, long
 * dependent chains convert time stamps to core cycles; a canary detects a neighbour on the core;
 * each figure is a median over fresh workers and has an interval.
 *
 * One bench is used by one thread at a time.
 */
#ifndef BLOCKBENCH_BLOCKBENCH_H
#define BLOCKBENCH_BLOCKBENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "events/label.h"

/* The result class of a block. */
enum block_class {
	BLOCK_OK = 0,
	BLOCK_EMPTY,       /* no instructions (left) */
	BLOCK_NOT_HEX,     /* the text is not a hexadecimal string */
	BLOCK_UNDECODABLE, /* invalid bytes, or the last instruction is cut off */
	BLOCK_TOO_LONG,
	/* Refused before it runs. */
	BLOCK_BRANCH, /* a branch that is not the last instruction, or an indirect one there */
	BLOCK_SYSTEM_CALL,
	BLOCK_PRIVILEGED,
	BLOCK_STOPS,   /* int3, ud2, hlt ... */
	BLOCK_SEGMENT, /* writes a segment register or its base */
	/* Run, and failed. */
	BLOCK_UNSUPPORTED, /* this processor does not have the instruction */
	BLOCK_DIVIDE_ERROR,
	BLOCK_PROTECTION, /* non-canonical or misaligned address, or not for user code */
	BLOCK_ADDRESS,    /* page that cannot be mapped: the first or the kernel's */
	BLOCK_OWN_CODE,   /* writes to its own code */
	BLOCK_PAGES,      /* touches too many pages */
	BLOCK_TRAP_FLAG,  /* single-step or breakpoint trap */
	BLOCK_ALIGNMENT,  /* alignment check, switched on by the block */
	BLOCK_ARITHMETIC, /* floating-point exception, unmasked by the block */
	BLOCK_TIMEOUT,    /* ran too long */
	BLOCK_CRASHED,    /* the worker crashed */
	BLOCK_UNSTEADY,   /* no two measurements agree, or none was possible */
	BLOCK_CLASS_COUNT
};

/* "ok", "not-hex", "divide-error" ...; static. */
const char *block_class_name(enum block_class c);
/* A sentence without full stop: "writes to its own code"; static. */
const char *block_class_text(enum block_class c);

enum block_mode {
	BLOCK_UNROLLED, /* consecutive copies, no loop */
	BLOCK_LOOPED,   /* one copy in a loop; the loop's own decrement and branch are counted */
};

/* Warnings: bits. */
enum block_warning {
	BLOCK_WARN_DISTURBED = 1 << 0, /* a neighbour was on the core and did not leave */
	BLOCK_WARN_SCATTER = 1 << 1,   /* the interval is wider than 10% of the figure */
	BLOCK_WARN_ALIAS = 1 << 2, /* one physical page for all: loads may hit what stores wrote */
	BLOCK_WARN_FEW_COPIES =
		1 << 3, /* so long that few copies fit: start-up may be in the figure */
	BLOCK_WARN_BRANCH_DROPPED = 1 << 4, /* the branch at its end was left out */
	BLOCK_WARN_BRANCH_LOOPED = 1 << 5,  /* the branch at its end is replaced by the loop's */
	BLOCK_WARN_COUNTER = 1 << 6,    /* all registers are in use: the loop counts in memory */
	BLOCK_WARN_MISSES = 1 << 7,     /* PMU: misses the first-level cache in its steady state */
	BLOCK_WARN_MISALIGNED = 1 << 8, /* PMU: misaligned accesses */
	BLOCK_WARN_SERIALISING =
		1 << 9,             /* serialising instruction, slow or trapped to a hypervisor */
	BLOCK_WARN_STATE = 1 << 10, /* faulted in the usual initial state: see state */
	BLOCK_WARN_RESET = 1 << 11, /* registers in addresses are set again before each copy */
	BLOCK_WARN_COUNT = 12
};
/* Text of warning bit number i, [0, BLOCK_WARN_COUNT); static. */
const char *block_warning_text(unsigned i);

struct block {
	const uint8_t *bytes; /* borrowed */
	size_t length;
	uint64_t address; /* its address in its image; its offset in the page is kept. 0: none */
};

struct block_result {
	enum block_class class;
	struct quantity cycles; /* core cycles per execution; LABEL_NONE unless class is BLOCK_OK */
	unsigned unroll[2];     /* the two numbers of copies (loop mode: iterations) */
	unsigned pages;         /* virtual pages it touches */
	unsigned physical_pages; /* their physical pages: as many, or 1 */
	const char *state;       /* initial state of registers and memory; static */
	unsigned workers;        /* figures that the median is of */
	unsigned runs;           /* timed runs in all */
	unsigned instructions;   /* of what was measured */
	unsigned warnings;       /* enum block_warning */
	uint64_t fault_address;  /* for BLOCK_ADDRESS, BLOCK_OWN_CODE: where */
	bool pmu;                /* counted by the core cycle counter, not from time stamps */
};

struct block_options {
	enum block_mode mode;
	bool quick;  /* one worker, short: several times faster, less precise */
	bool no_pmu; /* do not use counters */
};

struct blockbench;

/* ERR_UNSUPPORTED: not an x86-64.  NULL with *e set. */
struct blockbench *blockbench_open(const struct block_options *options, struct error *e);
void blockbench_close(struct blockbench *b);

/* Results come in order of the blocks. done (may be NULL) gets the number of results so far;
 * non-zero stops: -1 with ERR_NONE. -1 with *e set when workers cannot be started. */
int blockbench_measure(struct blockbench *b, const struct block *blocks, size_t count,
	struct block_result *results, int (*done)(void *context, size_t count), void *context,
	struct error *e);

/* Core cycles per tick of the time stamp counter, as last measured; 0: not measured. */
double blockbench_ratio(const struct blockbench *b);

/* Two hexadecimal digits per byte, with optional blanks between. BLOCK_OK, BLOCK_EMPTY,
 * BLOCK_NOT_HEX or BLOCK_TOO_LONG; *length bytes (at most `room`) to bytes. */
enum block_class block_parse_hex(
	const char *text, size_t length, uint8_t *bytes, size_t room, size_t *count);

#endif
