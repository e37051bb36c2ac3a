/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A growing array of any type: VEC(struct thing) things = {0}; vec_push(&things) returns a zeroed
 * slot, or NULL when memory is out; vec_add(&things, thing) appends a copy.  Elements move when the
 * array grows: keep indices, not pointers.
 */
#ifndef BASE_VEC_H
#define BASE_VEC_H

#include <stddef.h>
#include <stdlib.h>

#define VEC(type)                                                                                  \
	struct {                                                                                   \
		type *data;                                                                        \
		size_t count, capacity;                                                            \
	}

void *vec_grow(void **data, size_t *count, size_t *capacity, size_t size, size_t more);
/* Room for one more. -1 when memory is out. */
int vec_room(void **data, size_t count, size_t *capacity, size_t size);

/* The first of n new zeroed slots (n > 0); NULL when memory is out. */
#define vec_extend(v, n)                                                                           \
	((__typeof__((v)->data))vec_grow(                                                          \
		(void **)&(v)->data, &(v)->count, &(v)->capacity, sizeof(*(v)->data), n))
#define vec_push(v) vec_extend(v, 1)
/* Appends a copy of the element: 0, or -1 when memory is out. */
#define vec_add(v, element)                                                                        \
	((v)->count < (v)->capacity || vec_room((void **)&(v)->data, (v)->count, &(v)->capacity,   \
					       sizeof(*(v)->data)) == 0                            \
			? ((v)->count++, (v)->data[(v)->count - 1] = (element), 0)                 \
			: -1)
/* The first number i below count for which is_before is false; count if it is true for all.
 * is_before is an expression of the variable i, true up to some number and false from there on. */
#define vec_search(i, count, is_before)                                                            \
	({                                                                                         \
		size_t search_low = 0, search_high = (count);                                      \
                                                                                                   \
		while (search_low < search_high) {                                                 \
			size_t i = search_low + (search_high - search_low) / 2;                    \
                                                                                                   \
			if (is_before)                                                             \
				search_low = i + 1;                                                \
			else                                                                       \
				search_high = i;                                                   \
		}                                                                                  \
		search_low;                                                                        \
	})
#define vec_fini(v) (free((v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)

#endif
