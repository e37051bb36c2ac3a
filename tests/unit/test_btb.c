/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The branch target buffer: what it knows, against lists by date; and what it costs the retirement
 * clock. */
#include "../tap.h"
#include "model/btb.h"
#include "model/random.h"
#include "model/retire.h"
#include "model_machine.h"

#define ENTRIES 64
#define FIRST   32

static struct btb_set memory[ENTRIES / BTB_WAYS];

static struct btb empty(void)
{
	memset(memory, 0, sizeof(memory));
	return (struct btb){.set = memory,
		.sets = ENTRIES / BTB_WAYS,
		.first = FIRST * BTB_WAYS / ENTRIES,
		.epoch = 1};
}

/* So many branches, in turn, for a while: how the last turn finds them. */
static void tour(unsigned branches, unsigned found[BTB_UNKNOWN + 1])
{
	struct btb b = empty();

	for (unsigned turn = 0; turn < 20; turn++) {
		memset(found, 0, (BTB_UNKNOWN + 1) * sizeof(*found));
		for (unsigned i = 0; i < branches; i++) {
			found[btb_find(&b, 0x400000 + 20 * i)]++;
			b.epoch++;
		}
	}
}

static void levels(void)
{
	unsigned found[BTB_UNKNOWN + 1];

	tour(FIRST / 4, found);
	ok(found[BTB_FIRST] == FIRST / 4, "a few branches are all in the first level: %u, %u, %u",
		found[0], found[1], found[2]);
	tour(ENTRIES * 5 / 8, found);
	ok(found[BTB_SECOND] > FIRST / 2, "more are in the second: %u, %u, %u", found[0], found[1],
		found[2]);
	tour(3 * ENTRIES, found);
	ok(found[BTB_UNKNOWN] > 5 * ENTRIES / 2, "too many are forgotten: %u of %u",
		found[BTB_UNKNOWN], 3 * ENTRIES);
}

/* One that is asked at each use, and one at the first of an epoch only. */
static void epochs(void)
{
	static struct btb_set others[ENTRIES / BTB_WAYS];
	struct btb all = empty(), firsts = all;
	uint32_t asked[200] = {0};
	uint64_t seed = 1;
	unsigned differ = 0, unknown = 0, again = 0;

	firsts.set = others;
	for (unsigned i = 0; i < 200000; i++) {
		unsigned n = (unsigned)model_random_below(&seed, i % 5000 < 2500 ? 40 : 200);
		enum btb_found found = btb_find(&all, 0x400000 + 20 * n);

		unknown += found == BTB_UNKNOWN;
		if (asked[n] != all.epoch) {
			asked[n] = all.epoch;
			differ += btb_find(&firsts, 0x400000 + 20 * n) != found;
		} else {
			again += found != BTB_FIRST;
		}
		if (model_random_below(&seed, 10) == 0)
			firsts.epoch = ++all.epoch;
	}
	ok(unknown > 10000 && !differ && !again,
		"only the first use in an epoch matters (%u unknown, %u differ, %u found again "
		"elsewhere)",
		unknown, differ, again);
}

/* ---- the clock ---- */

static struct retire clock_;
static struct model_insn insns[4];
static struct retire_op ops[4];
static struct model_block block = {.insns = insns, .ops = ops, .insn_count = 4};
static struct model_segment segment = {.block = &block, .insn_count = 4};

static double cycles_a_turn(enum btb_found found, int decoded)
{
	struct model_config c = zen4();
	uint64_t before = 0;
	uint64_t record[1] = {0};

	c.taken_interval = 1;
	c.btb_second = 3;
	c.btb_miss = 8;
	memset(&clock_, 0, sizeof(clock_));
	retire_init(&clock_, &c);
	for (unsigned i = 0; i < 4; i++)
		insns[i] = (struct model_insn){.latency = MODEL_LATENCY_ALU,
			.branch = i == 3 ? MODEL_CONDITIONAL : MODEL_NO_BRANCH,
			.for_address = {MODEL_SLOT_NONE, MODEL_SLOT_NONE},
			.source = {MODEL_SLOT_NONE, MODEL_SLOT_NONE, MODEL_SLOT_NONE,
				MODEL_SLOT_NONE},
			.result = {MODEL_SLOT_SINK, MODEL_SLOT_SINK, MODEL_SLOT_SINK}};
	segment.statics[MODEL_STATIC_TAKEN] = 1;
	retire_prepare(&clock_, &block, NULL, NULL);
	for (unsigned i = 0; i < 400; i++) {
		if (i == 200)
			before = clock_.gone;
		clock_.from_second = found == BTB_SECOND;
		if (found == BTB_UNKNOWN)
			retire_note(&clock_, &insns[3], RETIRE_TARGET, MODEL_CAUSE_TAKEN,
				decoded ? c.btb_miss : 0, 0);
		retire_record(&clock_, &segment, record, 4);
	}
	return (double)(clock_.gone - before) / RETIRE_CYCLE / 200;
}

static void costs(void)
{
	double all = (double)clock_.slots[MODEL_CAUSE_TAKEN];

	is_near(cycles_a_turn(BTB_FIRST, 1), 1, 0.05, "a branch of the first level");
	is_near(cycles_a_turn(BTB_SECOND, 1), 4, 0.05, "of the second");
	is_near(cycles_a_turn(BTB_UNKNOWN, 1), 10, 1, "one that the decoder finds");
	is_near(cycles_a_turn(BTB_UNKNOWN, 0), 15, 1.5, "one that is found when it is executed");
	all = (double)clock_.slots[MODEL_CAUSE_TAKEN] - all;
	ok(all > 0.8 * (double)clock_.gone && !clock_.slots[MODEL_CAUSE_MISPREDICT],
		"the time is that of taken branches");
}

int main(void)
{
	levels();
	epochs();
	costs();
	return done();
}
