/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Forms of addresses, displacements and immediates, and what reads and writes flags; encodings as
 * GNU as makes them. */
#include <stdlib.h>

#include "../tap.h"
#include "valgrind/scan.c" /* part of the tool, and not of the library */
#include "valgrind/traits.c"

static const struct {
	const char *text, *hex;
	unsigned traits, fields;
} table[] = {
	{"mov (%rax),%rbx", "488b18", 0, 0},
	{"mov (%rax,%rcx),%rbx", "488b1c08", 0, 0},
	{"mov (%rax,%rcx,8),%rbx", "488b1cc8", TRAITS_SCALED, 0},
	{"lea (%rax,%rcx,8),%rbx", "488d1cc8", TRAITS_SCALED, 0},
	{"movsd (%rax,%rcx,8),%xmm0", "f20f1004c8", TRAITS_SCALED | TRAITS_VECTOR, 0},
	{"movsd %xmm0,(%rax)", "f20f1100", TRAITS_VECTOR, 0},
	{"vaddpd (%rax,%rcx,4),%ymm0,%ymm1", "c5fd580c88", TRAITS_SCALED | TRAITS_VECTOR, 0},
	{"movzbl (%rax),%eax", "0fb600", 0, 0},
	{"push %rax", "50", 0, 0},
	{"add %rax,%rbx", "4801c3", TRAITS_WRITES_FLAGS | TRAITS_ADDS, 0},
	{"add $1,%rbx", "4883c301", TRAITS_WRITES_FLAGS | TRAITS_ADDS, 1},
	{"sub $1,(%rbx)", "48832b01", TRAITS_WRITES_FLAGS | TRAITS_ADDS, 1},
	{"adc %rax,%rbx", "4811c3", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS, 0},
	{"sbb $1,%rbx", "4883db01", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS, 1},
	{"cmp %rax,%rbx", "4839c3", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 0},
	{"cmp $1,%r9", "4983f901", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 1},
	{"cmp $1,(%r9)", "41833901", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 1},
	{"cmp %rax,(%r9)", "493901", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 0},
	{"cmp $1000,%eax", "3de8030000", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 1},
	{"test %rax,%rax", "4885c0", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 0},
	{"test $1,%cl", "f6c101", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 1},
	{"testb $1,(%rdx)", "f60201", TRAITS_WRITES_FLAGS | TRAITS_COMPARES, 1},
	{"not %rax", "48f7d0", 0, 0},
	{"neg %rax", "48f7d8", TRAITS_WRITES_FLAGS, 0},
	{"inc %rax", "48ffc0", TRAITS_WRITES_FLAGS | TRAITS_ADDS | TRAITS_KEEPS_FLAGS, 0},
	{"dec %al", "fec8", TRAITS_WRITES_FLAGS | TRAITS_ADDS | TRAITS_KEEPS_FLAGS, 0},
	{"shl %cl,%rax", "48d3e0", TRAITS_WRITES_FLAGS | TRAITS_KEEPS_FLAGS, 0},
	{"rol $3,%rax", "48c1c003", TRAITS_WRITES_FLAGS | TRAITS_KEEPS_FLAGS, 1},
	{"rol %rax", "48d1c0", TRAITS_WRITES_FLAGS | TRAITS_KEEPS_FLAGS, 0},
	{"rcl %cl,%rax", "48d3d0", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS, 0},
	{"call *%rax", "ffd0", 0, 0},
	{"jmp *%rax", "ffe0", 0, 0},
	{"jz .", "74fe", TRAITS_READS_FLAGS | TRAITS_JUMPS, 0},
	{"jz . + 1000", "0f84e2030000", TRAITS_READS_FLAGS | TRAITS_JUMPS, 0},
	{"sete %al", "0f94c0", TRAITS_READS_FLAGS, 0},
	{"cmovb %rbx,%rax", "480f42c3", TRAITS_READS_FLAGS, 0},
	{"shl $3,%rax", "48c1e003", TRAITS_WRITES_FLAGS, 1},
	{"rcl $1,%rax", "48d1d0", TRAITS_WRITES_FLAGS | TRAITS_READS_FLAGS, 0},
	{"imul %rbx,%rax", "480fafc3", TRAITS_WRITES_FLAGS, 0},
	{"imul $3,%rax,%rax", "486bc003", TRAITS_WRITES_FLAGS, 1},
	{"push $3", "6a03", 0, 1},
	{"ucomisd %xmm1,%xmm0", "660f2ec1", TRAITS_WRITES_FLAGS | TRAITS_VECTOR, 0},
	{"popcnt %rax,%rax", "f3480fb8c0", TRAITS_WRITES_FLAGS, 0},
	{"nop", "90", 0, 0},
	{"nopw 0(%rax,%rax,1)", "660f1f440000", TRAITS_SCALED, 1},
	{"mov 8(%rax,%rcx),%rbx", "488b5c0808", TRAITS_SCALED, 1},
	{"mov 8(%rax),%rbx", "488b5808", 0, 1},
	{"mov -8(%rbp),%rax", "488b45f8", 0, 1},
	{"mov 8(%rsp),%rax", "488b442408", 0, 1},
	{"mov 1000(%r12),%rax", "498b8424e8030000", 0, 1},
	{"lea 16(,%rax,4),%rax", "488d048510000000", TRAITS_SCALED, 1},
	{"mov 1000(%rip),%rax", "488b05e8030000", 0, 2},
	{"movl $7,8(%rsp)", "c744240807000000", 0, 2},
	{"movl $7,8(%rip)", "c7050800000007000000", 0, 3},
	{"mov $7,%eax", "b807000000", 0, 1},
	{"movabs $0x123456789a,%rax", "48b89a78563412000000", 0, 2},
	{"vpshufd $1,%xmm0,%xmm1", "c5f970c801", TRAITS_VECTOR, 1},
	{"jmp .", "ebfe", 0, 0},
	{"call . + 5", "e800000000", 0, 0},
	{"ret", "c3", 0, 0},
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
		is_int((int)traits_of(bytes, length),
			(int)(table[i].traits | table[i].fields * TRAITS_FIELD), "%s",
			table[i].text);
	}
	return done();
}
