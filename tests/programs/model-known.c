/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Pieces of code whose counts are known by reading them.  Each runs between two client requests,
 * and what an empty piece counts is taken off.  Prints one line a piece: its name and the events
 * that it made happen.
 */
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "model/wire/requests.h"

static const struct {
	int event;
	const char *name;
} shown[] = {
	{EV_INSTRUCTIONS, "instructions"},
	{EV_LOADS, "loads"},
	{EV_STORES, "stores"},
	{EV_CONDITIONAL_BRANCHES, "conditional"},
	{EV_TAKEN_BRANCHES, "taken"},
	{EV_CALLS, "calls"},
	{EV_RETURNS, "returns"},
	{EV_INDIRECT_BRANCHES, "indirect"},
	{EV_LOCKED_INSTRUCTIONS, "locked"},
	{EV_DIVIDES, "divides"},
	{EV_FP_INSTRUCTIONS, "fp"},
	{EV_FP_OPERATIONS, "flops"},
	{EV_VECTOR_INSTRUCTIONS, "vector"},
	{EV_SOFTWARE_PREFETCHES, "prefetches"},
	{EV_SPLIT_ACCESSES, "split"},
	{EV_SYSTEM_CALLS, "syscalls"},
};
#define SHOWN (sizeof(shown) / sizeof(shown[0]))

static uint64_t before[EVENT_LIMIT], after[EVENT_LIMIT], empty[EVENT_LIMIT];
char from[8192] __attribute__((aligned(4096))), to[8192] __attribute__((aligned(4096)));
static char cold[64 * 64] __attribute__((aligned(4096)));
static long word __attribute__((aligned(64)));
static double numbers[8] __attribute__((aligned(64))) = {1, 2, 3, 4, 5, 6, 7, 8};

/* Without a name: what was counted is what an empty piece counts. */
static void show(const char *name)
{
	if (!name) {
		for (int i = 0; i < EVENT_LIMIT; i++)
			empty[i] = after[i] - before[i];
		return;
	}
	printf("%s:", name);
	for (size_t i = 0; i < SHOWN; i++) {
		int e = shown[i].event;
		long delta = (long)(after[e] - before[e] - empty[e]);

		if (delta)
			printf(" %s=%ld", shown[i].name, delta);
	}
	printf("\n");
}

#define PIECE(name, ...)                                                                           \
	do {                                                                                       \
		model_request_read_thread(before, EVENT_LIMIT);                                    \
		__asm__ volatile(__VA_ARGS__);                                                     \
		model_request_read_thread(after, EVENT_LIMIT);                                     \
		show(name);                                                                        \
	} while (0)

static void branches(void)
{
	PIECE("loop of 1000", "mov $1000,%%ecx; 1: dec %%ecx; jnz 1b" ::: "ecx", "cc");
	/* of 100 forward branches every second is taken */
	PIECE("alternating", "mov $100,%%ecx; 1: test $1,%%cl; jz 2f; nop; 2: dec %%ecx; jnz 1b" ::
			: "ecx", "cc");
	PIECE("never taken", "xor %%eax,%%eax; test %%eax,%%eax; jnz 1f; jc 1f; js 1f; 1:" ::
			: "eax", "cc");
	PIECE("loop instruction", "mov $50,%%ecx; 1: loop 1b" ::: "ecx");
	PIECE("jrcxz", "xor %%ecx,%%ecx; jrcxz 1f; nop; 1: inc %%ecx; jrcxz 1b" ::: "ecx", "cc");
	PIECE("jumps", "jmp 1f; 2: jmp 3f; 1: jmp 2b; 3:");
	PIECE("calls", "sub $128,%%rsp; mov $10,%%ecx; 1: call 2f; dec %%ecx; jnz 1b; jmp 3f; 2: "
		       "ret; 3: add "
		       "$128,%%rsp" ::
			: "ecx", "cc", "memory");
	PIECE("indirect",
		"sub $128,%%rsp; lea 2f(%%rip),%%rax; mov %%rax,%0; call *%%rax; call *%0; lea "
		"3f(%%rip),%%rax; jmp *%%rax; 2: ret; 3: add $128,%%rsp"
		: "+m"(word)::"rax", "cc", "memory");
}

static void strings(void)
{
	PIECE("rep movsb",
		"lea from(%%rip),%%rsi; lea to(%%rip),%%rdi; mov $4096,%%ecx; rep movsb" ::
			: "rsi", "rdi", "rcx", "memory");
	PIECE("rep movsq, three times", "mov $3,%%edx; 1: lea from(%%rip),%%rsi; lea "
					"to(%%rip),%%rdi; mov $100,%%ecx; rep movsq; dec "
					"%%edx; jnz 1b" ::
			: "rsi", "rdi", "rcx", "rdx", "memory", "cc");
	PIECE("rep movsb twice in a row", "lea from(%%rip),%%rsi; lea to(%%rip),%%rdi; mov "
					  "$5,%%ecx; rep movsb; mov $5,%%ecx; rep "
					  "movsb" ::
			: "rsi", "rdi", "rcx", "memory");
	PIECE("rep stosq", "lea to(%%rip),%%rdi; xor %%eax,%%eax; mov $512,%%ecx; rep stosq" ::
			: "rdi", "rax", "rcx", "memory", "cc");
	PIECE("rep of nothing", "xor %%ecx,%%ecx; rep movsb" ::
			: "rcx", "rsi", "rdi", "memory", "cc");
	PIECE("rep tail",
		"lea to(%%rip),%%rdi; mov $1,%%ecx; xor %%eax,%%eax; rep stosb; rep stosb" ::
			: "rdi", "rax", "rcx", "memory", "cc");
	from[99] = 'x'; /* found after 100 comparisons */
	PIECE("repne scasb",
		"lea from(%%rip),%%rdi; mov $'x',%%eax; mov $1000,%%ecx; repne scasb" ::
			: "rdi", "rax", "rcx", "cc");
	PIECE("repe cmpsb",
		"lea from(%%rip),%%rsi; lea to(%%rip),%%rdi; mov $50,%%ecx; repe cmpsb" ::
			: "rsi", "rdi", "rcx", "cc");
	PIECE("movsb alone", "lea from(%%rip),%%rsi; lea to(%%rip),%%rdi; movsb" ::
			: "rsi", "rdi", "memory");
}

static void memory(void)
{
	PIECE("add to memory", "addq $1,%0" : "+m"(word)::"cc");
	PIECE("lock add", "lock addq $1,%0" : "+m"(word)::"cc");
	PIECE("xchg", "xor %%eax,%%eax; xchg %%rax,%0" : "+m"(word)::"rax", "cc");
	PIECE("lock cmpxchg", "xor %%eax,%%eax; lock cmpxchg %%rax,%0" : "+m"(word)::"rax", "cc");
	PIECE("push pop", "sub $128,%%rsp; push %%rax; pop %%rax; add $128,%%rsp" ::
			: "cc", "memory");
	PIECE("split load", "mov from+60(%%rip),%%rax" ::: "rax");
	PIECE("vector load and store", "movdqa from(%%rip),%%xmm0; movdqa %%xmm0,to(%%rip)" ::
			: "xmm0", "memory");
	PIECE("prefetch",
		"prefetcht0 from(%%rip); lea from(%%rip),%%rax; prefetchnta 8(%%rax,%%rax,1); "
		"prefetchw (%%rax)" ::
			: "rax");
}

static void arithmetic(void)
{
	PIECE("divides",
		"mov $100,%%eax; xor %%edx,%%edx; mov $7,%%ecx; div %%ecx; cltd; idiv %%ecx" ::
			: "eax", "edx", "ecx", "cc");
	PIECE("scalar",
		"movsd %0,%%xmm0; addsd %%xmm0,%%xmm0; mulsd %0,%%xmm0; divsd %0,%%xmm0; ucomisd "
		"%%xmm0,%%xmm0" ::"m"(numbers[2])
		: "xmm0", "cc");
	PIECE("packed",
		"movapd %0,%%xmm0; addpd %%xmm0,%%xmm0; mulps %%xmm0,%%xmm0; paddd %%xmm0,%%xmm0" ::
			"m"(numbers[0])
		: "xmm0");
	if (__builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2"))
		PIECE("fused", "vmovapd %0,%%ymm0; vfmadd231pd %%ymm0,%%ymm0,%%ymm0; vfmadd213sd "
			       "%%xmm0,%%xmm0,%%xmm0; vzeroupper" ::"m"(numbers[0])
			: "xmm0");
	else
		printf("fused: instructions=4 loads=1 fp=2 flops=10 vector=2\n");
	PIECE("x87", "fldl %0; fldl %0; faddp; fsqrt; fstpl %1" ::"m"(numbers[1]), "m"(numbers[7])
		: "memory");
	PIECE("getpid ten times",
		"mov $10,%%ebx; 1: mov %0,%%eax; syscall; dec %%ebx; jnz 1b" ::"i"(SYS_getpid)
		: "rax", "rbx", "rcx", "r11", "cc", "memory");
}

/* Of 32 lines, one in two is prefetched: loads of those do not miss. */
static void prefetched(void)
{
	model_request_read_thread(before, EVENT_LIMIT);
	for (int i = 0; i < 64; i += 2)
		__asm__ volatile("prefetcht0 (%0,%1,8)" ::"r"(cold), "r"((long)i * 8));
	for (int i = 0; i < 64; i++)
		__asm__ volatile("mov (%0),%%al" ::"r"(cold + 64 * i) : "al");
	model_request_read_thread(after, EVENT_LIMIT);
	printf("prefetched half: misses=%d\n",
		(int)(after[EV_L1D_MISSES] - before[EV_L1D_MISSES] - empty[EV_L1D_MISSES]));
}

int main(void)
{
	if (model_request_version() != MODEL_REQUEST_VERSION_NUMBER) {
		printf("not under the model\n");
		return 1;
	}
	memset(to, 0, sizeof(to));
	memset(from, 0, sizeof(from));
	for (int i = 0; i < 3; i++) /* the first time misses more */
		PIECE(NULL, "");
	branches();
	strings();
	memory();
	arithmetic();
	prefetched();
	return 0;
}
