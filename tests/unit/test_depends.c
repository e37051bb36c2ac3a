/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which instructions compute with an argument, in procedures written by hand. Bytes as GNU as makes
 * them from what stands beside them. */
#include "../tap.h"

#include <stdio.h>

#include "explain/depends.h"
#include "unhex.h"

#define AT UINT64_C(0x401000)

/* A letter for each instruction: x computes with it. */
static void dependent(const char *what, const char *hex, uint32_t argument, const char *want)
{
	uint8_t bytes[128];
	bool depends[64];
	char got[65] = "";
	struct error e;
	struct flow_request r = {.machine = ISA_X86_64,
		.begin = AT,
		.bytes = bytes,
		.size = unhex(hex, bytes, sizeof(bytes))};
	struct flow *f = flow_new(&r, &e);

	if (f && f->insns.count <= 64 &&
		explain_depends(f, explain_argument_register(argument), depends) == 0)
		for (size_t i = 0; i < f->insns.count; i++)
			got[i] = depends[i] ? 'x' : '.';
	is_str(got, want, "%s", what);
	flow_free(f);
}

int main(void)
{
	/* mov %rdi,%rax; xor %edx,%edx; div %rsi; add %rdx,%rcx; ret */
	dependent("a divisor: the division, not what is done with its result",
		"4889f8"
		"31d2"
		"48f7f6"
		"4801d1"
		"c3",
		1, "..x..");
	/* lea (%rdi,%rdi,2),%rax; add $1,%rax; imul %rsi,%rax; ret */
	dependent("what is computed from it alone",
		"488d047f"
		"4883c001"
		"480fafc6"
		"c3",
		0, "xxx.");
	/* mov (%rdi),%rax; add %rsi,%rax; mov %rax,(%rdi); ret */
	dependent("an address does not count, nor does what is loaded from there",
		"488b07"
		"4801f0"
		"488907"
		"c3",
		0, "....");
	/* test %edi,%edi; je 1f; add $1,%esi; 1: mov %esi,%eax; ret */
	dependent("a branch that it decides",
		"85ff"
		"7403"
		"83c601"
		"89f0"
		"c3",
		0, "xx...");
	/* xor %eax,%eax; 1: add %rsi,%rax; add $8,%rdi; cmp %rsi,%rdi; jne 1b; ret */
	dependent("what a loop counts from it is not known",
		"31c0"
		"4801f0"
		"4883c708"
		"4839f7"
		"75f4"
		"c3",
		0, "......");
	/* the same, of the limit: the sum and the comparison */
	dependent("the limit of a loop",
		"31c0"
		"4801f0"
		"4883c708"
		"4839f7"
		"75f4"
		"c3",
		1, ".x.x..");
	/* push %rbp; mov %rsp,%rbp; mov %edi,-4(%rbp); cmpl $1,-4(%rbp); jne 1f; nop; 1: pop %rbp;
	 * ret */
	dependent("a word of the frame",
		"55"
		"4889e5"
		"897dfc"
		"837dfc01"
		"7501"
		"90"
		"5d"
		"c3",
		0, "...xx...");
	/* mov %edi,-4(%rsp); mov %esi,-4(%rsp); mov -4(%rsp),%eax; add $1,%eax; ret */
	dependent("a word of the frame that something else is stored to",
		"897c24fc"
		"897424fc"
		"8b4424fc"
		"83c001"
		"c3",
		0, ".....");
	/* mov %edi,%ebx; call +0; add $1,%edi; add $1,%ebx; add $1,%eax; ret */
	dependent("what a call keeps",
		"89fb"
		"e800000000"
		"83c701"
		"83c301"
		"83c001"
		"c3",
		0, "...x..");
	/* mulsd %xmm1,%xmm0; ret */
	dependent("a floating-point argument",
		"f20f59c1"
		"c3",
		9, "x.");
	dependent("no code", "", 0, "");
	is_int(explain_argument_register(6), REG_NONE, "there are six in general registers");
	is_int(explain_argument_register(5), REG_GENERAL + 9, "the last is r9");
	return done();
}
