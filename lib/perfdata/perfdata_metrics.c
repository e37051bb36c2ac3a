/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Converts perf's events to metrics of an experiment. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/strbuf.h"
#include "events/event.h"
#include "events/numbers.h"
#include "perfdata/private.h"

/* Units of a sample: more is nonsense, and sums must not be beyond all numbers. */
#define LONGEST 1e18

static bool is_software(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE || attr->type == PERF_TYPE_TRACEPOINT ||
	       attr->type == PERF_TYPE_BREAKPOINT;
}

static bool is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
		       attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* The row of the event table that means the same on every processor; NULL: there is none. */
static const struct event *metrics_row_of(const struct perf_event_attr *attr)
{
	size_t count;
	const struct event *rows = event_table(&count);
	struct event_code code;

	if (is_clock(attr))
		return event_by_number(EV_TASK_CLOCK);
	if (attr->type != PERF_TYPE_SOFTWARE && attr->type != PERF_TYPE_HARDWARE &&
		attr->type != PERF_TYPE_HW_CACHE)
		return NULL;
	for (size_t i = 0; i < count; i++)
		if (event_encode_for("generic", rows[i].number, &code, NULL) == 0 &&
			code.type == attr->type && code.config == attr->config)
			return &rows[i];
	return NULL;
}

static const char *metrics_name_of(const struct perfdata_event *event, char *room, size_t size)
{
	if (event->name)
		return event->name;
	if (is_clock(&event->attr))
		return event->attr.config == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "task-clock";
	snprintf(room, size, "event %u:0x%" PRIx64, event->attr.type, (uint64_t)event->attr.config);
	return room;
}

/* Units per sample: the requested period or, if perf let the kernel choose, the mean. */
static uint64_t metrics_period_of(const struct perfdata_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	double mean = event->samples ? event->sum / (double)event->samples : 0;

	if (mean >= 1)
		return mean < LONGEST ? (uint64_t)(mean + 0.5) : (uint64_t)LONGEST;
	if (!attr->freq)
		return attr->sample_period ? attr->sample_period : 1;
	return is_clock(attr) && attr->sample_freq ? 1000000000u / attr->sample_freq : 1;
}

static bool is_guess(const struct perfdata_event *event)
{
	return event->samples &&
	       (event->least != event->most ||
		       (event->attr.freq && event->sum < 1 && !is_clock(&event->attr)));
}

static char *metrics_note_of(const struct perfdata_event *event)
{
	struct strbuf note = {0};
	char room[64];

	strbuf_printf(&note, "perf record: %s", metrics_name_of(event, room, sizeof(room)));
	if (event->attr.exclude_kernel)
		strbuf_puts(&note, "; user mode only");
	if (event->attr.exclude_user)
		strbuf_puts(&note, "; kernel mode only");
	if (event->least != event->most)
		strbuf_printf(&note,
			"; periods from %" PRIu64 " to %" PRIu64
			", each sample counts as their mean (perf record -c gives all one)",
			event->least, event->most);
	return strbuf_take(&note);
}

static uint32_t flags_of(const struct perfdata_event *event)
{
	const struct perf_event_attr *attr = &event->attr;
	uint32_t flags = 0;

	if (event->stacked)
		flags |= METRIC_STACKS;
	if (is_clock(attr))
		flags |= METRIC_CLOCK;
	if (is_clock(attr) || (!is_software(attr) && !attr->precise_ip))
		flags |= METRIC_SKID;
	if (!attr->exclude_kernel)
		flags |= METRIC_KERNEL;
	return flags;
}

/* Fills metric; the caller frees its texts. */
static int metrics_describe(const struct perfdata_event *event, const struct event *row, bool alone,
	struct experiment_metric *metric)
{
	bool clock = is_clock(&event->attr);
	char room[64];
	const char *name = metrics_name_of(event, room, sizeof(room));

	metric->event = row ? row->number : -1;
	metric->name = strdup(clock ? "CPU time" : row ? row->name : name);
	metric->short_name = strdup(!alone || !row ? name : clock ? "time" : row->short_name);
	metric->unit = strdup(clock ? "ns" : row ? row->unit : "events");
	metric->source = strdup(is_software(&event->attr) ? "os" : "pmu");
	metric->note = metrics_note_of(event);
	metric->label = is_guess(event) ? LABEL_ESTIMATED : LABEL_MEASURED;
	metric->flags = flags_of(event);
	metric->period = metrics_period_of(event);
	/* Both kinds of records report the same loss. */
	metric->lost = event->lost > event->lost_samples ? event->lost : event->lost_samples;
	if (event->least != event->most && event->sum < LONGEST)
		metric->total = (uint64_t)event->sum;
	return metric->name && metric->short_name && metric->unit && metric->source && metric->note
		       ? 0
		       : -1;
}

static void free_texts(struct experiment_metric *m)
{
	free(m->name);
	free(m->short_name);
	free(m->unit);
	free(m->source);
	free(m->note);
	m->name = m->short_name = m->unit = m->source = m->note = NULL;
}

/* What each event means, and how many with samples mean the same as a row of the event table. */
struct meanings {
	const struct event **rows; /* of events */
	uint32_t *events;          /* of rows */
};

static int meanings_find(struct meanings *m, const struct perfdata *p)
{
	size_t count;
	const struct event *table = event_table(&count);

	m->rows = calloc(p->events.count + 1, sizeof(*m->rows));
	m->events = calloc(count + 1, sizeof(*m->events));
	if (!m->rows || !m->events)
		return -1;
	for (size_t i = 0; i < p->events.count; i++) {
		m->rows[i] = metrics_row_of(&p->events.data[i].attr);
		if (m->rows[i] && p->events.data[i].samples)
			m->events[m->rows[i] - table]++;
	}
	return 0;
}

/* Does no other event that has samples mean the same? */
static bool is_alone(const struct meanings *m, const struct perfdata *p, size_t event)
{
	size_t count;
	const struct event *table = event_table(&count), *row = m->rows[event];

	return !row || m->events[row - table] <= (p->events.data[event].samples > 0);
}

static void meanings_fini(struct meanings *m)
{
	free(m->rows);
	free(m->events);
}

/* Describes the metrics of events with samples; place: their new numbers. */
static int metrics_keep(const struct perfdata *p, struct experiment *x,
	const struct meanings *means, uint32_t *place)
{
	size_t kept = 0;

	for (size_t i = 0; i < x->metrics.count; i++) {
		struct experiment_metric *m = &x->metrics.data[i];
		bool any = p->events.data[i].samples > 0;

		/* The first metric is kept even without samples, if nothing has any. */
		free_texts(m);
		if (!any && (i > 0 || x->samples.count))
			continue;
		place[i] = (uint32_t)kept;
		if (metrics_describe(&p->events.data[i], means->rows[i], is_alone(means, p, i), m))
			return -1;
		if (kept != i) {
			x->metrics.data[kept] = *m;
			memset(m, 0, sizeof(*m));
		}
		kept++;
	}
	x->metrics.count = kept;
	return 0;
}

int perfdata_metrics(const struct perfdata *p, struct experiment *x, struct error *e)
{
	uint32_t *place = calloc(p->events.count + 1, sizeof(*place));
	struct meanings means = {0};
	int rc = !place || meanings_find(&means, p) || metrics_keep(p, x, &means, place);

	for (size_t i = 0; !rc && i < x->samples.count; i++) {
		struct experiment_sample *s = table_at(&x->samples, i);

		s->key.metric = place[s->key.metric];
	}
	table_changed(&x->samples);
	meanings_fini(&means);
	free(place);
	return rc ? error_nomem(e) : 0;
}

int perfdata_type(const struct perfdata *p, struct experiment *x, struct error *e)
{
	enum { NAMES = 3 };
	struct strbuf type = {0};
	size_t named = 0, more = 0;
	char room[64], *text;

	strbuf_puts(&type, "perf");
	for (size_t i = 0; i < p->events.count; i++) {
		const struct perfdata_event *event = &p->events.data[i];

		if (!event->samples)
			continue;
		if (named++ < NAMES)
			strbuf_printf(&type, "%c%s", named == 1 ? '-' : '+',
				metrics_name_of(event, room, sizeof(room)));
		else
			more++;
	}
	if (more)
		strbuf_printf(&type, "+%zu", more);
	text = strbuf_take(&type);
	if (!text)
		return error_nomem(e);
	for (char *c = text; *c; c++) /* it separates types */
		*c = *c == ',' ? '.' : *c;
	free(x->type);
	x->type = text;
	return 0;
}
