/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths that were found, with what they depend on: the mappings, those registers and those words of
 * the stack whose values were used. What was only handed on to a caller (its saved registers, as a
 * counter of a loop) may differ. A program that waits again and again at one place has the same
 * path each time.
 */
#ifndef IMAGE_UNWIND_MEMO_H
#define IMAGE_UNWIND_MEMO_H

#include "image/unwind.h"

#define MEMO_FRAMES 64
#define MEMO_WORDS  64 /* of the stack */
#define MEMO_PATHS  32
#define TRACE_WORDS 512

/* Where a register's value is from: a word of the trace, and besides: */
enum {
	FROM_START = TRACE_WORDS, /* it is the sample's */
	FROM_USED
}; /* computed from what was used */

struct unwind_word {
	uint64_t into; /* the copy of the stack */
	uint64_t value;
};

struct unwind_trace {
	uint64_t registers; /* bit n: the sample's register n was used */
	size_t count;
	bool lost; /* it depends on more: it is not kept */
	struct unwind_word words[TRACE_WORDS];
	bool used[TRACE_WORDS];
};

struct unwind_memo {
	struct unwind_state state; /* without its stack's copy */
	uint64_t registers;        /* that must be the same */
	size_t count, words;
	struct unwind_word word[MEMO_WORDS];
	uint64_t pcs[MEMO_FRAMES];
	uint64_t interrupted;
	int complete;
};

/* The register's value is used. */
void unwind_trace_use(const struct unwind_state *s, unsigned number);
/* A word was read; its number for `from`. */
uint16_t unwind_trace_word(const struct unwind_state *s, uint64_t into, uint64_t value);
void unwind_trace_use_word(const struct unwind_state *s, uint16_t word);
/* Where a path from this state is kept. */
size_t unwind_memo_place(const struct unwind_state *state, unsigned pc, unsigned sp);
bool unwind_memo_fits(const struct unwind_memo *m, const struct unwind_state *state, size_t depth);
void unwind_memo_keep(struct unwind_memo *m, const struct unwind_state *state,
	const struct unwind_trace *trace, const uint64_t *pcs, size_t count);

#endif
