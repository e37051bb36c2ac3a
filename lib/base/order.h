/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons for qsort and bsearch. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#include <stddef.h>
#include <stdint.h>

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int order_u64(const void *a, const void *b);
int order_doubles(const void *a, const void *b); /* no NaN */
int order_strings(const void *a, const void *b); /* char * */

/* qsort of what may be in order already: then it takes one comparison for each element. */
void order_sort(void *data, size_t count, size_t size, int (*compare)(const void *, const void *));
/* Rising by a number that each element has; equal ones stay in their order. For very many: time is
 * proportional to count. -1 when memory is out. */
int order_by_number(void *data, size_t count, size_t size, uint64_t (*number)(const void *element));

#endif
