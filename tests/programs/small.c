/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * small -list | small NAME [LENGTH]: small programs of many kinds, each for about LENGTH twentieths
 * of a second on a processor of today, so that each can be timed natively and under the model.
 * Prints a result, so that nothing is optimised away.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef double (*runner)(size_t n);

static uint64_t seed = 88172645463325252u;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void *room(size_t size)
{
	void *at = calloc(1, size);

	if (!at) {
		perror("small");
		exit(1);
	}
	return at;
}

/* ---- floating point ---- */

enum { SIDE = 192, BODIES = 8, POLYNOMIAL = 12 };

static double matrix(size_t n)
{
	double *a = room(3 * sizeof(double) * SIDE * SIDE), *b = a + SIDE * SIDE,
	       *c = b + SIDE * SIDE;

	for (size_t i = 0; i < SIDE * SIDE; i++)
		a[i] = (double)(i % 13), b[i] = (double)(i % 7);
	for (size_t row = 0; row < n; row++)
		for (size_t k = 0; k < SIDE; k++)
			for (size_t x = 0; x < SIDE; x++)
				c[row % SIDE * SIDE + x] +=
					a[row % SIDE * SIDE + k] * b[k * SIDE + x];
	return c[SIDE + 1];
}

static double bodies(size_t n)
{
	double at[BODIES][3], speed[BODIES][3] = {{0}};

	for (int i = 0; i < BODIES; i++)
		for (int k = 0; k < 3; k++)
			at[i][k] = (double)(next_random() % 1000) / 10;
	for (size_t t = 0; t < n; t++) {
		for (int i = 0; i < BODIES; i++)
			for (int j = i + 1; j < BODIES; j++) {
				double d[3], square = 0.01, pull;

				for (int k = 0; k < 3; k++)
					d[k] = at[i][k] - at[j][k], square += d[k] * d[k];
				pull = 0.001 / (square * sqrt(square));
				for (int k = 0; k < 3; k++)
					speed[i][k] -= d[k] * pull, speed[j][k] += d[k] * pull;
			}
		for (int i = 0; i < BODIES; i++)
			for (int k = 0; k < 3; k++)
				at[i][k] += 0.001 * speed[i][k];
	}
	return at[0][0];
}

static double mandelbrot(size_t n)
{
	size_t inside = 0;

	for (size_t i = 0; i < n; i++) {
		double cx = (double)(i * 7919 % 3001) / 1000 - 2,
		       cy = (double)(i % 2003) / 1000 - 1, x = 0, y = 0;
		int k = 0;

		for (; k < 100 && x * x + y * y < 4; k++) {
			double new_x = x * x - y * y + cx;

			y = 2 * x * y + cy;
			x = new_x;
		}
		inside += k == 100;
	}
	return (double)inside;
}

/* Horner's rule: a chain of multiplications and additions. */
static double horner(size_t n)
{
	double x = 0.5;

	for (size_t i = 0; i < n; i++) {
		double sum = 0.25;

		for (int k = 0; k < POLYNOMIAL; k++)
			sum = sum * x + 0.125;
		x = sum * 0.5;
	}
	return x;
}

static double triad(size_t n)
{
	size_t words = 1 << 21;
	double *a = room(3 * words * sizeof(double)), *b = a + words, *c = b + words;

	for (size_t i = 0; i < n; i++)
		a[i % words] = b[i % words] + 3 * c[i % words];
	return a[1];
}

/* ---- integers and branches ---- */

static double sieve(size_t n)
{
	unsigned char *composite = room(n + 1);
	size_t primes = 0;

	for (size_t i = 2; i <= n; i++) {
		if (composite[i])
			continue;
		primes++;
		for (size_t k = i * i; k <= n; k += i)
			composite[k] = 1;
	}
	return (double)primes;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static double sorted(size_t n)
{
	uint32_t *v = room(n * sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = (uint32_t)next_random();
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

static uint64_t fibonacci(unsigned n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

static double recursion(size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += fibonacci(20);
	return (double)sum;
}

static double crc(size_t n)
{
	uint32_t table[256], c = ~0u;

	for (uint32_t i = 0; i < 256; i++) {
		table[i] = i;
		for (int k = 0; k < 8; k++)
			table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0xedb88320u : 0);
	}
	for (size_t i = 0; i < n; i++)
		c = table[(c ^ i) & 255] ^ c >> 8;
	return c;
}

/* Greatest common divisors: divisions that wait for each other, and a branch that is hard to guess.
 */
static double divisors(size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t a = next_random() >> 20 | 1, b = next_random() >> 30 | 1;

		while (b) {
			uint64_t rest = a % b;

			a = b;
			b = rest;
		}
		sum += a;
	}
	return (double)sum;
}

static double collatz(size_t n)
{
	uint64_t steps = 0;

	for (size_t i = 1; i <= n; i++)
		for (uint64_t x = i; x != 1; steps++)
			x = x & 1 ? 3 * x + 1 : x / 2;
	return (double)steps;
}

/* An interpreter of random code: one indirect jump an operation. */
static double interpreter(size_t n)
{
	static const void *const where[] = {
		&&add, &&subtract, &&rotate, &&multiply, &&exclusive, &&swap};
	unsigned char code[1021];
	uint64_t a = 1, b = 2, at = 0;

	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = (unsigned char)(next_random() % 6);
#define NEXT                                                                                       \
	do {                                                                                       \
		if (!n--)                                                                          \
			return (double)(a ^ b);                                                    \
		at = at + 1 == sizeof(code) ? 0 : at + 1;                                          \
		goto *where[code[at]];                                                             \
	} while (0)
	NEXT;
add:
	a += b;
	NEXT;
subtract:
	b -= a;
	NEXT;
rotate:
	a = a << 7 | a >> 57;
	NEXT;
multiply:
	b *= 0x9e3779b97f4a7c15u;
	NEXT;
exclusive:
	a ^= b >> 3;
	NEXT;
swap:
	b += a >> 5;
	NEXT;
}

/* ---- memory ---- */

static double histogram(size_t n)
{
	uint32_t *bins = room(sizeof(*bins) << 16);

	for (size_t i = 0; i < n; i++)
		bins[next_random() >> 48]++;
	return bins[99];
}

static double hash(size_t n)
{
	size_t slots = 1 << 20;
	uint64_t *keys = room(slots * sizeof(*keys)), found = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t key = next_random() % (slots / 2) + 1,
			 at = key * 0x9e3779b97f4a7c15u >> 44;

		while (keys[at] && keys[at] != key)
			at = (at + 1) & (slots - 1);
		found += keys[at] == key;
		keys[at] = key;
	}
	return (double)found;
}

struct leaf {
	struct leaf *side[2];
	uint64_t key;
};

static double tree(size_t n)
{
	struct leaf *root = NULL, *leaves = room(n * sizeof(*leaves));
	uint64_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		struct leaf **at = &root;

		leaves[i].key = next_random();
		for (; *at; depth++)
			at = &(*at)->side[leaves[i].key > (*at)->key];
		*at = &leaves[i];
	}
	return (double)depth;
}

static double strings(size_t n)
{
	char *text = room(1 << 16);
	size_t sum = 0;

	for (size_t i = 0; i + 1 < 1 << 16; i++)
		text[i] = (char)('a' + next_random() % 26);
	for (size_t i = 0; i < n; i++) {
		size_t from = next_random() % (1 << 15);
		const char *found = strstr(text + from, "abcd");

		sum += strlen(text + from) + (found ? (size_t)(found - text) : 0);
	}
	return (double)sum;
}

static double copies(size_t n)
{
	size_t size = 1 << 20;
	char *a = room(size), *b = room(size);

	for (size_t i = 0; i < n; i++) {
		memcpy(a, b, size);
		a[i % size]++;
		memmove(b, a + 1, size - 1);
	}
	return a[17];
}

static double columns(size_t n)
{
	enum { ROWS = 1024 };
	uint32_t *a = room(sizeof(*a) * ROWS * ROWS), sum = 0;

	for (size_t x = 0; x < n; x++)
		for (size_t y = 0; y < ROWS; y++)
			sum += a[y * ROWS + x % ROWS]++;
	return sum;
}

static double allocations(size_t n)
{
	enum { KEPT = 1024 };
	void *kept[KEPT] = {0};
	uintptr_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at = next_random() % KEPT;

		free(kept[at]);
		kept[at] = malloc(next_random() % 500 + 8);
		sum ^= (uintptr_t)kept[at] & 64;
	}
	return (double)sum;
}

static const struct program {
	const char *name;
	runner run;
	double count; /* in a twentieth of a second, or so */
} programs[] = {
	{"matrix", matrix, 2000},
	{"bodies", bodies, 300000},
	{"mandelbrot", mandelbrot, 600000},
	{"horner", horner, 1500000},
	{"triad", triad, 2e7},
	{"sieve", sieve, 5e6},
	{"qsort", sorted, 4e5},
	{"recursion", recursion, 1500},
	{"crc", crc, 2.5e7},
	{"divisors", divisors, 4e5},
	{"collatz", collatz, 3e5},
	{"interpreter", interpreter, 3e7},
	{"histogram", histogram, 1.5e7},
	{"hash", hash, 2e6},
	{"tree", tree, 150000},
	{"strings", strings, 20000},
	{"copies", copies, 400},
	{"columns", columns, 4000},
	{"allocations", allocations, 2e6},
};

int main(int argc, char **argv)
{
	double length = argc > 2 ? strtod(argv[2], NULL) : 1;

	for (size_t i = 0; argc > 1 && i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (strcmp(argv[1], "-list") == 0)
			puts(programs[i].name);
		if (strcmp(argv[1], programs[i].name) == 0) {
			printf("%g\n", programs[i].run((size_t)(programs[i].count * length)));
			return 0;
		}
	}
	if (argc > 1 && strcmp(argv[1], "-list") == 0)
		return 0;
	fprintf(stderr, "usage: small -list | small NAME [LENGTH]\n");
	return 2;
}
