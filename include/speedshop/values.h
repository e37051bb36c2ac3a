/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a module for ssrun -values=MODULE.so implements: functions that choose which values of a
 * program are to be counted. See vprof(3).
 *
 * ssrun loads the module in a process of its own and hands it windows: some hundred consecutive
 * instructions that a thread of the program was about to execute, with its registers. Nothing that
 * the module does reaches the program.
 */
#ifndef SPEEDSHOP_VALUES_H
#define SPEEDSHOP_VALUES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VP_VERSION 2 /* modules of version 1 can be used, too */

/* General registers of x86-64, in the order of their numbers. */
enum vp_register {
	VP_RAX,
	VP_RCX,
	VP_RDX,
	VP_RBX,
	VP_RSP,
	VP_RBP,
	VP_RSI,
	VP_RDI,
	VP_R8,
	VP_R9,
	VP_R10,
	VP_R11,
	VP_R12,
	VP_R13,
	VP_R14,
	VP_R15,
	VP_REGISTERS,
	VP_NONE = 255
};

/* What an instruction does. */
enum vp_flag {
	VP_LOADS = 1 << 0,  /* from its memory operand */
	VP_STORES = 1 << 1, /* to it */
	VP_BRANCHES = 1 << 2,
	VP_CALLS = 1 << 3, /* a branch that is a call */
	VP_RETURNS = 1 << 4,
	VP_TIMED = 1 << 5, /* a load that was timed (ssrun -values=latency), see latency */
};

/* How windows are made: filled with what the user has asked for, may be changed by vp_open. */
struct vp_config {
	unsigned skip; /* instructions at the beginning that are left out, besides a random time */
	unsigned length; /* how many of usual code take the time of the rest, at most 10000 */
	double rate;     /* windows per second of CPU time; 0: as the budget allows */
};

struct vp_insn {
	uint64_t address;           /* in the program's memory */
	const unsigned char *bytes; /* its machine code */
	unsigned length;            /* of that, in bytes */
	unsigned flags;             /* enum vp_flag */
	unsigned size;              /* bytes of its memory operand; 0: none */
	unsigned result;            /* the general register that it writes; or VP_NONE */
	unsigned result_bits;       /* 8 to 64; the lowest bits */
};

struct vp_registers {
	uint64_t general[VP_REGISTERS]; /* enum vp_register */
	uint64_t flags;
};

/* One execution of an instruction. Pointers are valid during the call. */
struct vp_context {
	const struct vp_insn *insn;
	unsigned selected;      /* what vp_select returned for it */
	unsigned number, count; /* its number in the window, from 0; instructions in the window */
	const struct vp_registers *before, *after;
	uint64_t address;        /* of its memory operand */
	uint64_t loaded, stored; /* the lowest 64 bits of this operand */
	uint64_t next;           /* address of the instruction that is executed next */
	uint64_t caller; /* address of the call of its function, if it is in the window; else 0 */
	int entered;     /* it is the first instruction of a called function */
	/* Used by the functions below. */
	void (*add)(struct vp_context *x, unsigned kind, uint64_t value);
	int (*read)(const struct vp_context *x, uint64_t address, void *to, size_t size);
	int (*at)(struct vp_context *x, unsigned number);
	void *host;
	/* Since version 2: with VP_TIMED, ns that the load took beyond one from the first-level
	 * cache; else 0. */
	double latency;
};

/* Of kinds. */
enum {
	VP_KINDS = 128,    /* kinds are below this number, plus one of: */
	VP_PLACE = 0x100,  /* the value is an address of code or data of the program */
	VP_DOUBLE = 0x200, /* the bits of a double */
};

/* Counts a value at the instruction of the context. */
static inline void vp_add(struct vp_context *x, unsigned kind, uint64_t value)
{
	x->add(x, kind, value);
}

/* Memory of the program before this instruction, as far as the window has accessed it before or the
 * instruction loads it now. 0; -1: not known. */
static inline int vp_read(const struct vp_context *x, uint64_t address, void *to, size_t size)
{
	return x->read(x, address, to, size);
}

/* Moves the context to another instruction of the window. 0; -1: it has none of this number. */
static inline int vp_at(struct vp_context *x, unsigned number)
{
	return x->at(x, number);
}

/* ---- implemented by the module ---- */

/* VP_VERSION, of the header that the module was compiled with. */
int vp_version(void);
/* text: what the user wrote after the module's name and a colon, or "". 0; all else refuses it. */
int vp_open(const char *text, struct vp_config *config);
/* Called for an instruction at its first execution: 0, or what the module wants to remember of it;
 * then vp_sample is called for each execution. */
unsigned vp_select(const struct vp_insn *insn);
void vp_sample(struct vp_context *x);
/* Optional: at the end of a window; the context is at its last instruction. */
void vp_window(struct vp_context *x);
/* Optional: the name of a kind for prof, a constant text. */
const char *vp_name(unsigned kind);
/* Optional: the name of a value of a kind, for values below VP_NAMED; at most 15 bytes. NULL: it is
 * shown as a number. */
#define VP_NAMED 16
const char *vp_value_name(unsigned kind, uint64_t value);

#ifdef __cplusplus
}
#endif
#endif
