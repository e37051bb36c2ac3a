/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The modern calls. A handle has its events, each assigned to a counter when it is added; the
 * counters' sessions are opened together at the first start.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "perfex/private.h"

static const struct counter *const session_counters[] = {
	&counter_model, &counter_self, &counter_os, &counter_pmu};
enum { COUNTERS = sizeof(session_counters) / sizeof(session_counters[0]) };

struct added {
	struct event_spec spec;
	const struct counter *counter;
};

/* The events of one counter, in the order in which they were added. */
struct part {
	void *session; /* NULL: it has no events */
	struct event_spec *specs;
	size_t *index; /* in p->events */
	struct count *counts;
	size_t count;
};

struct perfex {
	int scope;
	bool opened, running;
	pid_t thread; /* that started; PERFEX_THREAD */
	VEC(struct added) events;
	struct part parts[COUNTERS];
};

_Static_assert((int)PERFEX_NONE == LABEL_NONE && (int)PERFEX_MEASURED == LABEL_MEASURED &&
		       (int)PERFEX_SCALED == LABEL_SCALED && (int)PERFEX_MODEL == LABEL_MODEL &&
		       (int)PERFEX_ESTIMATED == LABEL_ESTIMATED,
	"labels are the same inside and outside");
_Static_assert(
	(int)PERFEX_ERR_NOMEM == ERR_NOMEM && (int)PERFEX_ERR_SYSTEM == ERR_SYSTEM &&
		(int)PERFEX_ERR_PARSE == ERR_PARSE && (int)PERFEX_ERR_NOT_FOUND == ERR_NOT_FOUND &&
		(int)PERFEX_ERR_UNSUPPORTED == ERR_UNSUPPORTED &&
		(int)PERFEX_ERR_PERMISSION == ERR_PERMISSION && (int)PERFEX_ERR_BUSY == ERR_BUSY &&
		(int)PERFEX_ERR_CONFLICT == ERR_CONFLICT && (int)PERFEX_ERR_RANGE == ERR_RANGE,
	"error codes are the same inside and outside");

/* Explains why the processor does not count it, with two remedies: its own and the model. */
static void explain_pmu(const struct event_spec *spec, struct error *e)
{
	static const char model[] = "run the program under `perfex -source model`, which counts it "
				    "on a modelled processor";
	struct error why = *e;

	error_set(e, why.code, "%s: %.380s", spec->name, why.message);
	e->errnum = why.errnum;
	if (!spec->event || !(spec->event->flags & EVENT_MODEL))
		error_hint(e, "%s", why.hint);
	else if ((why.code == ERR_PERMISSION || why.code == ERR_BUSY) && why.hint[0])
		error_hint(e, "%.300s; or %s", why.hint, model);
	else
		error_hint(e, "%s", model);
}

/* What counts this event here.  NULL with the reason, and what to do. */
static const struct counter *choose_counter(int scope, struct event_spec *spec, struct error *e)
{
	bool os_event = spec->event && (spec->event->flags & EVENT_OS);

	if (counter_model_present())
		return counter_model.accepts(&counter_model, scope, spec, e) ? NULL
									     : &counter_model;
	if (counter_self.accepts(&counter_self, scope, spec, NULL) == 0)
		return &counter_self;
	if (counter_os.accepts(&counter_os, scope, spec, os_event ? e : NULL) == 0)
		return &counter_os;
	if (os_event)
		return NULL;
	if (counter_pmu.accepts(&counter_pmu, scope, spec, e) == 0)
		return &counter_pmu;
	if (e)
		explain_pmu(spec, e);
	return NULL;
}

struct perfex *session_open(int scope, struct error *e)
{
	struct perfex *p;

	if (scope != PERFEX_THREAD && scope != PERFEX_PROCESS) {
		error_set(e, ERR_RANGE, "invalid scope %d: use PERFEX_THREAD or PERFEX_PROCESS",
			scope);
		return NULL;
	}
	p = calloc(1, sizeof(*p));
	if (!p) {
		error_nomem(e);
		return NULL;
	}
	p->scope = scope;
	return p;
}

static int add_spec(struct perfex *p, const struct event_spec *spec, struct error *e)
{
	struct added *added = vec_push(&p->events);

	if (!added)
		return error_nomem(e);
	added->spec = *spec;
	added->counter = choose_counter(p->scope, &added->spec, e);
	if (!added->counter) {
		p->events.count--;
		return -1;
	}
	return (int)p->events.count - 1;
}

static int session_add(struct perfex *p, const char *text, struct error *e)
{
	struct event_spec spec;

	if (p->opened) {
		error_set(e, ERR_CONFLICT, "cannot add '%.100s': counting has already been started",
			text);
		return error_hint(e, "add all events before perfex_start, or open a second handle");
	}
	memset(&spec, 0, sizeof(spec));
	return event_parse(text, &spec, e) ? -1 : add_spec(p, &spec, e);
}

int session_add_number(struct perfex *p, int number, struct error *e)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", number);
	return session_add(p, text, e);
}

static int open_part(struct perfex *p, int which, struct error *e)
{
	struct part *part = &p->parts[which];
	size_t n = p->events.count;

	for (size_t i = 0; i < n; i++)
		part->count += p->events.data[i].counter == session_counters[which];
	if (part->count == 0)
		return 0;
	part->specs = calloc(part->count, sizeof(*part->specs));
	part->index = calloc(part->count, sizeof(*part->index));
	part->counts = calloc(part->count, sizeof(*part->counts));
	if (!part->specs || !part->index || !part->counts)
		return error_nomem(e);
	for (size_t i = 0, to = 0; i < n; i++) {
		if (p->events.data[i].counter != session_counters[which])
			continue;
		part->specs[to] = p->events.data[i].spec;
		part->index[to++] = i;
	}
	part->session = session_counters[which]->ops->open(
		session_counters[which], p->scope, part->specs, part->count, e);
	return part->session ? 0 : -1;
}

static void close_parts(struct perfex *p)
{
	for (int i = 0; i < COUNTERS; i++) {
		struct part *part = &p->parts[i];

		if (part->session)
			session_counters[i]->ops->close(part->session);
		free(part->specs);
		free(part->index);
		free(part->counts);
		memset(part, 0, sizeof(*part));
	}
	p->opened = false;
}

static int open_parts(struct perfex *p, struct error *e)
{
	if (p->events.count == 0) {
		error_set(e, ERR_CONFLICT, "there is nothing to count: no event was added");
		return error_hint(e, "call perfex_add before perfex_start");
	}
	for (int i = 0; i < COUNTERS; i++)
		if (open_part(p, i, e)) {
			close_parts(p);
			return -1;
		}
	p->opened = true;
	return 0;
}

/* The dearest counters are switched last on and first off, so that they count little of our own
 * doings. */
static int switch_parts(struct perfex *p, bool on, struct error *e)
{
	for (int i = 0; i < COUNTERS; i++) {
		int which = on ? i : COUNTERS - 1 - i;

		if (p->parts[which].session &&
			session_counters[which]->ops->enable(p->parts[which].session, on, e))
			return -1;
	}
	p->running = on;
	return 0;
}

/* Counts that a thread reads about itself are not available to other threads. */
static int check_thread(const struct perfex *p, struct error *e)
{
	if (p->scope != PERFEX_THREAD || p->thread == gettid())
		return 0;
	error_set(e, ERR_CONFLICT, "another thread started the counting, and counts only itself");
	return error_hint(e, "start, read and stop in one thread, or open with PERFEX_PROCESS");
}

int session_start(struct perfex *p, struct error *e)
{
	if (p->running)
		return error_set(e, ERR_CONFLICT, "counting is already started");
	if (p->opened ? check_thread(p, e) : open_parts(p, e))
		return -1;
	p->thread = gettid();
	return switch_parts(p, true, e);
}

int session_stop(struct perfex *p, struct error *e)
{
	if (!p->running)
		return error_set(e, ERR_CONFLICT, "counting is not started");
	if (check_thread(p, e))
		return -1;
	return switch_parts(p, false, e);
}

static void export_value(const struct count *c, struct perfex_value *v)
{
	memset(v, 0, sizeof(*v));
	v->label = (int)c->quantity.label;
	if (c->quantity.label == LABEL_NONE) {
		v->value = v->low = v->high = NAN;
		snprintf(v->why, sizeof(v->why), "%s", c->why);
		return;
	}
	v->value = c->quantity.value;
	v->low = c->quantity.low;
	v->high = c->quantity.high;
}

int session_read(struct perfex *p, struct perfex_value *values, int count, struct error *e)
{
	int stored = 0;

	if (!p->opened) {
		error_set(e, ERR_CONFLICT, "there is nothing to read: counting was never started");
		return error_hint(e, "call perfex_start first");
	}
	if (p->running && check_thread(p, e))
		return -1;
	for (int i = COUNTERS - 1; i >= 0; i--) {
		struct part *part = &p->parts[i];

		if (!part->session)
			continue;
		memset(part->counts, 0, part->count * sizeof(*part->counts));
		if (session_counters[i]->ops->read(part->session, part->counts, e))
			return -1;
		for (size_t k = 0; k < part->count; k++) {
			if (part->index[k] >= (size_t)(count < 0 ? 0 : count))
				continue;
			export_value(&part->counts[k], &values[part->index[k]]);
			stored++;
		}
	}
	return stored;
}

/* ---- the public face: the same with errors of the public kind ---- */

void perfex_export_error(const struct error *e, struct perfex_error *out)
{
	if (!out)
		return;
	memset(out, 0, sizeof(*out));
	out->code = (int)e->code;
	out->errnum = e->errnum;
	snprintf(out->message, sizeof(out->message), "%s", e->message);
	snprintf(out->hint, sizeof(out->hint), "%s", e->hint);
}

/* A call without a handle is the caller's slip, and an error like any other. */
static int no_handle(const struct perfex *p, struct error *e)
{
	return p ? 0
		 : error_set(e, ERR_CONFLICT, "no handle: perfex_open was not called or failed");
}

struct perfex *perfex_open(int scope, struct perfex_error *error)
{
	struct error e = {0};
	struct perfex *p = session_open(scope, &e);

	perfex_export_error(&e, error);
	return p;
}

int perfex_add(struct perfex *p, const char *event, struct perfex_error *error)
{
	struct error e = {0};
	int status = no_handle(p, &e);

	if (status == 0)
		status = event ? session_add(p, event, &e)
			       : error_set(&e, ERR_PARSE, "no event was given");
	if (status >= 0)
		memset(&e, 0, sizeof(e));
	perfex_export_error(&e, error);
	return status;
}

int perfex_start(struct perfex *p, struct perfex_error *error)
{
	struct error e = {0};
	int status = no_handle(p, &e) ? -1 : session_start(p, &e);

	perfex_export_error(&e, error);
	return status;
}

int perfex_read(
	struct perfex *p, struct perfex_value *values, int count, struct perfex_error *error)
{
	struct error e = {0};
	int status = no_handle(p, &e) ? -1 : session_read(p, values, count, &e);

	perfex_export_error(&e, error);
	return status;
}

int perfex_stop(struct perfex *p, struct perfex_error *error)
{
	struct error e = {0};
	int status = no_handle(p, &e) ? -1 : session_stop(p, &e);

	perfex_export_error(&e, error);
	return status;
}

void perfex_close(struct perfex *p)
{
	if (!p)
		return;
	close_parts(p);
	vec_fini(&p->events);
	free(p);
}

static const struct added *added_at(const struct perfex *p, int index)
{
	return p && index >= 0 && (size_t)index < p->events.count ? &p->events.data[index] : NULL;
}

const char *perfex_event_name(const struct perfex *p, int index)
{
	const struct added *added = added_at(p, index);

	return added ? added->spec.name : NULL;
}

const char *perfex_event_source(const struct perfex *p, int index)
{
	const struct added *added = added_at(p, index);

	return added ? added->counter->source : NULL;
}

const char *perfex_label_name(int label)
{
	return label > 0 && label < LABEL_COUNT ? label_name((enum label)label) : "";
}
