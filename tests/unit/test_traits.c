/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forms of addresses, and who reads and writes flags; encodings as GNU as makes them. */
#include <stdlib.h>

#include "../tap.h"
#include "valgrind/scan.c" /* part of the tool, and not of the library */
#include "valgrind/traits.c"

static const struct {
	const char *text, *hex;
	unsigned traits;
} table[] = {
	{"mov (%rax),%rbx", "488b18", 0},
	{"mov (%rax,%rcx),%rbx", "488b1c08", 0},
	{"mov (%rax,%rcx,8),%rbx", "488b1cc8", TRAITS_SCALED},
	{"lea (%rax,%rcx,8),%rbx", "488d1cc8", TRAITS_SCALED},
	{"movsd (%rax,%rcx,8),%xmm0", "f20f1004c8", TRAITS_SCALED | TRAITS_VECTOR},
	{"movsd %xmm0,(%rax)", "f20f1100", TRAITS_VECTOR},
	{"vaddpd (%rax,%rcx,4),%ymm0,%ymm1", "c5fd580c88", TRAITS_SCALED | TRAITS_VECTOR},
	{"movzbl (%rax),%eax", "0fb600", 0},
	{"push %rax", "50", 0},
	{"add %rax,%rbx", "4801c3", TRAITS_WRITES_FLAGS | TRAITS_ADDS},
	{"add $1,%rbx", "4883c301", TRAITS_WRITES_FLAGS | TRAITS_ADDS},
	{"sub $1,(%rbx)", "48832b01", TRAITS_WRITES_FLAGS | TRAITS_ADDS},
	{"adc %rax,%rbx", "4811c3", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS},
	{"sbb $1,%rbx", "4883db01", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS},
	{"cmp %rax,%rbx", "4839c3", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"cmp $1,%r9", "4983f901", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"cmp $1,(%r9)", "41833901", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"cmp %rax,(%r9)", "493901", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"cmp $1000,%eax", "3de8030000", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"test %rax,%rax", "4885c0", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"test $1,%cl", "f6c101", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"testb $1,(%rdx)", "f60201", TRAITS_WRITES_FLAGS | TRAITS_COMPARES},
	{"not %rax", "48f7d0", 0},
	{"neg %rax", "48f7d8", TRAITS_WRITES_FLAGS},
	{"inc %rax", "48ffc0", TRAITS_WRITES_FLAGS | TRAITS_ADDS | TRAITS_KEEPS_FLAGS},
	{"dec %al", "fec8", TRAITS_WRITES_FLAGS | TRAITS_ADDS | TRAITS_KEEPS_FLAGS},
	{"shl %cl,%rax", "48d3e0", TRAITS_WRITES_FLAGS | TRAITS_KEEPS_FLAGS},
	{"rol $3,%rax", "48c1c003", TRAITS_WRITES_FLAGS | TRAITS_KEEPS_FLAGS},
	{"rol %rax", "48d1c0", TRAITS_WRITES_FLAGS | TRAITS_KEEPS_FLAGS},
	{"rcl %cl,%rax", "48d3d0", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS},
	{"call *%rax", "ffd0", 0},
	{"jmp *%rax", "ffe0", 0},
	{"jz .", "74fe", TRAITS_READS_FLAGS | TRAITS_JUMPS},
	{"jz . + 1000", "0f84e2030000", TRAITS_READS_FLAGS | TRAITS_JUMPS},
	{"sete %al", "0f94c0", TRAITS_READS_FLAGS},
	{"cmovb %rbx,%rax", "480f42c3", TRAITS_READS_FLAGS},
	{"shl $3,%rax", "48c1e003", TRAITS_WRITES_FLAGS},
	{"rcl $1,%rax", "48d1d0", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS},
	{"imul %rbx,%rax", "480fafc3", TRAITS_WRITES_FLAGS},
	{"imul $3,%rax,%rax", "486bc003", TRAITS_WRITES_FLAGS},
	{"push $3", "6a03", 0},
	{"ucomisd %xmm1,%xmm0", "660f2ec1", TRAITS_WRITES_FLAGS | TRAITS_VECTOR},
	{"popcnt %rax,%rax", "f3480fb8c0", TRAITS_WRITES_FLAGS},
	{"nop", "90", 0},
	{"nopw 0(%rax,%rax,1)", "660f1f440000", 0},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint8_t bytes[16];
		unsigned length = 0;

		for (const char *h = table[i].hex; *h; h += 2) {
			char two[3] = {h[0], h[1], 0};

			bytes[length++] = (uint8_t)strtoul(two, NULL, 16);
		}
		is_int((int)traits_of(bytes, length), (int)table[i].traits, "%s", table[i].text);
	}
	return done();
}
