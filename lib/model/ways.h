/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Eight entries of 16 bits, as one: a set of the conditional predictor's tables.  With SSE2, which
 * each x86-64 has, and without: the results are the same.  16-byte aligned.
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

/* Changes these bits of way number - 1; number 0 is none.  All of it is written, so that the host's
 * next loads need not wait to learn which part was. */
static inline void ways_flip_plain(struct ways *w, unsigned number, uint16_t bits)
{
	if (number)
		w->of[number - 1] ^= bits;
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

static inline void ways_flip(struct ways *w, unsigned number, uint16_t bits)
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

	_mm_store_si128((__m128i *)(void *)w, _mm_xor_si128(ways_vector(w), flip));
}
#else
#define ways_interleave ways_interleave_plain
#define ways_agree      ways_agree_plain
#define ways_flip       ways_flip_plain
#endif

#endif
