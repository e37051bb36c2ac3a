# SPDX-License-Identifier: GPL-2.0-or-later
# Fixed addresses, no compiler: golden files name them.
	.text
	.globl _start
	.type _start, @function
_start:
	xorl %edi, %edi
	movl $1000, %ebx
1:	call hot
	call warm
	decl %ebx
	jne 1b
	movl $60, %eax
	syscall
	.size _start, . - _start
	.type cold, @function
cold:
	nop
	ret
	.size cold, . - cold
	.type hot, @function
hot:
	testl $7, %ebx
	je 2f
	addl $1, %ecx
2:	ret
	.size hot, . - hot
	.type warm, @function
warm:
	testl $1, %ebx
	jne 3f
	jmp hot
3:	ret
	.size warm, . - warm
