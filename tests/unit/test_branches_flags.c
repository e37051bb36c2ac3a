/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which flags instructions leave nothing of: what decides where copies may count by an increment.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "isa/brief.h"

#ifdef __x86_64__
#include "branches/cache.h"

enum { C = 1, P = 2, A = 4, Z = 8, S = 16, O = 32 };

static const struct {
	const char *text, *bytes;
	size_t size;
	uint8_t reads, kills;
} cases[] = {
#define CASE(text, bytes, reads, kills)                                                            \
	{                                                                                          \
		text, bytes, sizeof(bytes) - 1, reads, kills                                       \
	}
	CASE("cmp %eax, %ecx", "\x39\xc1", 0, FLAGS_ALL),
	CASE("test %al, %al", "\x84\xc0", 0, FLAGS_ALL),
	CASE("cmpq $0, 8(%rdi)", "\x48\x83\x7f\x08\x00", 0, FLAGS_ALL),
	CASE("inc %eax", "\xff\xc0", 0, FLAGS_ALL & ~C),
	CASE("adc %eax, %ecx", "\x11\xc1", C, FLAGS_ALL),
	CASE("sbb $0, %eax", "\x83\xd8\x00", C, FLAGS_ALL),
	CASE("shl %cl, %eax: perhaps by 0", "\xd3\xe0", 0, 0),
	CASE("shl $0, %eax", "\xc1\xe0\x00", 0, 0),
	CASE("repz cmpsb: perhaps not at all", "\xf3\xa6", Z, 0),
	CASE("bsf %eax, %ecx: some are not defined", "\x0f\xbc\xc8", 0, 0),
	CASE("bt %eax, %ecx: Z stays", "\x0f\xa3\xc1", 0, 0),
	CASE("mul %ecx", "\xf7\xe1", 0, 0),
	CASE("sete %al", "\x0f\x94\xc0", Z, 0),
	CASE("cmovl %eax, %ecx", "\x0f\x4c\xc8", S | O, 0),
	CASE("pushf", "\x9c", FLAGS_ALL, 0),
	CASE("lahf", "\x9f", FLAGS_ALL & ~O, 0),
	CASE("ucomisd %xmm0, %xmm1", "\x66\x0f\x2e\xc8", 0, FLAGS_ALL),
	CASE("mov %eax, %ecx", "\x89\xc1", 0, 0),
	CASE("lea 1(%rax), %rax", "\x48\x8d\x40\x01", 0, 0),
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[INSN_LENGTH_MAX] = {0};
		struct insn insn = {0};
		struct insn_flags flags;

		memcpy(bytes, cases[i].bytes, cases[i].size);
		isa_decode(ISA_X86_64, bytes, sizeof(bytes), 0x1000, &insn);
		is_int(insn.length, (long)cases[i].size, "%s: length", cases[i].text);
		flags = flags_of(bytes, &insn);
		is_int(flags.reads, cases[i].reads, "%s: flags read", cases[i].text);
		is_int(flags.kills, cases[i].kills, "%s: flags that nothing is left of",
			cases[i].text);
	}
}

#define KINDS (INSN_BRANCH | INSN_CONDITIONAL | INSN_INDIRECT | INSN_CALL | INSN_RETURN)

static long overwriting;

/* What is said to be overwritten only is. */
static bool overwrites(const uint8_t *bytes, size_t size, const struct insn *whole)
{
	const uint32_t other = INSN_BAD | INSN_LOAD | INSN_STORE | INSN_BRANCH;
	int reg = isa_brief_overwritten(bytes, size);

	if (reg < 0)
		return true;
	overwriting++;
	return !(whole->classes & other) && reg < 16 && reg != REG_RSP &&
	       insn_registers_have(&whole->writes, (unsigned)reg) &&
	       !insn_registers_have(&whole->reads, (unsigned)reg) &&
	       !insn_registers_have(&whole->merges, (unsigned)reg) &&
	       flags_of(bytes, whole).reads == 0;
}

static const struct {
	const char *text, *bytes;
	size_t size;
	int reg;
} moves[] = {
#define MOVE(text, bytes, reg)                                                                     \
	{                                                                                          \
		text, bytes, sizeof(bytes) - 1, reg                                                \
	}
	MOVE("mov %rax, %rdi", "\x48\x89\xc7", 7),
	MOVE("mov %edi, %r9d", "\x44\x8b\xcf", 9),
	MOVE("mov $5, %r8d", "\x41\xb8\x05\x00\x00\x00", 8),
	MOVE("mov $5, %rbx", "\x48\xc7\xc3\x05\x00\x00\x00", 3),
	MOVE("lea 1(%rdi), %rax", "\x48\x8d\x47\x01", 0),
	MOVE("lea 8(%rdi,%rsi,2), %r12", "\x4c\x8d\x64\x77\x08", 12),
	MOVE("lea far(%rip), %rsi", "\x48\x8d\x35\x00\x00\x00\x00", 6),
	MOVE("movzbl %dil, %eax", "\x40\x0f\xb6\xc7", 0),
	MOVE("movslq %ecx, %rdx", "\x48\x63\xd1", 2),
	MOVE("movzbl %bh, %eax", "\x0f\xb6\xc7", 0),
	MOVE("movzbl %ah, %eax: reads it", "\x0f\xb6\xc4", -1),
	MOVE("mov %eax, %eax: reads it", "\x89\xc0", -1),
	MOVE("lea 1(%rax), %rax: reads it", "\x48\x8d\x40\x01", -1),
	MOVE("lea (%rdi,%rax,2), %rax: reads it", "\x48\x8d\x04\x47", -1),
	MOVE("mov %rcx, %rsp", "\x48\x89\xcc", -1),
	MOVE("mov %rsp, %rbp", "\x48\x89\xe5", -1),
	MOVE("mov (%rdi), %rax: may fault", "\x48\x8b\x07", -1),
	MOVE("mov %ax, %di: in part", "\x66\x89\xc7", -1),
	MOVE("mov $5, %al: in part", "\xb0\x05", -1),
	MOVE("cmove %ecx, %eax: perhaps not", "\x0f\x44\xc1", -1),
};

static void test_overwritten(void)
{
	for (size_t i = 0; i < sizeof(moves) / sizeof(moves[0]); i++) {
		is_int(isa_brief_overwritten((const uint8_t *)moves[i].bytes, moves[i].size),
			moves[i].reg, "%s", moves[i].text);
		is_int(isa_brief_overwritten((const uint8_t *)moves[i].bytes, 1), -1, "%s, cut",
			moves[i].text);
	}
}

/* What the brief decoder says must be what the general one says. */
static bool agrees(const uint8_t *bytes, size_t size, uint64_t at, struct insn *whole, long *known)
{
	struct insn_flags brief, flags;
	struct insn insn;
	bool same;

	isa_decode(ISA_X86_64, bytes, size, at, whole);
	if (!overwrites(bytes, size, whole)) {
		printf("# %02x %02x %02x %02x: %d is not overwritten\n", bytes[0], bytes[1],
			bytes[2], bytes[3], isa_brief_overwritten(bytes, size));
		return false;
	}
	if (!isa_brief(bytes, size, at, &insn, &brief))
		return true;
	++*known;
	flags = flags_of(bytes, whole);
	same = !(whole->classes & (INSN_BAD | INSN_STOPS | INSN_SYSCALL | INSN_PRIVILEGED |
					  INSN_LOCK | INSN_REP)) &&
	       insn.length == whole->length && insn.classes == (whole->classes & KINDS) &&
	       insn.has_target == whole->has_target && insn.target == whole->target &&
	       insn.relative_at == whole->relative_at && insn.encoding == whole->encoding &&
	       insn.address == whole->address && flags.reads == brief.reads &&
	       flags.kills == brief.kills && !insn_registers_have(&whole->reads, REG_SEGMENT_BASE);
	if (!same)
		printf("# %02x %02x %02x %02x: %s, length %d or %d, flags %02x %02x or %02x %02x\n",
			bytes[0], bytes[1], bytes[2], bytes[3],
			isa_mnemonic(ISA_X86_64, whole->mnemonic), insn.length, whole->length,
			brief.reads, brief.kills, flags.reads, flags.kills);
	return same;
}

static long disagree(const uint8_t *bytes, size_t size, long *known)
{
	struct insn insn = {0};
	long wrong = 0;

	for (size_t at = 0; at + INSN_LENGTH_MAX < size; at += insn.length)
		wrong += !agrees(bytes + at, size - at, at, &insn, known);
	return wrong;
}

/* Of each opcode with each prefix, all operands. */
static long disagree_anywhere(long *known)
{
	static const char *const prefixes[] = {
		"", "\x66", "\xf2", "\xf3", "\x48", "\x41", "\x66\x48", "\xf3\x4c", "\xf0", "\x64"};
	long wrong = 0;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		for (unsigned code = 0; code < 2u << 16; code++) {
			uint8_t bytes[INSN_LENGTH_MAX] = {0};
			struct insn insn;
			size_t n = strlen(prefixes[i]);

			memcpy(bytes, prefixes[i], n);
			if (code >> 16)
				bytes[n++] = 0x0f;
			bytes[n++] = (uint8_t)(code >> 8);
			bytes[n++] = (uint8_t)code;
			for (unsigned k = 0; n < sizeof(bytes); k++)
				bytes[n++] = (uint8_t)(0x25 + 37 * k);
			wrong += !agrees(bytes, sizeof(bytes), 0x400000, &insn, known);
		}
	return wrong;
}

static void test_brief(void)
{
	static uint8_t bytes[1 << 20];
	FILE *self = fopen("/proc/self/exe", "re");
	size_t size = self ? fread(bytes, 1, sizeof(bytes), self) : 0;
	long known = 0;
	uint64_t chance = 1;

	if (self)
		fclose(self);
	is_int(disagree(bytes, size, &known), 0, "this program's code");
	ok(known > 1000, "%ld instructions are decoded briefly", known);
	for (size_t i = 0; i < sizeof(bytes); i++) {
		chance = chance * 6364136223846793005u + 1442695040888963407u;
		bytes[i] = (uint8_t)(chance >> 56);
	}
	is_int(disagree(bytes, sizeof(bytes), &known), 0, "any bytes");
	known = 0;
	is_int(disagree_anywhere(&known), 0, "each opcode");
	ok(known > 100000, "%ld of these are decoded briefly", known);
	ok(overwriting > 5000, "%ld instructions only overwrite a register", overwriting);
}

/* Numbers of sites come from memory of the program, which it may write to. */
static void test_sites(void)
{
	struct cache c = {0};

	ok(!copy_site(&c, 0) && !copy_site(&c, 1ull << 48), "no site");
	vec_add(&c.sites, ((struct site_key){.key = 5}));
	vec_add(&c.sites, ((struct site_key){.key = 7}));
	ok(copy_site(&c, 1ull << 48)->key == 5 && copy_site(&c, 2ull << 48 | 9)->key == 7,
		"two sites");
	ok(!copy_site(&c, 9) && !copy_site(&c, 3ull << 48) && !copy_site(&c, UINT64_MAX),
		"numbers of none");
	vec_fini(&c.sites);
}

int main(void)
{
	test_cases();
	test_overwritten();
	test_brief();
	test_sites();
	return done();
}
#else
int main(void)
{
	skip("there are no copies of code on this machine");
	return done();
}
#endif
