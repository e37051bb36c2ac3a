/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A loop of exactly so many instructions a turn, one half of them in each of two functions: sampled
 * at every N-th instruction, all samples of a run of it fall on one instruction.
 *
 *     resonate INSTRUCTIONS TURNS
 */
#include <stdio.h>
#include <stdlib.h>

#ifndef __x86_64__
int main(void)
{
	fprintf(stderr, "resonate: for x86-64\n");
	return 2;
}
#else
/* Each executes 2 * n + 1 instructions, its return included. */
__asm__(".text\n"
	".globl first\n.type first, @function\nfirst:\n"
	"1:	dec %rdi\n	jnz 1b\n	ret\n.size first, .-first\n"
	".globl second\n.type second, @function\nsecond:\n"
	"1:	dec %rdi\n	jnz 1b\n	ret\n.size second, .-second\n"
	/* turns(first's n, second's n, turns, whether a nop): 8 instructions a turn, 9 with the
	   nop, and these. */
	".globl turns\n.type turns, @function\nturns:\n"
	"	push %rbx\n	push %r12\n	push %r13\n"
	"	mov %rdi, %r12\n	mov %rsi, %r13\n	mov %rdx, %rbx\n"
	"	test %rcx, %rcx\n	jnz 3f\n"
	"2:	mov %r12, %rdi\n	call first\n	mov %r13, %rdi\n	call second\n"
	"	dec %rbx\n	jnz 2b\n	jmp 4f\n"
	"3:	mov %r12, %rdi\n	call first\n	mov %r13, %rdi\n	call second\n"
	"	nop\n	dec %rbx\n	jnz 3b\n"
	"4:	pop %r13\n	pop %r12\n	pop %rbx\n	ret\n.size turns, .-turns\n");

void turns(unsigned long a, unsigned long b, unsigned long count, unsigned long odd);

int main(int argc, char **argv)
{
	unsigned long n = argc == 3 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0, pairs, odd;

	if (n < 16 || !count) {
		fprintf(stderr, "usage: resonate INSTRUCTIONS TURNS\n");
		return 2;
	}
	/* A turn: 4 to call, 2 returns, 2 of the loop, perhaps a nop, and the pairs. */
	odd = n % 2;
	pairs = (n - 8 - odd) / 2;
	turns(pairs / 2, pairs - pairs / 2, count, odd);
	return 0;
}
#endif
