/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of rows in a settled experiment and in its file: by content. Each returns a value like
 * strcmp's.
 */
#ifndef EXPERIMENT_ORDER_H
#define EXPERIMENT_ORDER_H

#include "base/order.h"
#include "experiment/experiment.h"

/* Of rows, as qsort wants them. */
int order_facts(const void *pa, const void *pb);
int order_images(const void *pa, const void *pb);
/* Metric a of x and b of y, by all fields but counts and note. Both periods of an event stay
 * together (METRIC_BOTH), the one without that flag first. */
int order_metrics(const struct experiment *x, size_t a, const struct experiment *y, size_t b);
/* Two metrics of data space, likewise. */
int order_data_metrics(const void *pa, const void *pb);
int order_processes(const void *pa, const void *pb);
int order_threads(const void *pa, const void *pb);
/* 0 does not mean that they are the same: one point may be passed twice at the same time. */
int order_phases(const void *pa, const void *pb);
static inline uint64_t order_pair(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* For qsort, by key: specialised because a comparison field by field is slow. */
static inline int order_nodes(const void *pa, const void *pb)
{
	const struct experiment_node *a = (const struct experiment_node *)pa,
				     *b = (const struct experiment_node *)pb;
	uint64_t from_a = order_pair(a->key.parent, a->key.image),
		 from_b = order_pair(b->key.parent, b->key.image);

	return from_a != from_b ? ORDER(from_a, from_b) : ORDER(a->key.address, b->key.address);
}

static inline int order_samples(const void *pa, const void *pb)
{
	const struct experiment_sample *a = (const struct experiment_sample *)pa,
				       *b = (const struct experiment_sample *)pb;
	uint64_t of_a = order_pair(a->key.metric, a->key.thread),
		 of_b = order_pair(b->key.metric, b->key.thread);

	return of_a != of_b ? ORDER(of_a, of_b)
			    : ORDER(order_pair(a->key.phase, a->key.node),
				      order_pair(b->key.phase, b->key.node));
}

/* The metric whose other period this one is (METRIC_BOTH): the nearest before it without that flag,
 * or itself. */
size_t order_metric_head(const struct experiment *x, size_t metric);

#endif
