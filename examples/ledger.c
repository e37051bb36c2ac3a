/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A ledger of amounts, printed as text, whose general routine for numbers divides by the same
 * number nearly always.
 *
 *     ledger [-fixed] [ROWS]
 *
 * The case of value profiles (Burrows et al., "Efficient and Flexible Value Sampling", ASPLOS 2000,
 * and Calder et al. before them): a function that is nearly always called with one value. A profile
 * of time says that it waits for divisions; nothing in its source says that the divisor could be
 * known.
 *
 *     ssrun -values -o values ledger 1000000
 *     prof -arguments values       base = 10 in 97% of the calls
 *     prof -operations values      the divisor as well; and the division would fit into 32 bits
 *
 * The fix is a copy of the routine for base 10: the compiler replaces a division by a constant by a
 * multiplication.
 *
 *     sh ledger.sh                 all of this, and the gain as prof verify measures it
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ledger-fixed is built with 1, for prof verify, which compares two programs. */
#ifndef FIXED
#define FIXED 0
#endif

enum { COLUMNS = 32, DIGITS = 64 };

static const char digits[] = "0123456789abcdef";

/* Digits of a number, the last one at the end of a field; where the first one is. */
static __attribute__((noinline)) char *put(uint64_t value, uint64_t base, char *end)
{
	do
		*--end = digits[value % base];
	while (value /= base);
	return end;
}

static __attribute__((noinline)) char *put_decimal(uint64_t value, char *end)
{
	do
		*--end = digits[value % 10];
	while (value /= 10);
	return end;
}

static char *put_fixed(uint64_t value, uint64_t base, char *end)
{
	return base == 10 ? put_decimal(value, end) : put(value, base, end);
}

struct column {
	uint64_t base;
};

static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* The text of a row; its checksum. */
static __attribute__((noinline)) uint64_t print_row(
	const struct column *columns, uint64_t *state, bool fixed)
{
	char field[DIGITS];
	uint64_t sum = 0;

	for (int c = 0; c < COLUMNS; c++) {
		uint64_t amount = draw(state) >> 34;
		char *at = fixed ? put_fixed(amount, columns[c].base, field + DIGITS)
				 : put(amount, columns[c].base, field + DIGITS);

		sum = sum * 31 + (uint64_t)(field + DIGITS - at) + (unsigned char)*at;
	}
	return sum;
}

static size_t number(const char *text, size_t limit)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	return *text >= '0' && *text <= '9' && *end == '\0' && value <= limit ? value : 0;
}

int main(int argc, char **argv)
{
	bool asked = argc > 1 && strcmp(argv[1], "-fixed") == 0;
	bool fixed = asked || FIXED;
	char **argument = argv + 1 + asked;
	int left = argc - 1 - asked;
	size_t rows = left > 0 ? number(argument[0], 1000000000) : 20000;
	struct column columns[COLUMNS];
	uint64_t state = 88172645463325252u, sum = 0;

	if (!rows || left > 1) {
		fprintf(stderr, "usage: ledger [-fixed] [ROWS]\n");
		return 2;
	}
	/* Amounts of up to ten digits; the last column is a reference number in hexadecimal. */
	for (int c = 0; c < COLUMNS; c++)
		columns[c] = (struct column){c == COLUMNS - 1 ? 16 : 10};
	for (size_t i = 0; i < rows; i++)
		sum += print_row(columns, &state, fixed);
	printf("%zu rows, checksum %016llx\n", rows, (unsigned long long)sum);
	return 0;
}
