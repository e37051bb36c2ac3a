/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Convolution of an image with a small mask, whose innermost loop is too short for its branch to be
 * foreseen.
 *
 *     convolve [-fixed] [SIDE [ROUNDS]]
 *
 * After the last case study of Zagha et al. (section 4).  The general routine takes masks of any
 * size.  With a mask of 3 by 3 its innermost loop makes three turns, and a predictor of two-bit
 * counters, which expects the branch at the end to go the way it mostly goes, is wrong once in each
 * three: a third of all branches.
 *
 *     perfex -a -y -machine r10000 convolve           mispredicted branches
 *     perfex -a -y -machine r10000 convolve -fixed    none to speak of
 *
 * The predictors of today remember longer histories, and get this right once they have seen it:
 * compare with -machine zen4.  What remains there is the number of instructions.
 *
 * The fix is what an optimising compiler does when it knows the mask's size: the mask's loops are
 * unrolled and the image's become the innermost.  The sums are formed in the same order, and are
 * the same to the last bit.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MASK = 3 };
static const float blur[MASK * MASK] = {1, 2, 1, 2, 4, 2, 1, 2, 1};

static __attribute__((noinline)) void convolve(
	float *out, const float *in, size_t side, const float *mask, size_t mask_side)
{
	for (size_t y = 0; y + mask_side <= side; y++)
		for (size_t x = 0; x + mask_side <= side; x++) {
			float sum = 0;

			for (size_t j = 0; j < mask_side; j++)
				for (size_t i = 0; i < mask_side; i++)
					sum += mask[j * mask_side + i] * in[(y + j) * side + x + i];
			out[y * side + x] = sum / 16;
		}
}

static __attribute__((noinline)) void convolve_3x3(
	float *restrict out, const float *restrict in, size_t side, const float *restrict m)
{
	for (size_t y = 0; y + 3 <= side; y++) {
		const float *a = in + y * side, *b = a + side, *c = b + side;

		for (size_t x = 0; x + 3 <= side; x++)
			out[y * side + x] =
				(0 + m[0] * a[x] + m[1] * a[x + 1] + m[2] * a[x + 2] + m[3] * b[x] +
					m[4] * b[x + 1] + m[5] * b[x + 2] + m[6] * c[x] +
					m[7] * c[x + 1] + m[8] * c[x + 2]) /
				16;
	}
}

static size_t number(const char *text, size_t limit)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && value <= limit ? value : 0;
}

int main(int argc, char **argv)
{
	bool fixed = argc > 1 && strcmp(argv[1], "-fixed") == 0;
	char **argument = argv + 1 + fixed;
	int left = argc - 1 - fixed;
	size_t side = left > 0 ? number(argument[0], 16384) : 512;
	size_t rounds = left > 1 ? number(argument[1], 1000000) : 4;
	float *in, *out;
	double total = 0;

	if (side < MASK || !rounds || left > 2) {
		fprintf(stderr, "usage: convolve [-fixed] [SIDE [ROUNDS]]\n");
		return 2;
	}
	in = malloc(side * side * sizeof(*in));
	out = malloc(side * side * sizeof(*out));
	if (!in || !out) {
		fprintf(stderr, "convolve: out of memory for %zu pixels a side\n", side);
		free(in);
		free(out);
		return 1;
	}
	for (size_t i = 0; i < side * side; i++)
		out[i] = in[i] = (float)(i * 2654435761u % 256);
	for (size_t i = 0; i < rounds; i++) {
		float *swap = in;

		if (fixed)
			convolve_3x3(out, in, side, blur);
		else
			convolve(out, in, side, blur, MASK);
		in = out;
		out = swap;
	}
	for (size_t i = 0; i < side * side; i++)
		total += (double)in[i];
	printf("%zu rounds on %zu pixels, sum %.10g\n", rounds, side * side, total);
	free(in);
	free(out);
	return 0;
}
