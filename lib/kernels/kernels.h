/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The small programs that are timed on this host. Each performs `count` of one operation and
 * nothing else that takes time; none reads a clock. Portable C, whose order the compiler is kept
 * from changing; machine code only to measure code itself. They own nothing.
 */
#ifndef KERNELS_H
#define KERNELS_H

#include <stddef.h>
#include <stdint.h>

#define LINE_WORDS 8 /* slots of a node: several chains can run through the same lines */

struct node { /* a cache line of 64 bytes, or the first 64 of a longer one */
	struct node *next[LINE_WORDS];
};

/* Lines at a distance of `stride`. */
struct layout {
	char *base;
	size_t count;  /* a power of two, at least 8 */
	size_t stride; /* bytes */
};

static inline char *layout_line(const struct layout *l, size_t i)
{
	return l->base + i * l->stride;
}

/* Links a layout's lines, in random order, into one cycle of pointers to slots; returns its
 * first. */
void *kernel_chain_build(const struct layout *l, unsigned slot, uint64_t *random);

/* One-cycle adds, each dependent on the last: they measure the core's cycle. count: a multiple of
 * 64. */
void kernel_adds(size_t count);
/* Independent adds, loads and floating adds. count: a multiple of 24. */
void kernel_mix(const char *line, size_t count);
/* Dependent loads: each gives the next one's address. Returns the last address. count: a multiple
 * of 8. */
void *kernel_chase(void *at, size_t count);
/* The same along CHAINS chains simultaneously. at: the address in each, updated. count: of all
 * loads together, a multiple of 8 * CHAINS. */
#define CHAINS 4
void kernel_chains(void *at[CHAINS], size_t count);
/* Independent loads in an order that no prefetcher follows. count: even; lines: up to 2^20. */
void kernel_independent(const struct layout *l, size_t count, uint64_t *seed);
/* Loads, or stores, one per line, in order, from line `from` on, cyclically; returns the next
 * line. count and from: multiples of 8. */
size_t kernel_sweep(const struct layout *l, size_t count, size_t from);
size_t kernel_sweep_stores(const struct layout *l, size_t count, size_t from);
/* Flushes the lines that the kernel of the same name would access next from all caches. */
#if defined(__x86_64__) || defined(__aarch64__)
#define KERNELS_HAVE_FLUSH 1
#else
#define KERNELS_HAVE_FLUSH 0
#endif
void kernel_flush_chase(void *at, size_t count);
void kernel_flush_independent(const struct layout *l, size_t count, uint64_t seed);
void kernel_flush_sweep(const struct layout *l, size_t count, size_t from);

/* Loads of 8 bytes at base + 64 * (i % 64) + offset. */
void kernel_loads_at(char *base, size_t offset, size_t count);
/* Each load's result is needed for the address of the next: latency of an access at that offset. */
void kernel_chain_at(char *base, size_t offset, size_t count);

/* Branches that follow bytes[i] & 1, i < count.  */
void kernel_branches(const uint8_t *bytes, size_t count);
/* The same with conditions known early. */
void kernel_branches_early(const uint64_t *words, size_t count);

/* A chain with two cycles of other work per divide. */
void kernel_divides_chain(uint64_t dividend, uint64_t divisor, size_t count);
void kernel_divides_free(uint64_t dividend, uint64_t divisor, size_t count);
void kernel_fp_divides_chain(size_t count);
void kernel_fp_divides_free(size_t count);
void kernel_fp_adds_chain(size_t count);

/* A value through memory and back: stored whole, or in halves, which no processor forwards
 * together. */
void kernel_forward_chain(char *line, size_t count);
void kernel_forward_fail_chain(char *line, size_t count);
void kernel_forward_free(char *page, size_t count);
void kernel_forward_fail_free(char *page, size_t count);
/* A store to page, then a load from page + distance; both are independent of earlier ones. */
void kernel_store_load(char *page, size_t distance, size_t count);

/* One value through memory and back, by pointers of which the processor does not know beforehand
 * that they are equal: stored whole, or its upper half over a stored whole. The first passes two
 * values by turns, since processors learn that a load needs what the same store stored last. */
void kernel_pass(char *to, const char *from, size_t count);
void kernel_pass_halves(char *to, const char *from, size_t count);

/* The same by one pointer that does not change, as variables on the stack are kept: count is a
 * multiple of 8. And from one vector register to another. */
void kernel_pass_same(char *to, size_t count);
void kernel_pass_vector(char *to, const char *from, size_t count);

/* Chains of loads with a scaled index (of a zero, which is 0), of addresses with one (the
 * instruction lea), of square roots. count: a multiple of 8. */
size_t kernel_chase_scaled(const size_t *zeros, size_t count);
void kernel_addresses(size_t count);
void kernel_roots(size_t count);

/* Calls of a function that does nothing. count: a multiple of 8. */
void kernel_returns(size_t count);
/* Indirect jumps to two targets by turns. */
void kernel_targets(size_t count);

/* A chain of multiplications, with a branch in each turn that follows a bit of its value: at random
 * if there is a bit in mask, else always the same way. All that follows waits for a wrong one. */
void kernel_decisions(uint64_t *value, uint64_t mask, size_t count);

/* A chain of exchanges with lines in turn. */
void kernel_exchange(char *base, size_t lines, size_t count);

void kernel_locked(char *base, size_t lines, size_t count);
void kernel_unlocked(char *base, size_t lines, size_t count);

/*
 * Machine code written into writable memory of the caller; it must be made executable before it is
 * called as void (*)(void).
 */
#if defined(__x86_64__) || defined(__aarch64__)
#define KERNELS_HAVE_CODE 1
#else
#define KERNELS_HAVE_CODE 0
#endif
/* `lines` lines of instructions that do nothing, then a return: room for lines + 1. */
void kernel_code_write_straight(const struct layout *l);
/* A jump in each line to another, in random order, from line 0 on, then a return. */
void kernel_code_write_jumps(const struct layout *l, uint64_t *random);

#endif
