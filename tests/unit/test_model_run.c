/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loop over records against the step-by-step path: random superblocks are run by two models, of
 * which one is told that each must go instruction by instruction.  All counts must agree, cycles
 * included.  Two things may differ a little, and are only held to be near: cycles where branches
 * are in the middle of superblocks (as only the imitation of cachegrind has them), for those are
 * run behind the accesses; and fetches where the data of the same superblock may take lines from
 * L1I.  Samples must agree, too.
 */
#include "../tap.h"
#include "model/trace.h"
#include "model/watch.h"
#include "model_machine.h"

#define BLOCKS   60
#define INSNS    12
#define ACCESSES (3 * INSNS)
#define BATCHES  150 /* of 400 records, for samples: some events are rare */
#define SWITCHES 400 /* records between two threads' turns, about */

struct test_block {
	struct model_block block;
	struct model_insn insns[INSNS];
	struct model_access accesses[ACCESSES];
	struct model_fetch fetches[2 * INSNS];
	struct model_segment segments[2];
	struct model_outcome outcomes[2][2];
	uint8_t specials[INSNS];
};

static struct test_block fast[BLOCKS], slow[BLOCKS];
static unsigned records; /* that are run */
static int chased;       /* branches in the middle, and jumps that go unnoticed */
static int apart;        /* data pages whose numbers have the same low bits */
/* Loads and stores of up to four granules to the same places of a few pages, in few blocks, so that
 * all have code soon. */
static int near_stores;

static void add_fetches(struct test_block *t, unsigned insn, unsigned line)
{
	struct model_block *b = &t->block;
	uint64_t at = t->insns[insn].address, end = at + t->insns[insn].length - 1;

	for (at &= ~(uint64_t)(line - 1); at <= end; at += line)
		if (!b->fetch_count || b->fetches[b->fetch_count - 1].line != at)
			b->fetches[b->fetch_count++] =
				(struct model_fetch){.line = at, .insn = insn};
}

static void add_access(struct test_block *t, unsigned insn, uint64_t *seed)
{
	static const uint16_t sizes[] = {1, 2, 4, 8, 8, 8, 16, 32, 64, 512};
	struct model_access *a = &t->accesses[t->block.access_count++];

	*a = (struct model_access){
		.kind = (uint8_t)random_below(seed, near_stores ? MODEL_ACCESS_MODIFY : 4),
		.guarded = random_below(seed, 8) == 0 && !near_stores,
		.size = sizes[random_below(seed, near_stores ? 8 : 10)],
		.insn = (uint16_t)insn};
	t->insns[insn].access_count++;
}

static void add_insn(struct test_block *t, unsigned i, uint64_t *at, unsigned line, uint64_t *seed)
{
	static const uint16_t classes[] = {MODEL_DIVIDE, MODEL_FP_DIVIDE | MODEL_FP, MODEL_LOCKED,
		MODEL_SERIALISING, MODEL_SYSCALL, MODEL_PREFETCH};
	int special = random_below(seed, 15) == 0 && !near_stores;

	t->insns[i] = (struct model_insn){.address = *at,
		.class_bits =
			special ? classes[random_below(seed, 6)] : (uint16_t)random_below(seed, 4),
		.length = (uint8_t)(1 + random_below(seed, 8)),
		.uops = (uint8_t)(1 + random_below(seed, 3)),
		.flops = (uint8_t)random_below(seed, 9),
		.branch = MODEL_NO_BRANCH,
		.first_access = t->block.access_count};
	if (special)
		t->specials[t->block.special_count++] = (uint8_t)i;
	for (uint64_t k = random_below(seed, 4); k > 0; k--)
		add_access(t, i, seed);
	add_fetches(t, i, line);
	*at += t->insns[i].length;
}

static void end_segment(struct test_block *t, unsigned k, unsigned insns, unsigned outcomes)
{
	struct model_segment *s = &t->segments[k];

	s->block = &t->block;
	s->insn_count = (uint16_t)insns;
	s->access_count = t->block.access_count;
	s->fetch_count = t->block.fetch_count;
	s->outcomes = t->outcomes[k];
	s->outcome_count = (uint8_t)outcomes;
	for (unsigned i = 0; i < insns; i++) {
		s->statics[MODEL_STATIC_INSTRUCTIONS]++;
		s->statics[MODEL_STATIC_MICRO_OPS] += t->insns[i].uops;
		s->statics[MODEL_STATIC_FP] += (t->insns[i].class_bits & MODEL_FP) != 0;
		s->statics[MODEL_STATIC_VECTOR] += (t->insns[i].class_bits & MODEL_VECTOR) != 0;
		s->statics[MODEL_STATIC_FLOPS] += t->insns[i].flops;
	}
	for (unsigned i = 0; i < s->access_count; i++) {
		const struct model_access *a = &t->accesses[i];

		if (a->guarded || a->kind == MODEL_ACCESS_PREFETCH)
			continue;
		s->statics[MODEL_STATIC_LOADS] += a->kind != MODEL_ACCESS_STORE;
		s->statics[MODEL_STATIC_STORES] += a->kind != MODEL_ACCESS_LOAD;
	}
	for (unsigned i = 0; i < outcomes; i++)
		model_outcome_statics(&s->outcomes[i], s->statics);
}

static struct model_outcome branch(
	struct test_block *t, unsigned insn, unsigned kind, unsigned taken, uint64_t target)
{
	t->insns[insn].branch = (uint8_t)kind;
	return (struct model_outcome){.insn = (uint16_t)insn,
		.kind = (uint8_t)kind,
		.taken = (uint8_t)taken,
		.target = target,
		.from = t->insns[insn].address};
}

/* A conditional branch out of the middle in half of them, any branch or none at the end. */
static void make_block(struct test_block *t, uint64_t address, unsigned line, uint64_t *seed)
{
	unsigned n = 2 + (unsigned)random_below(seed, INSNS - 1);
	unsigned exit = random_below(seed, 2) ? (unsigned)random_below(seed, n - 1) : INSNS;
	unsigned last = (unsigned)random_below(seed, 7), segments = 0, passed = 0;

	if (!chased && exit != INSNS) {
		exit = n - 1;
		last = MODEL_RETURN + 1;
	}

	memset(t, 0, sizeof(*t));
	t->block = (struct model_block){.address = address,
		.insns = t->insns,
		.accesses = t->accesses,
		.fetches = t->fetches,
		.segments = t->segments,
		.specials = t->specials,
		.insn_count = (uint16_t)n};
	for (unsigned i = 0; i < n; i++) {
		if (chased && i && !random_below(seed, 4))
			address += random_below(seed, 300);
		add_insn(t, i, &address, line, seed);
		if (i != exit)
			continue;
		t->outcomes[0][0] = branch(t, i, MODEL_CONDITIONAL, 1, address + 64);
		t->outcomes[1][0] = t->outcomes[0][0];
		t->outcomes[1][0].taken = 0;
		end_segment(t, segments++, n > i + 1 ? i + 1 : n, 1);
		passed = 1;
	}
	t->block.indirect = last >= MODEL_INDIRECT_JUMP && last <= MODEL_RETURN;
	if (last <= MODEL_RETURN)
		t->outcomes[segments][passed] =
			branch(t, n - 1, last, last != MODEL_CONDITIONAL || random_below(seed, 2),
				t->block.indirect ? 0 : address + 128);
	end_segment(t, segments++, n, passed + (last <= MODEL_RETURN));
	t->block.segment_count = (uint16_t)segments;
	t->block.words = (uint16_t)(1 + t->block.access_count + t->block.indirect);
}

static unsigned parts = MODEL_PARTS_ALL; /* of the model that runs records */

/* The same descriptors in another place, to be stepped through. */
static void copy_block(struct test_block *to, const struct test_block *from)
{
	*to = *from;
	to->block.insns = to->insns;
	to->block.accesses = to->accesses;
	to->block.fetches = to->fetches;
	to->block.segments = to->segments;
	to->block.specials = to->specials;
	for (unsigned k = 0; k < 2; k++) {
		to->segments[k].block = &to->block;
		to->segments[k].outcomes = to->outcomes[k];
		to->segments[k].slow = 1;
	}
}

/* Few lines most of the time, so that stores and loads meet. */
static uint64_t data_address(uint64_t *seed)
{
	static const uint64_t ranges[] = {256, 4096, 1 << 16, 1 << 22, 1ull << 33};

	if (near_stores)
		return 0x10000000 + (random_below(seed, 4) << 12) + 8 * random_below(seed, 24) +
		       (random_below(seed, 8) ? 0 : random_below(seed, 8));
	if (apart)
		return 0x10000000 + (random_below(seed, 100) << 21) + random_below(seed, 4096);
	return 0x10000000 + random_below(seed, ranges[random_below(seed, 5)]);
}

/* One record, for both: at words and stepped; how many words it has. */
static unsigned make_record(uint64_t *words, uint64_t *stepped, uint64_t *seed)
{
	unsigned n = (unsigned)random_below(seed, near_stores ? 8 : BLOCKS);
	const struct model_block *block = &fast[n].block;
	unsigned segment = (unsigned)random_below(seed, block->segment_count);

	for (unsigned i = 1; i < block->words; i++)
		words[i] = data_address(seed);
	for (unsigned i = 0; i < block->access_count; i++)
		if (block->accesses[i].guarded && random_below(seed, 2))
			words[1 + i] = 0;
	memcpy(stepped, words, block->words * sizeof(*words));
	words[0] = model_word(&fast[n].segments[segment], block->words);
	stepped[0] = model_word(&slow[n].segments[segment], block->words);
	return block->words;
}

/* Of events that need no other parts. */
static int same(const char *what, const uint64_t *a, const uint64_t *b, int nearly)
{
	int good = 1;

	for (unsigned e = 0; e < EV_COUNT; e++) {
		uint64_t differ = a[e] > b[e] ? a[e] - b[e] : b[e] - a[e];

		if (!(model_event_parts(e) & ~parts) && differ > (nearly ? 2 + b[e] / 500 : 0)) {
			printf("# %s, event %u: %llu in the loop, %llu step by step\n", what, e,
				(unsigned long long)a[e], (unsigned long long)b[e]);
			good = 0;
		}
	}
	return good;
}

static const struct {
	unsigned event, period;
} sampled[] = {
	{EV_INSTRUCTIONS, 9973}, {EV_LOADS, 4999}, {EV_STORES, 2503}, {EV_MICRO_OPS, 10007},
	{EV_FP_OPERATIONS, 30011}, {EV_RETURNS, 503}, {EV_L1D_MISSES, 311},
	{EV_MISPREDICTED_BRANCHES, 53}, {EV_ALIASES_4K, 47},
	{EV_INSTRUCTIONS, 101}, /* keeps all from being calm */
};
#define SAMPLED (sizeof(sampled) / sizeof(sampled[0]))

/* For each sampler: how many, and a sum over where. */
struct samples {
	uint64_t count[SAMPLED + 1], where[SAMPLED + 1];
};

static void take_sample(void *context, unsigned sampler, const struct model_insn *insn,
	uint64_t address, uint64_t times)
{
	struct samples *s = context;

	s->count[sampler] += times;
	s->where[sampler] += times * ((insn->address ^ address << 20) * 0x9e3779b97f4a7c15u);
}

/* all: what it takes samples of must be told of each record. */
static void begin_watch(struct model_watch *w, struct model_watch_thread *t, struct samples *s,
	struct model *m, unsigned count, int all)
{
	memset(w, 0, sizeof(*w));
	memset(t, 0, sizeof(*t));
	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < count; i++)
		watch_add_sampler(w, sampled[i].event, sampled[i].period, 0);
	if (all)
		watch_add_sampler(w, EV_SYSTEM_CALLS, UINT64_C(1) << 60, 1);
	watch_thread_init(w, t);
	w->thread = t;
	w->sample = take_sample;
	w->context = s;
	model_set_watch(m, w);
}

static int watched; /* by someone, from the middle of the run on */

static void compare(
	const char *name, const struct model_config *c, unsigned threads, uint64_t seed, int nearly)
{
	struct model_config some = *c;
	static uint64_t words[2 * SWITCHES * (2 + ACCESSES)];
	static uint64_t stepped[2 * SWITCHES * (2 + ACCESSES)];
	static struct run a, b;
	static struct model_watch watch;
	static struct model_watch_thread watch_thread;
	static struct samples taken;
	int good;

	some.parts = parts;
	run_begin(&a, &some);
	run_with_code(&a);
	run_begin(&b, c);
	for (unsigned i = 0; i < BLOCKS; i++) {
		make_block(&fast[i], 0x400000 + random_below(&seed, 1 << 20), c->l1i.line, &seed);
		copy_block(&slow[i], &fast[i]);
	}
	for (unsigned i = 0; i < records;) {
		unsigned count = 1 + (unsigned)random_below(&seed, 2 * SWITCHES), at = 0;

		if (threads > 1) {
			unsigned thread = (unsigned)random_below(&seed, threads);

			run_thread(&a, thread);
			run_thread(&b, thread);
		}
		if (watched && i < records / 2 && i + count >= records / 2)
			begin_watch(&watch, &watch_thread, &taken, a.model, 0, 1);
		i += count;
		while (count--)
			at += make_record(words + at, stepped + at, &seed);
		model_run(a.model, words, words + at);
		model_run(b.model, stepped, stepped + at);
		model_system_call(a.model);
		model_system_call(b.model);
	}
	model_sync(a.model);
	model_sync(b.model);
	good = same(name, a.counts, b.counts, nearly);
	for (unsigned t = 1; t < threads; t++)
		good &= same(name, a.others[t], b.others[t], nearly);
	ok(good && b.counts[near_stores ? EV_ALIASES_4K : EV_L1D_MISSES] > 1000,
		"%s: the loop and the steps agree on all counts", name);
	run_end(&a);
	run_end(&b);
}

/* ---- samples ---- */

/* Many records at a time.  first: so many of the samplers. */
static void compare_samples(unsigned first, uint64_t seed)
{
	static uint64_t words[400 * (2 + ACCESSES)], stepped[400 * (2 + ACCESSES)];
	static struct model_watch calm, all;
	static struct model_watch_thread calm_thread, all_thread;
	static struct samples one, other;
	static struct run a, b;
	struct model_config c = zen4();

	run_begin(&a, &c);
	run_with_code(&a);
	run_begin(&b, &c);
	for (unsigned i = 0; i < BLOCKS; i++) {
		make_block(&fast[i], 0x400000 + random_below(&seed, 1 << 20), c.l1i.line, &seed);
		copy_block(&slow[i], &fast[i]);
	}
	begin_watch(&calm, &calm_thread, &one, a.model, first, 0);
	begin_watch(&all, &all_thread, &other, b.model, first, 1);
	ok(watch_is_calm(&calm) && !watch_is_calm(&all), "only samples with skid need each record");
	for (unsigned i = 0; i < BATCHES; i++) {
		unsigned at = 0;

		for (unsigned k = 0; k < 400; k++)
			at += make_record(words + at, stepped + at, &seed);
		model_run(a.model, words, words + at);
		model_run(b.model, stepped, stepped + at);
	}
	for (unsigned i = 0; i < first; i++)
		ok(one.count[i] > 2 && one.count[i] == other.count[i] &&
				one.where[i] == other.where[i],
			"event %u, every %u: %llu samples where the steps have %llu",
			sampled[i].event, sampled[i].period, (unsigned long long)one.count[i],
			(unsigned long long)other.count[i]);
	run_end(&a);
	run_end(&b);
}

/* ---- repeated string instructions ---- */

/* One that moves (or only stores) `size` bytes at a time: its first segment goes on with a further
 * iteration, the second is the last one. */
static void make_repeat(struct test_block *t, uint64_t address, unsigned size, int loads)
{
	memset(t, 0, sizeof(*t));
	t->insns[0] = (struct model_insn){.address = address,
		.class_bits = MODEL_STEPPED,
		.length = 2,
		.uops = 2,
		.branch = MODEL_NO_BRANCH,
		.access_count = (uint8_t)(1 + loads)};
	t->block = (struct model_block){.address = address,
		.insns = t->insns,
		.accesses = t->accesses,
		.fetches = t->fetches,
		.segments = t->segments,
		.specials = t->specials,
		.insn_count = 1,
		.access_count = (uint16_t)(1 + loads),
		.segment_count = 2,
		.words = (uint16_t)(2 + loads)};
	for (int i = 0; i <= loads; i++)
		t->accesses[i] = (struct model_access){
			.kind = i == loads ? MODEL_ACCESS_STORE : MODEL_ACCESS_LOAD,
			.size = (uint16_t)size};
	add_fetches(t, 0, 64);
	for (unsigned k = 0; k < 2; k++) {
		end_segment(t, k, 1, 0);
		t->segments[k].slow = 1;
		t->segments[k].next = k ? address + 2 : address;
	}
}

/* A whole one, the same for both; how many words. */
static unsigned make_iterations(uint64_t *words, uint64_t *stepped, uint64_t *seed)
{
	unsigned n = (unsigned)random_below(seed, BLOCKS), at = 0, k;
	unsigned count = 1 + (unsigned)random_below(seed, 60);
	uint64_t from = 0x10000000 + random_below(seed, 1 << 21),
		 to = random_below(seed, 3) ? 0x20000000 + random_below(seed, 1 << 21)
					    : from + random_below(seed, 100);
	const struct model_block *b = &fast[n].block;

	for (; count-- > 0; from += b->accesses[0].size, to += b->accesses[0].size) {
		words[at] = model_word(&fast[n].segments[!count], b->words);
		stepped[at++] = model_word(&slow[n].segments[!count], b->words);
		for (k = 0; k < b->access_count; k++, at++)
			words[at] = stepped[at] = k + 1u == b->access_count ? to : from;
	}
	return at;
}

/* What is executed between them comes from other blocks, which are not repeated. */
static void compare_repeats(const struct model_config *config, uint64_t seed)
{
	static uint64_t words[200 * (2 + ACCESSES)], stepped[200 * (2 + ACCESSES)];
	static struct model_watch all;
	static struct model_watch_thread thread;
	static struct samples samples;
	static struct run a, b;
	struct model_config c = *config;

	run_begin(&b, &c);
	c.parts = parts;
	run_begin(&a, &c);
	begin_watch(&all, &thread, &samples, b.model, 0, 1);
	for (unsigned i = 0; i < BLOCKS; i++) {
		uint64_t address = 0x400000 + random_below(&seed, 1 << 18);

		make_repeat(&fast[i], address, 1u << random_below(&seed, 4),
			(int)random_below(&seed, 2));
		make_repeat(&slow[i], address, fast[i].accesses[0].size,
			fast[i].block.access_count > 1);
	}
	for (unsigned i = 0; i < 20000; i++) {
		unsigned count = make_iterations(words, stepped, &seed);

		model_run(a.model, words, words + count);
		model_run(b.model, stepped, stepped + count);
	}
	model_sync(a.model);
	model_sync(b.model);
	ok(same("repeats", a.counts, b.counts, 0) && a.counts[EV_STORES] > 100000 &&
			a.counts[EV_INSTRUCTIONS] == 20000,
		"iterations of repeated instructions are the same in the loop and step by step");
	run_end(&a);
	run_end(&b);
}

/* Some parts alone, against all of them. */
static void compare_parts(const struct model_config *c)
{
	static const unsigned alone[] = {
		MODEL_PART_PREDICTORS,
		MODEL_PART_CACHES,
		MODEL_PART_TLBS,
		MODEL_PART_STORES,
		MODEL_PART_PREDICTORS | MODEL_PART_CACHES,
		MODEL_PART_PREDICTORS | MODEL_PART_STORES,
	};
	char name[64];

	for (unsigned i = 0; i < sizeof(alone) / sizeof(alone[0]); i++) {
		parts = MODEL_PART_EXECUTION | alone[i];
		snprintf(name, sizeof(name), "parts %#x, %u cores", parts, c->cores);
		compare(name, c, 2, 20 + i, 0);
	}
	parts = MODEL_PARTS_ALL;
}

int main(void)
{
	const unsigned usual = tap_amount(12000, 40000);
	struct model_config c = zen4();

	records = usual;
	compare("zen4", &c, 1, 1, 0);
	compare("zen4, four threads", &c, 4, 2, 0);
	c.execution.kernel_flush = 50;
	compare("zen4, and a kernel that leaves no translations", &c, 2, 29, 0);
	c.execution.kernel_flush = 0;
	compare_parts(&c);
	c.policy[MODEL_L1D] = MODEL_TREE_PLRU;
	c.dtlb = (struct model_tlb_config){64, 64};
	c.policy[MODEL_DTLB] = MODEL_BIT_PLRU;
	c.policy[MODEL_L2] = MODEL_QLRU;
	compare("zen4 with other policies", &c, 2, 3, 0);
	c = zen4();
	c.l2_inclusion = MODEL_INCLUSIVE;
	c.ll_inclusion = MODEL_EXCLUSIVE;
	c.l1d_stride = (struct model_prefetcher){.entries = 16, .ahead = 4};
	c.l1d_next = (struct model_prefetcher){.lines = 1};
	compare("zen4 with prefetchers and inclusion", &c, 2, 4, 1);
	c = zen4();
	c.l1d = (struct model_cache_config){48 << 10, 12, 64, 5};
	c.l2 = (struct model_cache_config){256 << 10, 16, 64, 16};
	c.policy[MODEL_L2] = MODEL_QLRU;
	c.ll_inclusion = MODEL_EXCLUSIVE;
	c.dtlb = (struct model_tlb_config){96, 6};
	c.l1d_stride = (struct model_prefetcher){.entries = 64, .ahead = 4};
	c.l2_stream = (struct model_prefetcher){.entries = 32, .ahead = 20, .lines = 2};
	c.l2_adjacent = 1;
	compare("12 ways, QLRU and prefetchers", &c, 2, 9, 0);
	apart = 1;
	compare("pages 2 MiB apart", &c, 1, 13, 0);
	c.dtlb = (struct model_tlb_config){72, 72};
	compare("pages 2 MiB apart in one set", &c, 1, 14, 0);
	c.dtlb = (struct model_tlb_config){33, 33};
	compare("pages 2 MiB apart in one set of 33", &c, 2, 15, 0);
	c.dtlb = (struct model_tlb_config){128, 128};
	compare("pages 2 MiB apart in one set of 128", &c, 2, 16, 0);
	apart = 0;
	near_stores = 1;
	c = zen4();
	compare("stores of several granules", &c, 1, 27, 0);
	parts = MODEL_PARTS_ALL & ~MODEL_PART_CLOCK;
	compare("stores of several granules without clock", &c, 2, 28, 0);
	parts = MODEL_PARTS_ALL;
	near_stores = 0;
	c = r10000();
	compare("r10000", &c, 1, 5, 0);
	compare_parts(&c);
	compare("r10000, three threads", &c, 3, 6, 0);
	c = zen4();
	c.dtlb = (struct model_tlb_config){0};
	c.itlb = (struct model_tlb_config){0};
	c.stlb = (struct model_tlb_config){0};
	compare("without TLBs", &c, 1, 7, 0);
	chased = 1;
	c = zen4();
	compare("branches in the middle", &c, 2, 8, 1);
	chased = 0;
	c = zen4();
	c.predictor_kind = MODEL_PREDICTOR_CACHEGRIND;
	c.predictor_bits = 14;
	compare("cachegrind's predictor", &c, 2, 18, 0);
	c.predictor_bits = 4;
	compare("cachegrind's predictor with few entries", &c, 1, 22, 0);
	c.predictor_bits = 14;
	c.flavour = MODEL_CACHEGRIND;
	c.l2 = (struct model_cache_config){0};
	c.itlb = c.dtlb = c.stlb = (struct model_tlb_config){0};
	c.ll = (struct model_cache_config){1 << 20, 16, 64, 40};
	compare("cachegrind's flavour", &c, 1, 19, 0);
	parts = MODEL_PART_EXECUTION | MODEL_PART_CACHES | MODEL_PART_PREDICTORS;
	compare("cachegrind's flavour without clock", &c, 1, 20, 0);
	chased = 1;
	compare("the same with branches in the middle", &c, 1, 21, 0);
	records = tap_amount(100000, 200000);
	compare("the same for so long that most segments have code", &c, 2, 23, 0);
	c.l1d = (struct model_cache_config){6 << 10, 12, 64, 5};
	c.l1i = (struct model_cache_config){8 << 10, 1, 64, 5};
	compare("the same with other caches", &c, 1, 24, 0);
	records = usual;
	chased = 0;
	watched = 1;
	compare("cachegrind's flavour, watched from the middle on", &c, 1, 25, 0);
	watched = 0;
	compare_repeats(&c, 26);
	parts = MODEL_PARTS_ALL;
	compare_samples(SAMPLED - 1, 10);
	compare_samples(SAMPLED, 11);
	c = zen4();
	compare_repeats(&c, 12);
	return done();
}
