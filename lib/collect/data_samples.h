/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data space from samples: the accessed address (PERF_SAMPLE_ADDR, of precise events) is charged
 * to the variable or section of the file at that address. Addresses in the heap, stacks and other
 * memory do not identify an object: they are charged to object 0, unknown.
 *
 * Not yet tested on a processor with such counters.
 */
#ifndef COLLECT_DATA_SAMPLES_H
#define COLLECT_DATA_SAMPLES_H

#include "collect/spaces.h"

/* One sample of a metric of the experiment, at the code of a node, with the address of the data; 0
 * if the processor gave none. -1: memory is out. */
int data_sample(struct spaces *s, const struct process *p, uint32_t metric, uint32_t node,
	uint64_t address);

/* The variable or section of a file at an address of memory, and where it begins: of to, image,
 * kind, address and size. to is all zero before, and after if there is none; then *start is the
 * address. -1: memory is out. */
struct experiment_object;
int data_find(const struct spaces *s, const struct process *p, uint64_t address,
	struct experiment_object *to, uint64_t *start);

#endif
