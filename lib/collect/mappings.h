/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The list of a process's mappings (spaces.h), in order of address. */
#ifndef COLLECT_MAPPINGS_H
#define COLLECT_MAPPINGS_H

#include "collect/spaces.h"

/* The first mapping that ends after address. */
size_t mappings_after(const struct process *p, uint64_t address);
/* Puts m there; -1 when memory is out. */
int mappings_insert(struct process *p, size_t at, const struct mapping *m);
/* Makes room for begin..end: removes mappings there, wholly or in part. Returns where to insert,
 * or -1. */
long mappings_clear(struct process *p, uint64_t begin, uint64_t end);

#endif
