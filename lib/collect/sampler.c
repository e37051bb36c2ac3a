/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/sampler.h"

#include <string.h>

#include "base/clock.h"
#include "collect/collect_symbols.h"
#include "collect/data_samples.h"
#include "collect/jitdump.h"
#include "experiment/branches.h"
#include "experiment/time_slices.h"

#define LATENCY_ROWS 12    /* of a timed load: times, and levels */
#define ROW_COST     200.0 /* ns, of a value at the end, before it was measured */

/* A process ends or calls exec: its generated code must be named now. */
static int sampler_on_leaving(void *context, struct process *p)
{
	struct sampler *s = context;
	long image;

	if (!p->jitted)
		return 0;
	p->jitted = false;
	image = images_anonymous(&s->images, p->pid);
	if (image >= 0)
		image = images_register(&s->images, (size_t)image, s->experiment);
	if (image < 0 || symbols_jit(s->experiment, (uint32_t)image, p->pid))
		return -1;
	for (size_t i = 0; i < p->mappings.count; i++) {
		const char *path = s->images.list.data[p->mappings.data[i].image].identity.path;

		if (jitdump_is_path(path) &&
			symbols_jitdump_file(s->experiment, (uint32_t)image, p->pid, path))
			return -1;
	}
	return 0;
}

static bool sampler_counts(const struct sampler *s)
{
	return !s->phases.suspended && !s->phases.ended;
}

/* Of what was sampled up to now, nothing counts: ssrt_buffer_clear. Values and branches stay. */
static void sampler_clear(struct sampler *s)
{
	struct experiment *x = s->experiment;

	for (size_t i = 0; i < x->metrics.count; i++) {
		x->metrics.data[i].reasons[EXPERIMENT_NO_MAPPING] = 0;
		x->metrics.data[i].reasons[EXPERIMENT_NO_STACK] = 0;
	}
	if (s->blocking)
		blocked_clear(&s->blocked);
	table_fini(&x->samples);
	table_fini(&x->slices);
	table_fini(&x->places);
	table_fini(&x->touches);
}

/* Time off the processor belongs to the phase in which it passed. */
static int on_changing(void *context, const struct phase_point *point)
{
	struct sampler *s = context;

	if (s->blocking && !sampler_counts(s))
		blocked_forget(&s->blocked, point->time);
	else if (s->blocking && blocked_settle(&s->blocked, s->phases.current, point->time))
		return -1;
	if (point->kind == POINT_CLEAR)
		sampler_clear(s);
	return 0;
}

static int sampler_on_exit(struct sampler *s, const struct record *r)
{
	const struct process *p;

	if (r->tid == r->pid && spaces_knows(&s->spaces, r->pid)) {
		p = spaces_process(&s->spaces, r->pid, r->time);
		if (!p)
			return -1;
		blocked_child_ended(&s->blocked,
			s->spaces.experiment->processes.data[p->index].ppid, r->pid, r->time);
	}
	return blocked_exit(&s->blocked, r->tid, s->phases.current, r->time, sampler_counts(s));
}

static int sampler_on_fork(struct sampler *s, const struct record *r)
{
	struct blocked_at at = {.pid = r->pid, .tid = r->tid, .time = r->time};
	struct process *p = spaces_process(&s->spaces, r->pid, r->time);
	long thread = p ? spaces_thread(&s->spaces, p, r->tid) : -1;

	if (thread < 0)
		return -1;
	at.thread = (uint32_t)thread;
	return blocked_begins(&s->blocked, &at);
}

static int sampler_apply(struct sampler *s, const struct record *r);

/* Records of stops come from the branch records, in their order. */
static int sampler_on_stop(void *context, const struct record *r)
{
	struct sampler *s = context;

	if (phases_advance(&s->phases, r->time) || value_records_advance(&s->values, r->time))
		return -1;
	return sampler_apply(s, r);
}

static void init(struct sampler *s, struct experiment *x)
{
	s->experiment = x;
	s->row_cost = ROW_COST;
	spaces_init(&s->spaces, x, &s->images);
	s->branches.experiment = x;
	s->branches.spaces = &s->spaces;
	s->branches.take = sampler_on_stop;
	s->branches.context = s;
	s->values.experiment = x;
	s->values.spaces = &s->spaces;
	s->latencies.experiment = x;
	s->latencies.spaces = &s->spaces;
	s->branches.latencies = &s->latencies;
	stacks_init(&s->stacks, &s->spaces);
	phases_init(&s->phases, x, &s->spaces);
	s->phases.changing = on_changing;
	s->phases.context = s;
}

void sampler_init(struct sampler *s, struct experiment *x, const char *archive)
{
	memset(s, 0, sizeof(*s));
	images_init(&s->images, archive);
	init(s, x);
	python_init(&s->python, &s->spaces);
	s->stacks.python = &s->python;
	s->spaces.leaving = sampler_on_leaving;
	s->spaces.context = s;
}

void sampler_init_past(
	struct sampler *s, struct experiment *x, const struct image_search *past, bool same_kernel)
{
	static const struct image_search nowhere;

	memset(s, 0, sizeof(*s));
	images_init(&s->images, NULL);
	s->images.past = past ? past : &nowhere;
	s->images.blind = !past;
	s->images.same_kernel = same_kernel;
	init(s, x);
}

static const struct sampler_event *sampler_event_of(const struct sampler *s, const struct record *r)
{
	return &s->events.data[r->event < s->events.count ? r->event : 0];
}

static struct experiment_metric *sampler_metric_of(struct sampler *s, const struct record *r)
{
	return &s->experiment->metrics.data[sampler_event_of(s, r)->metric];
}

/* Recordings of perf may have no times. */
static int sampler_add(struct sampler *s, struct experiment_sample sample, uint64_t time)
{
	if (!time)
		return experiment_row(s->experiment, EXPERIMENT_SAMPLES, &sample) < 0 ? -1 : 0;
	return experiment_add_at(s->experiment, &sample, spaces_since(&s->spaces, time));
}

/* A thread lets another go on. */
static int sampler_on_wake(
	struct sampler *s, const struct record *r, uint32_t thread, uint32_t node)
{
	struct blocked_wake wake = {WAKE_THREAD, thread, node};
	bool interrupt;
	pid_t tid;

	s->units += RECORDED_WAKE;
	if (wake_parse(&s->wake_format, &r->sample, &tid, &interrupt))
		return 0;
	if (interrupt)
		wake = (struct blocked_wake){.kind = WAKE_INTERRUPT};
	blocked_woken(&s->blocked, tid, r->time, &wake);
	return 0;
}

static int sampler_on_sample(struct sampler *s, const struct record *record)
{
	struct record own = *record, *r = &own;
	const struct sampler_event *event = sampler_event_of(s, r);
	struct experiment_metric *metric = &s->experiment->metrics.data[event->metric];
	struct process *p;
	struct stack_node n;
	long thread;

	/* A wait that begins while nothing counts may go on when something does. */
	if (!sampler_counts(s) && !event->switches && !event->wakes)
		return 0;
	if (s->branches.branches && branch_records_quiet(&s->branches, r->pid, r->time))
		return experiment_add_tally(s->experiment, TALLY_SAMPLES_LEFT_OUT, 1);
	own.sample.ip = branch_records_origin(&s->branches, r->pid, r->sample.ip);
	p = spaces_process(&s->spaces, r->pid, r->time);
	thread = p ? spaces_thread(&s->spaces, p, r->tid) : -1;
	thread = spaces_thread_on(&s->spaces, thread, r->sample.cpu);
	if (thread < 0)
		return -1;
	n = event->stacks ? stacks_path(&s->stacks, p, r) : stacks_flat(&s->stacks, p, r);
	if (n.node < 0 || branch_records_stack(&s->branches, p, r))
		return -1;
	if (event->wakes)
		return sampler_on_wake(s, r, (uint32_t)thread, (uint32_t)n.node);
	if (event->switches)
		return blocked_out(&s->blocked,
			&(struct blocked_at){
				r->pid, r->tid, (uint32_t)thread, (uint32_t)n.node, r->time, true},
			&r->sample);
	metric->reasons[EXPERIMENT_NO_MAPPING] += n.unmapped;
	metric->reasons[EXPERIMENT_NO_STACK] += n.broken;
	s->samples++;
	if (event->data &&
		data_sample(&s->spaces, p, event->metric, (uint32_t)n.node, r->sample.address))
		return -1;
	return sampler_add(s,
		(struct experiment_sample){.key = {event->metric, (uint32_t)thread,
						   s->phases.current, (uint32_t)n.node},
			.count = 1},
		r->time);
}

/* A thread leaves the processor or comes back. */
static int on_turn(struct sampler *s, const struct record *r)
{
	struct blocked_at at = {.pid = r->pid, .tid = r->tid, .time = r->time};
	struct process *p;
	long thread, node;

	if (!s->blocking || r->pid <= 0)
		return 0;
	if (!r->turn.out && sampler_counts(s))
		return blocked_in(&s->blocked, r->tid, s->phases.current, r->time);
	if (!r->turn.out) {
		at.time = 0;
		at.known = true;
		return blocked_out(&s->blocked, &at, NULL);
	}
	s->units += RECORDED_WAIT;
	p = spaces_process(&s->spaces, r->pid, r->time);
	thread = p ? spaces_thread(&s->spaces, p, r->tid) : -1;
	node = experiment_node(s->experiment, EXPERIMENT_ROOT, 0, 0);
	if (thread < 0 || node < 0)
		return -1;
	at.thread = (uint32_t)thread;
	at.node = (uint32_t)node;
	if (blocked_out(&s->blocked, &at, NULL))
		return -1;
	return r->turn.preempted ? blocked_preempted(&s->blocked, r->tid) : 0;
}

static int sampler_apply(struct sampler *s, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return sampler_on_sample(s, r);
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return on_turn(s, r);
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		sampler_metric_of(s, r)->lost += r->lost;
		s->units += r->lost * RECORDED_WAIT; /* there are too many of some kind */
		return 0;
	case PERF_RECORD_THROTTLE:
		sampler_metric_of(s, r)->throttled++;
		return 0;
	case PERF_RECORD_FORK:
		return spaces_record(&s->spaces, r) || (s->blocking && sampler_on_fork(s, r)) ? -1
											      : 0;
	case PERF_RECORD_EXIT:
		return (s->blocking && sampler_on_exit(s, r)) ? -1 : spaces_record(&s->spaces, r);
	default:
		return spaces_record(&s->spaces, r);
	}
}

/* What the tracer has recorded before that. */
static int advance_traced(struct sampler *s, uint64_t time)
{
	uint64_t began;
	int rc;

	if (!branch_records_due(&s->branches, time) && !value_records_due(&s->values, time))
		return 0;
	began = clock_of(CLOCK_THREAD_CPUTIME_ID);
	rc = branch_records_advance(&s->branches, time) || value_records_advance(&s->values, time)
		     ? -1
		     : 0;
	s->on_traced += clock_of(CLOCK_THREAD_CPUTIME_ID) - began;
	return rc;
}

int sampler_take(struct sampler *s, const struct record *r)
{
	if (phases_advance(&s->phases, r->time) || advance_traced(s, r->time))
		return -1;
	return sampler_apply(s, r);
}

static int sampler_on_record(void *context, const struct record *r)
{
	return sampler_take(context, r);
}

int sampler_drain(struct sampler *s, uint64_t limit, struct error *e)
{
	uint64_t known, began = clock_of(CLOCK_THREAD_CPUTIME_ID);

	if (phases_read(&s->phases) || branch_records_take(&s->branches, &known) ||
		value_records_take(&s->values))
		return error_nomem(e);
	s->on_traced += clock_of(CLOCK_THREAD_CPUTIME_ID) - began;
	if (limit > known)
		limit = known;
	if (rings_drain(&s->rings, limit, sampler_on_record, s) || advance_traced(s, limit))
		return error_nomem(e);
	return 0;
}

/* About what sampler_put_values puts. */
static double value_rows(const struct sampler *s)
{
	return (double)(s->values.sites.sites.count + s->values.sites.listed +
			s->latencies.latencies.sites.count * LATENCY_ROWS);
}

void sampler_wrote_values(struct sampler *s, uint64_t cost)
{
	if (value_rows(s) > 0)
		s->row_cost = (double)cost / value_rows(s);
}

/* Values must be written, which is part of what they may cost. */
static void reserve_end(const struct sampler *s)
{
	double rows = value_rows(s);

	if (s->branches.branches && rows > 0)
		branches_reserve(s->branches.branches, (uint64_t)(s->row_cost * rows));
}

void sampler_turn(struct sampler *s)
{
	s->turn.began = clock_of(CLOCK_THREAD_CPUTIME_ID);
	s->turn.traced = s->on_traced;
}

/* What of a turn was not for the tracer was for samples of the clock. */
static void count_clock(struct sampler *s)
{
	uint64_t used = clock_of(CLOCK_THREAD_CPUTIME_ID) - s->turn.began,
		 traced = s->on_traced - s->turn.traced;

	s->experiment->cost_of_clock += used > traced ? used - traced : 0;
	branches_beside(s->branches.branches, s->experiment->cost_of_clock);
}

/* Records wait in rings for a moment; a window is to end before they are read. */
static uint64_t units_made(struct sampler *s)
{
	uint64_t unread = s->unit_bytes ? rings_unread(&s->rings) / s->unit_bytes : 0,
		 units = s->units + unread;

	units = units > s->unread ? units - s->unread : 0;
	s->unread = unread;
	s->units = 0;
	return units;
}

static int charge_gap(struct sampler *s)
{
	return blocked_gap(&s->blocked, s->phases.current, sampler_counts(s));
}

static void waits_enable(struct sampler *s, bool on)
{
	for (uint32_t i = 0; i < s->events.count; i++)
		if (s->events.data[i].wakes || (s->events.data[i].switches && s->blocked.gaps))
			rings_enable_event(&s->rings, i, on);
}

/* The kernel records waits and wakes, or none, from now on. */
static int turn_waits(struct sampler *s)
{
	struct blocked *b = &s->blocked;
	uint64_t now = clock_ns();
	int on = wait_windows_turn(&b->windows, now, units_made(s), s->turning);

	if (on < 0)
		return b->windows.off ? charge_gap(s) : 0;
	if (!on)
		b->gaps |= blocked_gap_begins(b);
	waits_enable(s, on > 0);
	if (wait_windows_turned(&b->windows, now, clock_ns(), on > 0) || (on && charge_gap(s)))
		return -1;
	s->turning = clock_ns() - now;
	return 0;
}

int sampler_watch(struct sampler *s, uint64_t limit, struct error *e)
{
	if (python_snapshot(&s->python))
		return error_nomem(e);
	if (sampler_drain(s, limit, e))
		return -1;
	reserve_end(s);
	if (s->branches.branches)
		count_clock(s);
	return s->blocking && (blocked_look(&s->blocked) || turn_waits(s)) ? error_nomem(e) : 0;
}

/* Of the kernel and the vdso, which exist to the end. */
static int name_the_rest(struct sampler *s)
{
	for (size_t i = 0; i < s->images.list.count; i++) {
		const struct collect_image *image = &s->images.list.data[i];
		uint32_t index = (uint32_t)image->index;

		if (image->index < 0)
			continue;
		if (image->identity.kind == EXPERIMENT_IMAGE_KERNEL && !s->images.past &&
			symbols_kernel(s->experiment, index))
			return -1;
		if (image->identity.kind == EXPERIMENT_IMAGE_VDSO &&
			symbols_vdso(s->experiment, index, images_open(&s->images, i)))
			return -1;
	}
	return 0;
}

int sampler_put_values(struct sampler *s)
{
	if (!s->values.values && !s->values.lists && !s->latencies.wanted)
		return 0;
	return experiment_values_renew(s->experiment) || value_records_put(&s->values) ||
			       latency_records_put(&s->latencies)
		       ? -1
		       : 0;
}

int sampler_end(struct sampler *s, uint64_t time, struct error *e)
{
	struct experiment_metric *metric;

	if (phases_advance(&s->phases, time))
		return error_nomem(e);
	if (s->blocking) {
		s->blocked.wakes = s->wake_format.tracepoint != 0;
		if (s->blocked.windows.off && charge_gap(s))
			return error_nomem(e);
		if (sampler_counts(s) && blocked_settle(&s->blocked, s->phases.current, time))
			return error_nomem(e);
		metric = &s->experiment->metrics.data[s->blocked.metric];
		metric->reasons[EXPERIMENT_NO_STACK] += s->blocked.unknown;
	}
	if (spaces_end(&s->spaces) || name_the_rest(s) || sampler_put_values(s) ||
		(s->blocking && blocked_end(&s->blocked, time)) || python_say(&s->python))
		return error_nomem(e);
	return 0;
}

void sampler_fini(struct sampler *s)
{
	branch_records_fini(&s->branches);
	python_fini(&s->python);
	value_records_fini(&s->values);
	latency_records_fini(&s->latencies);
	stacks_fini(&s->stacks);
	phases_fini(&s->phases);
	blocked_fini(&s->blocked);
	spaces_fini(&s->spaces);
	images_fini(&s->images);
	rings_fini(&s->rings);
	vec_fini(&s->events);
}
