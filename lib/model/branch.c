/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Branch prediction.
 *
 * Kind 0 (R10000): a table of two-bit counters by address for conditional branches (Smith, ISCA
 * 1981), the last target by address for indirect ones.
 *
 * Kind 1: TAGE (Seznec and Michaud, "A case for (partially) TAgged GEometric history length branch
 * prediction", JILP 8, 2006), with four tagged tables of geometric history lengths.  Deviations:
 * histories are hashed by multiplication instead of folded registers; a branch that has only ever
 * been taken, or only ever been not taken, is predicted so and stays out of history and tables, as
 * AMD's optimization guides describe for Zen (never seen taken, always taken, then dynamic), and so
 * does one whose two-bit counter was right 128 times running, until it is wrong; useful bits are
 * halved when allocation keeps failing.  Indirect branches: the same idea with targets (ITTAGE,
 * Seznec, JWAC-2 2011), with two tables by the last three and eight indirect targets behind the one
 * by address.
 *
 * Returns are predicted by a circular stack that forgets the oldest when full.  Direct jumps and
 * calls are never mispredicted.  Prediction and update are one step: a branch is resolved before
 * the next is seen.
 */
#include "model/state.h"

/*
 * Kind 1: an entry of the base table is one of the first two, or DYNAMIC + a two-bit counter + how
 * many times running that was right, in units of RUN_ONE.
 */
enum { NEVER_TAKEN = 0, ALWAYS_TAKEN = 1, DYNAMIC = 4, RUN_ONE = 8, SETTLED = 128 * RUN_ONE };

/* An entry of a tagged table: tag (11 bits, 0: never used), counter (3 bits, taken from 4 on),
 * useful (2 bits). */
enum {
	USEFUL = 3,
	COUNTER_ONE = 4,
	COUNTER = 7 * COUNTER_ONE,
	WEAKLY_NOT = 3 * COUNTER_ONE,
	WEAKLY_TAKEN = 4 * COUNTER_ONE,
	TAG_ONE = 32,
	TAG = 2047 * TAG_ONE,
};

#define CROWDED_MAX 1024
#define MULTIPLIER  UINT64_C(0x9E3779B97F4A7C15)

/* The table of the longest history takes both words. */
static const unsigned history_length[TAGE_TABLES] = {5, 15, 44, 128};

size_t predictor_size(const struct model_config *config)
{
	size_t entries = (size_t)1 << config->predictor_bits;
	size_t bytes = (entries * sizeof(uint16_t) + 63) & ~(size_t)63;

	if (config->predictor_kind == 1)
		bytes += TAGE_TABLES * entries * sizeof(uint16_t);
	return bytes + INDIRECT_TABLES * (sizeof(struct target_entry) << INDIRECT_BITS);
}

void predictor_init(struct predictor *p, const struct model_config *config, void *memory)
{
	size_t entries = (size_t)1 << config->predictor_bits;
	char *at = memory;
	unsigned i;

	p->base = memory;
	at += (entries * sizeof(uint16_t) + 63) & ~(size_t)63;
	for (i = 0; i < TAGE_TABLES && config->predictor_kind == 1; i++) {
		p->tagged[i] = (uint16_t *)(void *)at;
		at += entries * sizeof(uint16_t);
	}
	for (i = 0; i < INDIRECT_TABLES; i++) {
		p->targets[i] = (struct target_entry *)(void *)at;
		at += sizeof(struct target_entry) << INDIRECT_BITS;
	}
	p->random = 1;
}

/* Spreads addresses with and without alignment over the low bits. */
static uint64_t by_address(uint64_t from)
{
	return from ^ from >> 2;
}

static unsigned step(unsigned counter, int up)
{
	if (up)
		return counter < 3 ? counter + 1 : 3;
	return counter ? counter - 1 : 0;
}

/* ---- conditional ---- */

static int two_bit(struct model *m, struct predictor *p, uint64_t from, int taken)
{
	uint16_t *counter =
		&p->base[by_address(from) & ((UINT64_C(1) << m->config.predictor_bits) - 1)];
	int predicted = *counter >= 2;

	*counter = (uint16_t)step(*counter, taken);
	return predicted == taken;
}

/* Table 0 of a lookup is the base: a copy of its counter, that always matches. */
struct lookup {
	uint16_t *entry[1 + TAGE_TABLES];
	uint16_t tag[1 + TAGE_TABLES];
	uint16_t base;
	unsigned found; /* a bit for each table that matches */
};

static inline unsigned entry_taken(uint16_t entry)
{
	return (entry & COUNTER) >= WEAKLY_TAKEN;
}

static inline void look_up(
	struct model *m, struct predictor *p, uint64_t from, unsigned base, struct lookup *l)
{
	uint64_t entries = (UINT64_C(1) << m->config.predictor_bits) - 1;
	unsigned i;

	l->base = (uint16_t)(USEFUL | (base & 2 ? COUNTER : 0));
	l->entry[0] = &l->base;
	l->found = 1;
	for (i = 0; i < TAGE_TABLES; i++) {
		uint64_t mask = history_length[i] < 64 ? (UINT64_C(1) << history_length[i]) - 1
						       : UINT64_MAX;
		uint64_t hash = ((p->history[0] & mask) ^ from << 40 ^ from << 17 ^ i) * MULTIPLIER;

		if (history_length[i] > 64)
			hash = (hash ^ hash >> 32 ^ p->history[1]) * MULTIPLIER;
		hash ^= hash >> 32;
		l->entry[i + 1] = &p->tagged[i][(hash ^ from) & entries];
		l->tag[i + 1] = (uint16_t)((hash >> 48 | TAG_ONE) & TAG);
		l->found |= (unsigned)((*l->entry[i + 1] & TAG) == l->tag[i + 1]) << (i + 1);
	}
}

static void halve_useful(struct model *m, struct predictor *p)
{
	size_t i, entries = (size_t)1 << m->config.predictor_bits;
	unsigned t;

	for (t = 0; t < TAGE_TABLES; t++)
		for (i = 0; i < entries; i++) {
			uint16_t entry = p->tagged[t][i];

			p->tagged[t][i] = (uint16_t)((entry & ~USEFUL) | (entry & USEFUL) >> 1);
		}
}

/* After a misprediction: a new entry in a table of longer history than the provider's, from `start`
 * on. */
static void allocate(
	struct model *m, struct predictor *p, struct lookup *l, unsigned start, int taken)
{
	unsigned i;

	p->random = p->random * 1664525 + 1013904223;
	if (start < TAGE_TABLES && (p->random >> 30) == 0)
		start++; /* so that not every allocation fights for the same table */
	for (i = start; i <= TAGE_TABLES; i++) {
		if (*l->entry[i] & USEFUL)
			continue;
		*l->entry[i] = (uint16_t)(l->tag[i] | (taken ? WEAKLY_TAKEN : WEAKLY_NOT));
		p->crowded -= p->crowded > 0;
		return;
	}
	for (i = start; i <= TAGE_TABLES; i++)
		--*l->entry[i]; /* useful, and more than 0 */
	if (++p->crowded >= CROWDED_MAX) {
		halve_useful(m, p);
		p->crowded = 0;
	}
}

/* Without branches, which would be as hard to predict as those that are modelled. */
static NOINLINE int tage(
	struct model *m, struct predictor *p, uint16_t *base, uint64_t from, unsigned taken)
{
	struct lookup l;
	unsigned provider, rest, said, alternative, is_new, differs, good, predicted, counter,
		learns, useful;
	uint16_t entry;

	look_up(m, p, from, *base, &l);
	provider = 31 - (unsigned)__builtin_clz(l.found);
	rest = 31 - (unsigned)__builtin_clz((l.found ^ 1u << provider) | 1);
	entry = *l.entry[provider];
	said = entry_taken(entry);
	alternative = entry_taken(*l.entry[rest]);
	counter = (entry & COUNTER) / COUNTER_ONE;
	useful = entry & USEFUL;
	is_new = (unsigned)(useful == 0) & (unsigned)(counter - 3 < 2);
	predicted = is_new & (unsigned)(p->use_alternative >= 0) ? alternative : said;
	differs = said ^ alternative;
	good = said == taken;

	p->use_alternative += (int)(is_new & differs & !good & (unsigned)(p->use_alternative < 7)) -
			      (int)(is_new & differs & good & (unsigned)(p->use_alternative > -8));
	entry += (uint16_t)((differs & good & (unsigned)(useful != 3)) -
			    (differs & !good & (unsigned)(useful != 0)));
	entry += (uint16_t)(((taken & (unsigned)(counter != 7)) -
				    ((unsigned)!taken & (unsigned)(counter != 0))) *
			    COUNTER_ONE);
	*l.entry[provider] = entry;
	if (predicted != taken && provider < TAGE_TABLES)
		allocate(m, p, &l, provider + 1, (int)taken);
	/* The base learns when it decided, or would have but for a new entry. */
	counter = *base & 3;
	learns = (unsigned)(provider == 0) | ((unsigned)(rest == 0) & is_new);
	*base = (uint16_t)(*base + (learns & taken & (unsigned)(counter != 3)) -
			   (learns & (unsigned)!taken & (unsigned)(counter != 0)));
	p->history[1] = p->history[1] << 1 | p->history[0] >> 63;
	p->history[0] = p->history[0] << 1 | taken;
	return predicted == taken;
}

/* Was the direction predicted? */
static int predict_conditional(struct model *m, struct predictor *p, uint64_t from, int taken)
{
	uint16_t *base;
	int settled;

	if (m->config.predictor_kind == 0)
		return two_bit(m, p, from, taken);
	base = &p->base[by_address(from) & ((UINT64_C(1) << m->config.predictor_bits) - 1)];
	if (*base == taken) /* NEVER_TAKEN and not, ALWAYS_TAKEN and taken */
		return 1;
	if (*base == NEVER_TAKEN) {
		*base = ALWAYS_TAKEN;
		return 0;
	}
	if (*base == ALWAYS_TAKEN) {
		*base = DYNAMIC + 2;
		return 0;
	}
	settled = *base >= SETTLED;
	if (((*base & 3) >= 2) != (unsigned)taken)
		*base &= RUN_ONE - 1;
	else if (settled)
		return 1;
	else
		*base += RUN_ONE;
	return tage(m, p, base, from, (unsigned)taken) && !settled;
}

/* ---- indirect ---- */

static int predict_indirect(struct model *m, struct predictor *p, uint64_t from, uint64_t to)
{
	static const uint64_t mask[INDIRECT_TABLES] = {0, 0xffffff, UINT64_MAX};
	int i, tables = m->config.predictor_kind == 0 ? 1 : INDIRECT_TABLES, provider = -1, good;
	struct target_entry *e[INDIRECT_TABLES];
	uint32_t tag[INDIRECT_TABLES];

	for (i = 0; i < tables; i++) {
		uint64_t hash = ((p->path & mask[i]) + (from << 20) + from) * MULTIPLIER;

		hash = (hash ^ hash >> 29) * MULTIPLIER;
		e[i] = &p->targets[i][hash >> (64 - INDIRECT_BITS)];
		tag[i] = (uint32_t)(hash >> 8) | 1;
		if (e[i]->tag == tag[i])
			provider = i;
	}
	good = provider >= 0 && e[provider]->to == to;
	if (good) {
		e[provider]->confidence = step(e[provider]->confidence, 1);
	} else if (provider >= 0) {
		if (e[provider]->confidence)
			e[provider]->confidence--;
		else
			e[provider]->to = to;
	}
	/* The table by address always knows the branch; longer ones when the shorter failed. */
	for (i = provider + 1; !good && i < tables; i++) {
		if (e[i]->tag && e[i]->confidence) {
			e[i]->confidence--;
			continue;
		}
		e[i]->tag = tag[i];
		e[i]->to = to;
		e[i]->confidence = 0;
		break;
	}
	p->path = p->path << 8 | (to * MULTIPLIER) >> 56;
	return good;
}

/* ---- calls and returns ---- */

static void push_return(struct model *m, struct predictor *p, uint64_t next)
{
	uint32_t size = m->config.return_stack;

	if (!size)
		return;
	p->return_top = p->return_top + 1 < size ? p->return_top + 1 : 0;
	p->returns[p->return_top] = next;
	if (p->return_count < size)
		p->return_count++;
}

static int predict_return(struct model *m, struct predictor *p, uint64_t from, uint64_t to)
{
	uint64_t predicted;

	if (!m->config.return_stack)
		return predict_indirect(m, p, from, to);
	if (!p->return_count)
		return 0;
	p->return_count--;
	predicted = p->returns[p->return_top];
	p->return_top = p->return_top ? p->return_top - 1 : m->config.return_stack - 1;
	return predicted == to;
}

static inline void clock_taken(struct model *m, struct clock *c)
{
	uint64_t now = clock_now(c);

	if (now < c->taken_free) {
		c->front += c->taken_free - now;
		now = c->taken_free;
	}
	c->taken_free = now + m->taken_interval;
}

/* All but conditional branches. */
static NOINLINE void branch_elsewhere(
	struct model *m, enum model_branch_kind kind, uint64_t from, uint64_t next, uint64_t to)
{
	struct predictor *p = &m->core->predictor;
	uint64_t *counts = m->counts;
	int good = 1;

	switch (kind) {
	case MODEL_CONDITIONAL:
	case MODEL_JUMP:
		break;
	case MODEL_CALL:
		counts[EV_CALLS]++;
		push_return(m, p, next);
		break;
	case MODEL_INDIRECT_CALL:
		counts[EV_CALLS]++;
		push_return(m, p, next);
		/* fall through */
	case MODEL_INDIRECT_JUMP:
		counts[EV_INDIRECT_BRANCHES]++;
		good = predict_indirect(m, p, from, to);
		counts[EV_MISPREDICTED_INDIRECTS] += (uint64_t)!good;
		break;
	case MODEL_RETURN:
		counts[EV_RETURNS]++;
		good = predict_return(m, p, from, to);
		counts[EV_MISPREDICTED_RETURNS] += (uint64_t)!good;
		break;
	}
	clock_taken(m, &m->core->clock);
	if (!good)
		m->core->clock.front += m->mispredict;
}

void model_branch(struct model *m, enum model_branch_kind kind, uint64_t from, uint64_t next,
	uint64_t to, int taken)
{
	uint64_t *counts = m->counts;
	int good;

	counts[EV_BRANCHES]++;
	if (kind != MODEL_CONDITIONAL) {
		counts[EV_TAKEN_BRANCHES]++;
		branch_elsewhere(m, kind, from, next, to);
		return;
	}
	taken = taken != 0;
	counts[EV_CONDITIONAL_BRANCHES]++;
	if (taken) {
		counts[EV_TAKEN_BRANCHES]++;
		clock_taken(m, &m->core->clock);
	}
	good = predict_conditional(m, &m->core->predictor, from, taken);
	if (!good) {
		counts[EV_MISPREDICTED_CONDITIONALS]++;
		m->core->clock.front += m->mispredict;
	}
}
