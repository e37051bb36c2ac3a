/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eight entries of 16 bits, as one: a branch's entries in the conditional predictor's tables. With
 * SSE2, which each x86-64 has, and without: the results are the same.
 */
#ifndef MODEL_WAYS_H
#define MODEL_WAYS_H

#include <stdint.h>

#define WAYS 8

struct ways {
	uint16_t of[WAYS];
} __attribute__((aligned(16)));

/* The sixteen-bit pieces of `even` in ways 0, 2, 4 and 6, those of `odd` in the others, low ones
 * first. */
static inline void ways_interleave_plain(struct ways *to, uint64_t even, uint64_t odd)
{
	unsigned i;

	for (i = 0; i < WAYS; i += 2) {
		to->of[i] = (uint16_t)(even >> i * 8);
		to->of[i + 1] = (uint16_t)(odd >> i * 8);
	}
}

/* A bit for each way in which a and b agree under the mask. */
static inline unsigned ways_agree_plain(const struct ways *a, const struct ways *b, uint16_t mask)
{
	unsigned i, found = 0;

	for (i = 0; i < WAYS; i++)
		found |= (unsigned)(((a->of[i] ^ b->of[i]) & mask) == 0) << i;
	return found;
}

/* The four from each of these, 8-byte aligned. */
static inline void ways_gather_plain(struct ways *to, const uint16_t *low, const uint16_t *high)
{
	unsigned i;

	for (i = 0; i < WAYS / 2; i++) {
		to->of[i] = low[i];
		to->of[i + WAYS / 2] = high[i];
	}
}

/* Puts them back, with these bits of way number - 1 changed; number 0 is none.  All are written, so
 * that the host's next loads need not wait to learn which was. */
static inline void ways_flip_plain(
	const struct ways *w, unsigned number, uint16_t bits, uint16_t *low, uint16_t *high)
{
	unsigned i;

	for (i = 0; i < WAYS / 2; i++) {
		low[i] = w->of[i] ^ (i + 1 == number ? bits : 0);
		high[i] = w->of[i + WAYS / 2] ^ (i + 1 + WAYS / 2 == number ? bits : 0);
	}
}

/* Of the ways from start on, the first of which these bits, of the lowest eight, are least, in the
 * order that begins `first` ways later and goes on with start. */
static inline unsigned ways_least_plain(
	const struct ways *w, unsigned start, unsigned first, uint16_t bits)
{
	unsigned count = WAYS - start, best = start, least = UINT32_MAX;

	for (unsigned k = 0; k < count; k++) {
		unsigned way = start + (first + k < count ? first + k : first + k - count);

		if ((w->of[way] & bits) < least) {
			least = w->of[way] & bits;
			best = way;
		}
	}
	return best;
}

/* Reduces the ways from start on. */
static inline void ways_reduce_plain(struct ways *w, unsigned start, uint16_t by)
{
	for (unsigned i = start; i < WAYS; i++)
		w->of[i] = (uint16_t)(w->of[i] - by);
}

#ifdef __SSE2__
#include <emmintrin.h>

static inline __m128i ways_vector(const struct ways *w)
{
	return _mm_load_si128((const __m128i *)(const void *)w);
}

static inline void ways_interleave(struct ways *to, uint64_t even, uint64_t odd)
{
	_mm_store_si128((__m128i *)(void *)to, _mm_unpacklo_epi16(_mm_cvtsi64_si128((int64_t)even),
						       _mm_cvtsi64_si128((int64_t)odd)));
}

static inline unsigned ways_agree(const struct ways *a, const struct ways *b, uint16_t mask)
{
	__m128i zero = _mm_setzero_si128();
	__m128i differ = _mm_and_si128(
		_mm_xor_si128(ways_vector(a), ways_vector(b)), _mm_set1_epi16((short)mask));

	return (unsigned)_mm_movemask_epi8(_mm_packs_epi16(_mm_cmpeq_epi16(differ, zero), zero));
}

static inline void ways_gather(struct ways *to, const uint16_t *low, const uint16_t *high)
{
	__m128i half = _mm_loadl_epi64((const __m128i *)(const void *)low);

	_mm_store_si128((__m128i *)(void *)to, _mm_castpd_si128(_mm_loadh_pd(_mm_castsi128_pd(half),
						       (const double *)(const void *)high)));
}

static inline void ways_flip(
	const struct ways *w, unsigned number, uint16_t bits, uint16_t *low, uint16_t *high)
{
	static const struct ways only[WAYS + 1] = {
		{{0}},
		{{0xffff}},
		{{0, 0xffff}},
		{{0, 0, 0xffff}},
		{{0, 0, 0, 0xffff}},
		{{0, 0, 0, 0, 0xffff}},
		{{0, 0, 0, 0, 0, 0xffff}},
		{{0, 0, 0, 0, 0, 0, 0xffff}},
		{{0, 0, 0, 0, 0, 0, 0, 0xffff}},
	};
	__m128i flip = _mm_and_si128(_mm_set1_epi16((short)bits), ways_vector(&only[number]));

	flip = _mm_xor_si128(flip, ways_vector(w));
	_mm_storel_epi64((__m128i *)(void *)low, flip);
	_mm_storeh_pd((double *)(void *)high, _mm_castsi128_pd(flip));
}

static inline __m128i ways_numbers(void)
{
	return _mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0);
}

static inline void ways_reduce(struct ways *w, unsigned start, uint16_t by)
{
	__m128i before = _mm_cmpgt_epi16(_mm_set1_epi16((short)start), ways_numbers());
	__m128i less = _mm_andnot_si128(before, _mm_set1_epi16((short)by));

	_mm_store_si128((__m128i *)(void *)w, _mm_sub_epi16(ways_vector(w), less));
}
#else
#define ways_interleave ways_interleave_plain
#define ways_agree      ways_agree_plain
#define ways_gather     ways_gather_plain
#define ways_flip       ways_flip_plain
#define ways_reduce     ways_reduce_plain
#endif

#ifdef __SSE4_1__
#include <smmintrin.h>
static inline unsigned ways_least(
	const struct ways *w, unsigned start, unsigned first, uint16_t bits)
{
	__m128i numbers = ways_numbers(), begin = _mm_set1_epi16((short)(start + first));
	__m128i before = _mm_cmpgt_epi16(_mm_set1_epi16((short)start), numbers);
	__m128i again = _mm_and_si128(
		_mm_cmpgt_epi16(begin, numbers), _mm_set1_epi16((short)(WAYS - start)));
	__m128i order = _mm_add_epi16(_mm_sub_epi16(numbers, begin), again);
	__m128i key = _mm_and_si128(ways_vector(w), _mm_set1_epi16((short)bits));

	key = _mm_or_si128(_mm_or_si128(_mm_slli_epi16(key, 8), order), before);
	return (unsigned)_mm_extract_epi16(_mm_minpos_epu16(key), 1);
}
#else
#define ways_least ways_least_plain
#endif

#endif
