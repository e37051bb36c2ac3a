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
#else
#define ways_interleave ways_interleave_plain
#define ways_agree      ways_agree_plain
#define ways_gather     ways_gather_plain
#define ways_flip       ways_flip_plain
#endif

#endif
