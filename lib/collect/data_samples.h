/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Data space from samples: what the processor says was accessed (PERF_SAMPLE_ADDR, of precise
 * events) is charged to the variable or section of the file that lies there.  Of the heap, of
 * stacks and other memory an address alone does not tell whose it is: that is object 0, nobody's.
 *
 * Not tried on any processor yet: there was none with such counters.
 */
#ifndef COLLECT_DATA_SAMPLES_H
#define COLLECT_DATA_SAMPLES_H

#include "collect/spaces.h"

/* One sample of a metric of the experiment, at the code of a node, with the address of the data; 0
 * where the processor told none.  -1: memory is out. */
int data_sample(struct spaces *s, const struct process *p, uint32_t metric, uint32_t node,
	uint64_t address);

#endif
