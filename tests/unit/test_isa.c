/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single instructions: their text, kinds, registers and memory. */
#include <stdio.h>
#include <stdlib.h>

#include "../tap.h"
#include "isa/isa.h"
#include "unhex.h"

#define AT UINT64_C(0x401000)

/* The classes' names, and registers, as one line. */
static const char *describe(const struct insn *insn)
{
	static char line[512];
	const struct insn_registers *sets[] = {&insn->reads, &insn->writes, &insn->merges};
	size_t n = 0;

	line[0] = '\0';
	for (unsigned bit = 0; bit < INSN_CLASSES; bit++)
		if (insn->classes >> bit & 1)
			n += (size_t)snprintf(line + n, sizeof(line) - n, "%s%s", n ? ", " : "",
				isa_class_name(bit));
	for (int set = 0; set < 3; set++) {
		n += (size_t)snprintf(line + n, sizeof(line) - n, "%s", n ? " |" : "|");
		for (unsigned reg = 0; reg < REG_COUNT; reg++)
			if (insn_registers_have(sets[set], reg))
				n += (size_t)snprintf(line + n, sizeof(line) - n, " %s",
					isa_register_name(ISA_X86_64, reg));
	}
	return line;
}

struct expected {
	const char *hex, *att, *intel, *what;
};

static const struct expected table[] = {
	{"90", "nop", "nop", "nop | | |"},
	{"660f1f440000", "nopw (%rax,%rax,1)", "nop word ptr [rax+rax*1]", "nop | rax | |"},
	{"f30f1efa", "endbr64", "endbr64", "nop | | |"},
	{"31c0", "xor %eax, %eax", "xor eax, eax", "zero idiom | rax | rax cf pf af zf sf of |"},
	{"48ffc0", "inc %rax", "inc rax", "| rax | rax pf af zf sf of |"},
	{"0f44c1", "cmove %ecx, %eax", "cmove eax, ecx", "| rcx zf | rax | rax"},
	{"88d8", "mov %bl, %al", "mov al, bl", "| rbx | rax | rax"},
	{"4889d8", "mov %rbx, %rax", "mov rax, rbx", "register move | rbx | rax |"},
	{"488b4708", "mov 0x8(%rdi), %rax", "mov rax, qword ptr [rdi+0x8]", "load | rdi | rax |"},
	{"66894708", "mov %ax, 0x8(%rdi)", "mov word ptr [rdi+0x8], ax", "store | rax rdi | |"},
	{"83402801", "addl $0x1, 0x28(%rax)", "add dword ptr [rax+0x28], 0x1",
		"load, store | rax | cf pf af zf sf of |"},
	{"48630c8a", "movslq (%rdx,%rcx,4), %rcx", "movsxd rcx, dword ptr [rdx+rcx*4]",
		"load | rcx rdx | rcx |"},
	{"488d05e22f0000", "lea 0x2fe2(%rip), %rax", "lea rax, [rip+0x2fe2]", "address | | rax |"},
	{"64488b042528000000", "mov %fs:0x28, %rax", "mov rax, qword ptr fs:[0x28]",
		"load | fs/gs base | rax |"},
	{"ff30", "push (%rax)", "push qword ptr [rax]", "load, store, stack | rax rsp | rsp |"},
	{"c3", "ret", "ret", "load, branch, return, stack | rsp | rsp |"},
	{"e800000000", "call 0x401005", "call 0x401005",
		"store, branch, call, stack | rsp | rsp |"},
	{"ffd0", "call %rax", "call rax", "store, branch, indirect, call, stack | rax rsp | rsp |"},
	{"75fe", "jne 0x401000", "jne 0x401000", "branch, conditional | zf | |"},
	{"e2f0", "loop 0x400ff2", "loop 0x400ff2", "branch, conditional | rcx | rcx |"},
	{"ff2508000000", "jmp 0x8(%rip)", "jmp qword ptr [rip+0x8]",
		"load, branch, indirect | | |"},
	{"3effe0", "notrack jmp %rax", "notrack jmp rax", "branch, indirect | rax | |"},
	{"f0ff07", "lock incl (%rdi)", "lock inc dword ptr [rdi]",
		"load, store, locked | rdi | pf af zf sf of |"},
	{"488707", "xchg %rax, (%rdi)", "xchg qword ptr [rdi], rax",
		"load, store, locked | rax rdi | rax |"},
	{"4887db", "xchg %rbx, %rbx", "xchg rbx, rbx", "| rbx | rbx |"},
	{"f3a4", "rep movsb", "rep movsb",
		"load, store, repeated | rcx rsi rdi df | rcx rsi rdi | rcx rsi rdi"},
	{"48f7f1", "div %rcx", "div rcx", "divide | rax rcx rdx | rax rdx cf pf af zf sf of |"},
	{"0fafc1", "imul %ecx, %eax", "imul eax, ecx",
		"multiply | rax rcx | rax cf pf af zf sf of |"},
	{"f20f58c1", "addsd %xmm1, %xmm0", "addsd xmm0, xmm1",
		"floating point, vector | zmm0 zmm1 | zmm0 |"},
	{"f20f5ec1", "divsd %xmm1, %xmm0", "divsd xmm0, xmm1",
		"divide, floating point, vector | zmm0 zmm1 | zmm0 |"},
	{"f20f1007", "movsd (%rdi), %xmm0", "movsd xmm0, qword ptr [rdi]",
		"load, vector | rdi | zmm0 |"},
	{"f20f10c1", "movsd %xmm1, %xmm0", "movsd xmm0, xmm1", "vector | zmm1 | zmm0 | zmm0"},
	{"660fefc0", "pxor %xmm0, %xmm0", "pxor xmm0, xmm0", "vector, zero idiom | zmm0 | zmm0 |"},
	{"62f17c4858c1", "vaddps %zmm1, %zmm0, %zmm0", "vaddps zmm0, zmm0, zmm1",
		"floating point, vector | zmm0 zmm1 | zmm0 |"},
	{"d8f1", "fdiv %st1, %st0", "fdiv st0, st1",
		"divide, floating point, x87 or MMX | st0 st1 | st0 x87 state system |"},
	{"0f1800", "prefetchnta (%rax)", "prefetchnta byte ptr [rax]", "prefetch | rax | |"},
	{"0faef0", "mfence", "mfence", "fence | | |"},
	{"0fa2", "cpuid", "cpuid", "serialising | rax rcx | rax rcx rdx rbx |"},
	{"0f05", "syscall", "syscall",
		"system call | | rcx r11 cf pf af zf sf of df other flags |"},
	{"0f0b", "ud2", "ud2", "stop | | |"},
	{"f4", "hlt", "hlt", "stop, privileged | | |"},
	{"06", ".byte 0x06", ".byte 0x06", "undecodable | | |"},
	{"ff", ".byte 0xff", ".byte 0xff", "undecodable | | |"},
};

static void test_table(void)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
		const struct expected *x = &table[i];
		uint8_t bytes[16];
		size_t size = unhex(x->hex, bytes, sizeof(bytes));
		struct insn insn;
		char text[INSN_TEXT_MAX];

		is_int(isa_decode(ISA_X86_64, bytes, size, AT, &insn), size, "%s: length", x->hex);
		is_str(isa_text(ISA_X86_64, bytes, size, AT, ISA_ATT, text), x->att, "%s: AT&T",
			x->hex);
		is_str(isa_text(ISA_X86_64, bytes, size, AT, ISA_INTEL, text), x->intel,
			"%s: Intel", x->hex);
		is_str(describe(&insn), x->what, "%s: kind, reads, writes, merges", x->hex);
	}
}

static struct insn decode(enum isa_machine machine, const char *hex)
{
	uint8_t bytes[16];
	struct insn insn;

	isa_decode(machine, bytes, unhex(hex, bytes, sizeof(bytes)), AT, &insn);
	return insn;
}

static void test_memory(void)
{
	struct insn insn = decode(ISA_X86_64, "488b05e22f0000");

	is_int(insn.memories, 1, "one memory operand");
	ok(insn.memory[0].absolute, "relative to the program counter: its address is known");
	is_int(insn.memory[0].address, 0x403fe9, "which counts from the next instruction");
	insn = decode(ISA_X86_64, "ff24c500204000"); /* jmp *0x402000(,%rax,8) */
	is_int(insn.memory[0].base, REG_NONE, "no base");
	is_int(insn.memory[0].index, 0, "an index");
	is_int(insn.memory[0].scale, 8, "a scale");
	is_int(insn.memory[0].displacement, 0x402000, "a displacement");
	ok(!insn.memory[0].absolute, "and no known address");
	insn = decode(ISA_X86_64, "ff30");
	is_int(insn.memories, 2, "push (%%rax) has two memory operands");
	ok(insn.memory[0].reads && !insn.memory[0].writes, "one is read");
	ok(insn.memory[1].writes && !insn.memory[1].reads, "the other is written");
	is_int(insn.memory[1].base, REG_RSP, "on the stack");
	insn = decode(ISA_X86_64, "488d05e22f0000");
	ok(!insn.memory[0].reads && !insn.memory[0].writes, "lea touches no memory");
	insn = decode(ISA_X86_64, "4883f905"); /* cmp $5,%rcx */
	ok(insn.has_immediate && insn.immediate == 5, "an immediate");
	insn = decode(ISA_X86_64, "f20f1007");
	is_int(insn.vector_bits, 64, "a scalar in a vector register");
	insn = decode(ISA_X86_64, "62f17c4858c1");
	is_int(insn.vector_bits, 512, "a whole one");
}

static void test_aarch64(void)
{
	static const struct {
		const char *hex, *text;
		uint32_t classes;
		uint64_t target;
	} words[] = {
		{"00000014", "b 0x401000", INSN_BRANCH, AT},
		{"ffffff97", "bl 0x400ffc", INSN_BRANCH | INSN_CALL, AT - 4},
		{"40000054", "b.eq 0x401008", INSN_BRANCH | INSN_CONDITIONAL, AT + 8},
		{"4e000054", "b.al 0x401008", INSN_BRANCH, AT + 8},
		{"e3ffffb5", "cbnz x3, 0x400ffc", INSN_BRANCH | INSN_CONDITIONAL, AT - 4},
		{"45001036", "tbz w5, #2, 0x401008", INSN_BRANCH | INSN_CONDITIONAL, AT + 8},
		{"00021fd6", "br x16", INSN_BRANCH | INSN_INDIRECT, 0},
		{"20003fd6", "blr x1", INSN_BRANCH | INSN_INDIRECT | INSN_CALL, 0},
		{"c0035fd6", "ret", INSN_BRANCH | INSN_RETURN, 0}, {"1f2003d5", "nop", INSN_NOP, 0},
		{"000040f9", ".inst 0xf9400000", INSN_LOAD, 0},                /* ldr x0, [x0] */
		{"010000f9", ".inst 0xf9000001", INSN_STORE, 0},               /* str x1, [x0] */
		{"fd7bbfa9", ".inst 0xa9bf7bfd", INSN_STORE, 0},               /* stp x29, x30 */
		{"fd7bc1a8", ".inst 0xa8c17bfd", INSN_LOAD, 0},                /* ldp x29, x30 */
		{"0000c03d", ".inst 0x3dc00000", INSN_LOAD | INSN_VECTOR, 0},  /* ldr q0, [x0] */
		{"0000803d", ".inst 0x3d800000", INSN_STORE | INSN_VECTOR, 0}, /* str q0, [x0] */
		{"0008c19a", ".inst 0x9ac10800", INSN_DIVIDE, 0},              /* udiv x0, x0, x1 */
		{"010000d4", ".inst 0xd4000001", INSN_SYSCALL, 0},             /* svc #0 */
		{"2000028b", ".inst 0x8b020020", 0, 0},                        /* add x0, x1, x2 */
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct insn insn = decode(ISA_AARCH64, words[i].hex);
		uint8_t bytes[4];
		char text[INSN_TEXT_MAX];

		unhex(words[i].hex, bytes, 4);
		is_int(insn.length, 4, "%s is four bytes", words[i].text);
		is_str(isa_text(ISA_AARCH64, bytes, 4, AT, ISA_ATT, text), words[i].text,
			"%s as text", words[i].text);
		is_int(insn.classes, words[i].classes, "%s: kinds", words[i].text);
		is_int(insn.target, words[i].target, "%s: target", words[i].text);
	}
}

static void test_edges(void)
{
	struct insn insn;
	bool bad;
	uint8_t junk[3] = {0xff, 0xff, 0xff};

	is_int(isa_decode(ISA_X86_64, junk, 0, AT, &insn), 0, "nothing has no length");
	is_int(isa_decode(ISA_X86_64, junk, 3, AT, &insn), 1, "junk: one byte, then again");
	ok(insn.classes == INSN_BAD && !insn_falls_through(&insn), "which goes nowhere");
	is_int(isa_decode(ISA_AARCH64, junk, 3, AT, &insn), 3, "the rest, where less than a word");
	is_int(isa_decode(ISA_NONE, junk, 3, AT, &insn), 1, "a machine that we do not know");
	is_int(isa_length(ISA_X86_64, junk, 3, &bad), 1, "the same by isa_length");
	ok(bad, "which says so");
	is_str(isa_mnemonic(ISA_X86_64, 0), "(bad)", "no mnemonic");
	is_str(isa_mnemonic(ISA_X86_64, 65535), "(bad)", "nor one beyond the last");
	ok(!isa_register_name(ISA_X86_64, REG_COUNT), "nor such a register");
}

int main(void)
{
	test_table();
	test_memory();
	test_aarch64();
	test_edges();
	return done();
}
