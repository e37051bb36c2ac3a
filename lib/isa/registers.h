/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where ptrace has the general registers of x86-64. Only for files that are built there. */
#ifndef ISA_REGISTERS_H
#define ISA_REGISTERS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

enum { ISA_GENERALS = 16 };

/* The place in struct user_regs_struct of the register of that number, below ISA_GENERALS, as
 * instructions encode it. */
static inline size_t isa_general_place(unsigned number)
{
	static const uint16_t places[ISA_GENERALS] = {offsetof(struct user_regs_struct, rax),
		offsetof(struct user_regs_struct, rcx), offsetof(struct user_regs_struct, rdx),
		offsetof(struct user_regs_struct, rbx), offsetof(struct user_regs_struct, rsp),
		offsetof(struct user_regs_struct, rbp), offsetof(struct user_regs_struct, rsi),
		offsetof(struct user_regs_struct, rdi), offsetof(struct user_regs_struct, r8),
		offsetof(struct user_regs_struct, r9), offsetof(struct user_regs_struct, r10),
		offsetof(struct user_regs_struct, r11), offsetof(struct user_regs_struct, r12),
		offsetof(struct user_regs_struct, r13), offsetof(struct user_regs_struct, r14),
		offsetof(struct user_regs_struct, r15)};

	return places[number];
}

#endif
