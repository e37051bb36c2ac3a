/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels that compute and branch. */
#include "kernels/kernels.h"

#include "kernels/private.h"

KERNEL void kernel_adds(size_t count)
{
	uint64_t x = count, y = 1;

	/* y is a register with a value unknown to the compiler: adding a constant takes no time on
	 * some processors. */
	KEEP(y);
	for (size_t i = 0; i < count; i += 64) {
#define STEP                                                                                       \
	KEEP(x);                                                                                   \
	x += y;
		REPEAT64(STEP)
#undef STEP
	}
	KEEP(x);
}

/* Three adds, two loads and a floating add: six instructions that every wide processor executes
 * together. */
KERNEL void kernel_mix(const char *line, size_t count)
{
	uint64_t a = 0, b = 0, c = 0, y = 1;
	double f = 0, g = 0, h = 0, k = 0, z = 0;

	KEEP(y);
	KEEP_FP(z);
	for (size_t i = 0; i < count; i += 24) {
#define STEP(fp)                                                                                   \
	a += y;                                                                                    \
	KEEP(a);                                                                                   \
	(void)*(volatile const uint64_t *)line;                                                    \
	b += y;                                                                                    \
	KEEP(b);                                                                                   \
	(void)*(volatile const uint64_t *)(line + 8);                                              \
	c += y;                                                                                    \
	KEEP(c);                                                                                   \
	fp += z;                                                                                   \
	KEEP_FP(fp);
		STEP(f)
		STEP(g)
		STEP(h)
		STEP(k)
#undef STEP
	}
}

/* Both directions of each branch do a little work that needs the branch. */
KERNEL void kernel_branches(const uint8_t *bytes, size_t count)
{
	uint64_t x = 0;

	for (size_t i = 0; i < count; i++) {
		if (bytes[i] & 1)
			__asm__ volatile("nop" : "+r"(x));
		else
			__asm__ volatile("" : "+r"(x));
	}
}

KERNEL void kernel_branches_early(const uint64_t *words, size_t count)
{
	uint64_t x = 0;

	for (size_t i = 0; i < count; i += 64) {
		uint64_t word = words[i / 64];

		for (int k = 0; k < 64; k++, word >>= 1) {
			if (word & 1)
				__asm__ volatile("nop" : "+r"(x));
			else
				__asm__ volatile("" : "+r"(x));
		}
	}
}

KERNEL void kernel_decisions(uint64_t *value, uint64_t mask, size_t count)
{
	uint64_t x = *value | 1, factor = 0x5851f42d4c957f2d, step = 0x14057b7ef767814f;

	KEEP(factor);
	KEEP(step);
	for (size_t i = 0; i < count; i++) {
		x = x * factor + step;
#if defined(__x86_64__)
		/* Both ways join before the loop's branch: a compiler may give each a branch of its
		 * own. */
		__asm__ volatile("test %1, %0\n\tje 1f\n\tnop\n1:" : "+r"(x) : "r"(mask) : "cc");
#else
		if (x & mask)
			__asm__ volatile("nop" : "+r"(x));
		else
			__asm__ volatile("" : "+r"(x));
#endif
	}
	*value = x;
}

KERNEL void kernel_divides_chain(uint64_t dividend, uint64_t divisor, size_t count)
{
	uint64_t zero = 0, mask = 0;

	/* The dependence and the value zero are hidden from the compiler: an and and an add. */
	KEEP(divisor);
	KEEP(mask);
	for (size_t i = 0; i < count; i++)
		zero = (dividend + zero) / divisor & mask;
	KEEP(zero);
}

KERNEL void kernel_divides_free(uint64_t dividend, uint64_t divisor, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t x = dividend, y = divisor;

		KEEP(x);
		KEEP(y);
		x /= y;
		KEEP(x);
	}
}

KERNEL void kernel_fp_divides_chain(size_t count)
{
	double x = 1.7, y = 1.0000001;

	KEEP_FP(y);
	for (size_t i = 0; i < count; i++) {
		x = y / x;
		KEEP_FP(x);
	}
}

KERNEL void kernel_fp_divides_free(size_t count)
{
	for (size_t i = 0; i < count; i++) {
		double x = 1.7, y = 1.3;

		KEEP_FP(x);
		KEEP_FP(y);
		x = y / x;
		KEEP_FP(x);
	}
}

KERNEL void kernel_fp_adds_chain(size_t count)
{
	double x = 0, y = 0.5;

	KEEP_FP(y);
	for (size_t i = 0; i < count; i += 8) {
#define STEP                                                                                       \
	x += y;                                                                                    \
	KEEP_FP(x);
		REPEAT8(STEP)
#undef STEP
	}
}
