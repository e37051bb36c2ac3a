/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Comparisons for qsort and bsearch. */
#ifndef BASE_ORDER_H
#define BASE_ORDER_H

#define ORDER(a, b) (((a) > (b)) - ((a) < (b)))

int order_u64(const void *a, const void *b);
int order_doubles(const void *a, const void *b); /* no NaN */
int order_strings(const void *a, const void *b); /* char * */

#endif
