/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/stops.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <unistd.h>

#include "collect/perf_events.h"
#include "sources/perf_open.h"

/* A stop takes some 50 us of the program's time and ours: 2.5% of that. */
#define PERIOD_LEAST 2000000u

#if defined(__x86_64__)
#define HAS_STOPS true
#else
#define HAS_STOPS false
#endif

/* The kernel's clock, in the least form. */
static bool stops_may_open(struct perf_event_attr *attr)
{
	int fd;

	*attr = (struct perf_event_attr){.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_period = PERIOD_LEAST,
		.sample_type = PERF_SAMPLE_IP,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1};
	fd = perf_open(attr, 0, -1, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

bool stops_serve(const struct collect_request *r, struct error *why)
{
	const struct collect_metric *m = r->metrics->list.data;
	struct perf_event_attr attr;

	if (!HAS_STOPS || r->all || r->kernel || r->metrics->list.count != 1 ||
		!(m->flags & METRIC_CLOCK) || m->flags & METRIC_WALL || m->source != COLLECT_OS ||
		stops_may_open(&attr) || (errno != EACCES && errno != EPERM && errno != ENOSYS))
		return false;
	perf_explain(errno, &attr, 0, NULL, why);
	return true;
}

int stops_begin(struct sampler *s, struct error *e)
{
	struct experiment_metric *m = &s->experiment->metrics.data[0];

	m->flags |= METRIC_SKID;
	if (m->period < PERIOD_LEAST)
		m->period = collect_prime(PERIOD_LEAST);
	return perf_events_note(
		m, "by stops (ptrace); time in the kernel is at its system call", e);
}

void stops_say(const struct collect_request *r, const struct sampler *s, const struct error *why)
{
	const struct experiment_metric *m = &s->experiment->metrics.data[0];

	collect_say(r, 0,
		"no samples by the kernel (%s): a thread is stopped for each sample, every %.3g "
		"ms of CPU time%s%s",
		why->message, (double)m->period * 1e-6,
		why->hint[0] ? "; for samples by the kernel, " : "", why->hint);
}

int stops_refused(const struct error *why, const struct error *ptrace, struct error *e)
{
	error_set(e, why->code, "%s, and %s", why->message, ptrace->message);
	return error_hint(e, "%s%s-cy_hwc -source model samples cycles of a model", why->hint,
		why->hint[0] ? "; without that, " : "");
}

void stops_request(
	const struct collect_request *r, const struct sampler *s, struct branches_request *request)
{
	const struct collect_metric *m = r->metrics->list.data;
	bool stacks = m->flags & METRIC_STACKS;

	request->period = s->experiment->metrics.data[0].period;
	request->stack_bytes = stacks ? r->stack_bytes : 0;
	request->processors = r->cpus;
	request->only_samples = !(m->flags & (METRIC_BRANCHES | METRIC_VALUES));
}

static struct record sample_of(const struct branch_record *from, struct record r)
{
	const struct branch_sample *s = from->sample;

	r.type = PERF_RECORD_SAMPLE;
	r.misc = PERF_RECORD_MISC_USER;
	r.sample = (struct record_sample){.ip = from->begin, .cpu = from->windows};
	if (s && s->size) {
		r.sample.registers = s->registers;
		r.sample.register_mask = stacks_registers();
		r.sample.stack = s->stack;
		r.sample.stack_size = s->size;
	}
	return r;
}

int stops_record(const struct branch_record *from,
	int (*take)(void *context, const struct record *r), void *context)
{
	struct record r = {.pid = from->pid, .tid = (pid_t)from->id, .time = from->time};
	int rc = 0;

	switch (from->kind) {
	case BRANCH_BORN:
		r.type = PERF_RECORD_FORK;
		r.fork.ppid = r.pid == r.tid ? (pid_t)from->begin : r.pid;
		r.fork.ptid = r.fork.ppid;
		return take(context, &r);
	case BRANCH_ENDED:
		r.type = PERF_RECORD_EXIT;
		return take(context, &r);
	case BRANCH_NAMED:
	case BRANCH_EXECED:
		r.type = PERF_RECORD_COMM;
		r.comm.name = from->text;
		r.comm.exec = from->kind == BRANCH_EXECED;
		return from->text ? take(context, &r) : -1;
	case BRANCH_SAMPLE:
		r = sample_of(from, r);
		for (uint64_t i = 0; i < from->hits && rc == 0; i++)
			rc = take(context, &r);
		return rc;
	default:
		return 0;
	}
}
