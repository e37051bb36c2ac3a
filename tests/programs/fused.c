/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fused: what fused multiply-adds of random numbers give, numbers whose exact result lies near a
 * tie, denormal ones, and infinities among them: a sum over all bits for each width.
 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 20000

static uint64_t state = 1;

static uint64_t next(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717);
}

/* Exponents near each other, so that there is something to round; no NaN, whose bits need not be
 * the same. */
static double wide(void)
{
	uint64_t bits = next(), exponent = bits >> 5 & 15;
	double d;

	exponent = exponent == 15 ? 0 : exponent == 14 ? 1 : 1016 + exponent;
	bits = (bits & ~(UINT64_C(2047) << 52)) | exponent << 52;
	memcpy(&d, &bits, sizeof(d));
	return d;
}

static float narrow(void)
{
	uint32_t bits = (uint32_t)(next() >> 32), exponent = bits >> 5 & 15;
	float f;

	exponent = exponent == 15 ? 0 : exponent == 14 ? 1 : 120 + exponent;
	bits = (bits & ~(UINT32_C(255) << 23)) | exponent << 23;
	memcpy(&f, &bits, sizeof(f));
	return f;
}

__attribute__((target("fma,avx2"))) static uint64_t doubles(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		double x[4], y[4], z[4], r[4];
		uint64_t bits[4];

		for (int k = 0; k < 4; k++) {
			x[k] = wide(), y[k] = wide();
			/* Every other one cancels all but what a separate product loses. */
			z[k] = i & 1 ? -(x[k] * y[k]) : wide();
		}
		if (i % 1000 == 0)
			z[1] = INFINITY;
		_mm256_storeu_pd(r, _mm256_fmadd_pd(_mm256_loadu_pd(x), _mm256_loadu_pd(y),
					    _mm256_loadu_pd(z)));
		r[3] = _mm_cvtsd_f64(
			_mm_fnmsub_sd(_mm_set_sd(x[3]), _mm_set_sd(y[3]), _mm_set_sd(z[3])));
		memcpy(bits, r, sizeof(bits));
		for (int k = 0; k < 4; k++)
			sum = sum * 31 + bits[k];
	}
	return sum;
}

__attribute__((target("fma,avx2"))) static uint64_t floats(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < ROUNDS; i++) {
		float x[8], y[8], z[8], r[8];
		uint32_t bits[8];

		for (int k = 0; k < 8; k++) {
			x[k] = narrow(), y[k] = narrow();
			z[k] = i & 1 ? -(x[k] * y[k]) : narrow();
		}
		_mm256_storeu_ps(r, _mm256_fmsub_ps(_mm256_loadu_ps(x), _mm256_loadu_ps(y),
					    _mm256_loadu_ps(z)));
		memcpy(bits, r, sizeof(bits));
		for (int k = 0; k < 8; k++)
			sum = sum * 31 + bits[k];
	}
	return sum;
}

int main(void)
{
	if (!__builtin_cpu_supports("fma") || !__builtin_cpu_supports("avx2")) {
		puts("no fused multiply-add here");
		return 0;
	}
	printf("%016llx\n", (unsigned long long)doubles());
	printf("%016llx\n", (unsigned long long)floats());
	return 0;
}
