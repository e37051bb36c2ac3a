/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Into a block and out of it.  struct worker_image (worker.h) holds what is loaded; general
 * registers are loaded by the code laid out itself (worker_code.c), which also comes back to
 * worker_back with its stack pointer lost.
 */
	.text
	.globl _start
_start:
	xorl %ebp, %ebp
	leaq worker_stack_top(%rip), %rsp
	call worker_main
	ud2

/* worker_syscall(number, a..f) */
	.globl worker_syscall, worker_syscall_end, worker_restore
worker_syscall:
	movq %rdi, %rax
	movq %rsi, %rdi
	movq %rdx, %rsi
	movq %rcx, %rdx
	movq %r8, %r10
	movq %r9, %r8
	movq 8(%rsp), %r9
	syscall
	ret
worker_restore:
	movl $15, %eax /* rt_sigreturn */
	syscall
worker_syscall_end:
	ud2

#define BROADCAST(load, reg) \
	load 64(%rsi), %reg##0; load 64(%rsi), %reg##1; load 64(%rsi), %reg##2; load 64(%rsi), %reg##3; \
	load 64(%rsi), %reg##4; load 64(%rsi), %reg##5; load 64(%rsi), %reg##6; load 64(%rsi), %reg##7; \
	load 64(%rsi), %reg##8; load 64(%rsi), %reg##9; load 64(%rsi), %reg##10; load 64(%rsi), %reg##11; \
	load 64(%rsi), %reg##12; load 64(%rsi), %reg##13; load 64(%rsi), %reg##14; load 64(%rsi), %reg##15
#define BROADCAST_HIGH(load, reg) \
	load 64(%rsi), %reg##16; load 64(%rsi), %reg##17; load 64(%rsi), %reg##18; load 64(%rsi), %reg##19; \
	load 64(%rsi), %reg##20; load 64(%rsi), %reg##21; load 64(%rsi), %reg##22; load 64(%rsi), %reg##23; \
	load 64(%rsi), %reg##24; load 64(%rsi), %reg##25; load 64(%rsi), %reg##26; load 64(%rsi), %reg##27; \
	load 64(%rsi), %reg##28; load 64(%rsi), %reg##29; load 64(%rsi), %reg##30; load 64(%rsi), %reg##31

#define CLEAR(n) vpxorq %xmm##n, %xmm##n, %xmm##n
#define CLEAR_HIGH \
	CLEAR(16); CLEAR(17); CLEAR(18); CLEAR(19); CLEAR(20); CLEAR(21); CLEAR(22); CLEAR(23); \
	CLEAR(24); CLEAR(25); CLEAR(26); CLEAR(27); CLEAR(28); CLEAR(29); CLEAR(30); CLEAR(31)

/* int worker_run(const void *entry) */
	.globl worker_run, worker_back, worker_abort
worker_run:
	pushq %rbx
	pushq %rbp
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	leaq image(%rip), %rsi
	movq %rsp, (%rsi)
	ldmxcsr 32(%rsi)
	cmpq $0, 24(%rsi)
	je 1f
	/* Code compiled for SSE runs with clean upper halves, whatever the processor has. */
	vzeroupper
1:	cmpq $1, 16(%rsi)
	je 2f
	ja 3f
	BROADCAST(movaps, xmm)
	jmp 4f
2:	BROADCAST(vmovaps, ymm)
	jmp 4f
3:	BROADCAST(vmovaps, zmm)
	BROADCAST_HIGH(vmovaps, zmm)
	kmovq 48(%rsi), %k0
	kmovq 48(%rsi), %k1
	kmovq 48(%rsi), %k2
	kmovq 48(%rsi), %k3
	kmovq 48(%rsi), %k4
	kmovq 48(%rsi), %k5
	kmovq 48(%rsi), %k6
	kmovq 48(%rsi), %k7
4:	movq $1, 8(%rsi)
	jmpq *%rdi

worker_back:
	xorl %eax, %eax
	jmp 5f
worker_abort:
	movl $1, %eax
5:	leaq image(%rip), %rsi
	movq (%rsi), %rsp
	pushq $2
	popfq
	movq $0, 8(%rsi)
	ldmxcsr 32(%rsi)
	cmpq $0, 24(%rsi)
	je 6f
	vzeroupper
	cmpq $2, 16(%rsi)
	jne 6f
	/* Those vzeroupper does not reach. */
	CLEAR_HIGH
6:	testl %eax, %eax
	jne 7f
	cmpl $0, 36(%rsi)
	je 8f
7:	fninit
8:	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbp
	popq %rbx
	ret

	.bss
	.balign 64
	.space 65536
worker_stack_top:
	.section .note.GNU-stack, "", @progbits
