/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/batch.h"

#include "model/branch.h"
#include "model/jit.h"
#include "model/run.h"

/* ---- rows ---- */

/* A row is looked at in two steps. Its first ways, the near ones, are one vector. What leaves them
 * is put before the others, the far ones, when what came instead has been looked for there. Most
 * entries of the list are near; so the far ways of these are not touched. */
#ifdef __AVX2__
INLINE __m256i *row_vector(uint64_t *row)
{
	return (__m256i *)(void *)row;
}

/* Makes the line the first of the near ways. Returns whether it was among them. *out: the last of
 * them, as it was before. Stays within vectors: the next entry may wait for this row. */
INLINE unsigned row_use_near(uint64_t *row, uint64_t line, unsigned ways, uint64_t *out)
{
	__m256i want = _mm256_set1_epi64x((long long)line),
		near = _mm256_load_si256(row_vector(row));
	__m256i equal = _mm256_cmpeq_epi64(near, want);
	__m256i moved = _mm256_blend_epi32(_mm256_permute4x64_epi64(near, 0x93), want, 3);
	/* A way after the one where the line was stays. */
	__m256i one = _mm256_blend_epi32(
		_mm256_permute4x64_epi64(equal, 0x90), _mm256_setzero_si256(), 3);
	__m256i two = _mm256_blend_epi32(
		_mm256_permute4x64_epi64(equal, 0x40), _mm256_setzero_si256(), 15);
	__m256i three = _mm256_blend_epi32(
		_mm256_permute4x64_epi64(equal, 0x00), _mm256_setzero_si256(), 63);
	__m256i stays = _mm256_or_si256(one, _mm256_or_si256(two, three));

	(void)ways;
	*out = row[BATCH_NEAR - 1];
	_mm256_store_si256(row_vector(row), _mm256_blendv_epi8(moved, near, stays));
	return ((unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(equal)) & ways) != 0;
}

/* Makes `first` the first of the far ways, in place of the line, or else of the last one. Was the
 * line there? vectors, a constant: of BATCH_NEAR ways, that have them all. */
INLINE unsigned row_use_far(
	uint64_t *row, uint64_t line, uint64_t first, unsigned ways, const unsigned vectors)
{
	/* From the middle less the place on: the ways up to the place. */
	static const int8_t upto[2 * BATCH_WAYS] = {
		-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
	__m256i want = _mm256_set1_epi64x((long long)line), old[BATCH_WAYS / BATCH_NEAR];
	__m256i before = _mm256_set1_epi64x((long long)first);
	unsigned found = 0, all = (1u << ways) - 1, place;

	for (unsigned i = 0; i < vectors; i++) {
		old[i] = _mm256_load_si256(row_vector(row + i * BATCH_NEAR));
		found |= (unsigned)_mm256_movemask_pd(
				 _mm256_castsi256_pd(_mm256_cmpeq_epi64(old[i], want)))
			 << i * BATCH_NEAR;
	}
	found &= all;
	place = (unsigned)__builtin_ctz(found | ((all >> 1) + 1));
	for (unsigned i = 0; i < vectors; i++) {
		__m256i turned = _mm256_permute4x64_epi64(old[i], 0x93);
		__m256i moved = _mm256_blend_epi32(turned, before, 3);
		__m256i moves = _mm256_cvtepi8_epi64(
			_mm_loadu_si32(upto + BATCH_WAYS - 1 - place + i * BATCH_NEAR));

		_mm256_store_si256(
			row_vector(row + i * BATCH_NEAR), _mm256_blendv_epi8(old[i], moved, moves));
		before = turned;
	}
	return found != 0;
}
#else
/* Makes `first` the first of `ways` in the row, in place of the line, or else of the last one. */
INLINE unsigned row_use(uint64_t *row, uint64_t line, uint64_t first, unsigned ways)
{
	unsigned place = 0, found;

	while (place < ways && row[place] != line)
		place++;
	found = place < ways;
	for (place -= !found; place > 0 && place < ways; place--)
		row[place] = row[place - 1];
	row[0] = first;
	return found;
}

INLINE unsigned row_use_near(uint64_t *row, uint64_t line, unsigned ways, uint64_t *out)
{
	*out = row[BATCH_NEAR - 1];
	return row_use(row, line, line, (unsigned)__builtin_popcount(ways));
}

INLINE unsigned row_use_far(
	uint64_t *row, uint64_t line, uint64_t first, unsigned ways, const unsigned vectors)
{
	return vectors && ways ? row_use(row, line, first, ways) : 0;
}
#endif

/* ---- lists ---- */

/* All bits of a code line's entry, none of data's. */
INLINE uint64_t batch_sign(uint64_t entry)
{
	return 0 - (entry >> 63);
}

INLINE unsigned batch_level(uint64_t entry)
{
	return entry >> 63;
}

INLINE int batch_is_pair(uint64_t entry)
{
	return (int64_t)(entry ^ entry << 1) < 0; /* BATCH_PAIR is the next bit */
}

/* The first line of an entry. */
INLINE uint64_t batch_line(uint64_t entry)
{
	return ((entry ^ batch_sign(entry)) & ~(BATCH_PAIR | BATCH_SECOND)) >> COMMON_LINE;
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
		} else if (level == BATCH_CODE && !(*entry & BATCH_AFTER)) {
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

/* Looks a line up among the near ways of its set; entry: with BATCH_SECOND, if it is that. Returns
 * the end of the list of those to be looked up among the far ones. */
INLINE struct batch_far *batch_look_near(
	struct batch *b, uint64_t entry, uint64_t line, struct batch_far *far)
{
	unsigned level = batch_level(entry);
	uint64_t *row = b->rows[level][line & b->mask[level]];

	far->entry = entry;
	far->row = row + BATCH_NEAR;
	far->line = line + 1;
	return far + !row_use_near(row, line + 1, b->near[level], &far->first);
}

INLINE uint64_t *batch_settle_far(
	struct batch *b, const struct batch_far *end, const unsigned vectors)
{
	uint64_t *missed = b->missed, last = 0;

	for (const struct batch_far *f = b->far; f < end; f++) {
		uint64_t second = (f->entry ^ batch_sign(f->entry)) & BATCH_SECOND;
		unsigned misses = !row_use_far(
			f->row, f->line, f->first, b->far_ways[batch_level(f->entry)], vectors);

		/* Two lines of an entry are one miss. */
		*missed = f->entry ^ second;
		missed += misses & !((second != 0) & (last == *missed));
		last ^= (last ^ f->entry) & (0 - (uint64_t)misses); /* no branch */
	}
	return missed;
}

/* Looks up what is listed; returns the end of the list of misses. */
INLINE uint64_t *batch_settle_first(struct batch *b, const unsigned vectors)
{
	const uint64_t *end = b->at;
	struct batch_far *far = b->far;

	for (const uint64_t *at = b->list; at < end; at++) {
		uint64_t entry = *at, line = batch_line(entry);

		far = batch_look_near(b, entry, line, far);
		if (UNLIKELY(batch_is_pair(entry)))
			far = batch_look_near(b, entry ^ BATCH_SECOND, line + 1, far);
	}
	b->at = b->list;
	return batch_settle_far(b, far, vectors);
}

NOINLINE void batch_settle(struct model *m)
{
	struct batch *b = &m->batch;
	const uint64_t *missed;

	if (b->most_ways <= 2 * BATCH_NEAR)
		missed = batch_settle_first(b, 1);
	else if (b->most_ways <= 3 * BATCH_NEAR)
		missed = batch_settle_first(b, 2);
	else
		missed = batch_settle_first(b, BATCH_WAYS / BATCH_NEAR - 1);
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

	batch_list(m, BATCH_DATA, address >> COMMON_LINE, address | (pair ? BATCH_PAIR : 0), pair);
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

	batch_list(m, BATCH_CODE, line, ~(line << COMMON_LINE | (pair ? BATCH_PAIR : 0)), pair);
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

static void batch_init_ways(struct batch *b, unsigned level, unsigned ways)
{
	unsigned near = ways < BATCH_NEAR ? ways : BATCH_NEAR;

	b->near[level] = (1u << near) - 1;
	b->far_ways[level] = ways - near;
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
	batch_init_ways(b, BATCH_DATA, core->l1d.ways);
	batch_init_ways(b, BATCH_CODE, core->l1i.ways);
	b->most_ways = core->l1d.ways > core->l1i.ways ? core->l1d.ways : core->l1i.ways;
	b->mask[BATCH_DATA] = (uint32_t)core->l1d.mask;
	b->mask[BATCH_CODE] = (uint32_t)core->l1i.mask;
	for (unsigned i = 0; b->on && i < BATCH_SETS; i++)
		b->recent[BATCH_DATA][i] = b->recent[BATCH_CODE][i] = NEVER;
}
