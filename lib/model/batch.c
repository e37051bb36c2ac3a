/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/batch.h"

#include "model/branch.h"
#include "model/jit.h"
#include "model/run.h"

/* ---- rows ---- */

#ifdef __AVX2__
#define ROW_AT_ONCE 4

/* Makes the line the first of its row, in which the last of `ways` goes; was it not there? pieces,
 * a constant: of ROW_AT_ONCE, that have the ways. */
INLINE unsigned batch_use(uint64_t *row, uint64_t line, unsigned ways, const unsigned pieces)
{
	__m256i want = _mm256_set1_epi64x((long long)line), piece[BATCH_WAYS / ROW_AT_ONCE],
		before = want;
	unsigned found = 0, place, missed;
	__m256i upto;

	for (unsigned i = 0; i < pieces; i++) {
		piece[i] =
			_mm256_load_si256((const __m256i *)(const void *)(row + i * ROW_AT_ONCE));
		found |= (unsigned)_mm256_movemask_pd(
				 _mm256_castsi256_pd(_mm256_cmpeq_epi64(piece[i], want)))
			 << i * ROW_AT_ONCE;
	}
	missed = found == 0;
	place = (unsigned)__builtin_ctz(found | 1u << (ways - 1));
	upto = _mm256_set1_epi64x((long long)place + 1);
	for (unsigned i = 0; i < pieces; i++) {
		__m256i turned = _mm256_permute4x64_epi64(piece[i], 0x93);
		__m256i moved = _mm256_blend_epi32(turned, before, 3);
		__m256i index = _mm256_add_epi64(
			_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(i * ROW_AT_ONCE));

		_mm256_store_si256((__m256i *)(void *)(row + i * ROW_AT_ONCE),
			_mm256_blendv_epi8(piece[i], moved, _mm256_cmpgt_epi64(upto, index)));
		before = turned;
	}
	return missed;
}
#else
#define ROW_AT_ONCE 1

INLINE unsigned batch_use(uint64_t *row, uint64_t line, unsigned ways, const unsigned pieces)
{
	unsigned place = 0;
	unsigned missed;

	(void)pieces;
	while (place < ways && row[place] != line)
		place++;
	missed = place == ways;
	for (place -= missed; place > 0; place--)
		row[place] = row[place - 1];
	row[0] = line;
	return missed;
}
#endif

INLINE unsigned batch_look(struct batch *b, unsigned level, uint64_t line, const unsigned pieces)
{
	return batch_use(b->rows[level][line & b->mask[level]], line + 1, b->ways[level], pieces);
}

/* ---- lists ---- */

INLINE int batch_is_pair(uint64_t entry)
{
	return (int64_t)entry < 0 ? !(entry & BATCH_CODE_PAIR) : (entry & BATCH_DATA_PAIR) != 0;
}

INLINE uint64_t batch_line(uint64_t entry)
{
	uint64_t sign = 0 - (entry >> 63); /* all bits, or none */

	return ((entry ^ sign) & ~BATCH_DATA_PAIR) >>
	       (COMMON_LINE - ((COMMON_LINE - BATCH_CODE_BITS) & sign));
}

/* What the first level did not have is asked of the last. */
static void batch_settle_last(struct model *m, const uint64_t *entry, const uint64_t *end)
{
	uint64_t code = 0, all = (uint64_t)(end - entry), missed[BATCH_LEVELS] = {0};

	for (const uint64_t *e = entry; e < end; e++)
		if (m->packed.rows)
			outside_come_near(m, batch_line(*e) << COMMON_LINE, 1);
	for (; entry < end; entry++) {
		unsigned level = *entry >> 63, size = 1;
		uint64_t address = batch_line(*entry) << COMMON_LINE;

		if (batch_is_pair(*entry)) {
			size = LINE_BYTES + 1;
		} else if (level == BATCH_CODE && !(*entry & BATCH_CODE_AFTER)) {
			address -= LINE_BYTES;
			size = LINE_BYTES + 1;
		}
		code += level;
		missed[level] += (unsigned)cachegrind_misses_last(m, m->core, address, size);
	}
	m->counts[EV_L1D_MISSES] += all - code;
	m->counts[EV_L1I_MISSES] += code;
	m->counts[EV_LL_REFERENCES] += all;
	m->counts[EV_L2_REFERENCES] += all; /* LL is the secondary cache here */
	m->counts[EV_L2D_MISSES] += missed[BATCH_DATA];
	m->counts[EV_LL_DATA_MISSES] += missed[BATCH_DATA];
	m->counts[EV_L2I_MISSES] += missed[BATCH_CODE];
	m->counts[EV_LL_INSTRUCTION_MISSES] += missed[BATCH_CODE];
}

/* Looks up what is listed; returns the end of the list of misses. */
INLINE uint64_t *batch_settle_first(struct batch *b, const unsigned pieces)
{
	const uint64_t *entry = b->list, *end = b->at;
	uint64_t *missed = b->missed;

	for (; entry < end; entry++) {
		unsigned level = *entry >> 63;
		uint64_t line = batch_line(*entry);
		unsigned misses = batch_look(b, level, line, pieces);

		if (UNLIKELY(batch_is_pair(*entry)))
			misses |= batch_look(b, level, line + 1, pieces);
		*missed = *entry;
		missed += misses;
	}
	b->at = b->list;
	return missed;
}

NOINLINE void batch_settle(struct model *m)
{
	struct batch *b = &m->batch;
	const uint64_t *missed;

	if (b->most_ways <= 2 * ROW_AT_ONCE)
		missed = batch_settle_first(b, 2);
	else if (b->most_ways <= 3 * ROW_AT_ONCE)
		missed = batch_settle_first(b, 3);
	else
		missed = batch_settle_first(b, BATCH_WAYS / ROW_AT_ONCE);
	if (missed != b->missed)
		batch_settle_last(m, b->missed, missed);
}

INLINE void batch_list(struct model *m, unsigned level, uint64_t line, uint64_t entry, int pair)
{
	struct batch *b = &m->batch;
	uint64_t *recent = &b->recent[level][line & b->mask[level]],
		 *next = &b->recent[level][(line + 1) & b->mask[level]];
	int changes = *recent != line || (pair && *next != line + 1);

	if (!changes)
		return;
	*recent = line;
	if (pair)
		*next = line + 1;
	*b->at++ = entry;
	if (UNLIKELY(b->at >= b->list + BATCH_LIST))
		batch_settle(m);
}

void batch_data(struct model *m, uint64_t address, unsigned size)
{
	int pair = address % LINE_BYTES + size > LINE_BYTES;

	batch_list(m, BATCH_DATA, address >> COMMON_LINE, address | (pair ? BATCH_DATA_PAIR : 0),
		pair);
}

void batch_step_data(struct model *m, uint64_t address, unsigned size)
{
	size += !size;
	if ((address ^ (address + size - 1)) >> COMMON_LINE)
		m->counts[EV_SPLIT_ACCESSES]++;
	batch_data(m, address, size < LINE_BYTES ? size : LINE_BYTES);
}

void batch_code(struct model *m, uint64_t address, unsigned size)
{
	uint64_t line = address >> COMMON_LINE;
	int pair = address % LINE_BYTES + size > LINE_BYTES;

	batch_list(m, BATCH_CODE, line, ~(line << BATCH_CODE_BITS | (pair ? BATCH_CODE_PAIR : 0u)),
		pair);
}

/* ---- records ---- */

static void batch_lines(struct model *m, const struct model_segment *s)
{
	for (unsigned i = 0; i < s->fetch_count; i++)
		if (!batch_is_second(s, i))
			batch_list(m, BATCH_CODE, s->block->fetches[i].line >> COMMON_LINE,
				batch_entry(s, i), batch_is_second(s, i + 1));
}

static void batch_access(struct model *m, const struct model_segment *s,
	const struct model_access *a, const uint64_t *word)
{
	uint64_t last = *word + a->size - 1;
	unsigned size = a->size < LINE_BYTES ? a->size : LINE_BYTES;

	if (a->guarded) {
		run_guarded(m, s, word, a, a + 1);
		if (!*word)
			return;
	}
	if (a->kind == MODEL_ACCESS_PREFETCH)
		return;
	if (*word >> COMMON_LINE != last >> COMMON_LINE)
		m->counts[EV_SPLIT_ACCESSES] += a->kind == MODEL_ACCESS_MODIFY ? 2 : 1;
	batch_data(m, *word, size);
}

void batch_span(uint64_t address, uint64_t accesses, struct model *m)
{
	m->counts[EV_SPLIT_ACCESSES] += accesses;
	batch_data(m, address, LINE_BYTES);
}

void batch_full(uint64_t unused, uint64_t unused_too, struct model *m)
{
	(void)unused, (void)unused_too;
	batch_settle(m);
}

static void batch_outcome(struct model *m, const struct model_segment *s,
	const struct model_outcome *o, const uint64_t *record)
{
	struct predictor *p = &m->core->predictor;

	if (!(m->parts & MODEL_PART_PREDICTORS))
		return;
	if (o->kind == MODEL_CONDITIONAL)
		m->counts[EV_MISPREDICTED_CONDITIONALS] +=
			!predict_conditional(p, predictor_base(p, o->from), o->from, o->taken);
	else if (o->kind == MODEL_INDIRECT_CALL || o->kind == MODEL_INDIRECT_JUMP)
		m->counts[EV_MISPREDICTED_INDIRECTS] += !branch_predict_indirect(
			m, p, o->from, outcome_target(s->block, o, record));
}

/* A further iteration of a repeated instruction, as in loop.c. */
static int batch_iterates(struct model *m, struct model_segment *s)
{
	if (!s->slow || m->repeating != s->block->insns[0].address || s->insn_count != 1 ||
		s->outcome_count)
		return 0;
	for (unsigned i = MODEL_STATIC_LOADS; i <= MODEL_STATIC_STORES; i++) {
		m->counts[model_static_event(i)] += s->statics[i];
		m->core->ran[i] += s->statics[i];
	}
	if (s->next != m->repeating)
		m->repeating = 0;
	s->ended++;
	return 1;
}

static NOINLINE void batch_step(struct model *m, struct model_segment *s, const uint64_t *record)
{
	struct core *core = m->core;

	core->fetch_line = NEVER;
	core->clock.order = m->batch.order;
	s->ended++;
	step_record(m, s, record, s->insn_count);
	m->batch.order = core->clock.order;
	core->fetch_line = NEVER;
}

void batch_specials(const struct model_segment *s, uint64_t unused, struct model *m)
{
	const struct model_block *b = s->block;

	(void)unused;
	for (unsigned k = 0; k < b->special_count && b->specials[k] < s->insn_count; k++) {
		m->insn = &b->insns[b->specials[k]];
		m->core->class_bits = m->insn->class_bits;
		model_classify_special(m, m->core, m->insn->class_bits);
	}
}

void batch_record(const uint64_t *record, uint64_t unused, struct model *m)
{
	struct model_segment *s = model_word_segment(*record);
	int again = batch_iterates(m, s);

	(void)unused;
	if (!again && s->slow) {
		batch_step(m, s, record);
		return;
	}
	if (!again) {
		s->run.count++;
		batch_specials(s, 0, m);
	}
	m->batch.order += s->insn_count;
	batch_lines(m, s);
	for (unsigned i = 0; i < s->access_count; i++)
		batch_access(m, s, &s->block->accesses[i], &record[1 + i]);
	for (unsigned i = 0; i < s->outcome_count; i++)
		batch_outcome(m, s, &s->outcomes[i], record);
}

void batch_again(const uint64_t *record, uint64_t unused, struct model *m)
{
	struct model_segment *s = model_word_segment(*record);

	(void)unused;
	if (s->run.stamp < m->core->valid_from || !s->run.code)
		jit_batch_segment(m, s);
	fetched_know(m, m->core, s);
}

void batch_run(struct model *m, const uint64_t *at, const uint64_t *end)
{
	struct core *core = m->core;

	fetched_last(core);
	m->batch.order = core->clock.order;
	m->batch.end = end;
	if (m->jit.run) {
		m->jit.run(at);
	} else {
		for (; at < end; at += model_word_words(*at)) {
			if (model_word_segment(*at)->run.stamp != core->stamp)
				batch_again(at, 0, m);
			batch_record(at, 0, m);
		}
	}
	core->clock.order = m->batch.order;
	core->fetch_line = NEVER;
	batch_settle(m);
	m->counts[EV_MISPREDICTED_CONDITIONALS] += m->batch.conditionals;
	m->counts[EV_MISPREDICTED_INDIRECTS] += m->batch.indirects;
	m->batch.conditionals = m->batch.indirects = 0;
}

/* A watcher needs to know which instruction misses: the first level gets the lines, each set in the
 * order of their uses. */
static void batch_hand_over(struct model *m, struct cache *c, unsigned level)
{
	for (uint64_t set = 0; set <= c->mask; set++)
		for (unsigned i = c->ways; i-- > 0;) {
			uint64_t line = m->batch.rows[level][set][i], at = set * c->ways + i;

			if (!line)
				continue;
			c->entries[at] = (line - 1) << COMMON_LINE | SHARED;
			c->used[at] = ++m->tick;
		}
}

void batch_leave(struct model *m)
{
	if (!m->batch.on)
		return;
	batch_settle(m);
	batch_hand_over(m, &m->core->l1d, BATCH_DATA);
	batch_hand_over(m, &m->core->l1i, BATCH_CODE);
	m->batch.on = 0;
	m->jit.run = 0;
	jit_again(m);
}

/* ---- which machines ---- */

static int batch_serves_cache(const struct cache *c, enum model_level level, const struct model *m)
{
	return c->ways && c->ways <= BATCH_WAYS && !c->sets && c->mask && c->mask < BATCH_SETS &&
	       c->bits == COMMON_LINE && m->config.policy[level] == MODEL_LRU;
}

void batch_init(struct model *m)
{
	struct core *core = m->cores;
	struct batch *b = &m->batch;

	b->at = b->list;
	b->on = m->cachegrind && !m->timed && !core->clocked && m->addresses &&
		!(m->parts & (MODEL_PART_STORES | MODEL_PART_CLOCK)) && !core->dtlb.ways &&
		!core->itlb.ways && !core->stlb.ways && !core->btb.set &&
		(!(m->parts & MODEL_PART_PREDICTORS) || core->predictor.counters) &&
		m->least_line == LINE_BYTES && batch_serves_cache(&core->l1d, MODEL_L1D, m) &&
		batch_serves_cache(&core->l1i, MODEL_L1I, m);
	b->ways[BATCH_DATA] = core->l1d.ways;
	b->ways[BATCH_CODE] = core->l1i.ways;
	b->most_ways = b->ways[BATCH_DATA] > b->ways[BATCH_CODE] ? b->ways[BATCH_DATA]
								 : b->ways[BATCH_CODE];
	b->mask[BATCH_DATA] = (uint32_t)core->l1d.mask;
	b->mask[BATCH_CODE] = (uint32_t)core->l1i.mask;
	for (unsigned i = 0; b->on && i < BATCH_SETS; i++)
		b->recent[BATCH_DATA][i] = b->recent[BATCH_CODE][i] = NEVER;
}
