/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * First accesses to pages.
 *
 * usage: touches KIND N: N pages are stored to that were not there before,
 *   map    of fresh memory, which is given back
 *   kept   of fresh memory, which is not
 *   again  the same pages, whose contents were given up after a first time (so twice N)
 *   heap   of the heap, which shrinks and grows again in between (so twice N)
 *   child  by a child, after the parent's N
 *   exec   before the program executes itself
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096

static void touch(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile char *)p)[i * PAGE] = 1;
}

static char *fresh(size_t n)
{
	char *p = mmap(
		NULL, (n + 1) * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(2);
	madvise(p, (n + 1) * PAGE, MADV_NOHUGEPAGE);
	return p;
}

static void heap(size_t n)
{
	char *p = sbrk((intptr_t)((n + 1) * PAGE));

	p += PAGE - (size_t)p % PAGE;
	touch(p, n);
	sbrk(-(intptr_t)((n + 1) * PAGE));
	sbrk((intptr_t)((n + 1) * PAGE));
	touch(p, n);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 2 ? argv[1] : "";
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
	char *p;

	if (strcmp(kind, "heap") == 0) {
		heap(n);
		return 0;
	}
	p = fresh(n);
	touch(p, n);
	if (strcmp(kind, "map") == 0) {
		munmap(p, (n + 1) * PAGE);
	} else if (strcmp(kind, "again") == 0) {
		madvise(p, (n + 1) * PAGE, MADV_DONTNEED);
		touch(p, n);
	} else if (strcmp(kind, "child") == 0) {
		pid_t child = fork();

		if (child == 0) {
			touch(fresh(n), n);
			_exit(0);
		}
		waitpid(child, NULL, 0);
	} else if (strcmp(kind, "exec") == 0) {
		execl("/proc/self/exe", argv[0], "kept", "0", (char *)NULL);
	}
	return 0;
}
