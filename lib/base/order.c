/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/order.h"

#include <stdint.h>
#include <string.h>

int order_u64(const void *a, const void *b)
{
	return ORDER(*(const uint64_t *)a, *(const uint64_t *)b);
}

int order_doubles(const void *a, const void *b)
{
	return ORDER(*(const double *)a, *(const double *)b);
}

int order_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}
