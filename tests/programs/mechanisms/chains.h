/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels of dependences: loads that fail to be forwarded, long chains. */
#ifndef MECHANISMS_CHAINS_H
#define MECHANISMS_CHAINS_H

#include "code.h"

/* ---- loads that failed to be forwarded ---- */

static void put_at(const char *opcode, size_t at)
{
	int32_t distance = (int32_t)at;

	put_bytes(opcode, strlen(opcode));
	put += 4;
	memcpy(put - 4, &distance, sizeof(distance));
}

#define STORE_HALF "\x89\x8b"     /* mov %ecx, d(%rbx) */
#define STORE_ALL  "\x48\x89\xb3" /* mov %rsi, d(%rbx) */
#define LOAD_NEXT  "\x48\x8b\x8b" /* mov d(%rbx), %rcx */
#define OR_ALL     "\x48\x0b\x83" /* or d(%rbx), %rax */

enum { FAILURES = 16, FAR = 1024 };

/* Other stores of eight bytes before the store of a half, others between that and the load, which
 * gives what the next turn stores; bytes from other to other. */
static turn fails_chain(const size_t *n)
{
	for (units = 0; units < FAILURES; units++) {
		for (size_t i = 0; i < n[0]; i++)
			put_at(STORE_ALL, FAR + i * n[2]);
		put_at(STORE_HALF, 0);
		for (size_t i = 0; i < n[1]; i++)
			put_at(STORE_ALL, FAR + (n[0] + i) * n[2]);
		put_at(LOAD_NEXT, 0);
	}
	RETURN;
	return (turn)(void *)code;
}

/* So many stores of halves, then as many loads, all free of each other; bytes from store to store.
 */
static turn fails_free(const size_t *n)
{
	for (units = 0; units < FAILURES; units++) {
		for (size_t i = 0; i < n[0]; i++)
			put_at(STORE_HALF, i * n[1]);
		for (size_t i = 0; i < n[0]; i++)
			put_at(OR_ALL, i * n[1]);
	}
	RETURN;
	return (turn)(void *)code;
}

/* The address of the load, and with it the load, depends on so many additions, which begin with the
 * turn: the store of a half leaves the buffer meanwhile. */
static turn fails_late(const size_t *n)
{
	put_at("\x4c\x8b\xa3", FAR); /* mov d(%rbx), %r12: 0 */
	for (units = 0; units < FAILURES; units++) {
		PUT("\x89\x33"); /* mov %esi, (%rbx) */
		for (size_t i = 0; i < n[0]; i++)
			PUT("\x48\x83\xc1\x01"); /* add $1, %rcx */
		PUT("\x4c\x21\xe1");             /* and %r12, %rcx */
		PUT("\x48\x8b\x0c\x0b");         /* mov (%rbx,%rcx), %rcx */
	}
	RETURN;
	return (turn)(void *)code;
}

/* ---- loads that look as if a store of another page had some of their bytes ---- */

/* A store of eight bytes, and a load so many bytes (less 64) behind it in the next page, on whose
 * value so many additions depend, and then the next load. */
static turn aliases(const size_t *n)
{
	put_at("\x4c\x8b\xa3", 3 * FAR); /* mov d(%rbx), %r12: 0 */
	PUT("\x4c\x21\xe1");             /* and %r12, %rcx */
	for (units = 0; units < FAILURES; units++) {
		/* mov d(%rbx,%rcx), %rcx */
		put_at("\x48\x8b\x8c\x0b", (size_t)PAGE + FAR + n[0] - 64);
		put_at("\x48\x89\x83", FAR); /* mov %rax, d(%rbx) */
		for (size_t i = 0; i < n[1]; i++)
			PUT("\x4c\x01\xe1"); /* add %r12, %rcx */
	}
	RETURN;
	return (turn)(void *)code;
}

/* ---- long chains ---- */

enum { CHAIN_COUNT = 40 };

/* Instructions of a chain, of which each begins anew and is added to a sum; instructions of the mix
 * that follow each. The chains overlap as far as schedulers, registers and the window reach. */
static turn chains(const size_t *n, const char *first, const char *next, const char *last)
{
	for (units = 0; units < CHAIN_COUNT; units++) {
		put_bytes(first, strlen(first));
		for (size_t i = 0; i < n[0]; i++)
			put_bytes(next, strlen(next));
		put_bytes(last, strlen(last));
		put_some(n[1]);
	}
	RETURN;
	return (turn)(void *)code;
}

#define TO_RDI  "\x48\x89\xdf" /* mov %rbx, %rdi */
#define SUM_RDI "\x49\x01\xfc" /* add %rdi, %r12 */

static turn chains_add(const size_t *n)
{
	return chains(n, TO_RDI, "\x48\x01\xdf", SUM_RDI); /* add %rbx, %rdi */
}

static turn chains_multiply(const size_t *n)
{
	return chains(n, TO_RDI, "\x48\x0f\xaf\xfb", SUM_RDI); /* imul %rbx, %rdi */
}

static turn chains_load(const size_t *n)
{
	memcpy(data, &data, sizeof(data));
	return chains(n, TO_RDI, "\x48\x8b\x3f", SUM_RDI); /* mov (%rdi), %rdi */
}

static turn chains_load_op(const size_t *n)
{
	return chains(n, TO_RDI, "\x48\x33\x3b", SUM_RDI); /* xor (%rbx), %rdi */
}

/* mov %rdi, %rax; shr, %rax; movzbl %al, %eax; xor (%rbx,%rax,8), %r8 */
#define LOOK_UP(bits) "\x48\x89\xf8\x48\xc1\xe8" bits "\x0f\xb6\xc0\x4c\x33\x04\xc3"

/* Rounds of eight look-ups, one for each byte of what the round before gave, as ciphers have. */
static turn chains_look_up(const size_t *n)
{
	for (size_t i = 0; i < 256; i++)
		((uint64_t *)(void *)data)[i] = random_next(&seed);
	return chains(n, TO_RDI "\x49\x89\xf8", /* mov %rdi, %r8 */
		LOOK_UP("\x01") LOOK_UP("\x08") LOOK_UP("\x10") LOOK_UP("\x18") LOOK_UP("\x20")
			LOOK_UP("\x28") LOOK_UP("\x30")
				LOOK_UP("\x38") "\x4c\x89\xc7", /* mov %r8, %rdi */
		SUM_RDI);
}

/* xorps %xmm0, %xmm0; mulsd %xmm1, %xmm0; addsd %xmm0, %xmm2 */
static turn chains_float(const size_t *n)
{
	return chains(n, "\x0f\x57\xc0", "\xf2\x0f\x59\xc1", "\xf2\x0f\x58\xd0");
}

#endif
