/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/perf_events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "collect/collect_values.h"
#include "sources/perf_open.h"

#define RING_FLAT   ((size_t)256 << 10)
#define RING_STACKS ((size_t)512 << 10) /* the kernel's limit for all users */
/* root has no limit: for all processors together, and at most for one */
#define RINGS_STACKS_ROOT ((size_t)256 << 20)
#define RING_STACKS_MOST  ((size_t)4 << 20)
#define WAKING_PERIOD     5000000u /* ns */
#define RECORD_OF_WAIT    256u     /* bytes, about, without its copy of the stack */
#define UNITS_THAT_WAKE   64       /* wait_windows.h */

static const struct collect_metric *perf_events_metric_of(
	const struct collect_request *r, size_t event, const struct sampler *s)
{
	return &r->metrics->list.data[s->events.data[event].metric];
}

static int perf_events_add_event(
	struct sampler *s, size_t metric, bool stacks, bool switches, struct error *e)
{
	struct sampler_event *event = vec_push(&s->events);

	if (!event)
		return error_nomem(e);
	*event = (struct sampler_event){.metric = (uint32_t)metric,
		.stacks = stacks,
		.switches = switches,
		.data = (s->experiment->metrics.data[metric].flags & METRIC_DATA) != 0};
	return 0;
}

/* At most one metric is of elapsed time. */
static int add_switches(
	const struct collect_metric *m, struct sampler *s, size_t metric, struct error *e)
{
	if (s->blocking)
		return error_set(e, ERR_CONFLICT,
			"a run can have only one experiment of elapsed time: leave out -both");
	s->blocking = true;
	blocked_init(&s->blocked, &s->spaces, (uint32_t)metric, m->period);
	if (perf_events_add_event(s, metric, true, true, e) ||
		perf_events_add_event(s, metric, true, false, e))
		return -1;
	s->events.data[s->events.count - 1].wakes = true;
	return wakes_init(&s->wake_format, s->experiment, e);
}

/* Of the ring of one processor. */
static size_t perf_events_ring(bool stacks)
{
	size_t share = RINGS_STACKS_ROOT / (size_t)sysconf(_SC_NPROCESSORS_CONF);

	if (!stacks)
		return RING_FLAT;
	if (geteuid() != 0 || share < RING_STACKS)
		return RING_STACKS;
	return share < RING_STACKS_MOST ? share : RING_STACKS_MOST;
}

int perf_events_init(const struct collect_request *r, struct sampler *s, struct error *e)
{
	struct record_format format = {
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.registers = stacks_registers(),
	};
	bool stacks = false;

	format.sample_type |= r->cpus ? PERF_SAMPLE_CPU : 0;
	for (size_t i = 0; i < r->metrics->list.count; i++) {
		const struct collect_metric *m = &r->metrics->list.data[i];

		stacks |= m->flags & METRIC_STACKS;
		if (m->flags & METRIC_DATA)
			format.sample_type |= PERF_SAMPLE_ADDR;
		if (perf_events_add_event(s, i, m->flags & METRIC_STACKS, false, e) ||
			((m->flags & METRIC_WALL) && add_switches(m, s, i, e)))
			return -1;
	}
	s->python.expected = stacks && !r->all && python_runs(r->argv, r->pid);
	if (s->events.count > 1)
		format.sample_type |= PERF_SAMPLE_IDENTIFIER;
	if (rings_init(&s->rings, &format, perf_events_ring(stacks), e))
		return -1;
	if (s->blocking) { /* frequent waits are to be noticed soon */
		s->unit_bytes = (RECORD_OF_WAIT + r->stack_bytes / 2) / RECORDED_WAIT;
		s->rings.wakeup = s->unit_bytes * UNITS_THAT_WAKE;
	}
	return 0;
}

/* ---- one event ------------------------------------------------------------------------------- */

/* Of the kernel's functions, the innermost say what a thread waits in: the others are the way from
 * its system call. */
#define KERNEL_FRAMES_OF_WAIT 4

/*
 * Copies of stacks fill the ring. A thread waits for what the innermost functions do, and of one
 * that lets another go on, few callers are reported. With whole copies of both, the kernel lost
 * most samples of two processes that do nothing but hand over (tests/bench/waits); with these,
 * next to none.
 */
static uint32_t bytes_of_stack(const struct collect_request *r, const struct sampler_event *event)
{
	uint32_t bytes = r->stack_bytes / (event->wakes ? 16 : event->switches ? 2 : 1);

	return bytes & ~7u;
}

/* Handovers are frequent: what they need not have costs a tenth of a program that does nothing
 * else. */
static void set_stacks(const struct collect_request *r, struct perf_event_attr *attr,
	const struct sampler_event *event)
{
	bool rules = r->stack != STACK_FP && stacks_registers();

	attr->exclude_callchain_kernel = attr->exclude_kernel || event->wakes;
	attr->context_switch = event->switches;
	if (event->switches && stacks_registers()) { /* they have the arguments of system calls */
		attr->sample_type |= PERF_SAMPLE_REGS_USER;
		attr->sample_regs_user = stacks_registers();
	}
	if (!rules) {
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
		return;
	}
	attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
	attr->sample_regs_user = stacks_registers();
	attr->sample_stack_user = bytes_of_stack(r, event);
	attr->exclude_callchain_user = 1;
	if (!attr->exclude_callchain_kernel)
		attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (event->switches)
		attr->sample_max_stack = KERNEL_FRAMES_OF_WAIT;
}

static void perf_events_of_pmu(const struct collect_request *r, const struct event_code *code,
	struct perf_event_attr *attr)
{
	attr->type = code->type;
	attr->config = code->config;
	attr->config1 = code->config1;
	attr->config2 = code->config2;
	attr->exclude_user = code->levels && !(code->levels & EVENT_USER);
	attr->exclude_kernel = code->levels ? !(code->levels & EVENT_KERNEL) : !r->kernel;
}

static void perf_events_of_kernel(const struct event *event, struct perf_event_attr *attr)
{
	struct event_code code;

	attr->type = PERF_TYPE_SOFTWARE;
	attr->exclude_idle = 1; /* drivers of counters may refuse it */
	if (event && event_encode_for("generic", event->number, &code, NULL) == 0)
		attr->config = code.config;
	if (attr->config == PERF_COUNT_SW_TASK_CLOCK)
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
}

static void perf_events_of_wakes(const struct sampler *s, struct perf_event_attr *attr)
{
	attr->type = PERF_TYPE_TRACEPOINT;
	attr->config = s->wake_format.tracepoint;
	attr->config1 = attr->config2 = 0;
	attr->exclude_user = attr->exclude_kernel = attr->exclude_idle = 0;
	attr->sample_period = 1;
	attr->sample_type |= PERF_SAMPLE_RAW;
}

/* Frames of interpreters are read when a sample wakes us; where samples are rare, or the command is
 * an interpreter. */
static bool perf_events_wake_us(const struct collect_metric *m, const struct sampler *s)
{
	return (m->flags & METRIC_STACKS) && (m->flags & METRIC_CLOCK) &&
	       (m->period >= WAKING_PERIOD || s->python.expected);
}

static struct perf_event_attr perf_events_attr_of(
	const struct collect_request *r, const struct sampler *s, size_t event)
{
	const struct collect_metric *m = perf_events_metric_of(r, event, s);
	struct perf_event_attr attr = {
		.sample_period = m->period,
		.sample_type = s->rings.format.sample_type,
		.sample_id_all = 1,
		.disabled = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
		.watermark = 1,
	};

	if (m->source == COLLECT_PMU)
		perf_events_of_pmu(r, &m->spec.code, &attr);
	else
		perf_events_of_kernel(m->spec.event, &attr);
	if (s->events.data[event].wakes) {
		perf_events_of_wakes(s, &attr);
	} else if (s->events.data[event].switches) {
		attr.config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		attr.sample_period = 1;
	} else if (perf_events_wake_us(m, s)) {
		attr.watermark = 0;
		attr.wakeup_events = 1;
	}
	return attr;
}

/* Mappings, names, beginnings and ends of threads. */
static void record_changes(struct perf_event_attr *attr)
{
	attr->mmap = attr->mmap2 = attr->comm = attr->comm_exec = attr->task = 1;
}

/* As precise as the processor can. Only x86's drivers refuse an unsupported precision. */
static int open_precisely(
	struct sampler *s, struct perf_event_attr *attr, pid_t pid, size_t event, struct error *e)
{
#if defined(__x86_64__)
	for (unsigned precise = 2; precise > 0 && attr->type != PERF_TYPE_SOFTWARE; precise--) {
		attr->precise_ip = precise;
		if (rings_open(&s->rings, attr, pid, (uint32_t)event, e) == 0)
			return 0;
		if (errno == EACCES || errno == EPERM || errno == EMFILE || errno == 0)
			return -1;
	}
	attr->precise_ip = 0;
#endif
	return rings_open(&s->rings, attr, pid, (uint32_t)event, e);
}

/* With the kernel's part if wanted and permitted. */
static int open_event(const struct collect_request *r, struct sampler *s,
	struct perf_event_attr *attr, pid_t pid, size_t event, struct error *e)
{
	for (;;) {
		struct perf_event_attr trial = *attr;

		if (s->events.data[event].stacks)
			set_stacks(r, &trial, &s->events.data[event]);
		if (open_precisely(s, &trial, pid, event, e) == 0) {
			*attr = trial;
			return 0;
		}
		if ((errno != EACCES && errno != EPERM) || attr->exclude_kernel || r->kernel ||
			s->events.data[event].switches || s->events.data[event].wakes)
			return -1;
		attr->exclude_kernel = 1;
	}
}

static int perf_events_refused(const struct collect_request *r, const struct perf_event_attr *attr,
	pid_t pid, struct error *e)
{
	if (errno == 0)
		return -1; /* e has the reason */
	if (r->all && (errno == EACCES || errno == EPERM)) {
		error_set(e, ERR_PERMISSION, "the kernel forbids sampling the whole system");
		return error_hint(e, "as root: sysctl kernel.perf_event_paranoid=0, or setcap "
				     "cap_perfmon+ep ssrun; or sample your own process with -pid");
	}
	if (errno == EMFILE) {
		error_set(e, ERR_SYSTEM,
			"too many open files: each thread needs one per processor and period");
		return error_hint(e, "raise the hard limit (ulimit -Hn)");
	}
	perf_explain(errno, attr, pid > 0 && r->pid ? pid : 0, NULL, e);
	if (r->argv && (e->code == ERR_PERMISSION || e->code == ERR_UNSUPPORTED)) {
		size_t n = strlen(e->hint);

		snprintf(e->hint + n, sizeof(e->hint) - n,
			"%swithout that, -cy_hwc -source model samples cycles of a model",
			n ? "; " : "");
	}
	return -1;
}

int perf_events_note(struct experiment_metric *m, const char *text, struct error *e)
{
	char *copy;

	if (asprintf(&copy, "%s%s%s", m->note, m->note[0] ? "; " : "", text) < 0)
		return error_nomem(e);
	free(m->note);
	m->note = copy;
	return 0;
}

/* The metric, as it was opened. */
static int perf_events_describe(const struct collect_request *r, struct sampler *s, size_t event,
	const struct perf_event_attr *attr, struct error *e)
{
	const struct collect_metric *asked = perf_events_metric_of(r, event, s);
	struct experiment_metric *m = &s->experiment->metrics.data[s->events.data[event].metric];

	if (m->note[0])
		return 0; /* of another thread it was the same */
	if (!attr->precise_ip)
		m->flags |= METRIC_SKID;
	if (!attr->exclude_kernel)
		m->flags |= METRIC_KERNEL;
	if (asked->source == COLLECT_PMU && perf_events_note(m, asked->spec.code.text, e))
		return -1;
	if (asked->source == COLLECT_PMU && asked->spec.code.note &&
		perf_events_note(m, asked->spec.code.note, e))
		return -1;
	if ((asked->flags & METRIC_DATA) && !attr->precise_ip &&
		perf_events_note(m, "not precise: addresses of data may be missing", e))
		return -1;
	if (asked->source == COLLECT_OS && perf_events_note(m, "kernel's clock and events", e))
		return -1;
	return attr->exclude_kernel ? perf_events_note(m, "user mode only", e) : 0;
}

/* It is then not known what lets a thread go on. */
static int no_wakes(struct sampler *s, struct error *e)
{
	s->wake_format.tracepoint = 0;
	return experiment_fact(s->experiment, PAUSE_WAKES_FACT,
		"not seen: this needs CAP_PERFMON, or kernel.perf_event_paranoid=-1", e);
}

/* Events are silent during bursts: so one that counts nothing records changes. */
static bool has_own_changes(const struct collect_request *r)
{
	return collect_wants(r, METRIC_BRANCHES | METRIC_VALUES);
}

/* An event that counts nothing, for the records that attr has. */
static int open_nothing(const struct collect_request *r, struct sampler *s,
	struct perf_event_attr *attr, pid_t pid, bool on_exec, size_t event, struct error *e)
{
	attr->type = PERF_TYPE_SOFTWARE;
	attr->config = PERF_COUNT_SW_DUMMY;
	attr->sample_type = s->rings.format.sample_type;
	attr->sample_id_all = 1;
	attr->disabled = 1;
	attr->exclude_kernel = 1;
	attr->exclude_hv = 1;
	attr->use_clockid = 1;
	attr->clockid = CLOCK_MONOTONIC;
	attr->watermark = 1;
	attr->inherit = pid > 0;
	attr->enable_on_exec = on_exec;
	if (rings_open(&s->rings, attr, pid, (uint32_t)event, e))
		return perf_events_refused(r, attr, pid, e);
	return 0;
}

void perf_events_silence(void *sampler, bool on)
{
	struct sampler *s = sampler;

	for (uint32_t i = 0; i < s->events.count; i++)
		rings_enable_event(&s->rings, i, !on);
}

int perf_events_open(const struct collect_request *r, struct sampler *s, pid_t pid, bool on_exec,
	struct error *e)
{
	struct perf_event_attr changes = {0};

	for (size_t i = 0; i < s->events.count; i++) {
		struct perf_event_attr attr = perf_events_attr_of(r, s, i);

		if (s->events.data[i].wakes && !s->wake_format.tracepoint)
			continue;
		attr.inherit = pid > 0;
		attr.enable_on_exec = on_exec;
		if (i == 0 && !has_own_changes(r))
			record_changes(&attr);
		if (open_event(r, s, &attr, pid, i, e) == 0) {
			if (perf_events_describe(r, s, i, &attr, e))
				return -1;
			continue;
		}
		if (s->events.data[i].switches && (errno == EACCES || errno == EPERM)) {
			if (open_nothing(r, s, &(struct perf_event_attr){.context_switch = 1}, pid,
				    on_exec, i, e))
				return -1;
			continue; /* time off the processor is known, but not its place */
		}
		if (s->events.data[i].wakes) {
			if (no_wakes(s, e))
				return -1;
			continue;
		}
		return perf_events_refused(r, &attr, pid, e);
	}
	if (!has_own_changes(r))
		return 0;
	record_changes(&changes);
	return open_nothing(r, s, &changes, pid, on_exec, s->events.count, e);
}
