/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/vec.h"

#include <string.h>

void *vec_grow(void **data, size_t *count, size_t *capacity, size_t size)
{
	char *slot;

	if (*count == *capacity) {
		size_t bigger = *capacity ? *capacity * 2 : 8;
		void *moved = reallocarray(*data, bigger, size);

		if (!moved)
			return NULL;
		*data = moved;
		*capacity = bigger;
	}
	slot = (char *)*data + *count * size;
	memset(slot, 0, size);
	++*count;
	return slot;
}
