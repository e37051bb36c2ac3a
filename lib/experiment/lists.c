/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lists of an experiment: short tables with texts. */
#include "experiment/order.h"
#include "experiment/private.h"

#include <stdlib.h>
#include <string.h>

static const struct row_field fact_fields[] = {
	{ROW_FIELD(experiment_fact, key), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_fact, value), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_fact, several), .coding = ROW_FLAG},
};

static const struct row_field image_fields[] = {
	{ROW_FIELD(experiment_image, kind), .limit = EXPERIMENT_IMAGE_KINDS},
	{ROW_FIELD(experiment_image, path), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_image, build_id), .coding = ROW_BYTES,
		.from = offsetof(struct experiment_image, build_id_length)},
	{ROW_FIELD(experiment_image, size)},
	{ROW_FIELD(experiment_image, fingerprint)},
	{ROW_FIELD(experiment_image, pid), .coding = ROW_SINT},
};

static const struct row_field metric_fields[] = {
	{ROW_FIELD(experiment_metric, event), .coding = ROW_SINT},
	{ROW_FIELD(experiment_metric, name), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_metric, short_name), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_metric, unit), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_metric, source), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_metric, note), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_metric, label), .limit = LABEL_COUNT},
	{ROW_FIELD(experiment_metric, flags)},
	{ROW_FIELD(experiment_metric, skid)},
	{ROW_FIELD(experiment_metric, period)},
	{ROW_FIELD(experiment_metric, total)},
	{ROW_FIELD(experiment_metric, lost)},
	{ROW_FIELD(experiment_metric, throttled)},
	{ROW_FIELD(experiment_metric, reasons), .coding = ROW_LIST},
};

static int order_own_metrics(const struct experiment *x, size_t a, size_t b)
{
	return order_metrics(x, a, x, b);
}

static void lists_add_metric(void *row, void *other)
{
	experiment_metric_sum(row, true, other, true);
}

static const struct row_field process_fields[] = {
	{ROW_FIELD(experiment_process, pid), .coding = ROW_SINT},
	{ROW_FIELD(experiment_process, ppid), .coding = ROW_SINT},
	{ROW_FIELD(experiment_process, rank), .coding = ROW_SINT},
	{ROW_FIELD(experiment_process, status), .coding = ROW_SINT},
	{ROW_FIELD(experiment_process, begin)},
	{ROW_FIELD(experiment_process, end)},
	{ROW_FIELD(experiment_process, command), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_process, arguments), .coding = ROW_TEXT, .later = 1},
};

static const struct row_field thread_fields[] = {
	{ROW_FIELD(experiment_thread, process), .reference = EXPERIMENT_PROCESSES},
	{ROW_FIELD(experiment_thread, tid), .coding = ROW_SINT},
	{ROW_FIELD(experiment_thread, name), .coding = ROW_TEXT},
	{ROW_FIELD(experiment_thread, cpu), .later = 1},
};

static const struct row_field phase_fields[] = {
	{ROW_FIELD(experiment_phase, time)},
	{ROW_FIELD(experiment_phase, thread), .reference = EXPERIMENT_THREADS},
	{ROW_FIELD(experiment_phase, name), .coding = ROW_TEXT},
};

const struct experiment_list experiment_lists[EXPERIMENT_LISTS] = {
	[EXPERIMENT_FACTS] = {.kind = {ROW_RECORD(experiment_fact, fact_fields), .type = "FACT",
				      .order = order_facts},
		.offset = offsetof(struct experiment, facts)},
	[EXPERIMENT_IMAGES] = {.kind = {ROW_RECORD(experiment_image, image_fields), .type = "IMAG",
				       .order = order_images},
		.offset = offsetof(struct experiment, images),
		.fixed = 1},
	[EXPERIMENT_METRICS] = {.kind = {ROW_RECORD(experiment_metric, metric_fields),
					.type = "METR"},
		.offset = offsetof(struct experiment, metrics),
		.order = order_own_metrics,
		.add = lists_add_metric},
	[EXPERIMENT_PROCESSES] = {.kind = {ROW_RECORD(experiment_process, process_fields),
					  .type = "PROC", .order = order_processes},
		.offset = offsetof(struct experiment, processes),
		.fixed = 1},
	[EXPERIMENT_THREADS] = {.kind = {ROW_RECORD(experiment_thread, thread_fields),
					.type = "THRD", .order = order_threads},
		.offset = offsetof(struct experiment, threads),
		.fixed = 1},
	/* One point may be passed twice at the same time. */
	[EXPERIMENT_PHASES] = {.kind = {ROW_RECORD(experiment_phase, phase_fields), .type = "PHAS",
				       .order = order_phases},
		.offset = offsetof(struct experiment, phases),
		.fixed = 1,
		.ties = true},
	[EXPERIMENT_DATA_METRICS] = {.kind = {ROW_RECORD(experiment_metric, metric_fields),
					     .type = "DMET", .order = order_data_metrics},
		.offset = offsetof(struct experiment, data.metrics),
		.add = lists_add_metric},
};

struct experiment_vec *experiment_list_vec(const struct experiment *x, int which)
{
	return (struct experiment_vec *)(uintptr_t)((const char *)x +
						    experiment_lists[which].offset);
}

int experiment_list_order(const struct experiment *x, int which, size_t a, size_t b)
{
	const struct experiment_list *l = &experiment_lists[which];
	const struct experiment_vec *v = experiment_list_vec(x, which);

	return l->order ? l->order(x, a, b)
			: l->kind.order(v->data + a * l->kind.size, v->data + b * l->kind.size);
}

long experiment_list_add(struct experiment *x, int which, const void *row, struct error *e)
{
	const struct row_kind *kind = &experiment_lists[which].kind;
	struct experiment_vec *v = experiment_list_vec(x, which);
	void *own = vec_grow((void **)&v->data, &v->count, &v->capacity, kind->size, 1);

	if (!own)
		return error_nomem(e);
	memcpy(own, row, kind->size);
	if (row_copy_texts(own, kind))
		return (long)v->count - 1;
	v->count--;
	return error_nomem(e);
}

int experiment_list_copy(struct experiment *to, const struct experiment *from, int which)
{
	const struct experiment_vec *v = experiment_list_vec(from, which);
	size_t size = experiment_lists[which].kind.size;

	*experiment_list_vec(to, which) = (struct experiment_vec){0};
	for (size_t i = 0; i < v->count; i++)
		if (experiment_list_add(to, which, v->data + i * size, NULL) < 0)
			return -1;
	return 0;
}

void experiment_list_fini(struct experiment *x, int which)
{
	struct experiment_vec *v = experiment_list_vec(x, which);
	const struct row_kind *kind = &experiment_lists[which].kind;

	for (size_t i = 0; i < v->count; i++)
		row_free_texts(v->data + i * kind->size, kind);
	vec_fini(v);
}
