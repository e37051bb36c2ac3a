/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that load and store data. */
#ifndef MECHANISMS_DATA_H
#define MECHANISMS_DATA_H

#include "base/random.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, PAGE = 4096, HUGE = 2 << 20 };

static uint64_t seed = 0x9e3779b97f4a7c15u;
static size_t units; /* of a turn */

/* Of whole huge pages, if there are any. */
static void *room(size_t size)
{
	size_t whole = (size + HUGE - 1) / HUGE * HUGE;
	char *at = mmap(NULL, whole + HUGE, PROT_READ | PROT_WRITE | PROT_EXEC,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mechanisms");
		exit(1);
	}
	return at + (HUGE - (uintptr_t)at % HUGE) % HUGE;
}

static char *data;
static uint32_t *order; /* of lines; null: one after the other */
static size_t data_count, data_stride;

static void load_all(void)
{
	const char *at = data;
	uint64_t sum = 0;

	if (order)
		for (size_t i = 0; i < data_count; i++)
			sum += *(const volatile uint32_t *)(at + (size_t)order[i] * LINE);
	else
		for (size_t i = 0; i < data_count; i++, at += data_stride)
			sum += *(const volatile uint32_t *)at;
	KEEP(sum);
}

static void store_all(void)
{
	char *at = data;

	for (size_t i = 0; i < data_count; i++, at += data_stride)
		*(volatile uint64_t *)at = i;
}

static void add_to_all(void)
{
	char *at = data;

	for (size_t i = 0; i < data_count; i++, at += data_stride)
		*(volatile uint64_t *)at += i;
}

static uint32_t *shuffled(size_t n)
{
	uint32_t *o = malloc((n + 1) * sizeof(*o));

	if (!o)
		exit(1);
	for (size_t i = 0; i < n; i++)
		o[i] = (uint32_t)i;
	for (size_t i = n; i > 1; i--) {
		size_t k = random_next(&seed) % i;
		uint32_t other = o[i - 1];

		o[i - 1] = o[k];
		o[k] = other;
	}
	return o;
}

typedef void (*turn)(void);

/* count lines, so many bytes apart; huge: in huge pages. */
static void lay_out(size_t count, size_t stride, size_t huge)
{
	data = room(count * stride);
	madvise(data, (count * stride + HUGE - 1) / HUGE * HUGE,
		huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	memset(data, 1, count * stride);
	units = data_count = count;
	data_stride = stride;
}

static turn loads(const size_t *n)
{
	lay_out(n[0], n[1], n[2]);
	return load_all;
}

static turn loads_random(const size_t *n)
{
	lay_out(n[0], LINE, n[2]);
	order = shuffled(n[0]);
	return load_all;
}

/* Lines that a chase visits, one after the other. */
static void chase_all(void)
{
	const void *at = kernel_chase(data, data_count);

	KEEP(at);
}

/* lines, how many of them at a time are visited in a random order before the next as many, huge. */
static turn chase_near(const size_t *n)
{
	size_t count = n[0] / n[1] * n[1];
	uint32_t *o = malloc((count + 1) * sizeof(*o));

	if (!o)
		exit(1);
	lay_out(count, LINE, n[2]);
	for (size_t g = 0; g < count; g += n[1]) {
		const uint32_t *in = shuffled(n[1]);

		for (size_t i = 0; i < n[1]; i++)
			o[g + i] = (uint32_t)g + in[i];
		free((void *)(uintptr_t)in);
	}
	for (size_t i = 0; i < count; i++)
		*(void **)(void *)(data + (size_t)o[i] * LINE) =
			data + (size_t)o[(i + 1) % count] * LINE;
	free(o);
	return chase_all;
}

enum { STEPPED = 64 << 20, STEPS_AT_A_TIME = 4096 };
static void *stepped;

static void chase_on(void)
{
	stepped = kernel_chase(stepped, STEPS_AT_A_TIME);
}

/* Lines of memory, upwards: the next ones are so many further on by turns; 0: the first again. */
static turn chase_steps(const size_t *n)
{
	size_t line = 0, last = 0, turn = 0;

	lay_out(STEPPED / LINE, LINE, 0);
	while ((line += n[turn]) < data_count) {
		*(void **)(void *)(data + last * LINE) = data + line * LINE;
		last = line;
		turn = turn < 2 && n[turn + 1] ? turn + 1 : 0;
	}
	*(void **)(void *)(data + last * LINE) = data;
	stepped = data;
	units = STEPS_AT_A_TIME;
	return chase_on;
}

static turn stores(const size_t *n)
{
	lay_out(n[0], n[1], n[2]);
	return store_all;
}

static turn adds_to(const size_t *n)
{
	lay_out(n[0], n[1], n[2]);
	return add_to_all;
}

enum { PLACES = 16 };
static uint8_t *places; /* from which values come */

/* Value after value is loaded, changed and stored: each from where an earlier one was stored. */
static void pass_all(void)
{
	for (size_t i = 0; i < data_count; i++) {
		size_t from = ((const volatile uint8_t *)places)[i];
		uint64_t x = *(const volatile uint64_t *)(data + from * LINE);

		*(volatile uint64_t *)(data + i % PLACES * LINE) = x + 1;
	}
}

/* values, how many stores ago each one's was, at random 1 to so many? */
static turn passes(const size_t *n)
{
	lay_out(n[0], LINE, 0);
	places = room(n[0]);
	for (size_t i = 0; i < n[0]; i++) {
		size_t ago = n[2] ? 1 + random_next(&seed) % n[1] : n[1];

		places[i] = (uint8_t)((i + PLACES - ago) % PLACES);
	}
	return pass_all;
}

#endif
