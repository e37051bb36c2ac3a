/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the kernels. */
#ifndef KERNELS_PRIVATE_H
#define KERNELS_PRIVATE_H

#include <stdint.h>

/* The sanitizers' checks would be measured, too; callers ensure that kernels stay inside memory. */
#if defined(__clang__)
#define KERNEL __attribute__((noinline, no_sanitize("address", "undefined")))
#else
#define KERNEL __attribute__((noinline, no_sanitize_address, no_sanitize_undefined))
#endif

#define REPEAT8(x)  x x x x x x x x
#define REPEAT64(x) REPEAT8(REPEAT8(x))
/* The compiler must compute x here, and assumes nothing of it afterwards. */
#define KEEP(x) __asm__ volatile("" : "+r"(x))
#if defined(__x86_64__)
#define KEEP_FP(x) __asm__ volatile("" : "+x"(x))
#elif defined(__aarch64__)
#define KEEP_FP(x) __asm__ volatile("" : "+w"(x))
#else
#define KEEP_FP(x) __asm__ volatile("" : "+m"(x))
#endif

struct unaligned {
	uint64_t word;
} __attribute__((packed));

#endif
