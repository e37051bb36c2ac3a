/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static schedule: blocks whose throughput follows from a core's description by hand, the copy
 * loop of the DCPI paper on the Alpha, and blocks of any kind, which must never be faster than what
 * their ports and widths allow.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "build_data.h"
#include "schedule/schedule.h"

static struct core core;
static struct schedule_work *work;

static size_t decode(const char *hex, struct insn *insns, size_t room)
{
	uint8_t bytes[512];
	size_t size = 0, n = 0;
	unsigned value;

	for (; size < sizeof(bytes) && sscanf(hex, "%2x", &value) == 1; hex += 2)
		bytes[size++] = (uint8_t)value;
	for (size_t at = 0; at < size && n < room; n++)
		at += isa_decode(ISA_X86_64, bytes + at, size - at, at, &insns[n]);
	return n;
}

static struct schedule_row rows[64];

static double cycles(const char *hex, struct schedule *s)
{
	static const struct schedule_options options = {.same_values = true};
	struct insn insns[64];
	struct error e = {0};
	size_t count = decode(hex, insns, 64);

	if (schedule_block(work, &core, insns, count, &options, s, rows, &e)) {
		printf("# %s\n", e.message);
		return -1;
	}
	return s->cycles;
}

/* What follows from the description alone. */
static void test_known(void)
{
	static const struct {
		const char *what, *hex;
		double cycles;
		enum schedule_cause bound;
	} table[] = {
		{"a chain of adds", "4801d8", 1, SCHEDULE_INPUT},
		{"a chain of multiplications", "480fafc0", 3, SCHEDULE_INPUT},
		{"a chain of loads", "488b00", 5, SCHEDULE_INPUT},
		{"a chain of floating-point multiplications", "f20f59c0", 4, SCHEDULE_INPUT},
		{"three independent loads", "488b0e488b56084c8b4610", 1, SCHEDULE_PORT},
		{"six moves that are eliminated", "4889c14889c24889c64889c74989c04989c1", 1,
			SCHEDULE_FRONT_END},
		{"two stores to one line", "4889084889490848", -2, SCHEDULE_NONE},
		{"xor of a register with itself is free", "31c0", 1.0 / 6, SCHEDULE_FRONT_END},
		{"two multiplications that do not wait", "480fafd9480fafd1", 3, SCHEDULE_INPUT},
	};
	struct schedule s;

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		double got;

		if (table[i].cycles < 0)
			continue;
		got = cycles(table[i].hex, &s);
		ok(got > table[i].cycles * 0.99 && got < table[i].cycles * 1.01,
			"%s: %.3f cycles, not %.3f", table[i].what, got, table[i].cycles);
		is_int(s.bound, table[i].bound, "what binds");
	}
}

static void test_rows(void)
{
	struct schedule s;
	double sum = 0;

	/* imul %rbx,%rax; add %rax,%rcx; mov (%rdx),%rsi */
	cycles("480fafc34801c1488b32", &s);
	for (int i = 0; i < 3; i++)
		sum += rows[i].mi;
	ok(sum > s.cycles - 0.01 && sum < s.cycles + 0.01,
		"the Mi of a block add up to its cycles");
	is_int(rows[1].blame == 0 || rows[1].mi < 0.01, 1,
		"the add waits for the product, or not at all");
}

/* Figure 7 of the paper: Mi of the copy loop. */
static void test_alpha(void)
{
	static const struct {
		const char *name;
		uint8_t in[2], out;
		bool load, store;
		int mi;
	} loop[] = {
		{"ldq", {1, 99}, 4, true, false, 1},
		{"addq", {0, 99}, 0, false, false, 0},
		{"ldq", {1, 99}, 5, true, false, 1},
		{"ldq", {1, 99}, 6, true, false, 0},
		{"ldq", {1, 99}, 7, true, false, 1},
		{"lda", {1, 99}, 1, false, false, 0},
		{"stq", {4, 2}, 99, false, true, 1},
		{"cmpult", {0, 8}, 4, false, false, 0},
		{"stq", {5, 2}, 99, false, true, 1},
		{"stq", {6, 2}, 99, false, true, 1},
		{"stq", {7, 2}, 99, false, true, 1},
		{"lda", {2, 99}, 2, false, false, 0},
		{"bne", {4, 99}, 99, false, false, 1},
	};
	enum { N = sizeof(loop) / sizeof(loop[0]) };
	static const struct schedule_options options = {.in_order = true};
	struct schedule_row alpha_rows[N];
	struct op ops[N];
	struct schedule s;
	struct core alpha;
	struct error e = {0};

	if (core_find(&alpha, "alpha-21164", &e)) {
		ok(0, "%s", e.message);
		return;
	}
	memset(ops, 0, sizeof(ops));
	for (int i = 0; i < N; i++) {
		struct op *op = &ops[i];
		int number = core_mnemonic(&alpha, loop[i].name);
		const struct core_rule *rule =
			&alpha.rules.data[number < 0 ? alpha.fallback : alpha.first[number]];

		ok(number >= 0, "%s is there", loop[i].name);
		op->executes = 1;
		op->uops[0] = (struct op_uop){.ports = rule->uops[0].ports, .busy = 1};
		op->latency = rule->latency;
		op->load_latency = (uint8_t)alpha.load_latency;
		op->loads = loop[i].load;
		op->where = 0x9810 + 4 * (uint64_t)i;
		for (int n = 0; n < 2; n++)
			if (loop[i].in[n] != 99)
				op->input[op->input_count++].reg = loop[i].in[n];
		if (loop[i].out != 99)
			op->output[op->output_count++] = loop[i].out;
	}
	is_int(schedule_ops(work, &alpha, ops, N, &options, &s, alpha_rows, &e), 0, "scheduled");
	for (int i = 0; i < N; i++)
		is_int((int)alpha_rows[i].mi, loop[i].mi, "Mi of instruction %d", i);
	is_int((int)s.cycles, 8, "eight cycles for thirteen instructions");
	core_fini(&alpha);
}

/* Random bytes: whatever decodes is scheduled, no faster than its slots and ports allow. */
static void test_any(void)
{
	static const struct schedule_options options = {.same_values = false};
	uint64_t state = 12345;
	int faster = 0, blocks = 0;

	for (int round = 0; round < 3000; round++) {
		struct insn insns[16];
		struct schedule s;
		struct error e = {0};
		size_t count = 0;

		while (count < 1 + (size_t)round % 16) {
			uint8_t bytes[16];

			for (int b = 0; b < 16; b++) {
				state = state * 6364136223846793005u + 1442695040888963407u;
				bytes[b] = (uint8_t)(state >> 33);
			}
			isa_decode(ISA_X86_64, bytes, 16, count * 16, &insns[count]);
			if (!(insns[count].classes & INSN_BAD))
				count++;
		}
		if (schedule_block(work, &core, insns, count, &options, &s, rows, &e)) {
			ok(0, "%s", e.message);
			return;
		}
		blocks++;
		if (s.cycles < 0.99 * s.slots / core.rename) {
			faster++;
			printf("# %zu instructions: %.3f cycles, %.1f slots\n", count, s.cycles,
				s.slots);
		}
		for (unsigned p = 0; p < core.ports; p++)
			if (s.cycles < 0.95 * s.port_use[p] - 0.5) {
				faster++;
				printf("# %zu instructions: %.2f cycles, port %s %.2f\n", count,
					s.cycles, core.port_names[p], s.port_use[p]);
			}
	}
	is_int(blocks, 3000, "blocks of any instructions are scheduled");
	is_int(faster, 0, "none is faster than the core");
}

static void test_refused(void)
{
	static const struct schedule_options options = {.loop = false};
	struct insn insns[2];
	struct schedule s;
	struct error e = {0};

	is_int(schedule_block(work, &core, insns, 0, &options, &s, NULL, &e), -1, "an empty block");
	is_int((int)e.code, ERR_RANGE, "is out of range");
	decode("06", insns, 1);
	is_int(schedule_block(work, &core, insns, 1, &options, &s, NULL, &e), -1,
		"what is unknown instruction");
	is_int((int)e.code, ERR_PARSE, "is refused");
}

static void test_descriptions(void)
{
	static const struct {
		const char *text, *message;
	} table[] = {
		{"name x\n", "before the first heading"},
		{"[cores]\n", "unknown heading"},
		{"[core]\nrename many\n", "not a whole number"},
		{"[core]\nrenaming 4\n", "unknown key"},
		{"[instructions]\nadd : r : alu\n", "MNEMONICS : OPERANDS"},
		{"[ports]\nalu 0\n[instructions]\nadd : q : alu : 1\n", "unknown operand kind"},
		{"[ports]\nalu 0\n[instructions]\nadd : r : mul : 1\n", "unknown port"},
		{"[ports]\nalu 0\n[instructions]\nnonsense : r : alu : 1\n", "unknown instruction"},
		{"[ports]\nalu 0\n[instructions]\nadd : : alu : 1\n", "must be given"},
	};
	struct core c;
	struct error e = {0};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		is_int(core_parse(&c, table[i].text, strlen(table[i].text), "test", &e), -1,
			"refused: description %zu", i);
		ok(strstr(e.message, table[i].message) != NULL, "and says why: %s", e.message);
	}
}

int main(void)
{
	struct error e = {0};

	build_data();
	work = schedule_work_new(&e);
	if (core_find(&core, "golden-cove", &e)) {
		ok(0, "%s", e.message);
		return done();
	}
	test_known();
	test_rows();
	test_any();
	test_alpha();
	test_refused();
	test_descriptions();
	schedule_work_free(work);
	core_fini(&core);
	return done();
}
