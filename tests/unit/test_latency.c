/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of instructions by latency; encodings as GNU as makes them. */
#include <stdlib.h>

#include "../tap.h"
#include "model/model.h"
#include "model/retire.h"
#include "valgrind/decode.c" /* part of the tool, and not of the library */
#include "valgrind/latency.c"
#include "valgrind/scan.c"

static const struct {
	const char *text, *hex;
	enum model_latency latency;
} table[] = {
	{"nop", "90", MODEL_LATENCY_NONE},
	{"mov %rax,%rbx", "4889c3", MODEL_LATENCY_NONE},
	{"mov (%rax),%rax", "488b00", MODEL_LATENCY_NONE},
	{"mov %rax,(%rbx)", "488903", MODEL_LATENCY_STORE},
	{"movl $1,(%rbx)", "c70301000000", MODEL_LATENCY_STORE},
	{"movl $1,%ebx", "bb01000000", MODEL_LATENCY_ALU},
	{"movzbl (%rax),%eax", "0fb600", MODEL_LATENCY_NONE},
	{"movzbl %al,%eax", "0fb6c0", MODEL_LATENCY_ALU},
	{"push %rax", "50", MODEL_LATENCY_STORE},
	{"push %r15", "4157", MODEL_LATENCY_STORE},
	{"pop %rax", "58", MODEL_LATENCY_NONE},
	{"ret", "c3", MODEL_LATENCY_NONE},
	{"jmp .", "ebfe", MODEL_LATENCY_NONE},
	{"jz .", "74fe", MODEL_LATENCY_ALU},
	{"call .", "e8fbffffff", MODEL_LATENCY_STORE},
	{"call *%rax", "ffd0", MODEL_LATENCY_STORE},
	{"inc %rax", "48ffc0", MODEL_LATENCY_ALU},
	{"add %rax,(%rbx)", "480103", MODEL_LATENCY_ALU},
	{"lea (%rax,%rbx),%rcx", "488d0c18", MODEL_LATENCY_ALU},
	{"lea (%rbp,%rbx),%rcx", "488d4c1d00", MODEL_LATENCY_LONG_ADDRESS},
	{"lea 8(%rax,%rbx),%rcx", "488d4c1808", MODEL_LATENCY_LONG_ADDRESS},
	{"lea (%rax,%rbx,2),%rcx", "488d0c58", MODEL_LATENCY_SCALED_ADDRESS},
	{"lea 8(%rax,%rbx,2),%rcx", "488d4c5808", MODEL_LATENCY_LONG_ADDRESS},
	{"lea 8(,%rbx,2),%rcx", "488d0c5d08000000", MODEL_LATENCY_SCALED_ADDRESS},
	{"lea 8(%rax),%rcx", "488d4808", MODEL_LATENCY_ALU},
	{"shl $3,%rax", "48c1e003", MODEL_LATENCY_SHIFT},
	{"rol %al", "d0c0", MODEL_LATENCY_SHIFT},
	{"rcl $3,%rax", "48c1d003", MODEL_LATENCY_ALU},
	{"sarx %rcx,(%rbx),%rax", "c4e2f2f703", MODEL_LATENCY_SHIFT},
	{"bextr %rcx,%rbx,%rax", "c4e2f0f7c3", MODEL_LATENCY_ALU},
	{"rorx $3,%rbx,%rax", "c4e3fbf0c303", MODEL_LATENCY_SHIFT},
	{"bt $3,%rax", "480fbae003", MODEL_LATENCY_SHIFT},
	{"bts $3,%rax", "480fbae803", MODEL_LATENCY_ALU},
	{"bt %rax,%rbx", "480fa3c3", MODEL_LATENCY_SHIFT},
	{"popcnt %rbx,%rax", "f3480fb8c3", MODEL_LATENCY_ALU},
	{"cltq", "4898", MODEL_LATENCY_SHIFT},
	{"cmove %rbx,%rax", "480f44c3", MODEL_LATENCY_ALU},
	{"cmovs %rbx,%rax", "480f48c3", MODEL_LATENCY_ALU},
	{"cmova %rbx,%rax", "480f47c3", MODEL_LATENCY_FLAGS_MOVE},
	{"cmovl %rbx,%rax", "480f4cc3", MODEL_LATENCY_FLAGS_MOVE},
	{"setl %al", "0f9cc0", MODEL_LATENCY_ALU},
	{"mov (%rax),%cl", "8a08", MODEL_LATENCY_ALU},
	{"mov %cl,%al", "88c8", MODEL_LATENCY_ALU},
	{"mov %cl,(%rax)", "8808", MODEL_LATENCY_STORE},
	{"imul %rbx,%rax", "480fafc3", MODEL_LATENCY_MULTIPLY},
	{"imul $3,%rax,%rax", "486bc003", MODEL_LATENCY_MULTIPLY},
	{"mul %rbx", "48f7e3", MODEL_LATENCY_MULTIPLY_HIGH},
	{"imul %rbx", "48f7eb", MODEL_LATENCY_MULTIPLY_HIGH},
	{"mul %bl", "f6e3", MODEL_LATENCY_MULTIPLY},
	{"mulx %rbx,%rcx,%rdx", "c4e2f3f6d3", MODEL_LATENCY_MULTIPLY_HIGH},
	{"neg %rbx", "48f7db", MODEL_LATENCY_ALU},
	{"div %rbx", "48f7f3", MODEL_LATENCY_DIVIDE},
	{"lock incl (%rbx)", "f0ff03", MODEL_LATENCY_LOCKED},
	{"xchg %rax,(%rbx)", "488703", MODEL_LATENCY_LOCKED},
	{"cpuid", "0fa2", MODEL_LATENCY_SERIALISING},
	{"syscall", "0f05", MODEL_LATENCY_SYSTEM_CALL},
	{"crc32q %rax,%rbx", "f2480f38f1d8", MODEL_LATENCY_MULTIPLY},
	{"movsd (%rax),%xmm0", "f20f1000", MODEL_LATENCY_VECTOR_LOAD},
	{"movsd %xmm1,%xmm0", "f20f10c1", MODEL_LATENCY_VECTOR},
	{"movsd %xmm0,(%rax)", "f20f1100", MODEL_LATENCY_STORE},
	{"movaps %xmm1,%xmm0", "0f28c1", MODEL_LATENCY_NONE},
	{"movdqu (%rax),%xmm0", "f30f6f00", MODEL_LATENCY_VECTOR_LOAD},
	{"vmovdqu %ymm0,(%rax)", "c5fe7f00", MODEL_LATENCY_STORE},
	{"addsd %xmm1,%xmm0", "f20f58c1", MODEL_LATENCY_FP_ADD},
	{"mulsd (%rax),%xmm0", "f20f5900", MODEL_LATENCY_FP_MULTIPLY},
	{"divsd %xmm1,%xmm0", "f20f5ec1", MODEL_LATENCY_FP_DIVIDE},
	{"sqrtsd %xmm1,%xmm0", "f20f51c1", MODEL_LATENCY_FP_ROOT},
	{"vaddpd %ymm1,%ymm1,%ymm0", "c5f558c1", MODEL_LATENCY_FP_ADD},
	{"vfmadd231pd %ymm1,%ymm1,%ymm0", "c4e2f5b8c1", MODEL_LATENCY_FUSED},
	{"cvtsi2sd %rax,%xmm0", "f2480f2ac0", MODEL_LATENCY_CONVERT_IN},
	{"cvtsi2sd (%rax),%xmm0", "f20f2a00", MODEL_LATENCY_FP_ADD},
	{"cvttsd2si %xmm0,%rax", "f2480f2cc0", MODEL_LATENCY_CONVERT},
	{"cvtss2sd %xmm0,%xmm0", "f30f5ac0", MODEL_LATENCY_FP_ADD},
	{"comisd %xmm1,%xmm0", "660f2fc1", MODEL_LATENCY_COMPARE},
	{"ptest %xmm1,%xmm0", "660f3817c1", MODEL_LATENCY_COMPARE},
	{"movd %eax,%xmm0", "660f6ec0", MODEL_LATENCY_MOVE_IN},
	{"movd %xmm0,%eax", "660f7ec0", MODEL_LATENCY_MOVE},
	{"pinsrw $1,%eax,%xmm0", "660fc4c001", MODEL_LATENCY_MOVE_IN},
	{"pinsrw $1,(%rax),%xmm0", "660fc40001", MODEL_LATENCY_SHUFFLE},
	{"pextrw $1,%xmm0,%eax", "660fc5c001", MODEL_LATENCY_EXTRACT},
	{"pextrq $1,%xmm0,%rax", "66480f3a16c001", MODEL_LATENCY_EXTRACT},
	{"pmovmskb %xmm0,%eax", "660fd7c0", MODEL_LATENCY_MOVE},
	{"pxor %xmm0,%xmm0", "660fefc0", MODEL_LATENCY_VECTOR},
	{"pcmpeqb %xmm1,%xmm0", "660f74c1", MODEL_LATENCY_VECTOR},
	{"pmaddwd %xmm1,%xmm0", "660ff5c1", MODEL_LATENCY_VECTOR_MULTIPLY},
	{"pshufd $0,%xmm1,%xmm0", "660f70c100", MODEL_LATENCY_SHUFFLE},
	{"pshufb %xmm1,%xmm0", "660f3800c1", MODEL_LATENCY_SHUFFLE},
	{"psrldq $8,%xmm0", "660f73d808", MODEL_LATENCY_SHUFFLE},
	{"psrlq $8,%xmm0", "660f73d008", MODEL_LATENCY_VECTOR},
	{"aesenc %xmm1,%xmm0", "660f38dcc1", MODEL_LATENCY_CRYPTO},
	{"fstpl (%rax)", "dd18", MODEL_LATENCY_STORE},
	{"fldt (%rax)", "db28", MODEL_LATENCY_X87_LONG},
	{"fstpt (%rax)", "db38", MODEL_LATENCY_X87_LONG},
	{"faddp", "dec1", MODEL_LATENCY_X87},
	{"fmulp", "dec9", MODEL_LATENCY_X87},
	{"fadds (%rax)", "d800", MODEL_LATENCY_X87},
	{"fldl (%rax)", "dd00", MODEL_LATENCY_VECTOR_LOAD},
	{"fildll (%rax)", "df28", MODEL_LATENCY_CONVERT},
	{"fld %st(1)", "d9c1", MODEL_LATENCY_VECTOR},
	{"fstp %st(1)", "ddd9", MODEL_LATENCY_VECTOR},
	{"fsqrt", "d9fa", MODEL_LATENCY_FP_ROOT},
	{"fdivp", "def9", MODEL_LATENCY_FP_DIVIDE},
	{"fchs", "d9e0", MODEL_LATENCY_VECTOR},
	{"fcmovb %st(1),%st", "dac1", MODEL_LATENCY_MOVE_IN},
	{"fcmovnb %st(1),%st", "dbc1", MODEL_LATENCY_MOVE_IN},
	{"fucomi %st(1),%st", "dbe9", MODEL_LATENCY_COMPARE},
	{"fcomip %st(1),%st", "dff1", MODEL_LATENCY_COMPARE},
	{"fsin", "d9fe", MODEL_LATENCY_MICROCODE},
	{"fxch", "d9c9", MODEL_LATENCY_NONE},
};

int main(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		uint8_t bytes[16];
		unsigned length = 0;
		struct decoded d;

		for (const char *h = table[i].hex; *h; h += 2) {
			char two[3] = {h[0], h[1], 0};

			bytes[length++] = (uint8_t)strtoul(two, NULL, 16);
		}
		decode(bytes, length, 0x401000, &d);
		is_int(latency_of(bytes, length, d.class_bits), table[i].latency, "%s",
			table[i].text);
	}
	return done();
}
