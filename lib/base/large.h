/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory in large pages, where the kernel has some. To get a small page when it is touched first
 * takes longer than most of what is done in it; a large one is zeroed in the time of some fifty.
 */
#ifndef BASE_LARGE_H
#define BASE_LARGE_H

#include <stddef.h>

#define LARGE_PAGE ((size_t)2 << 20)

/* All zero. Pages that are not touched take no memory. NULL: there is none. */
void *large_new(size_t size);
/* memory may be NULL; size: as it was given. */
void large_free(void *memory, size_t size);

#endif
