/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/vec.h"

#include <string.h>

#include "base/error.h"

static int vec_enlarge(void **data, size_t count, size_t *capacity, size_t size, size_t more)
{
	size_t bigger = *capacity ? *capacity * 2 : 8;
	void *moved;

	bigger = bigger > count + more ? bigger : count + more;
	moved = reallocarray(*data, bigger, size);
	if (!moved)
		return error_nomem(NULL);
	*data = moved;
	*capacity = bigger;
	return 0;
}

int vec_room(void **data, size_t count, size_t *capacity, size_t size)
{
	return vec_enlarge(data, count, capacity, size, 1);
}

void *vec_grow(void **data, size_t *count, size_t *capacity, size_t size, size_t more)
{
	char *slot;

	if (more > *capacity - *count && vec_enlarge(data, *count, capacity, size, more))
		return NULL;
	slot = (char *)*data + *count * size;
	memset(slot, 0, more * size);
	*count += more;
	return slot;
}
