/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/vec.h"

#include <string.h>

#include "base/error.h"

void *vec_grow(void **data, size_t *count, size_t *capacity, size_t size, size_t more)
{
	char *slot;

	if (more > *capacity - *count) {
		size_t bigger = *capacity ? *capacity * 2 : 8;
		void *moved;

		bigger = bigger > *count + more ? bigger : *count + more;
		moved = reallocarray(*data, bigger, size);
		if (!moved) {
			error_nomem(NULL);
			return NULL;
		}
		*data = moved;
		*capacity = bigger;
	}
	slot = (char *)*data + *count * size;
	memset(slot, 0, more * size);
	*count += more;
	return slot;
}
