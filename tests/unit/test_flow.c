/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Graphs of hand-made procedures, and of one that this compiler makes.  Bytes as GNU as makes them
 * from what stands beside them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tap.h"
#include "flow_check.h"
#include "flow_dump.h"
#include "unhex.h"

#define AT UINT64_C(0x401000)

struct memory {
	uint64_t at;
	uint8_t bytes[64];
	size_t size;
};

static size_t read_memory(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct memory *m = context;

	if (!m || address < m->at || address + size > m->at + m->size)
		return 0;
	memcpy(bytes, m->bytes + (address - m->at), size);
	return size;
}

/* Calls forward do not return. */
static bool returns(void *context, const struct insn *call)
{
	(void)context;
	return call->target < call->address;
}

static struct flow *graph_of(const char *hex, struct memory *m)
{
	uint8_t bytes[256];
	struct error e;
	struct flow_request r = {.machine = ISA_X86_64,
		.begin = AT,
		.bytes = bytes,
		.size = unhex(hex, bytes, sizeof(bytes)),
		.context = m,
		.read = read_memory,
		.returns = returns};

	return flow_new(&r, &e);
}

static void graph_is(const char *name, const char *hex, struct memory *m, const char *want)
{
	struct strbuf out = {0};
	struct flow *f = graph_of(hex, m);
	const char *bad;

	if (!f) {
		ok(false, "%s: a graph", name);
		return;
	}
	flow_dump(f, &out);
	is_str(strbuf_text(&out), want, "%s", name);
	bad = flow_check(f, true);
	is_str(bad ? bad : "fine", "fine", "%s: its parts agree", name);
	strbuf_fini(&out);
	flow_free(f);
}

static void test_shapes(void)
{
	graph_is("nothing", "", NULL, "");
	graph_is("ret", "c3", NULL, "0 401000..401001; entry; returns\n");
	graph_is("if, else", /* test; je; mov; jmp; mov; ret */
		"85ff7407b801000000eb05b802000000c3", NULL,
		"0 401000..401004 -> 1, taken 2; entry\n"
		"1 401004..40100b -> jump 3; below 0\n"
		"2 40100b..401010 -> 3; below 0\n"
		"3 401010..401011; below 0; returns\n");
	graph_is("loop in a loop", "31c089f10307ffc975faffca75f4c3", NULL,
		"0 401000..401002 -> 1; entry\n"
		"1 401002..401004 -> 2; below 0; loop 0; head\n"
		"2 401004..40100a -> 3, taken 2 back; below 1; loop 1; head\n"
		"3 40100a..40100e -> 4, taken 1 back; below 2; loop 0\n"
		"4 40100e..40100f; below 3; returns\n"
		"loop 0: head 1, depth 1, blocks 3, entries 1\n"
		"loop 1: head 2, depth 2, blocks 1, entries 1, in 0\n");
	graph_is("endless", "f390ebfc", NULL,
		"0 401000..401004 -> jump 0 back; loop 0; entry; head\n"
		"loop 0: head 0, depth 1, blocks 1, entries 0\n");
	graph_is("two ways into a loop", "85ff7402ffc0ffcf75fac3", NULL,
		"0 401000..401004 -> 1, taken 2; entry\n"
		"1 401004..401006 -> 2; below 0; loop 0; head\n"
		"2 401006..40100a -> 3, taken 1 back; below 0; loop 0\n"
		"3 40100a..40100b; below 2; returns\n"
		"loop 0: head 1, depth 1, blocks 2, entries 2, irreducible\n");
	graph_is("the same in a loop", "85ff7402ffc0ffcf75faffce75f2c3", NULL,
		"0 401000..401004 -> 1, taken 2; loop 0; entry; head\n"
		"1 401004..401006 -> 2; below 0; loop 1; head\n"
		"2 401006..40100a -> 3, taken 1 back; below 0; loop 1\n"
		"3 40100a..40100e -> 4, taken 0 back; below 2; loop 0\n"
		"4 40100e..40100f; below 3; returns\n"
		"loop 0: head 0, depth 1, blocks 4, entries 0\n"
		"loop 1: head 1, depth 2, blocks 2, entries 2, in 0, irreducible\n");
}

static void test_ends(void)
{
	graph_is("a call that does not return, padding, what nobody reaches",
		/* test; jne; ret; call; nopl; nop; mov; jmp back */
		"85ff7501c3e8fb0000000f1f040090b803000000ebf9", NULL,
		"0 401000..401004 -> 1, taken 2; entry\n"
		"1 401004..401005; below 0; returns\n"
		"2 401005..40100a; below 0; no return\n"
		"3 40100a..40100f; padding\n"
		"4 40100f..401016 -> jump 4 back; loop 0; orphan; head\n"
		"loop 0: head 4, depth 1, blocks 1, entries 0\n");
	graph_is("a jump over a lock prefix", "7401f00fb10fc3", NULL,
		"0 401000..401002 -> 1; entry; middle\n"
		"1 401002..401007; below 0; returns\n");
	graph_is("ways out", /* test; je far; pop, jmp *%rax; jmp *24(%rax); jmp *%rcx; junk */
		"85ff0f84fa0f00005bffe0ff6018ffe106", NULL,
		"0 401000..401008 -> 1; entry; leaves\n"
		"1 401008..40100b; below 0; leaves\n"
		"2 40100b..40100e; orphan; leaves\n"
		"3 40100e..401010; orphan; unknown\n"
		"4 401010..401011; orphan; bad\n");
	graph_is("off the end", "31c0", NULL, "0 401000..401002; entry; runs out\n");
}

/* cmp $3; ja; lea 0x40200e; movslq; add; jmp: three cases and the default */
#define OFFSETS                                                                                    \
	"83ff03772589ff488d1500100000486304ba4801d03effe0b801000000c3b802000000c3b803000000c331c0" \
	"c3"
/* cmp $2; jae; jmp *0x402000(,%rdi,8) */
#define ADDRESSES "83ff02731589ffff24fd00204000b801000000c3b802000000c331c0c3"

static void test_tables(void)
{
	struct memory m = {.at = 0x40200e};
	int32_t offsets[5] = {0x401018 - 0x40200e, 0x40101e - 0x40200e, 0x401024 - 0x40200e,
		0x401018 - 0x40200e, 0x40102a - 0x40200e};
	uint64_t addresses[3] = {0x40100e, 0x401014, 0x40101a};

	m.size = sizeof(offsets);
	memcpy(m.bytes, offsets, sizeof(offsets));
	graph_is("a table of offsets, as long as its bound says", OFFSETS, &m,
		"0 401000..401005 -> 1, taken 5; entry\n"
		"1 401005..401018 -> table 2, table 3, table 4; below 0\n"
		"2 401018..40101e; below 1; returns\n"
		"3 40101e..401024; below 1; returns\n"
		"4 401024..40102a; below 1; returns\n"
		"5 40102a..40102d; below 0; returns\n");
	graph_is("no table without its data", OFFSETS, NULL,
		"0 401000..401005 -> 1, taken 5; entry\n"
		"1 401005..401018; below 0; unknown\n"
		"2 401018..40101e; orphan; returns\n"
		"3 40101e..401024; orphan; returns\n"
		"4 401024..40102a; orphan; returns\n"
		"5 40102a..40102d; below 0; returns\n");
	m.at = 0x402000;
	m.size = sizeof(addresses);
	memcpy(m.bytes, addresses, sizeof(addresses));
	graph_is("a table of addresses", ADDRESSES, &m,
		"0 401000..401005 -> 1, taken 4; entry\n"
		"1 401005..40100e -> table 2, table 3; below 0\n"
		"2 40100e..401014; below 1; returns\n"
		"3 401014..40101a; below 1; returns\n"
		"4 40101a..40101d; below 0; returns\n");
	/* without cmp and jae: up to what leads nowhere */
	addresses[2] = 1;
	memcpy(m.bytes, addresses, sizeof(addresses));
	graph_is("a table without bound",
		"90909090909090ff24fd00204000b801000000c3b802000000c331c0c3", &m,
		"0 401000..40100e -> table 1, table 2; entry; guessed\n"
		"1 40100e..401014; below 0; returns\n"
		"2 401014..40101a; below 0; returns\n"
		"3 40101a..40101d; orphan; returns\n");
}

/* A procedure of this compiler in a section of its own. */
__attribute__((section("flow_sample"), noinline, no_sanitize("address", "undefined"))) static int
sample(int n, const int *p)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		for (int k = 0; k < p[i]; k++)
			sum ^= p[k] * 3;
		switch (p[i]) {
		case 0:
			sum += p[1];
			break;
		case 1:
			sum -= 3;
			break;
		case 2:
			sum *= 7;
			break;
		case 3:
			sum ^= n;
			break;
		case 4:
			sum += p[sum & 3];
			break;
		case 5:
			sum = p[5] + 1;
			break;
		case 6:
			sum |= 3;
			break;
		default:
			return sum;
		}
	}
	return sum;
}

extern const uint8_t __start_flow_sample[], __stop_flow_sample[];
extern const char __executable_start[], end[];

static size_t read_own(void *context, uint64_t address, void *bytes, size_t size)
{
	(void)context;
	if (address < (uintptr_t)__executable_start || address + size > (uintptr_t)end)
		return 0;
	memcpy(bytes, (const void *)(uintptr_t)address, size);
	return size;
}

static void test_compiled(void)
{
	static const int input[8] = {1, 2, 3, 0, 4, 5, 6, 9};
	struct flow_request r = {.machine = ISA_X86_64,
		.begin = (uintptr_t)__start_flow_sample,
		.bytes = __start_flow_sample,
		.size = (size_t)(__stop_flow_sample - __start_flow_sample),
		.read = read_own};
	struct error e;
	struct flow *f;
	uint32_t depth = 0;
	bool returned = false;

	ok(sample(8, input) != 1, "the sample runs");
#ifndef __x86_64__
	skip("which is not x86-64's here");
	return;
#endif
	f = flow_new(&r, &e);
	ok(f && !f->missing, "all that it jumps to was found");
	if (!f)
		return;
	ok(flow_check(f, true) == NULL, "the parts of its graph agree");
	for (size_t l = 0; l < f->loops.count; l++)
		depth = f->loops.data[l].depth > depth ? f->loops.data[l].depth : depth;
	ok(depth >= 2, "its loop in a loop was found");
	for (size_t i = 0; i < f->blocks.count; i++)
		returned |=
			(f->blocks.data[i].flags & (FLOW_RETURNS | FLOW_ORPHAN)) == FLOW_RETURNS;
	ok(returned, "a way from its entry to a return");
	flow_free(f);
}

/* Jumps to where a register says: what was seen of them in a run. */
static void test_seen(void)
{
	/* test; je 1f; jmp *%rax; 1: nop; ret; jmp *%rcx; dec; jne back; ret */
	static const char hex[] = "85ff7402ffe090c3ffe1ffcf75fcc3";
	static const struct flow_jump seen[] = {{AT + 2, AT + 9}, {AT + 4, AT - 6},
		{AT + 4, AT + 5}, {AT + 4, AT + 10}, {AT + 4, AT + 10}, {AT + 14, AT}};
	uint8_t bytes[64];
	struct flow_request r = {.machine = ISA_X86_64,
		.begin = AT,
		.bytes = bytes,
		.size = unhex(hex, bytes, sizeof(bytes)),
		.seen = seen,
		.seen_count = sizeof(seen) / sizeof(*seen)};
	struct strbuf out = {0};
	struct error e;
	struct flow *f = flow_new(&r, &e);
	const char *bad;

	if (!f) {
		ok(false, "a graph with jumps that were seen");
		return;
	}
	flow_dump(f, &out);
	is_str(strbuf_text(&out),
		"0 401000..401004 -> 1, taken 2; entry\n"
		"1 401004..401006 -> table 4; below 0; seen\n"
		"2 401006..401008; below 0; returns\n"
		"3 401008..40100a; orphan; unknown\n"
		"4 40100a..40100e -> 5, taken 4 back; below 1; loop 0; head\n"
		"5 40100e..40100f; below 4; returns\n"
		"loop 0: head 4, depth 1, blocks 1, entries 1\n",
		"a jump's targets are those that were seen, where they are instructions");
	bad = flow_check(f, true);
	is_str(bad ? bad : "fine", "fine", "whose parts agree");
	strbuf_fini(&out);
	flow_free(f);
}

static void test_random(void)
{
	uint32_t seed = 1;
	int bad = 0, loops = 0;

	/* short jumps among nops, so that much is connected */
	for (int round = 0; round < 300; round++) {
		uint8_t bytes[120];
		struct flow_request r = {
			.machine = ISA_X86_64, .begin = AT, .bytes = bytes, .size = sizeof(bytes)};
		struct error e;
		struct flow *f;

		for (size_t i = 0; i + 1 < sizeof(bytes); i += 2) {
			seed = seed * 1103515245 + 12345;
			bytes[i] = "\x74\x75\xeb\x31\x31\x31"[(seed >> 16) % 6];
			bytes[i + 1] = bytes[i] == 0x31
					       ? 0xc0
					       : (uint8_t)(2 * (int)((seed >> 20) % 40) - 40);
		}
		f = flow_new(&r, &e);
		bad += !f || flow_check(f, true);
		loops += f ? (int)f->loops.count : 0;
		flow_free(f);
	}
	is_int(bad, 0, "300 random graphs: dominators and loops as found by slow means");
	ok(loops > 100, "and loops were among them");
}

static void test_names(void)
{
	ok(!flow_name_returns("abort"), "abort does not return");
	ok(!flow_name_returns("__stack_chk_fail@plt"), "nor does __stack_chk_fail@plt");
	ok(!flow_name_returns("exit@GLIBC_2.2.5"), "nor exit@GLIBC_2.2.5");
	ok(!flow_name_returns("std::__throw_length_error(char const*)"), "nor what throws");
	ok(!flow_name_returns("_ZSt20__throw_length_errorPKc"), "mangled or not");
	ok(!flow_name_returns("core::panicking::panic_bounds_check"), "nor what panics");
	ok(flow_name_returns("aborted"), "aborted is another name");
	ok(flow_name_returns("printf"), "printf returns");
	ok(flow_name_returns(""), "so does what has no name");
}

int main(void)
{
	test_shapes();
	test_ends();
	test_tables();
	test_compiled();
	test_seen();
	test_random();
	test_names();
	return done();
}
