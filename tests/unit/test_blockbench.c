/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The block profiler: what becomes of every kind of block.  No figure is judged here but for order
 * of magnitude: tests/bench/block does that.  In real time: blocks are measured on this processor.
 */
#include <stddef.h>
#include <stdlib.h>

#include "../tap.h"
#include "blockbench/blockbench.h"
#include "blockbench/channel.h"

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
	{"leaves its pointers unusable", "488b00 f7d0 48c1e03f", BLOCK_OK, BLOCK_WARN_RESET},
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
	{"writes over the worker", "48bf008000005e5e0000 b900800000 f348ab", BLOCK_CRASHED, 0},
	{"after a crash", "4801d8", BLOCK_OK, 0},
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
		enum block_class wanted = rows[i].class;

		/* What it meets first, behind the worker's memory or in it, is the linker's
		 * business. */
		if (wanted == BLOCK_CRASHED && r->class == BLOCK_ADDRESS)
			wanted = BLOCK_ADDRESS;
		is_str(block_class_name(r->class), block_class_name(wanted), "%s", rows[i].what);
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

/* A block can write to what its worker shares with the bench: what others become of it may be
 * wrong, but nothing of the bench. */
static const struct {
	const char *what;
	size_t at;
	uint64_t value;
	bool dies; /* and then it ends the worker */
} writes[] = {
	{"a state that is none", offsetof(struct channel, answer[0].state), 0x7ffffff0, false},
	{"more series than there are", offsetof(struct channel, answer[0].series), 1000, false},
	{"a class that is none", offsetof(struct channel, answer[0].class), 1000, false},
	{"not a number", offsetof(struct channel, answer[0].cycles), 0x7ff8ull << 48, false},
	{"no number of jobs", offsetof(struct channel, jobs), 0x7fffffff, true},
	{"all jobs are done", offsetof(struct channel, jobs), 0, false},
	{"a far job has begun", offsetof(struct channel, begun), 0x7ffffff, true},
	{"no job has begun", offsetof(struct channel, begun), 0, true},
	{"a ratio that is none", offsetof(struct channel, ratio), 0x7ff0ull << 48, false},
	{"to wait for an hour", offsetof(struct channel, wait_left), 0xffffffff, false},
};

static size_t write_to_channel(uint8_t *to, size_t at, uint64_t value, bool dies)
{
	/* mov $at,%rax; mov $value,%rcx; mov %ecx,(%rax), or %rcx */
	uint8_t store[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0x48, 0xb9, 0, 0, 0, 0, 0, 0, 0, 0,
		0x48, 0x89, 0x08};
	/* mov $WORKER_ADDRESS + 0x8000,%rdi; mov $0x8000,%ecx; rep stosq */
	static const uint8_t die[] = {
		0x48, 0xbf, 0, 0x80, 0, 0, 0x5e, 0x5e, 0, 0, 0xb9, 0, 0x80, 0, 0, 0xf3, 0x48, 0xab};
	uint64_t address = CHANNEL_ADDRESS + at;
	size_t n = sizeof(store);

	memcpy(store + 2, &address, 8);
	memcpy(store + 12, &value, 8);
	if (value >> 32 == 0) { /* without its prefix */
		store[20] = 0x89;
		store[21] = 0x08;
		n--;
	}
	memcpy(to, store, n);
	if (dies)
		memcpy(to + n, die, sizeof(die));
	return n + (dies ? sizeof(die) : 0);
}

static void check_hostile(void)
{
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	struct blockbench *b;
	struct error e = {0};

	for (size_t i = 0; i < sizeof(writes) / sizeof(*writes); i++) {
		uint8_t bytes[64];
		size_t n = write_to_channel(bytes, writes[i].at, writes[i].value, writes[i].dies);
		const struct block blocks[] = {
			{add, sizeof(add), 0}, {bytes, n, 0}, {add, sizeof(add), 0}};
		struct block_result r[3] = {{.state = NULL}};

		b = blockbench_open(&(struct block_options){.quick = true}, &e);
		ok(b && blockbench_measure(b, blocks, 3, r, NULL, NULL, &e) == 0, "%s: measured%s",
			writes[i].what, e.message);
		for (int k = 0; b && k < 3; k++)
			ok(r[k].class < BLOCK_CLASS_COUNT && r[k].state &&
					(r[k].class != BLOCK_OK ||
						(r[k].cycles.value > 0 && r[k].cycles.value < 1e6)),
				"%s: block %d has a result", writes[i].what, k);
		if (writes[i].dies)
			ok((r[1].class == BLOCK_CRASHED || r[1].class == BLOCK_ADDRESS) &&
					r[2].class == BLOCK_OK,
				"%s: the next block goes on", writes[i].what);
		blockbench_close(b);
	}
}

/* Long ones are measured by few copies, or are too long; figures grow with copies of the same. */
static void check_long(struct blockbench *b)
{
	static uint8_t bytes[20000];
	struct block blocks[] = {{bytes, 15000, 0}, {bytes, 16384, 0}, {bytes, 16385, 0}};
	struct block_result r[3];
	struct error e = {0};

	memset(bytes, 0x90, sizeof(bytes));
	ok(blockbench_measure(b, blocks, 3, r, NULL, NULL, &e) == 0, "long blocks%s", e.message);
	is_str(block_class_name(r[0].class), "ok", "15000 bytes");
	is_int(r[0].instructions, 15000, "all of them");
	ok(r[0].warnings & BLOCK_WARN_FEW_COPIES, "with a warning");
	is_str(block_class_name(r[1].class), "ok", "16384 bytes");
	is_str(block_class_name(r[2].class), "too-long", "16385 bytes");
}

static int stop_at_once(void *context, size_t count)
{
	*(size_t *)context = count;
	return 1;
}

static void check_stop(struct blockbench *b)
{
	enum { MANY = 300 };
	static const uint8_t add[] = {0x48, 0x01, 0xd8};
	static struct block blocks[MANY];
	static struct block_result r[MANY];
	struct error e = {.code = ERR_SYSTEM};
	size_t stopped = 0;

	for (int i = 0; i < MANY; i++)
		blocks[i] = (struct block){add, sizeof(add), 0};
	is_int(blockbench_measure(b, blocks, MANY, r, stop_at_once, &stopped, &e), -1, "stopped");
	is_int(e.code, ERR_NONE, "which is no error");
	ok(stopped > 0 && stopped < MANY, "after the first batch");
	ok(blockbench_ratio(b) > 0.1 && blockbench_ratio(b) < 20, "cycles a tick are plausible");
}

/* Between batches the last worker still stands. */
static int look_at_worker(void *context, size_t count)
{
	char path[64], line[256];
	int pid = 0, strangers = 0, lines = 0, filtered = 0;
	FILE *f = fopen("/proc/thread-self/children", "re");

	(void)context;
	(void)count;
	ok(f && fscanf(f, "%d", &pid) == 1, "there is a worker");
	if (f)
		fclose(f);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		filtered += strncmp(line, "Seccomp:\t2", 10) == 0 ||
			    strncmp(line, "NoNewPrivs:\t1", 13) == 0;
	if (f)
		fclose(f);
	is_int(filtered, 2, "its system calls are filtered");
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long long begin = 0, end = 0;
		char mode[8] = "";

		if (sscanf(line, "%llx-%llx %7s", &begin, &end, mode) != 3)
			continue;
		lines++;
		/* its program, what it shares, code, the page of loops; the system's own page */
		if (!(begin >= 0x5e5e00000000 && end <= 0x5e6200000000) &&
			!(begin >= 0x100000000000 && end <= 0x100020000000) &&
			begin < 0xffff800000000000)
			strangers++;
		if (strchr(mode, 'w') && strchr(mode, 'x'))
			strangers++;
	}
	if (f)
		fclose(f);
	ok(lines > 4, "it has memory");
	is_int(strangers, 0, "of its own only, none of it both written and executed");
	return 0;
}

static void check_confined(struct blockbench *b)
{
	static const uint8_t load[] = {0x48, 0x8b, 0x07};
	const struct block block = {load, sizeof(load), 0};
	struct block_result r;
	struct error e = {0};

	ok(blockbench_measure(b, &block, 1, &r, look_at_worker, NULL, &e) == 0, "looked at");
}

static void check_loop(void)
{
	struct block_options options = {.quick = true, .mode = BLOCK_LOOPED};
	/* all sixteen registers but rsp in use, and a branch at the end */
	static const uint8_t full[] = {0x48, 0x01, 0xd8, 0x48, 0x01, 0xd1, 0x48, 0x01, 0xf7, 0x48,
		0x01, 0xed, 0x4d, 0x01, 0xc1, 0x4d, 0x01, 0xd3, 0x4d, 0x01, 0xe5, 0x4d, 0x01, 0xf7,
		0x75, 0xe6};
	const struct block block = {full, sizeof(full), 0};
	struct error e = {0};
	struct blockbench *b = blockbench_open(&options, &e);
	struct block_result r = {0};

	ok(b && blockbench_measure(b, &block, 1, &r, NULL, NULL, &e) == 0, "in a loop");
	is_str(block_class_name(r.class), "ok", "without a free register");
	ok(r.warnings & BLOCK_WARN_COUNTER, "which is said");
	ok(r.warnings & BLOCK_WARN_BRANCH_LOOPED, "the branch is the loop's");
	is_int(r.instructions, 8, "and not counted");
	blockbench_close(b);
}

/* Texts are all there, and different. */
static void check_names(void)
{
	for (unsigned i = 0; i < BLOCK_CLASS_COUNT; i++)
		for (unsigned k = 0; k < i; k++)
			if (!block_class_name(i)[0] || !block_class_text(i)[0] ||
				strcmp(block_class_name(i), block_class_name(k)) == 0)
				ok(false, "class %u", i);
	ok(block_class_name(BLOCK_CLASS_COUNT)[0] == '\0', "no more classes");
	for (unsigned i = 0; i < BLOCK_WARN_COUNT; i++)
		if (!block_warning_text(i) || !block_warning_text(i)[0])
			ok(false, "warning %u", i);
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
	check_hostile();
	check_long(b);
	check_stop(b);
	check_confined(b);
	check_loop();
	check_names();
	blockbench_close(b);
	return done();
}
