/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops whose time a processor's latencies give: chains of dependent instructions, and independent
 * ones.  Each loop has 4000 steps of 8 instructions; prints what one instruction of the 8 takes, in
 * hundredths of a cycle rounded to ten, and the same for stalls of the front and the back end.
 */
#include <stdio.h>
#include <stdlib.h>

#include "model/wire/requests.h"

enum { STEPS = 4000, LINES = 1024 };

static uint64_t before[EVENT_LIMIT], after[EVENT_LIMIT];
static void *line[LINES][8] __attribute__((aligned(4096)));
static long word __attribute__((aligned(64)));

static long per_instruction(int event)
{
	return (long)((after[event] - before[event]) * 100 / (STEPS * 8) + 5) / 10 * 10;
}

static void show(const char *name)
{
	printf("%s: %ld cycles, %ld front, %ld back\n", name, per_instruction(EV_CYCLES),
		per_instruction(EV_FRONTEND_STALLS), per_instruction(EV_BACKEND_STALLS));
}

#define LOOP(name, body, ...)                                                                      \
	do {                                                                                       \
		model_request_read_thread(before, EVENT_LIMIT);                                    \
		__asm__ volatile("mov $4000,%%ecx; 1: " body "dec %%ecx; jnz 1b" ::__VA_ARGS__     \
				 : "rax", "rbx", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10",    \
				 "r11", "xmm0", "xmm1", "xmm2", "xmm3", "cc", "memory");           \
		model_request_read_thread(after, EVENT_LIMIT);                                     \
		show(name);                                                                        \
	} while (0)

#define EIGHT(s) s s s s s s s s

/* A ring of lines in an order that no prefetcher follows. */
static void *ring(int lines)
{
	int at = 0;

	for (int i = 0; i < lines; i++) {
		int next = (at + 387) % lines;

		line[at][0] = &line[next][0];
		at = next;
	}
	return &line[0][0];
}

int main(void)
{
	LOOP("xor chain", EIGHT("xor %%rbx,%%rax; "), "r"(0L));
	LOOP("independent",
		"xor %%rbx,%%rax; xor %%rbx,%%rdx; xor %%rbx,%%rsi; xor %%rbx,%%rdi; "
		"xor %%rbx,%%r8; xor %%rbx,%%r9; xor %%rbx,%%r10; xor %%rbx,%%r11; ",
		"r"(0L));
	LOOP("multiply chain", EIGHT("imul %%rbx,%%rax; "), "r"(0L));
	LOOP("moves between", EIGHT("imul %%rbx,%%rax; mov %%rax,%%rdx; mov %%rdx,%%rax; "),
		"r"(0L));
	LOOP("vector addition chain",
		"xorps %%xmm0,%%xmm0; movaps %%xmm0,%%xmm1; " EIGHT("addpd %%xmm1,%%xmm0; "),
		"r"(0L));
	LOOP("division chain", EIGHT("mov $7,%%ebx; xor %%edx,%%edx; div %%rbx; "), "r"(0L));
	LOOP("loads in L1", "mov %0,%%rax; " EIGHT("mov (%%rax),%%rax; "), "r"(ring(16)));
	LOOP("loads in L1, going on", EIGHT("mov (%0),%0; "), "r"(ring(16)));
	ring(LINES);
	__asm__ volatile(
		"mov %0,%%rax; mov $2048,%%ecx; 1: mov (%%rax),%%rax; dec %%ecx; jnz 1b" ::"r"(
			&line[0][0])
		: "rax", "rcx", "cc", "memory");
	LOOP("loads in L2, going on", EIGHT("mov (%0),%0; "), "r"(&line[0][0]));
	LOOP("through memory", EIGHT("addq $1,%0; "), "m"(word));
	LOOP("push and pop", "sub $128,%%rsp; " EIGHT("push %%rax; pop %%rbx; ") "add $128,%%rsp; ",
		"r"(0L));
	return 0;
}
