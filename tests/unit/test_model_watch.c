/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts by instruction and overflow samples against brute force: random blocks run in random
 * order, every occurrence of every event written down one by one, and each sample expected at
 * exactly every period-th of them.
 */
#include "../tap.h"
#include "model/state.h"
#include "model/watch.h"
#include "model_machine.h"

#define BLOCKS  20
#define INSNS   12
#define RECORDS 6000
#define STATICS 13
#define SAMPLES 400000
#define LISTED  (SAMPLES / 8)
#define WORDS   64

static const struct {
	uint8_t event, is;
} told[STATICS] = {
	{EV_INSTRUCTIONS, MODEL_STATIC_INSTRUCTIONS},
	{EV_MICRO_OPS, MODEL_STATIC_MICRO_OPS},
	{EV_LOADS, MODEL_STATIC_LOADS},
	{EV_STORES, MODEL_STATIC_STORES},
	{EV_FP_INSTRUCTIONS, MODEL_STATIC_FP},
	{EV_VECTOR_INSTRUCTIONS, MODEL_STATIC_VECTOR},
	{EV_FP_OPERATIONS, MODEL_STATIC_FLOPS},
	{EV_BRANCHES, MODEL_STATIC_BRANCHES},
	{EV_CONDITIONAL_BRANCHES, MODEL_STATIC_CONDITIONALS},
	{EV_TAKEN_BRANCHES, MODEL_STATIC_TAKEN},
	{EV_CALLS, MODEL_STATIC_CALLS},
	{EV_INDIRECT_BRANCHES, MODEL_STATIC_INDIRECTS},
	{EV_RETURNS, MODEL_STATIC_RETURNS},
};

struct test_block {
	struct model_block block;
	struct model_insn insns[INSNS];
	struct model_access accesses[3 * INSNS];
	struct model_segment segments[2];
	struct model_outcome outcomes[2][2];
};

struct sample {
	unsigned sampler;
	uint64_t insn, address, times;
};

static struct sample got[SAMPLES];
static size_t got_count;

static void take(void *context, unsigned sampler, const struct model_insn *insn, uint64_t address,
	uint64_t times)
{
	(void)context;
	if (got_count < SAMPLES)
		got[got_count] = (struct sample){sampler, insn ? insn->address : 0, address, times};
	got_count++;
}

/* ---- random blocks ---- */

static void add_access(struct test_block *t, unsigned insn, uint64_t *seed)
{
	struct model_access *a = &t->accesses[t->block.access_count++];

	*a = (struct model_access){.kind = (uint8_t)random_below(seed, 4),
		.guarded = random_below(seed, 5) == 0,
		.size = 8,
		.insn = (uint16_t)insn};
	t->insns[insn].access_count++;
}

/* What one occurrence of an instruction, an access or a branch adds to each static. */
static void sum_segment(struct test_block *t, struct model_segment *s)
{
	for (unsigned i = 0; i < s->insn_count; i++) {
		const struct model_insn *d = &t->insns[i];

		s->statics[MODEL_STATIC_INSTRUCTIONS]++;
		s->statics[MODEL_STATIC_MICRO_OPS] += d->uops;
		s->statics[MODEL_STATIC_FP] += (d->class_bits & MODEL_FP) != 0;
		s->statics[MODEL_STATIC_VECTOR] += (d->class_bits & MODEL_VECTOR) != 0;
		s->statics[MODEL_STATIC_FLOPS] += d->flops;
	}
	for (unsigned i = 0; i < s->access_count; i++) {
		const struct model_access *a = &t->accesses[i];

		if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH)
			continue;
		s->statics[MODEL_STATIC_LOADS] += a->kind != MODEL_ACCESS_STORE;
		s->statics[MODEL_STATIC_STORES] += a->kind != MODEL_ACCESS_LOAD;
	}
	for (unsigned i = 0; i < s->outcome_count; i++) {
		unsigned kind = s->outcomes[i].kind;

		s->statics[MODEL_STATIC_BRANCHES]++;
		s->statics[MODEL_STATIC_CONDITIONALS] += kind == MODEL_CONDITIONAL;
		s->statics[MODEL_STATIC_TAKEN] += s->outcomes[i].taken;
		s->statics[MODEL_STATIC_CALLS] += kind == MODEL_CALL || kind == MODEL_INDIRECT_CALL;
		s->statics[MODEL_STATIC_INDIRECTS] +=
			kind == MODEL_INDIRECT_JUMP || kind == MODEL_INDIRECT_CALL;
		s->statics[MODEL_STATIC_RETURNS] += kind == MODEL_RETURN;
	}
}

/* A side exit by a conditional branch in the middle, and any branch at the end. */
static void make_block(struct test_block *t, uint64_t address, uint64_t *seed)
{
	unsigned n = 2 + (unsigned)random_below(seed, INSNS - 1),
		 exit = (unsigned)random_below(seed, n - 1);
	unsigned last = (unsigned)random_below(seed, 6);

	memset(t, 0, sizeof(*t));
	t->block = (struct model_block){.address = address,
		.insns = t->insns,
		.accesses = t->accesses,
		.segments = t->segments,
		.insn_count = (uint16_t)n,
		.segment_count = 2};
	for (unsigned i = 0; i < n; i++) {
		t->insns[i] = (struct model_insn){.address = address + 4 * i,
			.class_bits = (uint16_t)random_below(seed, 4),
			.length = 4,
			.uops = (uint8_t)(1 + random_below(seed, 3)),
			.flops = (uint8_t)random_below(seed, 9),
			.branch = MODEL_NO_BRANCH,
			.first_access = t->block.access_count};
		for (uint64_t k = random_below(seed, 4); k > 0; k--)
			add_access(t, i, seed);
		if (i == exit)
			t->segments[0].access_count = t->block.access_count;
	}
	t->segments[0].insn_count = (uint16_t)(exit + 1);
	t->segments[1].insn_count = (uint16_t)n;
	t->segments[1].access_count = t->block.access_count;
	t->outcomes[0][0] = (struct model_outcome){
		.insn = (uint16_t)exit, .kind = MODEL_CONDITIONAL, .taken = 1};
	t->outcomes[1][0] = t->outcomes[0][0];
	t->outcomes[1][0].taken = 0;
	t->outcomes[1][1] = (struct model_outcome){.insn = (uint16_t)(n - 1),
		.kind = (uint8_t)last,
		.taken = last != MODEL_CONDITIONAL || random_below(seed, 2)};
	for (unsigned k = 0; k < 2; k++) {
		t->segments[k].block = &t->block;
		t->segments[k].outcomes = t->outcomes[k];
		t->segments[k].outcome_count = (uint8_t)(k + 1);
		sum_segment(t, &t->segments[k]);
	}
}

/* ---- brute force ---- */

struct truth {
	uint64_t period, so_far;
	size_t next; /* in the samples of its sampler */
	bool good;
	struct sample list[LISTED];
	size_t count;
};

static struct truth truths[STATICS];

static void occurs(struct truth *t, uint64_t n, uint64_t insn, uint64_t address)
{
	uint64_t before = t->so_far / t->period;

	t->so_far += n;
	if (t->so_far / t->period == before)
		return;
	if (t->count < LISTED)
		t->list[t->count] = (struct sample){
			.insn = insn, .address = address, .times = t->so_far / t->period - before};
	t->count++;
}

static void occurs_by_insn(const struct model_segment *s, unsigned is, struct truth *t)
{
	for (unsigned i = 0; i < s->insn_count; i++) {
		const struct model_insn *d = &s->block->insns[i];
		unsigned n = 0;

		n = is == MODEL_STATIC_INSTRUCTIONS ? 1 : n;
		n = is == MODEL_STATIC_MICRO_OPS ? d->uops : n;
		n = is == MODEL_STATIC_FP ? (d->class_bits & MODEL_FP) != 0 : n;
		n = is == MODEL_STATIC_VECTOR ? (d->class_bits & MODEL_VECTOR) != 0 : n;
		n = is == MODEL_STATIC_FLOPS ? d->flops : n;
		if (n)
			occurs(t, n, d->address, 0);
	}
}

static void occurs_by_access(
	const struct model_segment *s, unsigned is, struct truth *t, const uint64_t *record)
{
	for (unsigned i = 0; i < s->access_count; i++) {
		const struct model_access *a = &s->block->accesses[i];

		if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH ||
			a->kind ==
				(is == MODEL_STATIC_LOADS ? MODEL_ACCESS_STORE : MODEL_ACCESS_LOAD))
			continue;
		occurs(t, 1, s->block->insns[a->insn].address, record[1 + i]);
	}
}

static void occurs_by_branch(const struct model_segment *s, unsigned is, struct truth *t)
{
	for (unsigned i = 0; i < s->outcome_count; i++) {
		const struct model_outcome *o = &s->outcomes[i];
		bool call = o->kind == MODEL_CALL || o->kind == MODEL_INDIRECT_CALL;
		bool indirect = o->kind == MODEL_INDIRECT_CALL || o->kind == MODEL_INDIRECT_JUMP;

		if ((is == MODEL_STATIC_CONDITIONALS && o->kind != MODEL_CONDITIONAL) ||
			(is == MODEL_STATIC_TAKEN && !o->taken) ||
			(is == MODEL_STATIC_CALLS && !call) ||
			(is == MODEL_STATIC_INDIRECTS && !indirect) ||
			(is == MODEL_STATIC_RETURNS && o->kind != MODEL_RETURN))
			continue;
		occurs(t, 1, s->block->insns[o->insn].address, 0);
	}
}

static bool agrees(unsigned sampler)
{
	const struct truth *t = &truths[sampler];
	size_t n = 0;

	for (size_t i = 0; i < got_count && i < SAMPLES; i++) {
		const struct sample *a = &got[i], *b = &t->list[n];

		if (a->sampler != sampler)
			continue;
		if (n++ >= t->count || a->insn != b->insn || a->address != b->address ||
			a->times != b->times)
			return false;
	}
	return n == t->count && t->count > 0;
}

static void test_statics(uint64_t seed)
{
	static struct test_block blocks[BLOCKS];
	struct model_watch w = {.sample = take};
	struct model_watch_thread thread;
	static const uint64_t periods[] = {1, 2, 3, 7, 31, 101};

	memset(truths, 0, sizeof(truths));
	got_count = 0;
	for (unsigned i = 0; i < BLOCKS; i++)
		make_block(&blocks[i], 0x1000 * (i + 1), &seed);
	for (unsigned k = 0; k < STATICS; k++) {
		truths[k].period = periods[1 + random_below(&seed, 5)];
		watch_add_sampler(&w, told[k].event, truths[k].period, 0);
	}
	watch_thread_init(&w, &thread);
	w.thread = &thread;
	for (unsigned i = 0; i < RECORDS; i++) {
		const struct model_segment *s =
			&blocks[random_below(&seed, BLOCKS)].segments[random_below(&seed, 2)];
		uint64_t record[WORDS] = {0};

		for (unsigned k = 0; k < s->access_count; k++)
			record[1 + k] = random_next(&seed) | 1;
		for (unsigned k = 0; k < STATICS; k++) {
			unsigned is = told[k].is;

			if (is == MODEL_STATIC_LOADS || is == MODEL_STATIC_STORES)
				occurs_by_access(s, is, &truths[k], record);
			else if (is >= MODEL_STATIC_BRANCHES)
				occurs_by_branch(s, is, &truths[k]);
			else
				occurs_by_insn(s, is, &truths[k]);
		}
		watch_record(&w, s, record, 0);
	}
	ok(got_count <= SAMPLES, "seed %llu: %zu samples fit", (unsigned long long)seed, got_count);
	for (unsigned k = 0; k < STATICS; k++)
		ok(agrees(k), "event %u at every %llu-th: %zu samples where brute force has them",
			told[k].event, (unsigned long long)truths[k].period, truths[k].count);
}

/* ---- events of slow paths ---- */

static void count_one(struct model *m, struct model_insn *d, unsigned event, uint64_t n)
{
	m->insn = d;
	count(m, event, n);
}

static struct run run;

static void test_counts(void)
{
	static struct model_row rows[64];
	static struct model_carry carries[4];
	static struct model_insn insns[8];
	struct model_watch w = {.sample = take,
		.rows = {.row = rows, .limit = 64, .carry = carries, .carry_limit = 4}};
	struct model_config config = zen4();
	struct model_watch_thread thread;
	uint64_t seed = 7, want[8][EVENT_LIMIT] = {{0}}, sum = 0;
	static const uint8_t events[] = {EV_L1D_MISSES, EV_DTLB_WALKS, EV_ITLB_WALKS,
		EV_MISPREDICTED_RETURNS, EV_MISPREDICTED_CONDITIONALS, EV_L2_WRITEBACK_QUADWORDS};

	run_begin(&run, &config);
	got_count = 0;
	for (unsigned i = 0; i < 8; i++)
		insns[i].address = 0x100 + i;
	watch_add_sampler(&w, EV_TLB_MISSES, 13, 0);
	watch_add_sampler(&w, EV_MISPREDICTED_BRANCHES, 17, 0);
	watch_add_sampler(&w, EV_L2_WRITEBACK_QUADWORDS, 3, 0);
	watch_thread_init(&w, &thread);
	w.thread = &thread;
	model_set_watch(run.model, &w);
	for (unsigned i = 0; i < 10000; i++) {
		unsigned d = (unsigned)random_below(&seed, 8), e = events[random_below(&seed, 6)];
		uint64_t n = e == EV_L2_WRITEBACK_QUADWORDS ? 4 : 1;

		count_one(run.model, &insns[d], e, n);
		want[d][e] += n;
		sum += e == EV_L2_WRITEBACK_QUADWORDS ? n : 0;
	}
	for (unsigned d = 0; d < 8; d++)
		for (unsigned e = 0; e < EVENT_LIMIT; e++)
			if (want[d][e] != rows_get(&w.rows, insns[d].row, e))
				ok(false, "event %u of instruction %u", e, d);
	is_int(w.rows.lost, 0, "nothing lost");
	uint64_t times[3] = {0};
	for (size_t i = 0; i < got_count; i++)
		times[got[i].sampler] += got[i].times;
	is_int(times[2], sum / 3, "overflows of an event that comes by fours");
	is_int(times[0], (run.counts[EV_DTLB_WALKS] + run.counts[EV_ITLB_WALKS]) / 13,
		"an event that is a sum is sampled by its parts");
	is_int(times[1],
		(run.counts[EV_MISPREDICTED_CONDITIONALS] + run.counts[EV_MISPREDICTED_RETURNS]) /
			17,
		"likewise");
	model_set_watch(run.model, NULL);
	run_end(&run);
}

static void add_item(void *context, unsigned item, uint64_t n)
{
	uint64_t *sums = context;

	sums[item] += n;
}

static void test_rows(void)
{
	static struct model_row row[4];
	static struct model_carry carries[1];
	struct model_rows r = {.row = row, .limit = 4, .carry = carries, .carry_limit = 1};
	uint64_t sums[MODEL_ROW_ITEMS] = {0};
	uint32_t a = 0, b = 0;

	for (int i = 0; i < 5; i++)
		rows_add(&r, &a, EV_LOADS, UINT64_C(3000000000));
	is_int(rows_get(&r, a, EV_LOADS), INT64_C(15000000000), "counts beyond 32 bits");
	rows_add(&r, &a, EV_L1D_MISSES, 5);
	rows_add(&r, &b, EV_L1I_MISSES, 7);
	rows_walk(&r, a, add_item, sums);
	is_int(sums[EV_L1D_MISSES], 5, "the row's own");
	is_int(sums[EV_L1I_MISSES], 0, "and nothing of another's");
	rows_add(&r, &b, EV_L1D_MISSES, 11);
	is_int(r.lost, 11, "without room, what is lost is counted");
	rows_add(&r, &b, EV_L1I_MISSES, UINT64_C(1) << 33);
	is_int(r.lost, 11 + (INT64_C(1) << 33), "also beyond 32 bits");
	rows_reset(&r);
	a = 0;
	rows_add(&r, &a, EV_STORES, 1);
	is_int(rows_get(&r, a, EV_STORES), 1, "as new");
	is_int(rows_get(&r, a, EV_LOADS), 0, "as new, all of it");
}

/* All events that the model counts have a place, or are sums of those that have. */
static void test_places(void)
{
	static const int made[] = {EV_CYCLES_16, EV_INSTRUCTIONS_15, EV_STORE_CONDITIONALS,
		EV_DECODED_BRANCHES, EV_TLB_MISSES, EV_WALK_CYCLES, EV_MISPREDICTED_BRANCHES,
		EV_PAGE_FAULTS /* of no instruction */};
	static struct model_row row[1000];
	struct model_rows r = {.row = row, .limit = 1000};
	struct model_config config = zen4();

	for (int e = 0; e < EV_COUNT; e++) {
		uint32_t a = 0;
		bool is_made = false;

		for (size_t i = 0; i < sizeof(made) / sizeof(made[0]); i++)
			is_made |= made[i] == e;
		if (is_made || !model_counts_event(&config, e))
			continue;
		rows_add(&r, &a, (unsigned)e, 1);
		if (rows_get(&r, a, (unsigned)e) != 1)
			ok(false, "event %d has a place in rows", e);
	}
	is_int(r.lost, 0, "all events have a place in rows");
}

/* ---- skid ---- */

static void test_skid(void)
{
	static struct test_block t;
	struct model_watch w = {.sample = take};
	struct model_watch_thread thread;
	uint64_t seed = 3, at[INSNS] = {0}, record[WORDS] = {0}, total = 0;
	unsigned n;

	got_count = 0;
	make_block(&t, 0x4000, &seed);
	n = t.block.insn_count;
	/* The period is the block's length: without skid each sample is the last instruction. */
	watch_add_sampler(&w, EV_INSTRUCTIONS, n, 1);
	watch_thread_init(&w, &thread);
	w.thread = &thread;
	for (unsigned i = 0; i < 6400; i++)
		watch_record(&w, &t.segments[1], record, 0);
	for (size_t i = 0; i < got_count; i++) {
		at[(got[i].insn - 0x4000) / 4]++;
		total += got[i].times;
	}
	ok(total >= 6400 - 2 && total <= 6400, "samples with skid: none lost but those under way");
	is_near((double)at[0], 3200, 300, "half of them one instruction on");
	is_near((double)at[1], 1600, 200, "a quarter two");
}

/* ---- targets ---- */

static void test_targets(void)
{
	static struct model_target entries[64];
	struct model_targets t = {.entry = entries, .mask = 63};

	for (int i = 0; i < 1000; i++)
		targets_add(&t, 0x100 + (uint64_t)(i % 5), 0x200 + (uint64_t)(i % 7), 1);
	is_int(t.used, 35, "pairs");
	is_int(targets_find(&t, 0x100, 0x200)->count, 29, "and how often");
	for (int i = 0; i < 1000; i++)
		targets_add(&t, (uint64_t)i, 1, 1);
	ok(t.lost > 0 && t.used <= 49,
		"beyond three quarters, new ones are lost, and that is said");
}

int main(void)
{
	for (uint64_t seed = 1; seed <= 5; seed++)
		test_statics(seed * 7919);
	test_counts();
	test_rows();
	test_places();
	test_skid();
	test_targets();
	return done();
}
