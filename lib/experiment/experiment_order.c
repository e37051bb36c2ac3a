/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/order.h"

#include <string.h>

/* The first difference decides. */
#define TRY(order)                                                                                 \
	do {                                                                                       \
		int order_found = (order);                                                         \
		if (order_found)                                                                   \
			return order_found;                                                        \
	} while (0)

int order_images(const void *pa, const void *pb)
{
	const struct experiment_image *a = pa, *b = pb;
	uint32_t least =
		a->build_id_length < b->build_id_length ? a->build_id_length : b->build_id_length;

	TRY(ORDER(a->kind, b->kind));
	TRY(strcmp(a->path, b->path));
	TRY(memcmp(a->build_id, b->build_id, least));
	TRY(ORDER(a->build_id_length, b->build_id_length));
	TRY(ORDER(a->size, b->size));
	TRY(ORDER(a->fingerprint, b->fingerprint));
	return ORDER(a->pid, b->pid);
}

static int order_kinds(const struct experiment_metric *a, const struct experiment_metric *b)
{
	uint32_t flags_a = a->flags & ~(uint32_t)METRIC_BOTH,
		 flags_b = b->flags & ~(uint32_t)METRIC_BOTH;

	/* Time first: reports are sorted by the first metric. */
	TRY(ORDER(!(a->flags & METRIC_CLOCK), !(b->flags & METRIC_CLOCK)));
	TRY(ORDER(a->event, b->event));
	TRY(strcmp(a->name, b->name));
	TRY(strcmp(a->short_name, b->short_name));
	TRY(strcmp(a->unit, b->unit));
	TRY(strcmp(a->source, b->source));
	TRY(ORDER(a->label, b->label));
	TRY(ORDER(flags_a, flags_b));
	TRY(ORDER(a->skid, b->skid));
	return ORDER(a->period, b->period);
}

int order_data_metrics(const void *pa, const void *pb)
{
	return order_kinds(pa, pb);
}

size_t order_metric_head(const struct experiment *x, size_t metric)
{
	size_t head = metric;

	while (head > 0 && x->metrics.data[head].flags & METRIC_BOTH)
		head--;
	return x->metrics.data[head].flags & METRIC_BOTH ? metric : head;
}

int order_metrics(const struct experiment *x, size_t a, const struct experiment *y, size_t b)
{
	size_t head_a = order_metric_head(x, a), head_b = order_metric_head(y, b);

	TRY(order_kinds(&x->metrics.data[head_a], &y->metrics.data[head_b]));
	TRY(ORDER(a != head_a, b != head_b));
	return order_kinds(&x->metrics.data[a], &y->metrics.data[b]);
}

int order_processes(const void *pa, const void *pb)
{
	const struct experiment_process *a = pa, *b = pb;

	TRY(ORDER(a->rank, b->rank));
	TRY(ORDER(a->begin, b->begin));
	TRY(ORDER(a->pid, b->pid));
	TRY(ORDER(a->ppid, b->ppid));
	TRY(ORDER(a->end, b->end));
	TRY(ORDER(a->status, b->status));
	TRY(strcmp(a->command, b->command));
	return strcmp(a->arguments, b->arguments);
}

int order_threads(const void *pa, const void *pb)
{
	const struct experiment_thread *a = pa, *b = pb;

	TRY(ORDER(a->process, b->process));
	TRY(ORDER(a->tid, b->tid));
	TRY(strcmp(a->name, b->name));
	return ORDER(a->cpu, b->cpu);
}

int order_phases(const void *pa, const void *pb)
{
	const struct experiment_phase *a = pa, *b = pb;

	TRY(ORDER(a->time, b->time));
	return strcmp(a->name, b->name);
}

int order_facts(const void *pa, const void *pb)
{
	const struct experiment_fact *a = pa, *b = pb;

	return strcmp(a->key, b->key);
}
