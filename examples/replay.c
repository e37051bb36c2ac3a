/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Replay: a load that waits for stores, and the stores that it waits for.
 *
 *     replay [-fixed] [ROUNDS]
 *
 * After the replay traps of the paper on value profiles (slides 18 to 20): on the Alpha 21264, a
 * load of what a store before it had not yet written was executed again, and counters said where,
 * but not why. On today's processors, a load of which a store in flight has some bytes only waits
 * until that store is in the cache.
 *
 * Here, names are translated byte by byte into a key, and the key is then read as one word:
 *
 *     ssrun -values replay, then prof -conflicts    the load, and the store that it waits for
 *
 * The fix collects the bytes in a register. The sum stays the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY = 8, NAMES = 256 };

static char names[NAMES][KEY];
static unsigned char folded[256];

static __attribute__((noinline)) uint64_t key_of(const char *name)
{
	unsigned char key[KEY];
	uint64_t word;

	for (unsigned i = 0; i < KEY; i++)
		*(volatile unsigned char *)&key[i] = folded[(unsigned char)name[i]];
	memcpy(&word, key, sizeof(word));
	return word;
}

static __attribute__((noinline)) uint64_t key_of_fixed(const char *name)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < KEY; i++)
		word |= (uint64_t)folded[(unsigned char)name[i]] << 8 * i;
	return word;
}

int main(int argc, char **argv)
{
	int fixed = argc > 1 && strcmp(argv[1], "-fixed") == 0;
	const char *text = argc > 1 + fixed ? argv[1 + fixed] : "100000";
	char *end;
	long rounds = strtol(text, &end, 10);
	uint64_t sum = 0;

	if (argc > 2 + fixed || *end || end == text || rounds < 1) {
		fprintf(stderr, "usage: replay [-fixed] [ROUNDS]\n");
		return 2;
	}

	for (unsigned i = 0; i < sizeof(folded); i++)
		folded[i] = (unsigned char)(i >= 'a' && i <= 'z' ? i - 'a' + 'A' : i);
	for (unsigned i = 0; i < NAMES; i++)
		for (unsigned k = 0; k < KEY; k++)
			names[i][k] = (char)('A' + (i * 7 + k * 13) % 57);
	for (long r = 0; r < rounds; r++)
		for (unsigned i = 0; i < NAMES; i++)
			sum = sum * 31 + (fixed ? key_of_fixed : key_of)(names[i]);
	printf("%016llx\n", (unsigned long long)sum);
	return 0;
}
