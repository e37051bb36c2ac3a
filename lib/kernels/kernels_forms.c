/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kernels of what depends on the form of an instruction: of its address, its registers, its target.
 */
#include "kernels/kernels.h"

#include "kernels/private.h"

KERNEL size_t kernel_chase_scaled(const size_t *zeros, size_t count)
{
	size_t x = 0;

	for (size_t i = 0; i < count; i += 8) {
#define STEP x = ((const volatile size_t *)zeros)[x];
		REPEAT8(STEP)
#undef STEP
	}
	return x;
}

KERNEL void kernel_addresses(size_t count)
{
	uint64_t x = count;

	for (size_t i = 0; i < count; i += 8) {
#if defined(__x86_64__)
#define STEP __asm__ volatile("lea 1(%0, %0, 2), %0" : "+r"(x));
#else
#define STEP                                                                                       \
	x += x << 1;                                                                               \
	KEEP(x);
#endif
		REPEAT8(STEP)
#undef STEP
	}
}

KERNEL void kernel_roots(size_t count)
{
	double x = 1.7;

	for (size_t i = 0; i < count; i += 8) {
#if defined(__x86_64__)
#define STEP __asm__ volatile("sqrtsd %0, %0" : "+x"(x));
#elif defined(__aarch64__)
#define STEP __asm__ volatile("fsqrt %d0, %d0" : "+w"(x));
#else
#define STEP                                                                                       \
	x = 1.7 / x;                                                                               \
	KEEP_FP(x);
#endif
		REPEAT8(STEP)
#undef STEP
	}
}

KERNEL void kernel_pass_same(char *to, size_t count)
{
	uint64_t x = 1;

	for (size_t i = 0; i < count; i += 8) {
#define STEP                                                                                       \
	*(volatile uint64_t *)to = x;                                                              \
	x = *(const volatile uint64_t *)to + 1;
		REPEAT8(STEP)
#undef STEP
	}
	KEEP(x);
}

KERNEL void kernel_pass_vector(char *to, const char *from, size_t count)
{
	volatile double *stored = (void *)to;
	const volatile double *loaded = (const void *)from;
	double x = 1;

	for (size_t i = 0; i < count; i++) {
		size_t at = i & 7;

		stored[at] = x;
		x = loaded[at];
	}
	KEEP_FP(x);
}

static KERNEL void kernel_nothing(void)
{
	__asm__ volatile("");
}

KERNEL void kernel_returns(size_t count)
{
	for (size_t i = 0; i < count; i += 8) {
#define STEP kernel_nothing();
		REPEAT8(STEP)
#undef STEP
	}
}

#ifdef __x86_64__
/* Each target has a jump of its own, in its own line: where a line ends between a target and the
 * next jump, a turn takes three times as long on some cores. */
KERNEL void kernel_targets(size_t count)
{
	const void *one, *other, *next;

#define TARGET(label)                                                                              \
	".p2align 6\n" label ":\n\t"                                                               \
	"dec %[count]\n\t"                                                                         \
	"je 3f\n\t"                                                                                \
	"mov %[one], %[next]\n\t"                                                                  \
	"test $2, %b[count]\n\t"                                                                   \
	"cmovne %[other], %[next]\n\t"                                                             \
	"jmp *%[next]\n\t"
	__asm__ volatile(
		"lea 1f(%%rip), %[one]\n\t"
		"lea 2f(%%rip), %[other]\n\t"
		"jmp *%[one]\n\t" TARGET("1") TARGET("2") "3:"
		: [count] "+r"(count), [one] "=&r"(one), [other] "=&r"(other), [next] "=&r"(next)
		:
		: "cc");
#undef TARGET
}
#else
KERNEL void kernel_targets(size_t count)
{
	static const void *const targets[] = {&&one, &&other};
	uint64_t x = 0;

#define NEXT                                                                                       \
	KEEP(x);                                                                                   \
	if (!count--)                                                                              \
		return;                                                                            \
	goto *targets[count >> 1 & 1]
	NEXT;
one:
	x += 1;
	NEXT;
other:
	x += 2;
	NEXT;
#undef NEXT
}
#endif
