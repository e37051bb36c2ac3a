/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sampled simulation against the whole: what follows from execution is equal, the rest lies in the
 * interval. */
#include "../tap.h"
#include "model/fast.h"
#include "model/trace.h"
#include "model_machine.h"
#include "sources/windows.h"

#define BLOCKS  16
#define INSNS   60
#define RECORDS 256 /* run at a time */
#define WORDS   (INSNS + 1)

struct block {
	struct model_block block;
	struct model_insn insns[INSNS];
	struct model_access accesses[INSNS];
	struct model_fetch fetches[INSNS];
	struct model_segment segments[2]; /* by how the branch at the end goes */
	struct model_outcome outcomes[2][1];
};

/* The same for each of two models, as descriptors serve one. */
static struct block blocks[BLOCKS], others[BLOCKS];
static uint64_t words[RECORDS * WORDS], other_words[RECORDS * WORDS];

static void make_segment(struct block *b, unsigned taken, unsigned kind)
{
	struct model_segment *s = &b->segments[taken];

	b->outcomes[taken][0] = (struct model_outcome){.insn = INSNS - 1,
		.taken = (uint8_t)(taken || kind != MODEL_CONDITIONAL),
		.kind = (uint8_t)kind,
		.target = 0x400000};
	*s = (struct model_segment){.block = &b->block,
		.outcomes = b->outcomes[taken],
		.outcome_count = 1,
		.insn_count = INSNS,
		.access_count = b->block.access_count,
		.fetch_count = b->block.fetch_count};
	model_outcome_statics(&b->outcomes[taken][0], s->statics);
	for (unsigned i = 0; i < INSNS; i++) {
		s->statics[MODEL_STATIC_INSTRUCTIONS]++;
		s->statics[MODEL_STATIC_MICRO_OPS] += b->insns[i].uops;
		s->statics[MODEL_STATIC_VECTOR] += (b->insns[i].class_bits & MODEL_VECTOR) != 0;
	}
	for (unsigned i = 0; i < s->access_count; i++) {
		const struct model_access *a = &b->accesses[i];

		s->statics[MODEL_STATIC_LOADS] += !a->guarded && a->kind != MODEL_ACCESS_STORE;
		s->statics[MODEL_STATIC_STORES] += !a->guarded && a->kind != MODEL_ACCESS_LOAD;
	}
}

static void make_block(struct block *b, uint64_t address, uint64_t *seed)
{
	static const uint8_t kinds[] = {MODEL_CONDITIONAL, MODEL_CONDITIONAL, MODEL_CONDITIONAL,
		MODEL_JUMP, MODEL_CALL, MODEL_RETURN};
	unsigned kind = kinds[random_below(seed, sizeof(kinds))];

	memset(b, 0, sizeof(*b));
	b->block = (struct model_block){.address = address,
		.insns = b->insns,
		.accesses = b->accesses,
		.fetches = b->fetches,
		.segments = b->segments,
		.insn_count = INSNS,
		.segment_count = 2};
	for (unsigned i = 0; i < INSNS; i++) {
		b->insns[i] = (struct model_insn){.address = address + 4 * i,
			.class_bits = random_below(seed, 4) ? 0 : MODEL_VECTOR,
			.length = 4,
			.uops = (uint8_t)(1 + random_below(seed, 2)),
			.branch = i == INSNS - 1 ? (uint8_t)kind : MODEL_NO_BRANCH,
			.first_access = b->block.access_count};
		if (i % 16 == 0)
			b->fetches[b->block.fetch_count++] =
				(struct model_fetch){.line = address + 4 * i, .insn = i};
		if (random_below(seed, 3))
			continue;
		b->insns[i].access_count = 1;
		b->accesses[b->block.access_count++] =
			(struct model_access){.kind = (uint8_t)random_below(seed, 3),
				.guarded = random_below(seed, 8) == 0,
				.size = 8,
				.insn = (uint16_t)i};
	}
	b->block.words = (uint16_t)(1 + b->block.access_count);
	make_segment(b, 0, kind);
	make_segment(b, 1, kind);
}

/* Data all over `bytes`, mostly near by; some guarded accesses do not happen. */
static const uint64_t *make_records(uint64_t bytes, uint64_t *seed)
{
	uint64_t *at = words;

	for (unsigned r = 0; r < RECORDS; r++) {
		struct block *b = &blocks[random_below(seed, BLOCKS)];
		unsigned taken = random_below(seed, 4) == 0;

		*at = model_word(&b->segments[taken], b->block.words);
		other_words[at++ - words] =
			model_word(&others[b - blocks].segments[taken], b->block.words);
		for (unsigned i = 0; i < b->block.access_count; i++) {
			uint64_t far = random_below(seed, 8) == 0;

			*at = 0x10000000 + 8 * random_below(seed, (far ? bytes : 8192) / 8);
			if (b->accesses[i].guarded && random_below(seed, 2))
				*at = 0;
			other_words[at - words] = *at;
			at++;
		}
	}
	return at;
}

static void make_blocks(uint64_t *seed)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		uint64_t again = *seed;

		make_block(&others[i], 0x400000 + 0x1000 * i, &again);
		make_block(&blocks[i], 0x400000 + 0x1000 * i, seed);
	}
}

/* What the tool does: models stretches, and counts what lies between them. */
struct sampled {
	struct model_fast plan;
	struct model_windows windows;
	uint64_t left, gap, to_skip, exact;
	bool skipping;
};

static void model_part(struct sampled *s, struct run *part, const uint64_t *end)
{
	uint64_t before = model_fast_instructions(part->model), n;

	model_run(part->model, other_words, other_words + (end - words));
	model_sync(part->model);
	n = model_fast_instructions(part->model) - before;
	if (s->exact < MODEL_FAST_EXACT)
		s->exact += n;
	else
		s->windows.beyond += n;
	s->left = s->left > n ? s->left - n : 0;
	if (s->left)
		return;
	s->left = s->windows.beyond ? model_fast_part(&s->plan, part->counts) : 0;
	if (s->left)
		return;
	s->skipping = true;
	s->gap = 0;
	s->to_skip = model_fast_skip(&s->plan, 0);
}

/* Of what the whole run did last, what follows from execution. */
static void count_part(
	struct sampled *s, struct run *part, const struct run *whole, const uint64_t *before)
{
	int64_t more[EVENT_LIMIT] = {0};

	for (unsigned e = 0; e < EVENT_LIMIT; e++)
		if (model_fast_exact(e))
			more[e] = (int64_t)(whole->counts[e] - before[e]);
	model_fast_count(part->model, more, 0, 0);
	s->gap += (uint64_t)more[EV_INSTRUCTIONS];
	s->windows.beyond += (uint64_t)more[EV_INSTRUCTIONS];
	if (s->gap < s->to_skip)
		return;
	model_fast_resume(part->model, 1);
	s->left = model_fast_begin(&s->plan, s->gap, part->counts);
	s->skipping = false;
}

/* Some 150 million instructions. */
static void test_stretches(void)
{
	static const unsigned events[] = {EV_CYCLES, EV_MISPREDICTED_BRANCHES, EV_L1D_MISSES,
		EV_L2_REFERENCES, EV_STORES_TO_CLEAN, EV_DTLB_MISSES, EV_ALIASES_4K,
		EV_L1_WRITEBACK_QUADWORDS};
	static struct run whole, part;
	static struct sampled s;
	static uint64_t before[EVENT_LIMIT];
	const struct model_config config = zen4();
	uint64_t seed = 11;
	unsigned inside = 0, same = 1, narrow = 0, exact = 0, good = 0;
	bool few;

	make_blocks(&seed);
	run_begin(&whole, &config);
	run_begin(&part, &config);
	model_fast_reset(&s.plan, &s.windows);
	s.left = MODEL_FAST_EXACT;
	for (unsigned i = 0; i < 10000; i++) {
		/* Phases: now and then the program uses more memory. */
		const uint64_t *end = make_records((uint64_t)1 << (18 + i / 300 % 2), &seed);

		model_sync(whole.model);
		memcpy(before, whole.counts, sizeof(before));
		model_run(whole.model, words, end);
		model_sync(whole.model);
		if (s.skipping)
			count_part(&s, &part, &whole, before);
		else
			model_part(&s, &part, end);
		if (i == 200)
			for (unsigned e = 0; e < EVENT_LIMIT; e++)
				same &= whole.counts[e] == part.counts[e];
	}
	ok(same, "the beginning is counted as always");
	ok(s.windows.count >= 10 && s.windows.count <= 60, "%u stretches",
		(unsigned)s.windows.count);
	ok(s.windows.modelled < 0.5 * (double)s.windows.beyond, "most is skipped");
	is_int(s.windows.beyond + s.exact, whole.counts[EV_INSTRUCTIONS],
		"each instruction is in the beginning or behind it");
	for (unsigned e = 0; e < EVENT_LIMIT; e++) {
		exact += model_fast_exact(e) != 0;
		good += model_fast_exact(e) && whole.counts[e] == part.counts[e];
	}
	is_int(good, exact, "what follows from execution is counted all the time");
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		struct quantity q = windows_estimate(
			&s.windows, events[i], (double)part.counts[events[i]], &few);
		double truth = (double)whole.counts[events[i]];

		printf("# event %u: %.0f, estimated %.0f, %.0f .. %.0f\n", events[i], truth,
			q.value, q.low, q.high);
		inside += truth >= q.low && truth <= q.high && q.label == LABEL_SCALED;
		narrow += q.high - q.low < 0.4 * truth;
	}
	ok(inside >= 7, "intervals contain what the whole run has: %u of 8", inside);
	ok(narrow >= 5, "and are no excuse: %u of 8 are narrow", narrow);
	run_end(&whole);
	run_end(&part);
}

/* Calls that were not modelled: returns behind them are as good as they would be. */
static void test_returns(void)
{
	static struct run r;
	const struct model_config config = zen4();

	run_begin(&r, &config);
	model_branch(r.model, MODEL_RETURN, 0x1000, 0x1001, 0x2000, 1);
	is_int(r.counts[EV_MISPREDICTED_RETURNS], 1, "a return without a call");
	model_fast_resume(r.model, 0);
	for (unsigned i = 0; i < config.return_stack + 2; i++)
		model_branch(r.model, MODEL_RETURN, 0x1000, 0x1001, 0x2000, 1);
	is_int(r.counts[EV_MISPREDICTED_RETURNS], 3,
		"as many as the stack has entries, behind a gap");
	run_end(&r);
}

static void test_edges(void)
{
	static struct model_windows none, some;
	struct quantity q;
	bool few;

	q = windows_estimate(&none, EV_CYCLES, 17, &few);
	ok(q.label == LABEL_MODEL && q.low == 17 && q.high == 17, "nothing skipped: exact");
	none.beyond = 100;
	q = windows_estimate(&none, EV_CYCLES, 17, &few);
	ok(q.label == LABEL_NONE, "no window: no number");
	q = windows_estimate(&none, EV_LOADS, 17, &few);
	ok(q.label == LABEL_MODEL && q.value == 17, "but what follows from execution");
	some.count = 2;
	some.stood_for = 90;
	some.beyond = 100;
	some.events[EV_CYCLES].value = 30;
	some.events[EV_CYCLES].modelled = 3;
	windows_add(&none, &some);
	windows_add(&none, &some);
	windows_subtract(&none, &some);
	ok(none.count == 2 && none.stood_for == 90 && none.events[EV_CYCLES].value == 30 &&
			none.beyond == 200,
		"sums of processes");
	q = windows_estimate(&some, EV_CYCLES, 17, &few);
	ok(few, "two stretches are few");
	ok(q.value > 14 + 30 && q.value < 14 + 34, "what no stretch stands for is as the rest: %g",
		q.value);
	ok(q.low < q.value && q.high > q.value && q.low >= 14, "no estimate is certain");
}

int main(void)
{
	test_stretches();
	test_returns();
	test_edges();
	return done();
}
