/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

int order_u64(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

int order_doubles(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

int order_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void order_sort(void *data, size_t count, size_t size, int (*compare)(const void *, const void *))
{
	const char *bytes = data;
	size_t i = 1;

	while (i < count && compare(bytes + (i - 1) * size, bytes + i * size) <= 0)
		i++;
	if (i < count)
		qsort(data, count, size, compare);
}

enum { DIGITS = sizeof(uint64_t), VALUES = 256 }; /* a digit is a byte */

struct numbered {
	uint64_t number;
	size_t at;
};

static unsigned digit_of(uint64_t number, unsigned digit)
{
	return (unsigned)(number >> (8 * digit)) % VALUES;
}

/* Stable by one digit; begins: where its values begin. */
static void by_digit(const struct numbered *from, struct numbered *to, size_t count, unsigned digit,
	size_t *begins)
{
	for (size_t i = 0; i < count; i++)
		to[begins[digit_of(from[i].number, digit)]++] = from[i];
}

/* Counts of values to their beginnings; false: all elements have the same. */
static bool begins_of(size_t *counts, size_t count)
{
	size_t sum = 0;

	for (unsigned v = 0; v < VALUES; v++) {
		size_t own = counts[v];

		if (own == count)
			return false;
		counts[v] = sum;
		sum += own;
	}
	return true;
}

/* From the lowest digit on. The sorted ones are in a or b. */
static const struct numbered *by_digits(struct numbered *a, struct numbered *b, size_t count)
{
	size_t counts[DIGITS][VALUES];

	memset(counts, 0, sizeof(counts));
	for (size_t i = 0; i < count; i++)
		for (unsigned d = 0; d < DIGITS; d++)
			counts[d][digit_of(a[i].number, d)]++;
	for (unsigned d = 0; d < DIGITS; d++) {
		struct numbered *sorted = b;

		if (!begins_of(counts[d], count))
			continue;
		by_digit(a, sorted, count, d, counts[d]);
		b = a;
		a = sorted;
	}
	return a;
}

int order_by_number(void *data, size_t count, size_t size, uint64_t (*number)(const void *element))
{
	struct numbered *numbers = calloc(2 * count + 1, sizeof(*numbers));
	char *copy = malloc(count * size + 1);
	const struct numbered *sorted;

	if (numbers && copy) {
		for (size_t i = 0; i < count; i++)
			numbers[i] = (struct numbered){number((char *)data + i * size), i};
		sorted = by_digits(numbers, numbers + count, count);
		if (count)
			memcpy(copy, data, count * size);
		for (size_t i = 0; i < count; i++)
			memcpy((char *)data + i * size, copy + sorted[i].at * size, size);
	}
	free(copy);
	free(numbers);
	return numbers && copy ? 0 : error_nomem(NULL);
}
