/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * stencil [N [STEPS]]: a five-point stencil on N x N floats, eight at a time in AVX2, and a
 * checksum.
 */
#include <immintrin.h>
#include <stdio.h>
#include <stdlib.h>

#define WIDTH 8 /* floats of a vector */

__attribute__((target("avx2,fma"))) static void step(const float *from, float *to, size_t n)
{
	const __m256 centre = _mm256_set1_ps(0.5F), side = _mm256_set1_ps(0.125F);

	for (size_t y = 1; y + 1 < n; y++) {
		const float *row = from + y * n;

		for (size_t x = WIDTH; x + WIDTH < n; x += WIDTH) {
			__m256 sum = _mm256_add_ps(
				_mm256_loadu_ps(row + x - 1), _mm256_loadu_ps(row + x + 1));

			sum = _mm256_add_ps(sum, _mm256_add_ps(_mm256_loadu_ps(row + x - n),
							 _mm256_loadu_ps(row + x + n)));
			_mm256_storeu_ps(to + y * n + x,
				_mm256_fmadd_ps(sum, side,
					_mm256_mul_ps(_mm256_loadu_ps(row + x), centre)));
		}
	}
}

int main(int argc, char **argv)
{
	size_t n = argc > 1 ? strtoul(argv[1], NULL, 10) : 512,
	       steps = argc > 2 ? strtoul(argv[2], NULL, 10) : 100;
	float *a, *b, *swap;
	double sum = 0;

	if (n < 3 * WIDTH || n % WIDTH || n > 8192) {
		fprintf(stderr, "usage: stencil [N [STEPS]], N a multiple of %d\n", WIDTH);
		return 2;
	}
	if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
		fprintf(stderr, "stencil: this processor has no AVX2\n");
		return 1;
	}
	a = aligned_alloc(64, n * n * sizeof(*a));
	b = aligned_alloc(64, n * n * sizeof(*b));
	if (!a || !b)
		return 1;
	for (size_t i = 0; i < n * n; i++)
		a[i] = b[i] = (float)(i * 7919 % 1000);
	for (size_t i = 0; i < steps; i++) {
		step(a, b, n);
		swap = a, a = b, b = swap;
	}
	for (size_t i = 0; i < n * n; i++)
		sum += (double)a[i];
	printf("%g\n", sum);
	free(a);
	free(b);
	return 0;
}
