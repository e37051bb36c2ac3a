/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The retirement clock: chains whose time can be worked out by hand, and the causes they are
 * charged to. */
#include "retire_block.h"

static void arithmetic(void)
{
	begin(plain());
	clear();
	for (int i = 0; i < 16; i++)
		add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, i);
	run_block(4);
	mark();
	run_block(100);
	is_near(cycles(), 400, 0, "independent instructions: width a cycle");
	is_near(since(MODEL_CAUSE_BASE), 400, 0, "and all is base");

	clear();
	for (int i = 0; i < 16; i++)
		add(MODEL_LATENCY_FP_ADD, MODEL_REGISTER_VECTOR, MODEL_REGISTER_VECTOR);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 1600 * 3, 0, "a chain of additions: their latency each");
	is_near(since(MODEL_CAUSE_DEPENDENCY), 1600 * 3 - 400, 0, "what is not base is dependence");

	clear();
	for (int i = 0; i < 16; i++)
		add(MODEL_LATENCY_MULTIPLY, MODEL_SLOT_NONE, i);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 1600, 0, "independent multiplications: one a cycle, there is one unit");
	ok(since(MODEL_CAUSE_UNIT) > 1100, "for which they wait");

	begin(plain());
	clear();
	add(MODEL_LATENCY_ALU, MODEL_REGISTER_FLAGS, 1);
	add(MODEL_LATENCY_ALU, MODEL_RESULT, 2);
	add(MODEL_LATENCY_ALU, MODEL_RESULT + 1, MODEL_REGISTER_FLAGS);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 300, 0, "results of the block's own instructions count");
}

static void divisions(void)
{
	begin(plain());
	clear();
	for (int i = 0; i < 4; i++)
		add(MODEL_LATENCY_DIVIDE, MODEL_SLOT_NONE, i);
	run_block(10);
	mark();
	run_block(25);
	is_near(cycles(), 2000, 0, "independent divisions take turns at the divider");
	is_near(since(MODEL_CAUSE_DIVIDER), 2000 - 25, 0, "and it is the cause");
	clear();
	add(MODEL_LATENCY_DIVIDE, 0, 0);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 2400, 0, "a chain of divisions: their latency each");
}

/* Each second one needs the result of the one before it. */
static void divisions_in_gaps(void)
{
	struct model_config c = plain();

	c.divide_latency = c.fp_divide_latency = 4;
	c.window = 224;
	begin(c);
	clear();
	add(MODEL_LATENCY_DIVIDE, MODEL_SLOT_NONE, 0);
	add(MODEL_LATENCY_DIVIDE, 0, 1);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 800, 20, "a division that waits for its operand lets others begin");
	clear();
	add(MODEL_LATENCY_DIVIDE, MODEL_SLOT_NONE, 0);
	add(MODEL_LATENCY_FP_DIVIDE, MODEL_SLOT_NONE, 1);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 400, 20, "integers have a divider of their own");
}

/* Lines of L2, none of which is needed by another. */
static void conflicts(void)
{
	struct model_config c = plain();

	c.l1d_conflict = 30;
	begin(c);
	clear();
	add_access(
		add(MODEL_LATENCY_NONE, MODEL_SLOT_NONE, 0), MODEL_ACCESS_LOAD, MODEL_SLOT_NONE, 0);
	for (int modified = 0; modified < 2; modified++)
		for (int stride = 4096; stride <= 4160; stride += 64) {
			for (int i = 0; i < 300; i++) {
				uint64_t address = 0x100000 + (uint64_t)(i * stride);

				if (i == 200)
					mark();
				record[1] = address;
				if (modified)
					retire_leaves(&clock_, address);
				retire_note(
					&clock_, insns, RETIRE_LOAD, MODEL_CAUSE_L2, 14, address);
				run_block(1);
			}
			is_near(cycles() / 100, modified && stride == 4096 ? 30 : 2, 1,
				"lines of one set replace modified ones (%d) one at a time: "
				"stride %d",
				modified, stride);
		}
}

static void chases(void)
{
	struct model_insn *insn;

	begin(plain());
	clear();
	add_load(0, 0, 0x1000);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 400, 0, "a chain of loads that hit: the first level's latency each");

	clear();
	insn = add_load(0, 0, 0x1000);
	for (int i = 0; i < 100; i++) {
		if (i == 10)
			mark();
		record[1] = 0x100000 + 64 * (uint64_t)i;
		retire_note(&clock_, insn, RETIRE_LOAD, MODEL_CAUSE_L2, 14, record[1]);
		run_block(1);
	}
	is_near(cycles(), 90 * 14, 0, "one of loads from L2: its latency each");
	is_near(since(MODEL_CAUSE_L2), 90 * 14 - 90 / 4.0, 0.01, "all L2's");

	/* The next line is asked for while the value of this is still on its way. */
	begin(plain());
	clear();
	insn = add_load(0, 1, 0x1000);
	add_load(0, 0, 0x1008);
	for (int i = 0; i < 100; i++) {
		if (i == 10)
			mark();
		record[1] = 0x100000 + 64 * (uint64_t)i;
		record[2] = record[1] + 8;
		retire_note(&clock_, insn, RETIRE_LOAD, MODEL_CAUSE_MEMORY, 100, record[1]);
		run_block(1);
	}
	is_near(cycles(), 9000, 0, "a hit in a line on its way waits for it");
}

/* Cycles each of independent loads that wait `latency` cycles because of `cause`, of another line
 * each, `every` instructions apart. */
static double apart(
	const struct model_config *machine, enum model_cause cause, uint32_t latency, int every)
{
	struct model_config c = *machine;
	struct model_insn *insn;

	c.window = 4000;
	begin(c);
	clear();
	insn = add_load(MODEL_SLOT_NONE, 0, 0x1000);
	while (segment.insn_count < every)
		add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 1);
	for (int i = 0; i < 1200; i++) {
		if (i == 200)
			mark();
		record[1] = 0x100000 + 64 * (uint64_t)i;
		retire_note(&clock_, insn, RETIRE_LOAD, cause, latency, record[1]);
		run_block(1);
	}
	return cycles() / 1000;
}

static double overlapping(int misses, int every)
{
	struct model_config c = plain();

	c.misses = (uint32_t)misses;
	return apart(&c, MODEL_CAUSE_MEMORY, 400, every);
}

static void hold(void)
{
	struct model_config c = plain();

	c.misses = 8;
	c.miss_hold = 80;
	is_near(apart(&c, MODEL_CAUSE_MEMORY, 400, 4), 480 / 8.0, 0.5, "places are held longer");
	is_near(apart(&c, MODEL_CAUSE_L2, 16, 4), 96 / 8.0, 0.5, "by the same for near lines");
}

static void walkers(void)
{
	struct model_config c = plain();
	uint32_t hit = c.stlb_latency;

	c.misses = 0;
	c.walkers = 6;
	is_near(apart(&c, MODEL_CAUSE_DTLB, 300, 4), 300 / 6.0, 0.5, "six walks at once");
	is_near(apart(&c, MODEL_CAUSE_DTLB, hit, 4), 1, 0.5, "a hit of the second level is none");
	c.walkers = 0;
	is_near(apart(&c, MODEL_CAUSE_DTLB, 300, 4), 1, 0.5,
		"with no limit the width is the limit");
}

static void overlap(void)
{
	struct model_config c = plain();
	struct model_insn *insn;

	is_near(overlapping(8, 4), 400 / 8.0, 0.5, "independent misses: eight at once");
	is_near(overlapping(20, 4), 400 / 20.0, 0.5, "or twenty");
	is_near(overlapping(0, 4), 1, 0.5, "with no limit the width is the limit");

	/* A chain of misses beside one of additions that goes on under it. */
	begin(plain());
	clear();
	insn = add_load(0, 0, 0x1000);
	for (int i = 0; i < 7; i++)
		add(MODEL_LATENCY_FP_ADD, 20, 20);
	for (int i = 0; i < 100; i++) {
		record[1] = 0x100000 + 64 * (uint64_t)i;
		retire_note(&clock_, insn, RETIRE_LOAD, MODEL_CAUSE_L2, 21, record[1]);
		if (i == 10)
			mark();
		run_block(1);
	}
	is_near(cycles() / 90, 21, 0.1, "two chains of the same length take as long as one");

	/* A window of 64: of misses 16 apart four overlap. */
	c.misses = 0;
	begin(c);
	clear();
	insn = add_load(MODEL_SLOT_NONE, 0, 0x1000);
	while (segment.insn_count < 16)
		add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 1);
	for (int i = 0; i < 1100; i++) {
		if (i == 100)
			mark();
		record[1] = 0x100000 + 64 * (uint64_t)i;
		retire_note(&clock_, insn, RETIRE_LOAD, MODEL_CAUSE_MEMORY, 400, record[1]);
		run_block(1);
	}
	is_near(cycles() / 1000, 401 / 4.0, 3, "the window is full behind a miss");
	is_near(since(MODEL_CAUSE_MEMORY) + since(MODEL_CAUSE_BASE), cycles(), 1,
		"the miss bears what its window waits");
}

static void bandwidth(void)
{
	struct model_config c = plain();
	struct model_insn *insn;

	c.misses = 0;
	c.window = 500;
	c.memory_interval = 10;
	begin(c);
	clear();
	insn = add_load(MODEL_SLOT_NONE, 0, 0x1000);
	for (int i = 0; i < 2100; i++) {
		if (i == 1100)
			mark();
		record[1] = 0x100000 + 64 * (uint64_t)i;
		retire_note(&clock_, insn, RETIRE_LOAD, MODEL_CAUSE_MEMORY, 300, record[1]);
		run_block(1);
	}
	is_near(cycles() / 1000, 10, 0.1, "lines of memory come one in its interval");
}

static void additions(void)
{
	struct model_config c = plain();

	c.execution.fp_add = 3;
	c.execution.fp_multiply = 4;
	c.execution.fp_add_chain = 2;
	begin(c);
	clear();
	add(MODEL_LATENCY_FP_ADD, MODEL_REGISTER_VECTOR, MODEL_REGISTER_VECTOR);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 200, 0, "additions one after the other have their own latency");
	clear();
	add(MODEL_LATENCY_FP_ADD, MODEL_REGISTER_VECTOR, MODEL_REGISTER_VECTOR);
	add(MODEL_LATENCY_FP_MULTIPLY, MODEL_REGISTER_VECTOR, MODEL_REGISTER_VECTOR);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 700, 0, "but not to a multiplication");
}

static void vector_loads(void)
{
	struct model_config c = plain();
	struct model_insn *insn;

	c.execution.loads = 4;
	c.execution.vector_loads = 2;
	begin(c);
	for (int kind = 0; kind < 2; kind++) {
		clear();
		for (int i = 0; i < 4; i++) {
			insn = add_load(MODEL_SLOT_NONE, MODEL_REGISTER_VECTOR + i, 0x1000);
			insn->latency =
				(uint8_t)(kind ? MODEL_LATENCY_VECTOR_LOAD : MODEL_LATENCY_NONE);
		}
		run_block(100);
		mark();
		run_block(100);
		is_near(cycles(), kind ? 200 : 100, 0, "four loads a cycle, of vectors two: %d",
			kind);
	}
}

/* Cycles for a chain of 40 instructions that begins anew each time. */
static uint64_t chain(struct model_config c, enum model_latency latency, unsigned slot)
{
	begin(c);
	clear();
	for (unsigned i = 0; i < 40; i++)
		add(latency, i ? slot : MODEL_SLOT_NONE, slot);
	run_block(20);
	mark();
	run_block(100);
	return cycles() / 100;
}

static void schedulers(void)
{
	struct model_config c = plain(), none;

	c.window = 1000;
	c.execution.multipliers = c.execution.fp_multipliers = 0;
	c.execution.multiply = c.execution.fp_multiply = 3;
	none = c;
	is_near(chain(c, MODEL_LATENCY_MULTIPLY, 0), 10, 0, "chains of 120 cycles overlap");
	c.execution.alu_scheduler = 40;
	is_near(chain(c, MODEL_LATENCY_MULTIPLY, 0), 40, 0,
		"as far as there are places in the scheduler: 40 of which each waits 40 cycles");
	is_near(chain(c, MODEL_LATENCY_FP_MULTIPLY, MODEL_REGISTER_VECTOR), 10, 0,
		"which vectors do not need");
	c.execution.scheduler_hold = 20;
	ok(chain(c, MODEL_LATENCY_MULTIPLY, 0) > 50, "that may be kept longer");
	c = none;
	c.execution.vector_scheduler = 40;
	c.execution.vector_queue = 30;
	is_near(chain(c, MODEL_LATENCY_FP_MULTIPLY, MODEL_REGISTER_VECTOR), 40, 1,
		"they have a scheduler of their own");
	is_near(chain(c, MODEL_LATENCY_MULTIPLY, 0), 10, 0, "which others do not need");
	c = none;
	c.execution.registers = 80;
	is_near(chain(c, MODEL_LATENCY_MULTIPLY, 0), 40, 1, "results need registers");
	is_near(chain(c, MODEL_LATENCY_FP_MULTIPLY, MODEL_REGISTER_VECTOR), 10, 0,
		"if they are general");
}

/* Steps of 8 bytes. */
static void string(int times, uint64_t address)
{
	for (int i = 0; i < times; i++) {
		record[1] = address + 8 * (uint64_t)i;
		run_block(1);
	}
}

static void strings(void)
{
	struct model_config c = plain();
	uint64_t before;

	c.execution.string_start = 20;
	c.execution.string_bytes = 32;
	begin(c);
	clear();
	add_store(MODEL_SLOT_NONE, 0x1000)->class_bits = MODEL_STEPPED;
	string(200, 0x1000);
	mark();
	before = clock_.instructions;
	string(400, 0x2000);
	is_near(cycles(), 100, 1, "further repetitions take the time of their bytes");
	is_int((int)(clock_.instructions - before), 0, "and no place in the window");
	segment.insn_count = 0;
	segment.access_count = 0;
	add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	run_block(1);
	clear();
	add_store(MODEL_SLOT_NONE, 0x1000)->class_bits = MODEL_STEPPED;
	mark();
	string(400, 0x2000);
	is_near(cycles(), 120, 1, "the first of them also its start");
}

static void write_backs(void)
{
	struct model_config c = plain();
	struct model_insn *insn;

	for (int own = 0; own < 2; own++) {
		c.l2_interval = 4;
		c.misses = 0;
		c.l2_write_back = own ? MODEL_WAY_OWN : MODEL_WAY_SHARED;
		begin(c);
		clear();
		insn = add_store(MODEL_SLOT_NONE, 0x1000);
		for (int i = 0; i < 400; i++) {
			if (i == 200)
				mark();
			record[1] = 0x100000 + 64 * (uint64_t)i;
			retire_note(&clock_, insn, RETIRE_STORE, MODEL_CAUSE_L2, 14, record[1]);
			run_block(1);
		}
		is_near(cycles() / 200, own ? 4 : 8, 0.1,
			"lines that are stored to, and written back on a way of their own: %d",
			own);
	}
}

static void branches(void)
{
	begin(plain());
	clear();
	add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	run_block(100);
	mark();
	retire_note(&clock_, insns, RETIRE_MISPREDICT, MODEL_CAUSE_MISPREDICT, 0, 0);
	run_block(101);
	is_near(cycles(), 1 + 15 + 101 / 4.0, 0,
		"a misprediction costs its penalty, once executed");
	is_near(since(MODEL_CAUSE_MISPREDICT), 16, 0, "and is the cause of both");

	clear();
	add_load(0, 0, 0x1000);
	retire_note(&clock_, insns, RETIRE_LOAD, MODEL_CAUSE_LL, 50, 0x1000);
	add(MODEL_LATENCY_ALU, 0, MODEL_SLOT_SINK);
	retire_note(&clock_, &insns[1], RETIRE_MISPREDICT, MODEL_CAUSE_MISPREDICT, 0, 0);
	add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
	mark();
	run_block(1);
	is_near(cycles(), 50 + 1 + 15 + 0.75, 1,
		"of a branch that waits for a load: also the load");
	is_near(since(MODEL_CAUSE_LL), 50, 1, "which is charged to the load");
	is_near(since(MODEL_CAUSE_MISPREDICT), 15, 1, "and what comes behind the branch to that");
}

static void fused(void)
{
	static const struct {
		enum model_fusion fusion;
		int after, each;
	} rows[] = {
		{MODEL_FUSION_NONE, MODEL_TRAIT_AFTER_COMPARE, 4},
		{MODEL_FUSION_COMPARE, MODEL_TRAIT_AFTER_COMPARE, 2},
		{MODEL_FUSION_COMPARE, MODEL_TRAIT_AFTER_ARITHMETIC, 4},
		{MODEL_FUSION_ARITHMETIC, MODEL_TRAIT_AFTER_ARITHMETIC, 2},
	};
	struct model_config c = plain();

	for (unsigned k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		c.execution.fusion = rows[k].fusion;
		begin(c);
		clear();
		for (int i = 0; i < 8; i++) {
			struct model_insn *insn;

			add(MODEL_LATENCY_ALU, MODEL_SLOT_NONE, 0);
			insn = add(MODEL_LATENCY_ALU, MODEL_RESULT + 2 * i, MODEL_SLOT_SINK);
			insn->branch = MODEL_CONDITIONAL;
			insn->traits = (uint8_t)rows[k].after;
		}
		run_block(100);
		mark();
		run_block(100);
		is_near(cycles() / 100, rows[k].each, 0,
			"eight pairs, four instructions a cycle: %u", k);
	}
	c.execution.fusion = MODEL_FUSION_COMPARE;
	c.execution.branches = 1;
	begin(c);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles() / 100, 8, 0, "and one unit for branches");
}

static void traits(void)
{
	struct model_config c = plain();

	c.execution.scaled_load = 1;
	c.execution.vector_load = 3;
	c.execution.vector_forward = 9;
	c.execution.forward = 5;
	c.execution.forward_renamed = 0;
	begin(c);
	clear();
	add_load(0, 0, 0x1000)->traits = MODEL_TRAIT_SCALED;
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 500, 0, "a scaled index has a cycle of its own");
	clear();
	add_store(0, 0x1000)->traits = MODEL_TRAIT_VECTOR;
	add_load(MODEL_SLOT_NONE, 0, 0x1000)->traits = MODEL_TRAIT_VECTOR;
	insns[1].latency = MODEL_LATENCY_VECTOR_LOAD;
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 900, 0, "vectors are forwarded later");
	clear();
	add_store(0, 0x1000);
	add_load(MODEL_SLOT_NONE, 0, 0x1000);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 500, 0, "others not");
	clear();
	add_store(0, 0x1000);
	add_load(MODEL_SLOT_NONE, 0, 0x1000)->latency = MODEL_LATENCY_VECTOR_LOAD;
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 800, 0, "to a vector register they are, and are not renamed");
	clear();
	add_store(0, 0x1000)->traits = MODEL_TRAIT_VECTOR;
	add_load(MODEL_SLOT_NONE, 0, 0x1000);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 600, 0, "from one, without what the load takes longer");
	clear();
	add_store(0, 0x1000);
	add(MODEL_LATENCY_LOCKED, MODEL_SLOT_NONE, 0);
	add_access(&insns[1], MODEL_ACCESS_LOAD, MODEL_SLOT_NONE, 0x1000);
	run_block(100);
	mark();
	run_block(100);
	ok(cycles() >= 100 * (double)c.lock_latency, "a locked load waits for the cache: %.0f",
		cycles());

	c.execution.loads = 2;
	c.execution.stores = 2;
	for (int shared = 0; shared < 2; shared++) {
		c.execution.store_address = shared ? MODEL_ADDRESS_SHARED : MODEL_ADDRESS_OWN;
		begin(c);
		clear();
		for (int i = 0; i < 2; i++) {
			add_load(MODEL_SLOT_NONE, 1, 0x2000);
			add_store(MODEL_SLOT_NONE, 0x1000);
		}
		run_block(100);
		mark();
		run_block(100);
		is_near(cycles(), shared ? 200 : 100, 1,
			"two loads and two stores a cycle, if stores have addresses: %d", !shared);
	}
}

static void store_buffer(void)
{
	begin(plain());
	clear();
	add_store(MODEL_SLOT_NONE, 0x1000);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 100, 0, "stores leave for the first level one a cycle");
	mark();
	retire_note(&clock_, insns, RETIRE_STORE, MODEL_CAUSE_MEMORY, 400, 0x1000);
	run_block(1000);
	is_near(cycles(), 1400, 10, "one that misses holds those behind it");
	is_near(since(MODEL_CAUSE_STORE_BUFFER), 1400 - 250, 20, "when the buffer is full");
	mark();
	for (int i = 0; i < 8 * 20; i++) {
		retire_note(&clock_, insns, RETIRE_STORE, MODEL_CAUSE_MEMORY, 400, 0x1000);
		run_block(1);
	}
	is_near(cycles(), 20 * 400, 600, "the buffer's lines come together");
}

/* From one place of 16 to another. */
static void pass_from(int to, int from)
{
	clear();
	add_load(MODEL_SLOT_NONE, 0, 0x1000 + 8 * (uint64_t)(from & 15));
	add(MODEL_LATENCY_ALU, 0, 0);
	add_store(0, 0x1000 + 8 * (uint64_t)to);
	run_block(1);
}

static void forwarding(void)
{
	struct model_config c = plain();

	c.execution.forward_renamed = 1000;
	begin(c);
	clear();
	add_load(MODEL_SLOT_NONE, 0, 0x1000);
	add(MODEL_LATENCY_ALU, 0, 0);
	add_store(0, 0x1000);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 100 * (1 + 7), 0, "a chain through memory: addition, forward");
	c.execution.forward_renamed = 0;
	c.execution.renaming = MODEL_RENAMING_STORES;
	begin(c);
	run_block(100);
	mark();
	run_block(100);
	is_near(cycles(), 100, 0, "and only the addition, once it is known which store it is");
	for (int i = 0; i < 100; i++)
		pass_from(i % 16, (i - 2) % 16);
	mark();
	for (int i = 100; i < 200; i++)
		pass_from(i % 16, (i - 2) % 16);
	is_near(cycles(), 100 * (1 + 7) / 2, 8, "not if the same has stored again since");
	mark();
	retire_note(&clock_, insns, RETIRE_FORWARD, MODEL_CAUSE_FORWARD, 12, 0x1000);
	run_block(1);
	ok(since(MODEL_CAUSE_FORWARD) > 0, "a failure is charged");
}

/* A load of four bytes, an addition, and stores of four at these places, all in one word: cycles of
 * a hundred turns. */
static uint64_t words(uint64_t load, const uint64_t *stores, int count)
{
	struct model_config c = plain();

	c.execution.forward_renamed = 1000;
	c.execution.stores = 2;
	begin(c);
	clear();
	add_load(MODEL_SLOT_NONE, 0, load);
	add(MODEL_LATENCY_ALU, 0, 0);
	for (int i = 0; i < count; i++)
		add_store(0, stores[i]);
	for (int i = 0; i <= count; i++)
		accesses[i].size = 4;
	run_block(10);
	mark();
	run_block(100);
	return cycles();
}

static void halves(void)
{
	is_int((int)words(0x1000, (uint64_t[]){0x1000}, 1), 800, "half a word is forwarded");
	is_int((int)words(0x1000, (uint64_t[]){0x1004}, 1), 75, "the other half is not waited for");
	is_int((int)words(0x1000, (uint64_t[]){0x1000, 0x1004}, 2), 800,
		"nor does its store hide that of the first");
	is_int((int)words(0x1002, (uint64_t[]){0x1004}, 1), 800, "what overlaps is waited for");
}

/* A chain of loads, each of which begins when the addition after the one before is done; the store
 * is in the buffer until then, or has left it. */
static void alias_after(int additions, uint64_t ago)
{
	clear();
	add_load(0, 0, 0x2004);
	add_store(MODEL_SLOT_NONE, 0x1000);
	for (int i = 0; i < additions; i++)
		add(MODEL_LATENCY_ALU, 0, 0);
	run_block(10);
	mark();
	for (int i = 0; i < 10; i++) {
		retire_note(&clock_, insns, RETIRE_ALIAS, MODEL_CAUSE_ALIAS, 7, ago);
		run_block(1);
	}
}

static void aliases(void)
{
	begin(plain());
	alias_after(2, 1);
	is_near(cycles(), 10 * (4 + 2 + 7), 0, "a load that looks as if it needed the last store");
	is_near(since(MODEL_CAUSE_ALIAS), 10 * 7, 0, "and is charged for that");
	begin(plain());
	alias_after(2, 7);
	is_near(cycles(), 10 * (4 + 2), 0, "not if that store is gone");
	begin(plain());
	alias_after(20, 1);
	is_near(cycles(), 10 * (4 + 20), 0, "nor if it left meanwhile");
}

static void alone(void)
{
	struct model_insn *insn;

	begin(plain());
	clear();
	insn = add(MODEL_LATENCY_LOCKED, MODEL_SLOT_NONE, 0);
	add_access(insn, MODEL_ACCESS_MODIFY, MODEL_SLOT_NONE, 0x1000);
	run_block(10);
	mark();
	run_block(100);
	ok(cycles() >= 100 * config.lock_latency && cycles() <= 110 * (config.lock_latency + 8),
		"locked instructions do not overlap");
	ok(since(MODEL_CAUSE_LOCKED) > 0.8 * cycles(), "and say so");
	clear();
	add(MODEL_LATENCY_SERIALISING, MODEL_SLOT_NONE, 0);
	run_block(10);
	mark();
	run_block(100);
	is_near(cycles(), 100 * (15 + 1), 101, "serialising ones refill the pipeline");
	is_near(since(MODEL_CAUSE_SERIALISING) + since(MODEL_CAUSE_BASE), cycles(), 1, "as well");
}

static uint64_t system_calls(uint32_t each)
{
	struct model_config c = plain();

	c.execution.system_call = each;
	begin(c);
	clear();
	add(MODEL_LATENCY_SYSTEM_CALL, MODEL_SLOT_NONE, 0);
	add(MODEL_LATENCY_ALU, 0, 0);
	run_block(10);
	mark();
	run_block(100);
	return cycles() / 100;
}

int main(void)
{
	arithmetic();
	divisions();
	divisions_in_gaps();
	conflicts();
	chases();
	hold();
	walkers();
	overlap();
	bandwidth();
	additions();
	vector_loads();
	schedulers();
	strings();
	write_backs();
	branches();
	fused();
	traits();
	store_buffer();
	forwarding();
	aliases();
	halves();
	is_near((double)system_calls(150), 150, 2, "a system call, with its refill");
	is_near((double)system_calls(0), 0, 1, "on machines that have it");
	alone();
	return done();
}
