/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block profiler: what becomes of every kind of block.  No figure is judged here but for order
 * of magnitude: tests/bench/block does that. */
#include <stdlib.h>

#include "../tap.h"
#include "blockbench/blockbench.h"

#define ROOM 20000

struct row {
	const char *what, *hex;
	enum block_class class;
	unsigned warnings; /* these at least */
};

static const struct row rows[] = {
	{"add", "4801d8", BLOCK_OK, 0},
	{"load", "488b07", BLOCK_OK, 0},
	{"store and load", "48890748 8b1e", BLOCK_OK, 0},
	{"stack", "555d", BLOCK_OK, 0},
	{"leaves rsp anywhere", "4889c4 4831e0", BLOCK_OK, 0},
	{"pushes below zero", "4831e4 50", BLOCK_ADDRESS, 0},
	{"relative to the program counter", "488b0510000000 480b1d20000000", BLOCK_OK, 0},
	{"fs", "64488b042528000000", BLOCK_OK, 0},
	{"divides", "48f7f3", BLOCK_OK, 0},
	{"repeats for ever", "48c7c1ffffffff f348ab", BLOCK_TIMEOUT, 0},
	{"repeats by rcx", "f348ab", BLOCK_OK, 0},
	{"direction flag", "fd 4801d8", BLOCK_OK, 0},
	{"x87", "dd07 dec1 dd1f", BLOCK_OK, 0},
	{"popf", "9c 59 51 9d", BLOCK_OK, 0},
	{"branch at its end", "4801d8 75fb", BLOCK_OK, BLOCK_WARN_BRANCH_DROPPED},
	{"return at its end", "4801d8 c3", BLOCK_OK, BLOCK_WARN_BRANCH_DROPPED},
	{"cpuid", "0fa2", BLOCK_OK, BLOCK_WARN_SERIALISING},
	{"nothing", "", BLOCK_EMPTY, 0},
	{"nothing but a branch", "75fe", BLOCK_EMPTY, 0},
	{"branch in the middle", "7500 4801d8", BLOCK_BRANCH, 0},
	{"call in the middle", "e800000000 4801d8", BLOCK_BRANCH, 0},
	{"cut off", "48", BLOCK_UNDECODABLE, 0},
	{"no instruction", "4801d8 06", BLOCK_UNDECODABLE, 0},
	{"syscall", "0f05", BLOCK_SYSTEM_CALL, 0},
	{"int 0x80", "cd80", BLOCK_SYSTEM_CALL, 0},
	{"sysenter", "0f34", BLOCK_SYSTEM_CALL, 0},
	{"vmcall", "0f01c1", BLOCK_SYSTEM_CALL, 0},
	{"hlt", "f4", BLOCK_STOPS, 0},
	{"int3", "cc", BLOCK_STOPS, 0},
	{"int1", "f1", BLOCK_STOPS, 0},
	{"ud2", "0f0b", BLOCK_STOPS, 0},
	{"wrmsr", "0f30", BLOCK_PRIVILEGED, 0},
	{"cli", "fa", BLOCK_PRIVILEGED, 0},
	{"wrpkru", "0f01ef", BLOCK_PRIVILEGED, 0},
	{"mov to ds", "8ed8", BLOCK_SEGMENT, 0},
	{"mov to fs", "8ee0", BLOCK_SEGMENT, 0},
	{"pop fs", "0fa1", BLOCK_SEGMENT, 0},
	{"wrfsbase", "f3480faed0", BLOCK_SEGMENT, 0},
	{"divides by zero", "31db 48f7f3", BLOCK_DIVIDE_ERROR, 0},
	{"non-canonical", "48b80000000000000080 488b00", BLOCK_PROTECTION, 0},
	{"misaligned", "c5f8280425 01203202", BLOCK_PROTECTION, 0},
	{"the kernel's", "488b0425 00f0ffff", BLOCK_ADDRESS, 0},
	{"writes to its code", "48b80000000000100000 c60090", BLOCK_OWN_CODE, 0},
	{"trap flag", "9c 48810c2400010000 9d 90", BLOCK_TRAP_FLAG, 0},
	{"alignment check", "9c 48810c2400000400 9d 8b4301", BLOCK_ALIGNMENT, 0},
	{"unmasked exceptions", "c7042400000000 0fae1424 0f57c0 0f5ec0", BLOCK_ARITHMETIC, 0},
	{"unknown opcode of its time", "0fc7f8 0f38c8c1", BLOCK_OK, 0},
};

#define COUNT (sizeof(rows) / sizeof(*rows))

static void check_rows(struct blockbench *b)
{
	static uint8_t bytes[COUNT][32];
	struct block blocks[COUNT];
	struct block_result results[COUNT];
	struct error e = {0};

	for (size_t i = 0; i < COUNT; i++) {
		size_t n;

		block_parse_hex(rows[i].hex, strlen(rows[i].hex), bytes[i], sizeof(bytes[i]), &n);
		blocks[i] = (struct block){.bytes = bytes[i], .length = n};
	}
	ok(blockbench_measure(b, blocks, COUNT, results, NULL, NULL, &e) == 0, "measured%s",
		e.message);
	for (size_t i = 0; i < COUNT; i++) {
		const struct block_result *r = &results[i];

		is_str(block_class_name(r->class), block_class_name(rows[i].class), "%s",
			rows[i].what);
		ok((r->warnings & rows[i].warnings) == rows[i].warnings, "%s: warnings",
			rows[i].what);
		ok((r->class == BLOCK_OK) == (r->cycles.label == LABEL_MEASURED) &&
				(r->class != BLOCK_OK ||
					(r->cycles.low <= r->cycles.value &&
						r->cycles.value <= r->cycles.high &&
						r->cycles.value > 0)),
			"%s: a labelled interval, or none", rows[i].what);
	}
}

int main(void)
{
	struct block_options quick = {.quick = true};
	struct error e = {0};
	struct blockbench *b = blockbench_open(&quick, &e);

	if (!b) {
		skip(e.message);
		return done();
	}
	check_rows(b);
	blockbench_close(b);
	return done();
}
