/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of this directory. */
#ifndef ROWS_PRIVATE_H
#define ROWS_PRIVATE_H

#include "rows/rows.h"

/* The numbers of the rows from `first` on, in the order of their keys; those of one key as they
 * are. NULL: memory is out. */
uint32_t *row_sort(const struct table *t, const struct row_kind *k, size_t first);

#endif
