/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copy: four loads and four stores, and why a store can cost what a hundred instructions do.
 *
 *     copy [-fixed] [WORDS [ROUNDS]]
 *
 * After the copy loop by which the paper on DCPI explains its analysis (Anderson et al., SOSP'97,
 * section 6): four words a turn are loaded, then stored.  Nothing in the loop is slow.  Yet nearly
 * all samples stand at its stores, because the memory behind them cannot take words as fast as they
 * come, and what the profile shows is who waits.
 *
 *     ssrun -fpcsamp copy, then prof -dis    the instructions that waited
 *     perfex -a -y copy                      what for: second-level and last-level misses
 *
 * Here somebody then reads the copy, as somebody always does.  By then its beginning has left the
 * caches, and every line is fetched once more.
 *
 * The fix copies and reads by pieces that the first level holds.  The same words are copied, and
 * the same sum comes out; a third of the misses goes.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1024 }; /* words: 8 KiB of each array */

static __attribute__((noinline)) void copy(
	unsigned long *restrict to, const unsigned long *restrict from, size_t words)
{
	for (size_t i = 0; i < words; i += 4) {
		unsigned long a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];

		to[i] = a;
		to[i + 1] = b;
		to[i + 2] = c;
		to[i + 3] = d;
	}
}

static __attribute__((noinline)) unsigned long read_all(const unsigned long *from, size_t words)
{
	unsigned long sum = 0;

	for (size_t i = 0; i < words; i++)
		sum = sum * 31 + from[i];
	return sum;
}

static unsigned long copy_and_read(
	unsigned long *to, const unsigned long *from, size_t words, unsigned long sum)
{
	copy(to, from, words);
	return sum ^ read_all(to, words);
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
	size_t words = left > 0 ? number(argument[0], 1 << 28) : 1 << 20;
	size_t rounds = left > 1 ? number(argument[1], 1 << 24) : 8, bytes;
	unsigned long *from, *to, sum = 0;

	if (!words || !rounds || left > 2) {
		fprintf(stderr, "usage: copy [-fixed] [WORDS [ROUNDS]]\n");
		return 2;
	}
	words = (words + PIECE - 1) / PIECE * PIECE;
	bytes = words * sizeof(*from);
	from = malloc(bytes);
	to = malloc(bytes);
	if (!from || !to) {
		fprintf(stderr, "copy: out of memory for %zu words\n", words);
		free(from);
		free(to);
		return 1;
	}
	for (size_t i = 0; i < words; i++)
		from[i] = (i * 2654435761u) ^ (i >> 7);
	for (size_t r = 0; r < rounds; r++) {
		/* One sum for each piece in both, so that both form the same. */
		if (!fixed)
			copy(to, from, words);
		for (size_t i = 0; i < words; i += PIECE)
			sum = fixed ? copy_and_read(to + i, from + i, PIECE, sum)
				    : sum ^ read_all(to + i, PIECE);
		from[r % words] += sum;
	}
	printf("%zu rounds of %zu words, sum %lx\n", rounds, words, sum);
	free(from);
	free(to);
	return 0;
}
