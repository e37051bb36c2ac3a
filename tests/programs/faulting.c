/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults in the middle of superblocks and of repeated string instructions: half of the accesses are
 * to a page that the handler makes accessible, and the instruction is then executed again; the
 * others are left by siglongjmp.
 *
 * usage: faulting [N [extended]]: with N, from 0 to 3, no fault is handled: the program dies at the
 * Nth of four loads of a superblock.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096

static char *pages; /* two, of which the second one is not accessible */
static sigjmp_buf back;
static volatile int repair;
static volatile long faults;

static void on_fault(int signal)
{
	(void)signal;
	faults++;
	if (!repair)
		siglongjmp(back, 1);
	mprotect(pages, 2 * PAGE, PROT_READ | PROT_WRITE);
}

/* Several instructions before the fault, and a branch; some after it. */
static long plain(const char *at, long n)
{
	long sum = n * 3;

	__asm__ volatile("	add $5, %0\n"
			 "	cmp $0, %2\n"
			 "	jne 1f\n"
			 "	add $7, %0\n"
			 "1:	mov -4096(%1), %%rdx\n"
			 "	imul $3, %0\n"
			 "	add (%1), %0\n"
			 "	imul $5, %0\n"
			 "	add 8(%1), %0\n"
			 : "+r"(sum)
			 : "r"(at), "r"(n)
			 : "rdx", "memory", "cc");
	return sum;
}

static void copy(char *to, const char *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n)::"memory");
}

static void fill(char *to, size_t n)
{
	n /= 8;
	__asm__ volatile("rep stosq" : "+D"(to), "+c"(n) : "a"(0) : "memory");
}

static long find(const char *in, size_t n)
{
	__asm__ volatile("repne scasb" : "+D"(in), "+c"(n) : "a"(1) : "memory", "cc");
	return (long)n;
}

static long divide(long n)
{
	long result = n, rest = 0;

	__asm__ volatile("add $3, %0\n	sub $3, %0\n	idivq %2"
			 : "+a"(result), "+d"(rest)
			 : "r"(0L));
	return result;
}

static void once(int kind, long round)
{
	long n = 40 + round;

	mprotect(pages + PAGE, PAGE, PROT_NONE);
	if (sigsetjmp(back, 1))
		return;
	switch (kind) {
	case 0:
		plain(pages + PAGE, round % 2);
		break;
	case 1:
		copy(pages + PAGE - n / 2, pages, (size_t)n);
		break;
	case 2:
		copy(pages, pages + PAGE - n / 2, (size_t)n);
		break;
	case 3:
		fill(pages + PAGE - 16 * n, (size_t)(32 * n));
		break;
	case 4:
		find(pages + PAGE - n, (size_t)(2 * n));
		break;
	case 5:
		repair = 0;
		divide(n);
		break;
	}
}

/* One instruction in front of each load. */
#define FOUR(load)                                                                                 \
	__asm__ volatile("jmp 1f; 1: add $1, %%eax; " load " (%0); add $1, %%eax; " load           \
			 " (%1); add $1, %%eax; " load " (%2); add $1, %%eax; " load " (%3)"       \
			 :                                                                         \
			 : "r"(to[0]), "r"(to[1]), "r"(to[2]), "r"(to[3])                          \
			 : "rax", "memory", "cc")

/* extended: loads of extended precision, which Valgrind leaves to a function. */
static void die(unsigned n, int extended)
{
	const long *to[4], somewhere[2] = {0};

	for (unsigned i = 0; i < 4; i++)
		to[i] = i == n ? NULL : somewhere;
	if (extended)
		FOUR("fldt");
	else
		FOUR("rolq");
}

int main(int argc, char **argv)
{
	if (argc > 1)
		die((unsigned)argv[1][0] - '0', argc > 2);
	pages = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return 1;
	signal(SIGSEGV, on_fault);
	signal(SIGFPE, on_fault);
	for (int kind = 0; kind < 6; kind++)
		for (long round = 0; round < 8; round++) {
			repair = round & 2;
			once(kind, round);
		}
	printf("%ld faults\n", faults);
	return faults == 48 ? 0 : 1;
}
