/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch prediction.
 *
 * Conditional branches first use a base table: a byte per address, the state of a small automaton.
 * Kind 0 (R10000): the automaton is a two-bit counter (Smith, ISCA 1981).
 *
 * Kind 1: TAGE (Seznec and Michaud, "A case for (partially) TAgged GEometric history length branch
 * prediction", JILP 8, 2006), with eight tagged tables. The longest history that matches predicts;
 * a misprediction allocates an entry of a longer one. Deviations, most of them for speed; which
 * entry is replaced, and that the tables are forgotten at once when they are too small, is after a
 * Zen 5 (the kernels bits-random of tests/accuracy/mechanisms):
 * - Four tables share an index, so that a branch has its entries in two places and all are compared
 *   at once. The index contains the address and, for the four of shorter histories, the last
 *   log2(entries) + 4 outcomes, for the others the last log2(entries) + 31; tags, of 11 bits,
 * contain the rest.
 * - Histories are of 4, 16, 20, 32, 36, 48, 52 and 64 outcomes: the upper pieces of their products
 *   with an odd number instead of folded registers.
 * - A table of streaks is used before the tagged tables, by the address and the last STREAK_HISTORY
 *   outcomes. A branch with the same outcome SURE times in a row there is predicted so, and does
 *   not train the tables until it is wrong.
 * - A branch that has always been taken, or never, is predicted so and is not in the tables, as
 *   AMD's optimization guides describe for Zen (never seen taken, always taken, then dynamic). So
 *   is one whose two-bit counter was right SETTLES times in a row, until it is wrong. All outcomes
 *   enter the history.
 * - The base table always learns. New entries, which are unsure and of little use, leave the
 *   prediction to the entry that they would replace, unless they have been right more often than
 *   that: counters by address (Seznec's USE_ALT_ON_NA). So outcomes by chance are mispredicted
 *   hardly more often than the rarer one occurs, as a Zen 5 does (the kernels bits-chance).
 * - A new entry is of little use at once, and takes the place of the least useful one of all longer
 *   tables; the use of all of these then falls until one has none. So there is always room, and
 *   what is used again in time stays.
 *
 * Kind 2 imitates cachegrind (its manual, section "Branch prediction simulation"): 16,384 two-bit
 * counters by seven bits of the address and the last seven outcomes; a table of the last targets of
 * indirect branches by nine bits of their address; returns are always right.
 *
 * Indirect branches of kind 1: the same method with targets (ITTAGE, Seznec, JWAC-2 2011). After
 * the table by address there are two with history: the targets of the last two indirect branches
 * and the last eight outcomes of conditional ones, and those of eight and 24. Each has 2048
 * entries, four ways per set: a Redwood Cove follows code of 1024 operations with six targets
 * without misprediction, but not of 2048. With indirect_history by outcomes the targets are left
 * out: a Zen 3 mispredicts jumps that only depend on earlier targets, and none that depend on
 * outcomes (the kernels targets-own and targets-told of tests/accuracy/mechanisms).
 *
 * Returns are predicted by a circular stack; when it is full, the oldest entry is overwritten.
 * Direct jumps and calls are never mispredicted. Prediction and update are one step: a branch is
 * resolved before the next is predicted.
 *
 * Cost: a settled branch some three host instructions, another about 80 without a jump, a
 * misprediction twice that.
 */
#include "model/branch.h"

#include "model/ways.h"

/* Kind 1: a dynamic state of the base is DYNAMIC + a two-bit counter + how many times running that
 * was right, in units of RUN_ONE. */
enum { RUN_ONE = 4, SETTLES = 32, BASE_STATES = DYNAMIC + SETTLES * RUN_ONE };
/* Kind 0: the strong states are NEVER_TAKEN and ALWAYS_TAKEN, these are the weak ones. */
enum { WEAK_NOT = DYNAMIC, WEAK_TAKEN = DYNAMIC + 2 };

/* An entry of a tagged table: tag (11 bits), counter (3 bits, taken from 4 on; written ^ 3, so that
 * zeroed memory is a weak one), useful (2 bits). */
enum {
	USEFUL = 3,
	COUNTER_SHIFT = 2,
	TAKEN_BIT = 4 << COUNTER_SHIFT,
	STATE = 31, /* counter and useful */
	TAG = 0xffff & ~STATE,
};
#define COUNTER(c) (((c) ^ 3) << COUNTER_SHIFT)

/* An index of predictor.steps is STATE, then these; a value the next STATE, then whether it was
 * right, and if it is new, whether it or the alternative was. */
enum {
	STEP_ALTERNATIVE = 32,
	STEP_TAKEN = 64,
	STEP_TRUST = 128,
	STEPS = 256,
	RIGHT = 32,
	NEW_RIGHT = 64,
	NEW_WRONG = 128,
};
/* TRUSTED is a bit of those that are. */
enum { TRUST_BITS = 6, TRUSTS = 16, TRUST_MOST = TRUSTS - 1, TRUSTED = 8 };

#define MULTIPLIER         PREDICTOR_MULTIPLIER
#define ADDRESS_MULTIPLIER UINT64_C(0xD6E8FEB86659FD93)

/* ---- memory and tables ---- */

static size_t base_bytes(const struct model_config *config)
{
	return (((size_t)1 << config->predictor_bits) + 63) & ~(size_t)63;
}

static size_t set_bytes(const struct model_config *config)
{
	return config->predictor_kind == 1 ? sizeof(struct ways) << config->predictor_bits : 0;
}

size_t branch_predictor_size(const struct model_config *config)
{
	return 2 * base_bytes(config) + set_bytes(config) +
	       INDIRECT_TABLES * (sizeof(uint64_t) << INDIRECT_BITS);
}

static unsigned branch_step(unsigned counter, unsigned most, unsigned up)
{
	if (up)
		return counter < most ? counter + 1 : most;
	return counter ? counter - 1 : 0;
}

static uint8_t next_two_bit(unsigned state, unsigned taken)
{
	if (state <= ALWAYS_TAKEN)
		return (uint8_t)(state == taken ? state : taken ? WEAK_NOT : WEAK_TAKEN);
	if (state == WEAK_NOT)
		return taken ? WEAK_TAKEN : NEVER_TAKEN;
	return taken ? ALWAYS_TAKEN : WEAK_NOT;
}

static uint8_t next_base(unsigned state, unsigned taken)
{
	unsigned counter = (state - DYNAMIC) % RUN_ONE, run = (state - DYNAMIC) / RUN_ONE + 1;

	if (state < DYNAMIC && (state & 1) == taken)
		return (uint8_t)state;
	if (state == NEVER_TAKEN)
		return ALWAYS_TAKEN;
	if (state < DYNAMIC)
		return (uint8_t)(DYNAMIC + (state == SETTLED_NOT_TAKEN ? 1 : 2));
	if ((counter >= 2) != taken)
		run = 0;
	if (run == SETTLES)
		return taken ? SETTLED_TAKEN : SETTLED_NOT_TAKEN;
	return (uint8_t)(DYNAMIC + run * RUN_ONE + branch_step(counter, 3, taken));
}

/* What becomes of the entry that predicts, and was it right? */
static uint8_t next_entry(unsigned index)
{
	unsigned useful = index & USEFUL, counter = (index >> COUNTER_SHIFT & 7) ^ 3;
	unsigned alternative = (index & STEP_ALTERNATIVE) != 0, taken = (index & STEP_TAKEN) != 0;
	unsigned said = counter >= 4, is_new = useful <= 1 && (counter == 3 || counter == 4);
	unsigned trusted = !is_new || (index & STEP_TRUST), differs = is_new && said != alternative;
	unsigned right = (trusted ? said : alternative) == taken;
	unsigned result = (right ? RIGHT : 0) | (!differs               ? 0
							: said == taken ? NEW_RIGHT
									: NEW_WRONG);

	if (said != alternative)
		useful = branch_step(useful, 3, said == taken);
	counter = branch_step(counter, 7, taken);
	return (uint8_t)(useful | COUNTER(counter) | result);
}

void branch_predictor_init(struct predictor *p, const struct model_config *config, void *memory)
{
	char *at = memory;
	unsigned i;

	p->base = memory;
	p->base_mask = (UINT64_C(1) << config->predictor_bits) - 1;
	at += base_bytes(config);
	p->streaks = (uint8_t *)at;
	p->streak_shift = 64 - config->predictor_bits;
	at += base_bytes(config);
	p->sets = config->predictor_kind == 1 ? (struct ways *)(void *)at : (struct ways *)0;
	p->set_mask = p->base_mask;
	at += set_bytes(config);
	for (i = 0; i < INDIRECT_TABLES; i++) {
		p->targets[i] = (uint64_t *)(void *)at;
		at += sizeof(uint64_t) << INDIRECT_BITS;
	}
	p->counters = config->predictor_kind == MODEL_PREDICTOR_CACHEGRIND ? p->streaks : 0;
	for (i = 0; p->counters && i <= p->base_mask; i++)
		p->base[i] = DYNAMIC; /* and nothing changes it: none is settled */
	p->next[2 * DYNAMIC] = p->next[2 * DYNAMIC + 1] = DYNAMIC;
	for (i = 0; !p->counters && i < 2 * BASE_STATES; i++)
		p->next[i] = config->predictor_kind == 1 ? next_base(i / 2, i % 2)
							 : next_two_bit(i / 2, i % 2);
	for (i = 0; i < STEPS; i++)
		p->steps[i] = next_entry(i);
	for (i = 0; i < 1 << TRUST_BITS; i++)
		p->trust[i] = TRUST_MOST;
	for (i = 0; i < TRUSTS; i++) {
		p->next_trust[i] = (uint8_t)i;
		p->next_trust[NEW_RIGHT / NEW_RIGHT * TRUSTS + i] =
			(uint8_t)branch_step(i, TRUST_MOST, 1);
		p->next_trust[NEW_WRONG / NEW_RIGHT * TRUSTS + i] =
			(uint8_t)branch_step(i, TRUST_MOST, 0);
	}
	p->random = 1;
}

/* ---- conditional ---- */

/*
 * The top bits of the lowest n bits of a product depend on the lowest n bits of its factors. So the
 * upper pieces of a product of the history are hashes of longer and longer parts of it. Shifted
 * left by 12 they have twelve outcomes less.
 */
static inline void hash_tags(struct ways *tags, uint64_t history, uint64_t address)
{
	uint64_t product = history * MULTIPLIER;

	ways_interleave(tags, (product << 12) + address, product + address);
}

/* Where the entries of four tables each are: the first half of one set, the second of another. */
struct place {
	uint16_t *near, *far;
};

static inline struct place branch_find_place(
	const struct predictor *p, uint64_t history, uint64_t address)
{
	uint64_t product = history * MULTIPLIER, mask = p->set_mask;
	struct place place = {
		p->sets[(product >> 4 ^ address >> 44) & mask].of,
		p->sets[(product >> 31 ^ address >> 35) & mask].of + WAYS / 2,
	};

	return place;
}

/* After a misprediction: a new entry in one of the tables of longer history, from `start` on, in
 * place of the least useful there. The others are as much less useful now, so that what is not used
 * goes. */
static NOINLINE int branch_allocate(
	struct predictor *p, uint64_t history, uint64_t address, unsigned start, unsigned taken)
{
	struct place place = branch_find_place(p, history, address);
	unsigned count = WAYS - start, first, best;
	struct ways tags, entries;
	unsigned entry;

	if (!count)
		return 0;
	hash_tags(&tags, history, address);
	p->random = p->random * 1664525 + 1013904223;
	first = (p->random >> 16) * count >> 16; /* or all would be in the same table */
	ways_gather(&entries, place.near, place.far);
	best = ways_least(&entries, start, first, USEFUL);
	ways_reduce(&entries, start, entries.of[best] & USEFUL);
	entry = (tags.of[best] & TAG) | COUNTER(taken ? 4 : 3) | 1;
	ways_flip(&entries, best + 1, (uint16_t)(entries.of[best] ^ entry), place.near, place.far);
	return 0;
}

/* Kind cachegrind. */
static int branch_count(struct predictor *p, uint64_t history, uint64_t from, unsigned taken)
{
	uint64_t bits = history & ((1u << COUNTER_HISTORY) - 1);
	uint8_t *counter = &p->counters[(from << COUNTER_HISTORY | bits) & p->base_mask];
	int right = (*counter >= 2) == taken;

	*counter = (uint8_t)branch_step(*counter, 3, taken);
	return right;
}

/* Without branches, which would be as hard to predict as those that are modelled. */
static NOINLINE int branch_predict_tagged(
	struct predictor *p, uint64_t history, uint64_t from, unsigned said, unsigned taken)
{
	/* The base table always matches and has number 0; the ways are 1 to 8. */
	union {
		uint16_t entry[2 * WAYS];
		struct ways half[2];
	} all;
	const uint16_t *entry = all.entry + WAYS - 1;
	uint64_t address = from * ADDRESS_MULTIPLIER;
	struct place place = branch_find_place(p, history, address);
	uint8_t *trust = &p->trust[address >> (64 - TRUST_BITS)];
	unsigned found, provider, rest, provided, index, outcome;
	struct ways tags;

	hash_tags(&tags, history, address);
	all.entry[WAYS - 1] = said ? TAKEN_BIT : 0;
	ways_gather(&all.half[1], place.near, place.far);
	found = ways_agree(&all.half[1], &tags, TAG) << 1 | 1;
	provider = 31 ^ (unsigned)__builtin_clz(found);
	rest = 31 ^ (unsigned)__builtin_clz((found ^ 1u << provider) | 1);
	provided = entry[provider];
	index = (provided & STATE) | taken * STEP_TAKEN;
	index |= (entry[rest] & TAKEN_BIT) * (STEP_ALTERNATIVE / TAKEN_BIT);
	index |= (*trust & TRUSTED) * (STEP_TRUST / TRUSTED);
	outcome = p->steps[index];
	*trust = p->next_trust[outcome / NEW_RIGHT * TRUSTS + *trust];
	ways_flip(&all.half[1], provider, (uint16_t)((provided ^ outcome) & STATE), place.near,
		place.far);
	if (outcome & RIGHT)
		return 1;
	return branch_allocate(p, history, address, provider, taken);
}

/* Without tagged tables, or wrong after all, or settled by now. */
static NOINLINE int branch_predict_otherwise(
	struct predictor *p, unsigned state, uint64_t history, uint64_t from, unsigned taken)
{
	if (state < DYNAMIC)
		return 0;
	if (UNLIKELY(p->counters != 0))
		return branch_count(p, history, from, taken);
	return (state >> 1 & 1) == taken;
}

int branch_predict(
	struct predictor *p, uint8_t *base, uint8_t *streak, uint64_t from, unsigned taken)
{
	unsigned state = *base;
	uint64_t history = p->history;

	*base = p->next[2 * state + taken];
	p->history = history << 1 | taken;
	if (UNLIKELY(state < DYNAMIC) || UNLIKELY(!p->sets))
		return branch_predict_otherwise(p, state, history, from, taken);
	if ((*streak & ~1u) == STREAK_SURE) {
		*streak = (uint8_t)taken;
		return 0;
	}
	*streak = (uint8_t)((*streak & 1u) == taken ? *streak + 0u + STREAK_ONE : taken);
	return branch_predict_tagged(p, history, from, state & 2, taken);
}

/* ---- indirect ---- */

/* An entry: where it went, in the low 47 bits; was it wrong when it was sure; how often it was
 * right, 0 to 3; a tag, not 0 once the entry is used. */
#define TARGET     ((UINT64_C(1) << 47) - 1)
#define SEVERAL    (UINT64_C(1) << 47)
#define CONFIDENCE (UINT64_C(3) << 48)
#define SURE_ONE   (UINT64_C(1) << 48)
#define TARGET_TAG (~(TARGET | SEVERAL | CONFIDENCE))
#define TAG_ONE    (UINT64_C(1) << 50)

static const uint64_t path_targets[INDIRECT_TABLES] = {0, 0xffff, UINT64_MAX};
static const uint64_t path_outcomes[INDIRECT_TABLES] = {0, 0xff, 0xffffff};

/* Where a table may keep a branch. */
struct target_set {
	uint64_t *way; /* of INDIRECT_WAYS */
	uint64_t tag;
};

static inline struct target_set branch_find_targets(
	const struct predictor *p, unsigned i, uint64_t path, uint64_t from)
{
	uint64_t hash = (p->history & path_outcomes[i]) * ADDRESS_MULTIPLIER;

	hash = ((path & path_targets[i]) + (from << 20) + from + hash) * MULTIPLIER;
	hash = (hash ^ hash >> 29) * MULTIPLIER;
	return (struct target_set){
		&p->targets[i][hash >> (64 - INDIRECT_BITS) & ~(uint64_t)(INDIRECT_WAYS - 1)],
		(hash << 16 & TARGET_TAG) | TAG_ONE};
}

/* NULL: the branch is not in the table. */
static inline uint64_t *target_known(struct target_set set)
{
	unsigned found = cache_alike(set.way, TARGET_TAG, set.tag);

	return found ? set.way + __builtin_ctz(found) : (uint64_t *)0;
}

_Static_assert(INDIRECT_WAYS == SCANNED, "ways that are compared at once");

/* Replaces an entry without confidence; if all have some, reduces that of one. */
static int place_target(struct target_set set, uint64_t to)
{
	unsigned i, start = (unsigned)(set.tag >> 52), way;

	for (i = 0; i < INDIRECT_WAYS; i++) {
		way = (start + i) % INDIRECT_WAYS;
		if (!(set.way[way] & CONFIDENCE)) {
			set.way[way] = set.tag | to | SURE_ONE; /* must be confirmed once more */
			return 1;
		}
	}
	set.way[start % INDIRECT_WAYS] -= SURE_ONE;
	return 0;
}

/* The table by address always has the branch; longer ones learn when the shorter one was wrong. */
static NOINLINE int learn_target(const struct predictor *p, uint64_t path, uint64_t from,
	uint64_t *known, unsigned next, unsigned tables, uint64_t to)
{
	unsigned i;

	if (known && (*known & CONFIDENCE) == CONFIDENCE)
		*known = (*known - SURE_ONE) | SEVERAL;
	else if (known && (*known & CONFIDENCE))
		*known -= SURE_ONE;
	else if (known)
		*known = (*known & (TARGET_TAG | SEVERAL)) | to;
	for (i = next; i < tables; i++)
		if (place_target(branch_find_targets(p, i, path, from), to))
			break;
	return 0;
}

int branch_predict_indirect(struct model *m, struct predictor *p, uint64_t from, uint64_t to)
{
	unsigned tables = m->config.predictor_kind == 0 ? 1 : INDIRECT_TABLES, provider;
	uint64_t *known = 0, path = p->path;

	if (p->counters) {
		uint64_t *target = branch_counted_target(p, from);
		int right = *target == to;

		*target = to;
		return right;
	}
	to &= TARGET;
	if (m->config.indirect_history == MODEL_INDIRECT_BY_TARGETS)
		p->path = path << 8 | (to * MULTIPLIER) >> 56;
	/* The longest that has the branch; if that is right, the others are not used. A branch that
	 * has had two targets stays slower, also where it has only one afterwards. */
	for (provider = tables; provider-- > 0;) {
		known = target_known(branch_find_targets(p, provider, path, from));
		if (known)
			break;
	}
	if (known && !((*known ^ to) & TARGET)) {
		p->varied = provider > 0 || (*known & SEVERAL) != 0;
		if ((*known & CONFIDENCE) != CONFIDENCE)
			*known += SURE_ONE;
		return 1;
	}
	return learn_target(p, path, from, known, known ? provider + 1 : 0, tables, to);
}

/* ---- calls and returns ---- */

/* All but conditional branches and direct jumps. */
NOINLINE void branch_elsewhere(struct model *m, struct core *core, enum model_branch_kind kind,
	uint64_t from, uint64_t next, uint64_t to)
{
	struct predictor *p = &core->predictor;
	unsigned event = EV_MISPREDICTED_INDIRECTS;
	int good = 1;

	if (kind == MODEL_CALL || kind == MODEL_INDIRECT_CALL)
		push_return(m, p, next);
	if (kind == MODEL_INDIRECT_CALL || kind == MODEL_INDIRECT_JUMP) {
		good = branch_predict_indirect(m, p, from, to);
		if (good && p->varied && core->retire)
			core->retire->varied++;
	} else if (kind == MODEL_RETURN) {
		good = predict_return(m, p, from, to);
		event = EV_MISPREDICTED_RETURNS;
	}
	if (!good) {
		count(m, event, 1);
		core->clock.front += m->mispredict;
		note(m, core, RETIRE_MISPREDICT, MODEL_CAUSE_MISPREDICT, 0, 0);
	}
}

NOINLINE void branch_find_late(
	struct model *m, struct core *core, enum model_branch_kind kind, uint64_t from)
{
	enum btb_found found = btb_find(&core->btb, from);
	int decoded = kind != MODEL_CONDITIONAL && kind != MODEL_INDIRECT_JUMP &&
		      kind != MODEL_INDIRECT_CALL;

	core->btb.found[found]++;
	if (found == BTB_UNKNOWN)
		note(m, core, RETIRE_TARGET, MODEL_CAUSE_TAKEN,
			decoded ? (uint64_t)m->config.btb_miss * m->config.width : 0, 0);
	else if (found == BTB_SECOND)
		core->retire->from_second++;
}

void model_branch(struct model *m, enum model_branch_kind kind, uint64_t from, uint64_t next,
	uint64_t to, int taken)
{
	uint16_t statics[MODEL_STATICS] = {0};
	struct core *core = m->core;
	unsigned i;

	taken = taken || kind != MODEL_CONDITIONAL;
	model_outcome_statics(
		&(struct model_outcome){.kind = (uint8_t)kind, .taken = taken != 0}, statics);
	for (i = MODEL_STATIC_BRANCHES; i <= MODEL_STATIC_RETURNS; i++)
		m->counts[model_static_event(i)] += statics[i];
	if (taken) {
		clock_taken(m, &core->clock);
		branch_find(m, core, kind, from);
	}
	if (kind != MODEL_CONDITIONAL) {
		branch_elsewhere(m, core, kind, from, next, to);
		return;
	}
	if (!predict_conditional(&core->predictor, predictor_base(&core->predictor, from), from,
		    (unsigned)taken)) {
		count(m, EV_MISPREDICTED_CONDITIONALS, 1);
		core->clock.front += m->mispredict;
		note(m, core, RETIRE_MISPREDICT, MODEL_CAUSE_MISPREDICT, 0, 0);
	}
}
