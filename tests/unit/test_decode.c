/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The Valgrind tool's own look at instruction bytes; encodings as GNU as makes them. */
#include <stdlib.h>

#include "../tap.h"
#include "model/model.h"
#include "valgrind/decode.c" /* part of the tool, and not of the library */
#include "valgrind/scan.c"

#define AT   UINT64_C(0x401000)
#define NONE DECODE_NO_BRANCH

struct expected {
	const char *text, *hex;
	unsigned class_bits, flops, branch, repeats;
	long target; /* from the instruction's first byte */
};

static const struct expected table[] = {
	{"nop", "90", 0, 0, NONE, 0, 0},
	{"jz .+2", "7400", 0, 0, MODEL_CONDITIONAL, 0, 2},
	{"jnz back", "75fe", 0, 0, MODEL_CONDITIONAL, 0, 0},
	{"jnz near", "0f8500010000", 0, 0, MODEL_CONDITIONAL, 0, 0x106},
	{"bnd jz near", "f20f8410000000", 0, 0, MODEL_CONDITIONAL, 0, 0x17},
	{"jrcxz", "e305", 0, 0, MODEL_CONDITIONAL, 0, 7},
	{"loop", "e2f0", 0, 0, MODEL_CONDITIONAL, 0, -14},
	{"jmp short", "eb10", 0, 0, MODEL_JUMP, 0, 0x12},
	{"jmp near", "e9fbffffff", 0, 0, MODEL_JUMP, 0, 0},
	{"call", "e800000000", 0, 0, MODEL_CALL, 0, 5},
	{"call *%rax", "ffd0", 0, 0, MODEL_INDIRECT_CALL, 0, 0},
	{"call *%r11", "41ffd3", 0, 0, MODEL_INDIRECT_CALL, 0, 0},
	{"notrack jmp *%rax", "3effe0", 0, 0, MODEL_INDIRECT_JUMP, 0, 0},
	{"jmp *8(%rip)", "ff2508000000", 0, 0, MODEL_INDIRECT_JUMP, 0, 0},
	{"push (%rax)", "ff30", 0, 0, NONE, 0, 0},
	{"ret", "c3", 0, 0, MODEL_RETURN, 0, 0},
	{"repz ret", "f3c3", 0, 0, MODEL_RETURN, 0, 0},
	{"ret $8", "c20800", 0, 0, MODEL_RETURN, 0, 0},
	{"rep movsb", "f3a4", 0, 0, NONE, 1, 0},
	{"rep stosq", "f348ab", 0, 0, NONE, 1, 0},
	{"repnz scasb", "f2ae", 0, 0, NONE, 1, 0},
	{"movsb", "a4", 0, 0, NONE, 0, 0},
	{"pause", "f390", 0, 0, NONE, 0, 0},
	{"lock incl (%rdi)", "f0ff07", MODEL_LOCKED, 0, NONE, 0, 0},
	{"xchg %rax,(%rdi)", "488707", MODEL_LOCKED, 0, NONE, 0, 0},
	{"xchg %rbx,%rbx", "4887db", 0, 0, NONE, 0, 0},
	{"div %rcx", "48f7f1", MODEL_DIVIDE, 0, NONE, 0, 0},
	{"mul %rcx", "48f7e1", 0, 0, NONE, 0, 0},
	{"syscall", "0f05", MODEL_SYSCALL, 0, NONE, 0, 0},
	{"cpuid", "0fa2", MODEL_SERIALISING, 0, NONE, 0, 0},
	{"lfence", "0faee8", MODEL_SERIALISING, 0, NONE, 0, 0},
	{"sfence", "0faef8", 0, 0, NONE, 0, 0},
	{"prefetchnta (%rax)", "0f1800", MODEL_PREFETCH, 0, NONE, 0, 0},
	{"nopw (%rax)", "660f1f00", 0, 0, NONE, 0, 0},
	{"addsd", "f20f58c1", MODEL_FP, 1, NONE, 0, 0},
	{"addss", "f30f58c1", MODEL_FP, 1, NONE, 0, 0},
	{"addps", "0f58c1", MODEL_FP | MODEL_VECTOR, 4, NONE, 0, 0},
	{"addpd", "660f58c1", MODEL_FP | MODEL_VECTOR, 2, NONE, 0, 0},
	{"divsd", "f20f5ec1", MODEL_FP | MODEL_FP_DIVIDE, 1, NONE, 0, 0},
	{"sqrtpd", "660f51c1", MODEL_FP | MODEL_FP_DIVIDE | MODEL_VECTOR, 2, NONE, 0, 0},
	{"ucomisd", "660f2ec1", MODEL_FP, 0, NONE, 0, 0},
	{"cvtsi2sd", "f2480f2ac0", MODEL_FP, 0, NONE, 0, 0},
	{"movaps", "0f28c1", MODEL_VECTOR, 0, NONE, 0, 0},
	{"movsd", "f20f1000", 0, 0, NONE, 0, 0},
	{"movd", "660f6ec0", 0, 0, NONE, 0, 0},
	{"pxor", "660fefc0", MODEL_VECTOR, 0, NONE, 0, 0},
	{"pshufb", "660f3800c1", MODEL_VECTOR, 0, NONE, 0, 0},
	{"vaddpd ymm", "c5f558c1", MODEL_FP | MODEL_VECTOR, 4, NONE, 0, 0},
	{"vaddsd", "c5f358c1", MODEL_FP, 1, NONE, 0, 0},
	{"vfmadd231ps ymm", "c4e275b8c1", MODEL_FP | MODEL_VECTOR, 16, NONE, 0, 0},
	{"vfmadd231pd ymm", "c4e2f5b8c1", MODEL_FP | MODEL_VECTOR, 8, NONE, 0, 0},
	{"vfmadd213sd", "c4e2f1a9c1", MODEL_FP, 2, NONE, 0, 0},
	{"mulx", "c4e2fbf6c1", 0, 0, NONE, 0, 0},
	{"rorx", "c4e37bf0c105", 0, 0, NONE, 0, 0},
	{"vzeroupper", "c5f877", 0, 0, NONE, 0, 0},
	{"roundsd", "660f3a0bc100", MODEL_FP, 0, NONE, 0, 0},
	{"faddp", "dec1", MODEL_FP, 1, NONE, 0, 0},
	{"fdivl (%rax)", "dc30", MODEL_FP | MODEL_FP_DIVIDE, 1, NONE, 0, 0},
	{"fsqrt", "d9fa", MODEL_FP | MODEL_FP_DIVIDE, 1, NONE, 0, 0},
	{"fldl (%rax)", "dd00", 0, 0, NONE, 0, 0},
	{"fstpl (%rax)", "dd18", 0, 0, NONE, 0, 0},
};

static unsigned from_hex(const char *hex, uint8_t *bytes)
{
	unsigned n = 0;

	for (; hex[2 * n]; n++) {
		char two[3] = {hex[2 * n], hex[2 * n + 1], 0};

		bytes[n] = (uint8_t)strtoul(two, NULL, 16);
	}
	return n;
}

static void check(const struct expected *x)
{
	uint8_t bytes[16];
	unsigned length = from_hex(x->hex, bytes);
	struct decoded d;
	bool good;

	decode(bytes, length, AT, &d);
	good = d.class_bits == x->class_bits && d.flops == x->flops && d.branch == x->branch &&
	       d.repeats == x->repeats && d.length == length && d.uops > 0;
	if (x->branch == MODEL_CONDITIONAL || x->branch == MODEL_JUMP || x->branch == MODEL_CALL)
		good = good && d.target == AT + (uint64_t)x->target;
	if (!ok(good, "%s", x->text))
		printf("# class %#x flops %u branch %u repeats %u target %#llx\n", d.class_bits,
			d.flops, d.branch, d.repeats, (unsigned long long)d.target);
}

static void operand(const char *hex, int base, int index, int scale, int displacement)
{
	uint8_t bytes[16];
	unsigned length = from_hex(hex, bytes);
	struct decoded d;

	decode(bytes, length, AT, &d);
	ok(d.class_bits == MODEL_PREFETCH && d.operand.base == base && d.operand.index == index &&
			(index == SCAN_NO_REGISTER || d.operand.scale == scale) &&
			d.operand.displacement == displacement,
		"prefetch %s: base %d index %d scale %d displacement %d", hex, d.operand.base,
		d.operand.index, d.operand.scale, d.operand.displacement);
}

int main(void)
{
	uint8_t bytes[16];

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
		check(&table[i]);
	operand("0f1808", 0, SCAN_NO_REGISTER, 0, 0);                /* (%rax) */
	operand("0f184940", 1, SCAN_NO_REGISTER, 0, 64);             /* 64(%rcx) */
	operand("410f188f00f0ffff", 15, SCAN_NO_REGISTER, 0, -4096); /* -4096(%r15) */
	operand("0f180cd8", 0, 3, 3, 0);                             /* (%rax,%rbx,8) */
	operand("430f184c7e80", 14, 15, 1, -128);                    /* -128(%r14,%r15,2) */
	operand("0f180c24", 4, SCAN_NO_REGISTER, 0, 0);              /* (%rsp) */
	operand("0f180c8d00100000", SCAN_NO_REGISTER, 1, 2, 4096);   /* 4096(,%rcx,4) */
	operand("0f180d10000000", SCAN_RIP, SCAN_NO_REGISTER, 0, 16);
	operand("0f0d09", 1, SCAN_NO_REGISTER, 0, 0); /* prefetchw (%rcx) */

	/* Cut short anywhere, nothing is read behind the end (the sanitizer watches). */
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		unsigned length = from_hex(table[i].hex, bytes);

		for (unsigned cut = 1; cut < length; cut++) {
			uint8_t *exact = malloc(cut);
			struct decoded d;

			for (unsigned k = 0; k < cut; k++)
				exact[k] = bytes[k];
			decode(exact, cut, AT, &d);
			free(exact);
		}
	}
	ok(true, "instructions cut short");
	return done();
}
