/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that load and store. */
#include "kernels/kernels.h"

#include "base/random.h"
#include "kernels/private.h"

/* Sattolo's shuffle, done in the lines themselves: i -> index(next[i]) is one cycle. */
KERNEL void *kernel_chain_build(const struct layout *l, unsigned slot, uint64_t *random)
{
	for (size_t i = 0; i < l->count; i++) {
		struct node *node = (struct node *)layout_line(l, i);

		node->next[slot] = (struct node *)&node->next[slot];
	}
	for (size_t i = l->count - 1; i > 0; i--) {
		struct node *a = (struct node *)layout_line(l, i);
		struct node *b = (struct node *)layout_line(l, random_next(random) % i);
		struct node *next = a->next[slot];

		a->next[slot] = b->next[slot];
		b->next[slot] = next;
	}
	return &((struct node *)l->base)->next[slot];
}

KERNEL void *kernel_chase(void *at, size_t count)
{
	for (size_t i = 0; i < count; i += 8) {
#define STEP at = *(void *volatile *)at;
		REPEAT8(STEP)
#undef STEP
	}
	return at;
}

KERNEL void kernel_chains(void *at[CHAINS], size_t count)
{
	void *a = at[0], *b = at[1], *c = at[2], *d = at[3];

	for (size_t i = 0; i < count; i += 8 * CHAINS) {
#define STEP                                                                                       \
	a = *(void *volatile *)a, b = *(void *volatile *)b, c = *(void *volatile *)c,              \
	d = *(void *volatile *)d;
		REPEAT8(STEP)
#undef STEP
	}
	at[0] = a, at[1] = b, at[2] = c, at[3] = d;
}

KERNEL void kernel_independent(const struct layout *l, size_t count, uint64_t *seed)
{
	uint64_t counter = *seed, mask = l->count - 1, a = 0, b = 0;
	char *base = l->base;
	size_t stride = l->stride;

	for (size_t i = 0; i < count; i += 2) {
		uint64_t h;

		counter += 0x9e3779b97f4a7c15u;
		h = counter ^ counter >> 32;
		a += *(volatile uint64_t *)(base + (h & mask) * stride);
		b += *(volatile uint64_t *)(base + (h >> 20 & mask) * stride);
	}
	KEEP(a);
	KEEP(b);
	*seed = counter;
}

/* What is loaded is used: Valgrind leaves out loads of which nothing needs the result. */
KERNEL size_t kernel_sweep(const struct layout *l, size_t count, size_t from)
{
	size_t stride = l->stride;
	uint64_t a = 0, b = 0;

	while (count > 0) {
		size_t n = l->count - from < count ? l->count - from : count;
		char *at = layout_line(l, from);

		for (size_t i = 0; i < n; i += 8) {
#define STEP(sum) sum += *(volatile uint64_t *)at, at += stride;
			STEP(a)
			STEP(b)
			STEP(a)
			STEP(b)
			STEP(a)
			STEP(b)
			STEP(a)
			STEP(b)
#undef STEP
		}
		count -= n;
		from = (from + n) & (l->count - 1);
	}
	KEEP(a);
	KEEP(b);
	return from;
}

/* Into the last word, which is in no chain. */
KERNEL size_t kernel_sweep_stores(const struct layout *l, size_t count, size_t from)
{
	size_t stride = l->stride;

	while (count > 0) {
		size_t n = l->count - from < count ? l->count - from : count;
		char *at = layout_line(l, from) + 8 * (LINE_WORDS - 1);

		for (size_t i = 0; i < n; i += 8) {
#define STEP *(volatile uint64_t *)at = i, at += stride;
			REPEAT8(STEP)
#undef STEP
		}
		count -= n;
		from = (from + n) & (l->count - 1);
	}
	return from;
}

static inline void flush_line(const void *at)
{
#if defined(__x86_64__)
	__asm__ volatile("clflush (%0)" : : "r"(at) : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dc civac, %0" : : "r"(at) : "memory");
#else
	(void)at;
#endif
}

static inline void flushed(void)
{
#if defined(__aarch64__)
	__asm__ volatile("dsb sy" : : : "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

KERNEL void kernel_flush_chase(void *at, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		void *next = *(void *volatile *)at;

		flush_line(at);
		at = next;
	}
	flushed();
}

KERNEL void kernel_flush_independent(const struct layout *l, size_t count, uint64_t seed)
{
	for (size_t i = 0; i < count; i += 2) {
		uint64_t h;

		seed += 0x9e3779b97f4a7c15u;
		h = seed ^ seed >> 32;
		flush_line(layout_line(l, h & (l->count - 1)));
		flush_line(layout_line(l, h >> 20 & (l->count - 1)));
	}
	flushed();
}

KERNEL void kernel_flush_sweep(const struct layout *l, size_t count, size_t from)
{
	for (size_t i = 0; i < count; i++)
		flush_line(layout_line(l, (from + i) & (l->count - 1)));
	flushed();
}

KERNEL void kernel_loads_at(char *base, size_t offset, size_t count)
{
	uint64_t a = 0, b = 0, c = 0, d = 0;

	for (size_t i = 0; i < count; i += 8) {
		char *at = base + 64 * (i & 63) + offset;
#define STEP(sum) sum += ((volatile struct unaligned *)at)->word, at += 64;
		STEP(a)
		STEP(b)
		STEP(c)
		STEP(d)
		STEP(a)
		STEP(b)
		STEP(c)
		STEP(d)
#undef STEP
	}
	KEEP(a);
	KEEP(b);
	KEEP(c);
	KEEP(d);
}

KERNEL void kernel_chain_at(char *base, size_t offset, size_t count)
{
	uint64_t zero = 0; /* the loaded value */

	for (size_t i = 0; i < count; i += 8) {
#define STEP zero = ((volatile struct unaligned *)(base + offset + zero))->word;
		REPEAT8(STEP)
#undef STEP
	}
	KEEP(zero);
}

KERNEL void kernel_forward_chain(char *line, size_t count)
{
	uint64_t x = 1;

	for (size_t i = 0; i < count; i++) {
		*(volatile uint64_t *)line = x;
		*(volatile uint64_t *)(line + 8) = 0;
		x = *(volatile uint64_t *)line;
	}
	KEEP(x);
}

KERNEL void kernel_forward_fail_chain(char *line, size_t count)
{
	uint64_t x = 1;

	for (size_t i = 0; i < count; i++) {
		*(volatile uint32_t *)line = (uint32_t)x;
		*(volatile uint32_t *)(line + 4) = 0;
		x = *(volatile uint64_t *)line;
	}
	KEEP(x);
}

KERNEL void kernel_forward_free(char *page, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *line = page + 64 * (i & 31);

		*(volatile uint64_t *)line = i;
		*(volatile uint64_t *)(line + 8) = 0;
		(void)*(volatile uint64_t *)line;
	}
}

KERNEL void kernel_forward_fail_free(char *page, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *line = page + 64 * (i & 31);

		*(volatile uint32_t *)line = (uint32_t)i;
		*(volatile uint32_t *)(line + 4) = 0;
		(void)*(volatile uint64_t *)line;
	}
}

KERNEL void kernel_store_load(char *page, size_t distance, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		char *line = page + 64 * (i & 31);

		*(volatile uint64_t *)line = i;
		(void)*(volatile uint64_t *)(line + distance);
	}
}

KERNEL void kernel_pass(char *to, const char *from, size_t count)
{
	uint64_t x = 1;

	for (size_t i = 0; i < count; i++) {
		size_t at = i & 7;

		((volatile uint64_t *)to)[at] = x;
		x = *(const volatile uint64_t *)(from + 8 * ((at - 1) & 7)) + 1;
	}
	KEEP(x);
}

KERNEL void kernel_pass_halves(char *to, const char *from, size_t count)
{
	uint64_t x = 1;

	for (size_t i = 0; i < count; i++) {
		size_t at = i & 7;

		((volatile uint64_t *)to)[at] = x;
		((volatile uint32_t *)to)[2 * at + 1] = 1;
		x = *(const volatile uint64_t *)(from + 8 * at) + 1;
	}
	KEEP(x);
}

KERNEL void kernel_exchange(char *base, size_t lines, size_t count)
{
	uint64_t x = count;

	for (size_t i = 0; i < count; i++)
		x = __atomic_exchange_n((uint64_t *)(base + 64 * (i % lines)), x, __ATOMIC_SEQ_CST);
	KEEP(x);
}

KERNEL void kernel_locked(char *base, size_t lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		__atomic_fetch_add(
			(uint64_t *)(base + 64 * (i & (lines - 1))), 1, __ATOMIC_SEQ_CST);
}

KERNEL void kernel_unlocked(char *base, size_t lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(volatile uint64_t *)(base + 64 * (i & (lines - 1))) += 1;
}
