/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The effect of instructions that transfer control. */
#include <stddef.h>
#include <sys/ptrace.h>

#include "branches/private.h"
#include "isa/condition.h"
#include "isa/isa.h"
#include "isa/registers.h"

/* loopne, loope, loop, jrcxz. */
static bool step_counts(const struct transfer *t, struct user_regs_struct *r)
{
	uint64_t left;

	if (t->condition == 3)
		return (t->wide ? r->rcx : (uint32_t)r->rcx) == 0;
	left = t->wide ? r->rcx - 1 : (uint32_t)(r->rcx - 1);
	r->rcx = left;
	if (t->condition == 2)
		return left != 0;
	return left != 0 && !(r->eflags & FLAG_ZERO) == !t->condition;
}

static uint64_t step_value_of(const struct user_regs_struct *r, unsigned reg)
{
	if (reg >= ISA_GENERALS)
		return 0;
	return *(
		const unsigned long long *)(const void *)((const char *)r + isa_general_place(reg));
}

static int find_target(
	const struct transfer *t, int memory, const struct user_regs_struct *r, uint64_t *to)
{
	uint64_t address;

	if (t->target == TARGET_DIRECT) {
		*to = t->to;
		return 0;
	}
	if (t->target == TARGET_REGISTER) {
		*to = step_value_of(r, t->reg);
		return 0;
	}
	address = (uint64_t)t->displacement + step_value_of(r, t->base) +
		  step_value_of(r, t->index) * t->scale;
	if (t->segment)
		address += t->segment == 0x64 ? r->fs_base : r->gs_base;
	return process_read(memory, address, to, sizeof(*to)) ? 0 : -1;
}

int step_transfer(const struct transfer *t, int memory, struct user_regs_struct *r)
{
	uint64_t to = 0;

	switch (t->kind) {
	case TRANSFER_CONDITION:
		r->rip = isa_holds(t->condition, r->eflags) ? t->to : t->next;
		return 0;
	case TRANSFER_COUNT:
		r->rip = step_counts(t, r) ? t->to : t->next;
		return 0;
	case TRANSFER_JUMP:
		if (find_target(t, memory, r, &to))
			return -1;
		break;
	case TRANSFER_CALL:
		if (find_target(t, memory, r, &to) ||
			!process_write(memory, r->rsp - 8, &t->next, sizeof(t->next)))
			return -1;
		r->rsp -= 8;
		break;
	case TRANSFER_RETURN:
		if (!process_read(memory, r->rsp, &to, sizeof(to)))
			return -1;
		r->rsp += 8u + t->drop;
		break;
	default:
		return -1;
	}
	r->rip = to;
	return 0;
}

int step_apply(pid_t tid, const struct user_regs_struct *before, const struct user_regs_struct *r)
{
	const struct {
		size_t offset;
		uint64_t before, now;
	} changes[] = {
		{offsetof(struct user_regs_struct, rsp), before->rsp, r->rsp},
		{offsetof(struct user_regs_struct, rcx), before->rcx, r->rcx},
		{offsetof(struct user_regs_struct, rax), before->rax, r->rax},
		{offsetof(struct user_regs_struct, rdx), before->rdx, r->rdx},
		{offsetof(struct user_regs_struct, rip), before->rip, r->rip},
	};
	int rc = 0;

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++)
		if (changes[i].before != changes[i].now &&
			ptrace(PTRACE_POKEUSER, tid, (void *)changes[i].offset,
				(void *)(uintptr_t)changes[i].now) != 0)
			rc = -1;
	return rc;
}
