/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Walks through 32 MiB, a byte in each 4 KiB, eight times; mapped with pages that are "small" or
 * "large" as far as the kernel has a say. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { SIZE = 32 << 20, PAGE = 4096, LARGE = 2 << 20, TURNS = 8 };

int main(int argc, char **argv)
{
	int advice = argc > 1 && strcmp(argv[1], "large") == 0 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
	volatile char *at = mmap(
		NULL, SIZE + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	at += LARGE - (uintptr_t)at % LARGE;
	if (madvise((void *)(uintptr_t)at, SIZE, advice)) {
		perror("madvise");
		return 1;
	}
	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < SIZE; i += PAGE)
			at[i]++;
	return 0;
}
