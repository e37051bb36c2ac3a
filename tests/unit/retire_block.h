/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A retirement clock, and a block of instructions for it that a test puts together. */
#ifndef TESTS_RETIRE_BLOCK_H
#define TESTS_RETIRE_BLOCK_H

#include "../tap.h"
#include "model/retire.h"
#include "model_machine.h"

static struct retire clock_;
static struct model_config config;
static struct model_insn insns[MODEL_BLOCK_INSNS_MAX];
static struct model_access accesses[4 * MODEL_BLOCK_INSNS_MAX];
static struct retire_op ops[MODEL_BLOCK_INSNS_MAX];
static struct model_segment ends[MODEL_BLOCK_INSNS_MAX]; /* where the block can be left */
static struct model_block block = {
	.insns = insns, .accesses = accesses, .ops = ops, .segments = ends};
static struct model_segment segment = {.block = &block};
static uint64_t record[1 + 4 * MODEL_BLOCK_INSNS_MAX];
static uint64_t slots_before[MODEL_CAUSES], base_before, gone_before;

/* Round figures: one instruction a cycle unless a test says otherwise. */
static inline struct model_config plain(void)
{
	struct model_config c = zen4();

	c.cores = 1;
	c.width = 4;
	c.window = 64;
	c.l1d.latency = 4;
	c.misses = 8;
	c.store_buffer = 8;
	c.mispredict_penalty = 15;
	c.divide_latency = 20;
	c.execution.divide = 24;
	c.execution.stores = 1;
	c.taken_interval = 0;
	return c;
}

static inline void begin(struct model_config c)
{
	config = c;
	memset(&clock_, 0, sizeof(clock_));
	retire_init(&clock_, &config);
}

static inline void clear(void)
{
	memset(&segment, 0, sizeof(segment));
	segment.block = &block;
}

static inline struct model_insn *add(enum model_latency latency, int source, int result)
{
	struct model_insn *insn = &insns[segment.insn_count++];

	*insn = (struct model_insn){.latency = (uint8_t)latency,
		.branch = MODEL_NO_BRANCH,
		.first_access = segment.access_count,
		.for_address = {MODEL_SLOT_NONE, MODEL_SLOT_NONE},
		.source = {(uint8_t)source, MODEL_SLOT_NONE, MODEL_SLOT_NONE, MODEL_SLOT_NONE},
		.result = {(uint8_t)result, MODEL_SLOT_SINK, MODEL_SLOT_SINK}};
	return insn;
}

static inline void add_access(
	struct model_insn *insn, enum model_access_kind kind, int base, uint64_t address)
{
	struct model_access *a = &accesses[segment.access_count];

	*a = (struct model_access){
		.kind = (uint8_t)kind, .size = 8, .insn = (uint16_t)(insn - insns)};
	insn->access_count++;
	insn->for_address[0] = (uint8_t)base;
	record[1 + segment.access_count++] = address;
}

static inline struct model_insn *add_load(int base, int result, uint64_t address)
{
	struct model_insn *insn = add(MODEL_LATENCY_NONE, MODEL_SLOT_NONE, result);

	add_access(insn, MODEL_ACCESS_LOAD, base, address);
	return insn;
}

static inline struct model_insn *add_store(int data, uint64_t address)
{
	struct model_insn *insn = add(MODEL_LATENCY_STORE, data, MODEL_SLOT_SINK);

	add_access(insn, MODEL_ACCESS_STORE, MODEL_SLOT_NONE, address);
	return insn;
}

static inline void run_block(int times)
{
	block.insn_count = segment.insn_count;
	ends[0] = segment; /* where the groups of fetch are computed */
	block.segment_count = 1;
	retire_prepare(&clock_, &block, NULL, NULL);
	segment.groups = ends[0].groups;
	while (times--)
		retire_record(&clock_, &segment, record, segment.insn_count);
}

/* What no other cause has. */
static inline uint64_t base(void)
{
	uint64_t parts = clock_.gone;

	for (int i = 0; i < MODEL_CAUSES; i++)
		parts -= clock_.slots[i];
	return parts;
}

static inline void mark(void)
{
	memcpy(slots_before, clock_.slots, sizeof(slots_before));
	base_before = base();
	gone_before = clock_.gone;
}

static inline double since(enum model_cause cause)
{
	uint64_t slots = clock_.slots[cause] - slots_before[cause];

	if (cause == MODEL_CAUSE_BASE)
		slots = base() - base_before;
	return (double)slots / RETIRE_CYCLE;
}

static inline double cycles(void)
{
	return (double)(clock_.gone - gone_before) / RETIRE_CYCLE;
}

#endif
