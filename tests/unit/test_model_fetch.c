/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The retirement clock's fetch: taken branches, groups of operations, and lines of code that miss.
 */
#include "retire_block.h"

static void taken(void)
{
	struct model_config c = plain();

	c.taken_interval = 2;
	begin(c);
	clear();
	add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	segment.statics[MODEL_STATIC_TAKEN] = 1;
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 200, 0, "loops of one instruction: a taken branch in its interval");
	is_near(since(MODEL_CAUSE_TAKEN), 175, 0, "is the cause");
}

static void taken_otherwise(void)
{
	struct model_config c = plain();

	c.taken_interval = 1;
	c.return_interval = 3;
	c.indirect_interval = 4;
	begin(c);
	clear();
	add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	segment.statics[MODEL_STATIC_TAKEN] = 1;
	segment.statics[MODEL_STATIC_RETURNS] = 1;
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 300, 0, "returns have an interval of their own");
	segment.statics[MODEL_STATIC_RETURNS] = 0;
	segment.statics[MODEL_STATIC_INDIRECTS] = 1;
	run_block(100);
	mark();
	for (int i = 0; i < 100; i++) {
		clock_.varied = i % 2;
		run_block(1);
	}
	is_near(cycles(), 50 * 4 + 50, 4, "indirect branches, if they had several targets");
}

static void fetches(void)
{
	begin(plain());
	clear();
	for (int i = 0; i < 4; i++)
		add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	run_block(10);
	mark();
	retire_note(&clock_, &insns[2], RETIRE_FETCH, MODEL_CAUSE_FETCH_LL, 40, 0);
	retire_note(&clock_, &insns[2], RETIRE_FETCH, MODEL_CAUSE_ITLB, 7, 0);
	run_block(100);
	is_near(cycles(), 100 + 47, 0.5, "a fetch that misses");
	is_near(since(MODEL_CAUSE_FETCH_LL), 40, 0.5, "line");
	is_near(since(MODEL_CAUSE_ITLB), 7, 0.5, "and translation");
}

/* A line of code in each run, none behind the one before. */
static void jumps(void)
{
	struct model_config c = plain();

	for (int ahead = 0; ahead < 2; ahead++) {
		c.jump_fetches = ahead ? 4 : 0;
		begin(c);
		clear();
		add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
		for (int i = 0; i < 200; i++) {
			if (i == 100)
				mark();
			retire_note(&clock_, insns, RETIRE_FETCH, MODEL_CAUSE_FETCH_L2, 20,
				0x1000 * (uint64_t)i);
			run_block(1);
		}
		is_near(cycles() / 100, ahead ? 5 : 20.25, 0.3,
			"lines that are jumped to, some requested together: %d", ahead);
	}
}

/* Cycles of a loop of `count` instructions of four bytes, the first at an address. */
static double loop_of(int count, uint64_t address, int is_taken)
{
	clear();
	for (int i = 0; i < count; i++) {
		struct model_insn *insn = add(MODEL_LATENCY_NONE, MODEL_SLOT_NONE, MODEL_SLOT_SINK);

		insn->address = address + 4 * (uint64_t)i;
		insn->length = 4;
	}
	segment.statics[MODEL_STATIC_TAKEN] = (uint16_t)is_taken;
	run_block(100);
	mark();
	run_block(120);
	return cycles() / 120;
}

/* Cycles of a loop of `count` instructions, of which the last is a branch that is fused. */
static double fused_loop(int count, uint64_t address)
{
	struct model_insn *branch;

	loop_of(count, address, 1);
	branch = &insns[count - 1];
	branch->branch = MODEL_CONDITIONAL;
	branch->traits = MODEL_TRAIT_AFTER_ARITHMETIC;
	run_block(100);
	mark();
	run_block(120);
	return cycles() / 120;
}

/* The same where each turn ends with an indirect branch that has several targets, and `others`
 * turns that end with another taken branch follow it. */
static double varied_loop(int count, uint64_t address, int others)
{
	loop_of(count, address, 1);
	mark();
	for (int i = 0; i < 100; i++) {
		clock_.varied = 1;
		run_block(1);
		run_block(others);
	}
	return cycles() / 100;
}

static void several_targets(void)
{
	struct model_config c = plain();

	c.width = 8;
	c.taken_interval = 1;
	c.indirect_interval = 4;
	c.fetch_group = 6;
	c.fetch_groups = 2;
	c.fetch_line = 64;
	c.fetch_single = 60;
	begin(c);
	is_near(varied_loop(3, 0x1000, 0), 4, 0.05, "several targets: their interval");
	is_near(varied_loop(3, 0x103c, 0), 4.5, 0.05, "two lines are predicted one by one");
	is_near(varied_loop(3, 0x1000, 1), 4, 0.05, "another branch meanwhile");
	is_near(varied_loop(3, 0x1000, 2), 4.5, 0.05, "and not a second one");
}

static void groups_at_once(void)
{
	struct model_config c = plain();

	c.width = 8;
	c.taken_interval = 1;
	c.fetch_group = 6;
	c.fetch_groups = 2;
	c.return_interval = 3;
	begin(c);
	is_near(loop_of(3, 0x1000, 1), 0.5, 0.01, "two taken branches in a cycle");
	is_near(loop_of(6, 0x1000, 1), 6 / 8., 0.01, "a group: dispatch takes longer");
	is_near(loop_of(7, 0x1000, 1), 1, 0.01, "two groups in a cycle");
	is_near(loop_of(13, 0x1000, 1), 13 / 8., 0.01, "three: dispatch takes longer");
	c.fetch_line = 64;
	c.fetch_long = 1;
	begin(c);
	is_near(loop_of(12, 0x1000, 1), 1.5, 0.01, "a line of two groups: dispatch takes longer");
	is_near(loop_of(13, 0x1000, 1), 3, 0.01, "of three, in two cycles, and one is lost");
	is_near(loop_of(13, 0x1020, 1), 1 + 0.7, 0.1, "three of two lines");
	is_near(loop_of(14, 0x1010, 0), 14 / 8., 0.01, "no branch is taken");
	is_near(loop_of(28, 0x1010, 1), 28 / 8., 0.01,
		"the first line is taken while the second waits: dispatch takes longer");
	c.fetch_single = 60;
	begin(c);
	is_near(loop_of(3, 0x1000, 1), 0.6, 0.01,
		"a line of one group takes longer than half of two");
	is_near(loop_of(7, 0x1000, 1), 1, 0.01, "of two groups it does not");
	is_near(loop_of(3, 0x103c, 1), 1.2, 0.01, "two lines");
	is_near(loop_of(1, 0x103e, 1), 1.2, 0.01, "a branch of two lines");
	is_near(loop_of(7, 0x1038, 1), 1.2, 0.01, "the second line goes on");
	c.fetch_long = 0;
	begin(c);
	is_near(loop_of(4, 0x1000, 0), 0.5, 0.01, "what goes on in a line does not begin it anew");
	c.execution.fusion = MODEL_FUSION_ARITHMETIC;
	begin(c);
	is_near(fused_loop(2, 0x1038), 0.6, 0.01, "what is fused");
	is_near(fused_loop(2, 0x103c), 1.2, 0.01, "the branch is in another line");
	c.execution.fusion = MODEL_FUSION_NONE;
	c.fetch_line = c.fetch_long = c.fetch_single = 0;
	begin(c);
	clear();
	add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	segment.statics[MODEL_STATIC_TAKEN] = 2;
	segment.statics[MODEL_STATIC_RETURNS] = 1;
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 400, 1, "a call and its return take what they take one at a time");

	/* Some groups: they are fetched while the return is predicted. */
	clear();
	for (int i = 0; i < 20; i++)
		add(MODEL_LATENCY_NONE, MODEL_SLOT_NONE, MODEL_SLOT_SINK);
	segment.statics[MODEL_STATIC_TAKEN] = 2;
	segment.statics[MODEL_STATIC_RETURNS] = 1;
	begin(c);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 400, 1, "branches are predicted while groups are fetched");
}

static void groups_of_two_lines(void)
{
	struct model_config c = plain();

	c.width = 8;
	c.taken_interval = 1;
	c.fetch_group = 6;
	c.fetch_groups = 2;
	c.fetch_line = 64;
	c.fetch_long = 1;
	begin(c);
	is_near(loop_of(64, 0x1000, 1), 4 * 3, 0.01, "lines of 16 operations: three groups each");
	is_near(loop_of(12, 0x1020, 1), 1 + 0.5, 0.01, "two lines");
	c.fetch_across = 1;
	begin(c);
	is_near(loop_of(64, 0x1000, 1), 3 + 3 + 1 + 3, 0.01,
		"groups go on: the third line begins two");
	is_near(loop_of(12, 0x1020, 1), 1 + 1, 0.01, "the branch is in a line that begins none");
	is_near(loop_of(13, 0x1020, 1), 13 / 8., 0.01, "in one that does, dispatch takes longer");
	is_near(loop_of(180, 0x1000, 1), 27, 3.1,
		"also of a block of more lines than are known one by one");
}

static void groups(void)
{
	struct model_config c = plain();

	c.width = 6;
	c.taken_interval = 1;
	c.fetch_group = 8;
	begin(c);
	is_near(loop_of(6, 0x1000, 1), 1, 0.01, "a group that is dispatched in one cycle");
	is_near(loop_of(8, 0x1000, 1), 8 / 6., 0.01, "one group: dispatch takes longer");
	is_near(loop_of(9, 0x1000, 1), 2, 0.01, "two groups");
	is_near(loop_of(16, 0x1000, 1), 16 / 6., 0.01, "two groups: dispatch takes longer");
	is_near(loop_of(17, 0x1000, 1), 3, 0.01, "three groups");
	is_near(loop_of(6, 0x1038, 1), 1, 0.01, "a group of two lines");
	is_near(loop_of(9, 0x1000, 0), 9 / 6., 0.01, "no branch is taken: groups are filled");

	c.fetch_line = 64;
	begin(c);
	is_near(loop_of(6, 0x1000, 1), 1, 0.01, "a group of one line");
	is_near(loop_of(6, 0x1038, 1), 2, 0.01, "one group a line");
	is_near(loop_of(17, 0x1020, 1), 3, 0.01, "one in the first line, two in the second");
	is_near(loop_of(18, 0x1020, 1), 3, 0.01, "also 18 operations");
	is_near(loop_of(20, 0x1020, 1), 20 / 6., 0.01, "and 20: dispatch takes longer");
	is_near(loop_of(12, 0x1000, 0), 2, 0.01, "lines go on in the next record");
	is_near(loop_of(1, 0x103e, 1), 2, 0.01, "the end of a branch is in another line");

	c.fetch_queue = 60;
	begin(c);
	loop_of(9, 0x1000, 1);
	clock_.came += 100 * RETIRE_CYCLE;
	clock_.gone += 100 * RETIRE_CYCLE;
	mark();
	run_block(20);
	is_near(cycles(), 20 * 9 / 6., 0.5, "what was fetched ahead is dispatched without waiting");
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 200, 0.5, "and then fetch is waited for again");
}

/* Cycles of such a loop of which some turns are decoded: bit i % 8 of `turns`. */
static double decoded_loop(int count, unsigned turns)
{
	loop_of(count, 0x1000, 1);
	mark();
	for (unsigned i = 0; i < 400; i++) {
		clock_.decodes = turns >> i % 8 & 1;
		run_block(1);
	}
	clock_.decodes = 0;
	return cycles() / 400;
}

static void decoders(void)
{
	struct model_config c = plain();

	c.width = 8;
	c.taken_interval = 1;
	c.fetch_group = 6;
	c.fetch_groups = 2;
	c.op_cache = 100;
	c.decode = 4;
	c.decode_change = 1;
	begin(c);
	is_near(decoded_loop(8, 0), 1, 0.01, "two groups of the cache in a cycle");
	is_near(decoded_loop(8, 0xff), 2, 0.02, "decoders make four operations in a cycle");
	is_near(decoded_loop(9, 0xff), 3, 0.02, "of one block of code");
	is_near(decoded_loop(8, 0xf), 1.5 + 0.25, 0.02, "changes take time");
	c.execution.fusion = MODEL_FUSION_ARITHMETIC;
	begin(c);
	is_near(fused_loop(9, 0x1000), 1, 0.01, "a fused branch takes no place in the cache");
	clock_.decodes = 1;
	is_near(fused_loop(9, 0x1000), 3, 0.01, "but one of a decoder");
	clock_.decodes = 0;
}

int main(void)
{
	decoders();
	taken();
	taken_otherwise();
	groups();
	groups_at_once();
	groups_of_two_lines();
	several_targets();
	fetches();
	jumps();
	return done();
}
