/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Provokes each event many times.
 *
 * Data misses: a buffer is flushed from all caches line by line, if user mode has an instruction
 * for that, and then read in random order; otherwise it is larger than usual caches. TLB misses: 32
 * MiB of address space are touched, one load per page; as nothing is ever written there, it all
 * maps to the kernel's page of zeros and costs no memory.
 */
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/random.h"
#include "sources/selftest.h"

#define PAGE      4096
#define TLB_PAGES 8192
#define LINE      64

#if defined(__x86_64__) || defined(__aarch64__)
#define BUFFER (256 << 10)
#else
#define BUFFER (64 << 20)
#endif

static void provoke_flush(char *line)
{
#if defined(__x86_64__)
	__asm__ volatile("clflush %0" : "+m"(*line));
#elif defined(__aarch64__)
	__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
#else
	(void)line;
#endif
}

static void fence(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void provoke_misses(char *buffer, const char *pages, uint64_t *x)
{
	uint64_t at = 0;

	for (size_t i = 0; i < BUFFER; i += LINE) {
		buffer[i] = (char)i;
		provoke_flush(buffer + i);
	}
	fence();
	/* Each address depends on the load before: no two misses overlap. */
	for (int i = 0; i < 2000; i++)
		at = (random_next(x) + (uint64_t)((volatile char *)buffer)[at]) % (BUFFER / LINE) *
		     LINE;
	for (int i = 0; i < 4000; i++)
		at += (uint64_t)((
			volatile const char *)pages)[(random_next(x) + at) % TLB_PAGES * PAGE];
	*x += at;
}

__attribute__((noinline)) static uint64_t odd(uint64_t v)
{
	__asm__ volatile("");
	return v * 3 + 1;
}

__attribute__((noinline)) static uint64_t even(uint64_t v)
{
	__asm__ volatile("");
	return v >> 1;
}

static void provoke_branches(uint64_t *x)
{
	volatile uint64_t sum = 0;

	for (int i = 0; i < 4000; i++) {
		uint64_t v = random_next(x);

		if (v & 0x10000)
			sum = odd(sum);
		else
			sum = even(sum + v);
	}
	*x ^= sum;
}

typedef double pair __attribute__((vector_size(16)));

static void provoke_arithmetic(uint64_t *x)
{
	volatile uint64_t dividend = *x | 1, divisor = 12345, quotient;
	volatile double number = 1.5;
	static uint64_t shared;
	pair a = {1.25, 2.5}, b = {0.5, 0.25};

	for (int i = 0; i < 1000; i++) {
		quotient = dividend / divisor;
		dividend = quotient ^ *x;
		number = number / 1.0001 + number * 0.25;
		a = a * b + a;
		b = b / a + b;
		__asm__ volatile("" : "+m"(a), "+m"(b)); /* as vectors, and not at compile time */
		__atomic_fetch_add(&shared, 1, __ATOMIC_SEQ_CST);
	}
	*x += dividend + (uint64_t)number + shared;
}

void provoke(void)
{
	static char *buffer, *pages; /* kept until the process ends */
	static uint64_t x = 0x9E3779B97F4A7C15ULL;

	if (!pages) {
		void *p =
			mmap(NULL, TLB_PAGES * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		buffer = aligned_alloc(PAGE, BUFFER);
		if (p == MAP_FAILED || !buffer) {
			free(buffer);
			return; /* events that it should provoke then fail the self-test */
		}
		madvise(p, TLB_PAGES * PAGE, MADV_NOHUGEPAGE);
		for (size_t i = 0; i < TLB_PAGES; i++)
			x += (uint64_t)((volatile char *)p)[i * PAGE];
		pages = p;
	}
	provoke_misses(buffer, pages, &x);
	provoke_branches(&x);
	provoke_arithmetic(&x);
}
