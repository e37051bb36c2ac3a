/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sampled clock: random programs in phases, of which every cycle is clocked for comparison; and
 * its regression, on windows whose costs are known.
 */
#include "../tap.h"
#include "model/state.h"
#include "model/watch.h"
#include "model_machine.h"

#define BLOCKS 48
#define INSNS  10
#define BATCH  2000 /* records at a time */
#define PHASES 6

struct program_block {
	struct model_block block;
	struct model_insn insns[INSNS];
	struct model_access accesses[INSNS];
	struct model_fetch fetches[INSNS];
	struct model_segment segments[2]; /* its branch is not taken, is taken */
	struct model_outcome outcomes[2];
	struct retire_op ops[INSNS];
};

/* The same program for each of the models. */
enum { SAMPLED, RETIREMENT, FIRST_ORDER, MODELS };
static struct program_block blocks[MODELS][BLOCKS];
static struct run runs[MODELS];
static unsigned program; /* instructions of one, about */
static struct model_clock_sums sums[MODELS];

static void make_insn(struct program_block *t, unsigned i, uint64_t *at, uint64_t *seed)
{
	struct model_insn *insn = &t->insns[i];
	unsigned kind = (unsigned)random_below(seed, 10);

	*insn = (struct model_insn){.address = *at,
		.length = 4,
		.uops = 1,
		.branch = MODEL_NO_BRANCH,
		.latency = kind == 0 ? MODEL_LATENCY_MULTIPLY : MODEL_LATENCY_ALU,
		.first_access = t->block.access_count,
		.for_address = {MODEL_SLOT_NONE, MODEL_SLOT_NONE},
		.source = {(uint8_t)random_below(seed, 12), (uint8_t)random_below(seed, 12),
			MODEL_SLOT_NONE, MODEL_SLOT_NONE},
		.result = {(uint8_t)random_below(seed, 12), MODEL_SLOT_SINK, MODEL_SLOT_SINK}};
	if (kind > 5) {
		t->accesses[t->block.access_count++] = (struct model_access){
			.kind = kind > 8 ? MODEL_ACCESS_STORE : MODEL_ACCESS_LOAD,
			.size = 8,
			.insn = (uint16_t)i};
		insn->access_count = 1;
		insn->latency = kind > 8 ? MODEL_LATENCY_STORE : MODEL_LATENCY_NONE;
		insn->for_address[0] = (uint8_t)random_below(seed, 12);
	}
	if (!t->block.fetch_count ||
		t->fetches[t->block.fetch_count - 1].line != (*at & ~UINT64_C(63)))
		t->fetches[t->block.fetch_count++] =
			(struct model_fetch){.line = *at & ~UINT64_C(63), .insn = i};
	*at += 4;
}

static void make_block(struct program_block *t, uint64_t address, uint64_t *seed)
{
	unsigned n = 3 + (unsigned)random_below(seed, INSNS - 3);

	memset(t, 0, sizeof(*t));
	t->block = (struct model_block){.address = address,
		.insns = t->insns,
		.accesses = t->accesses,
		.fetches = t->fetches,
		.segments = t->segments,
		.ops = t->ops,
		.insn_count = (uint16_t)n,
		.segment_count = 2};
	for (unsigned i = 0; i < n; i++)
		make_insn(t, i, &address, seed);
	t->insns[n - 1].branch = MODEL_CONDITIONAL;
	t->block.words = (uint16_t)(1 + t->block.access_count);
	for (unsigned taken = 0; taken < 2; taken++) {
		t->outcomes[taken] = (struct model_outcome){.insn = (uint16_t)(n - 1),
			.kind = MODEL_CONDITIONAL,
			.taken = (uint8_t)taken,
			.target = address + 64,
			.from = t->insns[n - 1].address};
		t->segments[taken] = (struct model_segment){.block = &t->block,
			.insn_count = (uint16_t)n,
			.access_count = t->block.access_count,
			.fetch_count = t->block.fetch_count,
			.outcomes = &t->outcomes[taken],
			.outcome_count = 1};
		t->segments[taken].statics[MODEL_STATIC_INSTRUCTIONS] = (uint16_t)n;
		t->segments[taken].statics[MODEL_STATIC_MICRO_OPS] = (uint16_t)n;
		model_outcome_statics(&t->outcomes[taken], t->segments[taken].statics);
	}
}

static void program_begin(const struct model_config *c, uint64_t seed)
{
	static const uint32_t clocks[MODELS] = {
		MODEL_CLOCK_SAMPLED, MODEL_CLOCK_RETIREMENT, MODEL_CLOCK_FIRST_ORDER};

	memset(sums, 0, sizeof(sums));
	for (unsigned m = 0; m < MODELS; m++) {
		struct model_config config = *c;
		uint64_t same = seed;

		config.clock = clocks[m];
		run_begin(&runs[m], &config);
		run_with_code(&runs[m]);
		model_set_clock_sums(runs[m].model, &sums[m]);
		for (unsigned i = 0; i < BLOCKS; i++) {
			make_block(&blocks[m][i], 0x400000 + 4096 * i, &same);
			model_describe(runs[m].model, &blocks[m][i].block, NULL, NULL);
		}
	}
}

static int streaming; /* data are a sequence, larger than the last level */

static uint64_t data_address(uint64_t range, uint64_t *seed)
{
	static uint64_t at;

	if (!streaming)
		return 0x10000000 + (random_below(seed, range) & ~UINT64_C(7));
	at = (at + 24) % (UINT64_C(48) << 20);
	return 0x10000000 + at;
}

/* Phases differ in their blocks, in how far data are apart, and in how random branches are. */
static void run_batch(unsigned phase, uint64_t *seed)
{
	static uint64_t words[MODELS][BATCH * (1 + INSNS)];
	uint64_t range = UINT64_C(1) << (12 + 3 * phase % 14);
	unsigned at = 0;

	for (unsigned i = 0; i < BATCH; i++) {
		unsigned n = (8 * phase + (unsigned)random_below(seed, 8)) % BLOCKS;
		unsigned taken = random_below(seed, 2 + 20 * (phase % 3)) == 0;
		unsigned count = blocks[0][n].block.words;

		for (unsigned k = 1; k < count; k++)
			words[0][at + k] = data_address(range, seed);
		for (unsigned m = 0; m < MODELS; m++) {
			memcpy(words[m] + at + 1, words[0] + at + 1, (count - 1) * 8);
			words[m][at] = model_word(&blocks[m][n].segments[taken], count);
		}
		at += count;
	}
	for (unsigned m = 0; m < MODELS; m++)
		model_run(runs[m].model, words[m], words[m] + at);
}

/* Of threads in turn, until all have that many instructions. */
static void run_program(uint64_t instructions, unsigned threads, uint64_t seed)
{
	uint64_t done = 0;

	while (done < instructions) {
		unsigned phase = (unsigned)(done * 3 * PHASES / program) % PHASES;

		for (unsigned m = 0; m < MODELS && threads > 1; m++)
			run_thread(&runs[m], (unsigned)(done / BATCH) % threads);
		run_batch(phase, &seed);
		done += BATCH * 6;
	}
	for (unsigned m = 0; m < MODELS; m++)
		model_clock_finish(runs[m].model);
	for (unsigned m = 0; m < MODELS; m++)
		model_sync(runs[m].model);
}

static void program_end(void)
{
	for (unsigned m = 0; m < MODELS; m++)
		run_end(&runs[m]);
}

static uint64_t counted(unsigned model, unsigned threads, unsigned event)
{
	uint64_t sum = runs[model].counts[event];

	for (unsigned t = 1; t < threads; t++)
		sum += runs[model].others[t][event];
	return sum;
}

static int is_time(unsigned event)
{
	return event == EV_CYCLES || event == EV_CYCLES_16 || event == EV_FRONTEND_STALLS ||
	       event == EV_BACKEND_STALLS;
}

static int same_events(unsigned threads)
{
	int good = 1;

	for (unsigned e = 0; e < EV_COUNT; e++)
		if (!is_time(e) &&
			(counted(SAMPLED, threads, e) != counted(FIRST_ORDER, threads, e) ||
				counted(SAMPLED, threads, e) != counted(RETIREMENT, threads, e))) {
			printf("# event %u: %llu, %llu, %llu\n", e,
				(unsigned long long)counted(SAMPLED, threads, e),
				(unsigned long long)counted(RETIREMENT, threads, e),
				(unsigned long long)counted(FIRST_ORDER, threads, e));
			good = 0;
		}
	return good;
}

static double all_causes(const struct model_clock_sums *s)
{
	double sum = 0;

	for (unsigned i = 0; i < MODEL_CAUSES; i++)
		sum += s->causes[i].value;
	return sum;
}

/* Returns whether the interval holds the cycles that the clock that never stops has. */
static int compare(const char *name, const struct model_config *c, unsigned threads, uint64_t seed)
{
	const struct model_clock_sums *s = &sums[SAMPLED];
	double is, error, half, live;

	program_begin(c, seed);
	run_program(program, threads, seed + 1);
	is = (double)counted(RETIREMENT, threads, EV_CYCLES);
	live = (double)counted(SAMPLED, threads, EV_CYCLES);
	error = s->cycles.value / is - 1;
	half = 2 * __builtin_sqrt(s->cycles.variance) / is;
	ok(same_events(threads), "%s: all other counts are the same with each clock", name);
	ok(s->windows > tap_amount(15, 50) && error > -0.05 && error < 0.05,
		"%s: %llu windows find the cycles to 5%% (%+.2f%%, half an interval %.2f%%)", name,
		(unsigned long long)s->windows, 100 * error, 100 * half);
	ok(half < 0.1 && half > 0, "%s: the interval is useful", name);
	ok(all_causes(s) / s->cycles.value - 1 < 1e-9 && 1 - all_causes(s) / s->cycles.value < 1e-9,
		"%s: causes add up to cycles", name);
	ok(live / is > 0.9 && live / is < 1.1, "%s: counts on the way are near (%.3f)", name,
		live / is);
	program_end();
	return error < half && error > -half;
}

static void test_short(const struct model_config *c)
{
	const struct model_clock_sums *s = &sums[SAMPLED], *t = &sums[RETIREMENT];
	int good = 1;

	program_begin(c, 5);
	run_program(SAMPLED_EXACT / 4, 1, 6);
	for (unsigned i = 0; i < MODEL_CAUSES; i++)
		good &= s->causes[i].value - t->causes[i].value < 1 &&
			t->causes[i].value - s->causes[i].value < 1;
	ok(good && !s->windows && s->cycles.variance == 0,
		"a short run is clocked as a whole, with the same causes");
	is_int(runs[SAMPLED].counts[EV_CYCLES], runs[RETIREMENT].counts[EV_CYCLES],
		"and the same cycles");
	program_end();
}

static void test_fork(const struct model_config *c)
{
	double before;

	program_begin(c, 7);
	run_program(program / 3, 1, 8);
	before = sums[SAMPLED].cycles.value;
	for (unsigned m = 0; m < MODELS; m++) {
		memset(runs[m].counts, 0, sizeof(runs[m].counts));
		model_clock_forked(runs[m].model);
		run_thread(&runs[m], 0);
	}
	run_program(program / 3, 1, 9);
	ok(before > 0 &&
			sums[SAMPLED].cycles.value / (double)runs[RETIREMENT].counts[EV_CYCLES] <
				1.1 &&
			sums[SAMPLED].cycles.value / (double)runs[RETIREMENT].counts[EV_CYCLES] >
				0.9,
		"the child of a fork has its own cycles only");
	ok(sums[SAMPLED].windows < 30, "and is clocked as a whole in its own beginning");
	program_end();
}

/* ---- by instruction ---- */

static struct model_watch watches[2]; /* of SAMPLED, RETIREMENT */

static void begin_rows(void)
{
	static struct model_row rows[2][8 * BLOCKS * INSNS];
	static struct model_carry carries[2][1000];

	for (unsigned m = SAMPLED; m <= RETIREMENT; m++) {
		memset(&watches[m], 0, sizeof(watches[m]));
		watches[m].rows.row = rows[m];
		watches[m].rows.limit = 8 * BLOCKS * INSNS;
		watches[m].rows.carry = carries[m];
		watches[m].rows.carry_limit = 1000;
		model_set_watch(runs[m].model, &watches[m]);
	}
}

/* Cycles of a cause, of all instructions of a block. */
static double row_cycles(unsigned model, unsigned block, unsigned cause)
{
	const struct program_block *b = &blocks[model][block];
	double parts = 0;

	for (unsigned i = 0; i < b->block.insn_count; i++)
		parts += (double)rows_get(
			&watches[model].rows, b->insns[i].row, MODEL_ROW_CAUSES + cause);
	return parts / RETIRE_CYCLE;
}

static void test_rows(const struct model_config *c)
{
	double differ = 0, all = 0;

	program_begin(c, 21);
	begin_rows();
	run_program(program, 1, 22);
	for (unsigned b = 0; b < BLOCKS; b++)
		for (unsigned cause = 1; cause < MODEL_CAUSES; cause++) {
			double sampled = row_cycles(SAMPLED, b, cause),
			       always = row_cycles(RETIREMENT, b, cause);

			differ += sampled > always ? sampled - always : always - sampled;
			all += always;
		}
	ok(all > 1e6 && differ / all < 0.1,
		"what instructions of blocks waited for is found from windows (%.1f%% elsewhere)",
		100 * differ / all);
	program_end();
}

/* ---- the regression ---- */

static double noise(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += (double)random_below(seed, 1 << 20) / (1 << 20);
	return sum;
}

/* Windows of 1000 instructions and some misses; 2 cycles an instruction and 30 a miss. */
static double synthetic(struct model *m, unsigned windows, uint64_t *seed)
{
	struct sampled_clock *c = m->sampled;
	double truth = 0;
	unsigned population = windows * 20, i;

	memset(c, 0, sizeof(*c));
	sampled_clock_init(c, &m->config);
	for (i = 0; i < population; i++) {
		double events[SAMPLED_EVENTS] = {1000}, cycles[SAMPLED_RESULTS] = {0};

		events[6] = (double)random_below(seed, i < population / 3 ? 10 : 60);
		cycles[MODEL_CAUSE_BASE] = 2000;
		cycles[MODEL_CAUSE_L2] = 30 * events[6] + 200 * noise(seed);
		cycles[MODEL_CAUSES] = cycles[MODEL_CAUSE_BASE] + cycles[MODEL_CAUSE_L2];
		truth += cycles[MODEL_CAUSES];
		c->all[0] += events[0];
		c->all[6] += events[6];
		/* Of the later ones, fewer. */
		if (random_below(seed, i < population / 3 ? 20 : 40))
			continue;
		sampled_clock_window(c, events, cycles, i < population / 3 ? 1 : 2);
	}
	sampled_clock_publish(m);
	return truth;
}

static void test_regression(const struct model_config *config)
{
	struct model_config c = *config;
	struct model_clock_sums s;
	unsigned inside = 0, trials = 400, causes = 0;
	uint64_t seed = 99;
	double width = 0;
	static struct run r;

	c.clock = MODEL_CLOCK_SAMPLED;
	run_begin(&r, &c);
	model_set_clock_sums(r.model, &s);
	for (unsigned i = 0; i < trials; i++) {
		double truth = synthetic(r.model, 200, &seed);
		double half = 1.97 * __builtin_sqrt(s.cycles.variance);

		inside += truth > s.cycles.value - half && truth < s.cycles.value + half;
		causes += s.causes[MODEL_CAUSE_L2].value > 0.2 * s.cycles.value &&
			  s.causes[MODEL_CAUSE_LL].value < 0.001 * s.cycles.value;
		width += half / truth / trials;
	}
	ok(inside >= trials * 92 / 100 && inside <= trials * 99 / 100,
		"known costs: %u of %u intervals hold the truth", inside, trials);
	ok(width < 0.015, "known costs: events make the interval small (%.2f%%)", 100 * width);
	ok(causes == trials, "known costs: each cause has its cycles");
	run_end(&r);
}

int main(void)
{
	struct model_config c = zen4();
	unsigned inside = 0;

	program = tap_amount(4000000, 9000000);
	c.l2_stream = (struct model_prefetcher){.entries = 32, .ahead = 16, .lines = 2};
	test_short(&c);
	inside += (unsigned)compare("one thread", &c, 1, 11);
	inside += (unsigned)compare("three threads", &c, 3, 12);
	c.l1d.size = 8 << 10;
	c.l1d.ways = 2;
	inside += (unsigned)compare("small caches", &c, 1, 13);
	c = r10000();
	c.execution = zen4().execution;
	inside += (unsigned)compare("r10000", &c, 1, 14);
	c = zen4();
	c.l2_stream = (struct model_prefetcher){.entries = 32, .ahead = 16, .lines = 2};
	c.memory_interval = 7;
	streaming = 1;
	inside += (unsigned)compare("streams", &c, 1, 15);
	streaming = 0;
	ok(inside >= 4, "%u of 5 intervals hold the cycles", inside);
	c = zen4();
	test_fork(&c);
	test_rows(&c);
	test_regression(&c);
	return done();
}
