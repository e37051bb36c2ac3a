/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_explain.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/file.h"
#include "experiment/merge.h"

const char *const collect_explain_clock = "sampled";

/* Executions, and the events that are evidence of a cause of waits (lib/explain). */
static const int wanted[] = {EV_INSTRUCTIONS, EV_L1I_MISSES, EV_L2I_MISSES,
	EV_LL_INSTRUCTION_MISSES, EV_ITLB_MISSES, EV_ITLB_WALKS, EV_L1D_MISSES, EV_L2D_MISSES,
	EV_LL_DATA_MISSES, EV_DTLB_MISSES, EV_DTLB_WALKS, EV_MISPREDICTED_BRANCHES,
	EV_STORE_FORWARD_FAILURES, EV_DIVIDES, EV_STORE_CONDITIONALS};

bool collect_explain_wanted(const struct collect_metrics *m)
{
	for (size_t i = 0; i < m->list.count; i++)
		if (m->list.data[i].again)
			return true;
	return false;
}

static int add_wanted(struct collect_metrics *m, bool data, struct error *e)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		const struct event *event = event_by_number(wanted[i]);
		struct collect_metric *to = vec_push(&m->list);

		if (!to)
			return error_nomem(e);
		*to = (struct collect_metric){.experiment = "explain",
			.spec = {.origin = EVENT_ORIGIN_TABLE, .event = event},
			.flags = METRIC_EXACT |
				 (data && wanted[i] == EV_L2D_MISSES ? METRIC_DATA : 0),
			.period = 1,
			.source = COLLECT_MODEL,
			.again = true};
		memcpy(to->spec.name, event->name, strlen(event->name) + 1);
		memcpy(to->spec.argument, event->short_name, strlen(event->short_name) + 1);
	}
	return 0;
}

/* What the first run says better: when it ran, its processes, threads and phases. Counts of
 * instructions refer to none of these. */
static void strip(struct experiment *model, const struct experiment *native)
{
	for (; model->threads.count > 1; model->threads.count--)
		free(model->threads.data[model->threads.count - 1].name);
	experiment_drop_processes(model);
	for (; model->phases.count > 1; model->phases.count--)
		free(model->phases.data[model->phases.count - 1].name);
	model->began = native->began;
	model->elapsed = 0;
	model->runs = 0;
	model->complete = true;
}

/* x is replaced when all has gone well. */
static int join(struct experiment *x, struct experiment *model, struct error *e)
{
	struct experiment both;

	if (experiment_copy(&both, x, e))
		return -1;
	strip(model, x);
	free(model->type);
	model->type = strdup(x->type);
	if (!model->type || experiment_settle(model, e) || experiment_settle(&both, e) ||
		experiment_merge(&both, model, MERGE_THREADS, e) || experiment_settle(&both, e)) {
		if (!model->type)
			error_nomem(e);
		experiment_fini(&both);
		return -1;
	}
	experiment_fini(x);
	*x = both;
	return 0;
}

int collect_explain(struct collect_explain *c, struct experiment *x, struct error *e)
{
	struct collect_metrics metrics = {0};
	struct collect_request r = *c->native;
	struct collect_result result = {0};
	struct experiment model;
	int rc = -1;

	if (experiment_init(&model, e))
		return -1;
	r.metrics = &metrics;
	r.machine = c->machine;
	r.input = c->input;
	r.silent = true;
	r.output = NULL;
	r.archive = NULL;
	r.kernel = false;
	r.caliper_seconds = 0;
	r.caliper_signal = 0;
	if (add_wanted(&metrics, c->native->metrics->data_again, e) == 0 &&
		collect_model(&r, &model, &result, e) == 0) {
		c->exit_status = result.exit_status;
		c->interrupted = result.interrupted;
		rc = result.interrupted ? error_set(e, ERR_SYSTEM, "it was interrupted")
					: join(x, &model, e);
	}
	experiment_fini(&model);
	collect_metrics_fini(&metrics);
	return rc;
}
