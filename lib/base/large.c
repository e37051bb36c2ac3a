/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/large.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/error.h"

static size_t whole_pages(size_t size)
{
	return (size + LARGE_PAGE - 1) / LARGE_PAGE * LARGE_PAGE;
}

/* The kernel may begin anywhere: what is before and after whole pages is given back. */
void *large_new(size_t size)
{
	size_t whole = whole_pages(size), before;
	char *got = mmap(NULL, whole + LARGE_PAGE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (got == MAP_FAILED) {
		error_nomem(NULL);
		return NULL;
	}
	before = -(uintptr_t)got % LARGE_PAGE;
	if (before)
		munmap(got, before);
	if (before < LARGE_PAGE)
		munmap(got + before + whole, LARGE_PAGE - before);
	madvise(got + before, whole, MADV_HUGEPAGE);
	return got + before;
}

void large_free(void *memory, size_t size)
{
	if (memory)
		munmap(memory, whole_pages(size));
}
