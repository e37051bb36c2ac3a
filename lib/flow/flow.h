/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control flow graph of one procedure: blocks, edges, what is missing, dominators, loops.
 *
 * Instructions are found by a linear sweep over the procedure's bytes. Calls do not end blocks,
 * except those that do not return. Tables of jumps are resolved in the forms that gcc and clang
 * make on x86-64 (4-byte offsets from the table, 8-byte addresses); on AArch64 they are not.
 * Unresolved jumps are flagged, never guessed: FLOW_UNKNOWN is a jump whose targets are missing,
 * FLOW_SEEN one with only the targets that were seen in a run, FLOW_ORPHAN a block that no known
 * edge reaches (targets of such jumps, landing pads of exceptions).
 *
 * Cost: O(n) for the graph, O(m log n) for dominators and loops, of n instructions and m edges;
 * loops whose entries are many (irreducible) cost their depth besides.  Any bytes are accepted.
 */
#ifndef FLOW_FLOW_H
#define FLOW_FLOW_H

#include "base/error.h"
#include "base/vec.h"
#include "isa/isa.h"

#define FLOW_NONE UINT32_MAX

/* A jump that was seen: addresses of the instruction and of its target. */
struct flow_jump {
	uint64_t from, to;
};

struct flow_request {
	enum isa_machine machine;
	uint64_t begin;       /* address of the first byte, where the procedure is entered */
	const uint8_t *bytes; /* borrowed while flow_new runs */
	size_t size;
	const uint64_t *entries; /* other entries (symbols inside); may be NULL */
	size_t entry_count;
	const struct flow_jump *seen; /* in order of from, then to, each once; may be NULL */
	size_t seen_count;
	void *context; /* of both below, which may be NULL */
	/* Read-only data, for tables of jumps: up to size bytes; returns the number read. */
	size_t (*read)(void *context, uint64_t address, void *bytes, size_t size);
	/* Whether this call returns (see flow_name_returns). */
	bool (*returns)(void *context, const struct insn *call);
};

enum flow_block_flag {
	FLOW_ENTRY = 1 << 0,
	FLOW_ORPHAN = 1 << 1,    /* no known path leads here from an entry */
	FLOW_PADDING = 1 << 2,   /* unreachable nops; has no edges */
	FLOW_RETURNS = 1 << 3,   /* how it ends, besides its edges */
	FLOW_LEAVES = 1 << 4,    /* jumps out of the procedure: tail calls, parts elsewhere */
	FLOW_UNKNOWN = 1 << 5,   /* jumps to an address in a register: edges are missing */
	FLOW_NO_RETURN = 1 << 6, /* in a call that does not return */
	FLOW_STOPS = 1 << 7,     /* ud2, hlt ... */
	FLOW_BAD = 1 << 8,       /* in bytes that are not an instruction */
	FLOW_RUNS_OUT = 1 << 9,  /* after the last byte */
	FLOW_MIDDLE = 1 << 10,   /* jumps into the middle of an instruction: that edge is missing */
	FLOW_GUESSED = 1 << 11, /* its table had no bound: it ends at the first implausible entry */
	FLOW_LOOP_HEAD = 1 << 12,
	FLOW_SEEN = 1 << 13, /* jumps to an address in a register: edges are those that were seen */
};

struct flow_block {
	uint32_t first, count;    /* instructions */
	uint32_t first_out, outs; /* edges */
	uint32_t first_in, ins;   /* of flow.in */
	uint32_t dominator; /* immediate; FLOW_NONE of entries and blocks that several entries reach
			     */
	uint32_t loop;      /* the innermost; FLOW_NONE */
	uint32_t flags;     /* enum flow_block_flag */
};

enum flow_edge_kind {
	FLOW_FALL,  /* to the next instruction: no branch, or not taken */
	FLOW_TAKEN, /* of a conditional branch */
	FLOW_JUMP,  /* always */
	FLOW_TABLE, /* one of several */
};

struct flow_edge {
	uint32_t from, to; /* blocks */
	enum flow_edge_kind kind;
	bool back; /* to the head of a loop from within it */
};

struct flow_loop {
	uint32_t head;        /* block; of an irreducible loop, the first that is reached */
	uint32_t parent;      /* loop around it; FLOW_NONE */
	uint32_t depth;       /* 1: outermost */
	uint32_t blocks;      /* those of inner loops included */
	uint32_t first, last; /* blocks with the lowest and highest addresses */
	uint32_t entries;     /* edges into it from outside */
	bool irreducible;     /* it has other entries than its head (perhaps from the caller) */
};

struct flow {
	enum isa_machine machine;
	uint64_t begin, end;
	VEC(struct insn) insns;
	VEC(struct flow_block) blocks; /* in order of address; they cover all instructions */
	VEC(struct flow_edge) edges;   /* in order of `from` */
	VEC(struct flow_loop) loops;   /* outer ones before those in them */
	uint32_t *in;                  /* edges, in order of `to` */
	uint32_t *block_of;            /* block of each instruction */
	uint32_t *at; /* of each byte, instruction + 1 that begins there, 0: none */
	bool missing; /* some edges could not be found (FLOW_UNKNOWN, FLOW_MIDDLE) */
};

/* NULL with *e set when memory is out, or for more than 2^31 bytes. */
struct flow *flow_new(const struct flow_request *r, struct error *e);
void flow_free(struct flow *f);

/* The instruction that begins at address, or FLOW_NONE. */
static inline uint32_t flow_insn_at(const struct flow *f, uint64_t address)
{
	return address >= f->begin && address < f->end ? f->at[address - f->begin] - 1 : FLOW_NONE;
}
/* The instruction that contains address, or FLOW_NONE. */
uint32_t flow_insn_over(const struct flow *f, uint64_t address);

static inline const struct insn *flow_last(const struct flow *f, const struct flow_block *b)
{
	return &f->insns.data[b->first + b->count - 1];
}

/* Whether block is in loop (or one inside it); loop may be FLOW_NONE, which all are in. */
bool flow_in_loop(const struct flow *f, uint32_t block, uint32_t loop);

/* False for functions known by name never to return (abort, exit, __stack_chk_fail,
 * std::terminate() ...), mangled or not, with or without "@plt" and versions. */
bool flow_name_returns(const char *name);

#endif
