/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pmu and os sources, attached to the calling thread or to its process. */
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perfex/private.h"

struct session {
	const struct source_ops *ops;
	void *inner;
	bool attached;
	int scope;
	struct reading reading;
	struct source_options options; /* the inner session may borrow it */
};

static struct source_options options_of(int scope)
{
	return (struct source_options){.user = true, .alone = scope == PERFEX_THREAD};
}

static int counter_accepts(
	const struct counter *counter, int scope, struct event_spec *spec, struct error *why)
{
	struct source_options options = options_of(scope);

	return counter->of->probe(&options, why) ? -1 : counter->of->accepts(&options, spec, why);
}

static void close_session(void *session)
{
	struct session *s = session;

	if (s->inner)
		s->ops->close(s->inner);
	reading_fini(&s->reading);
	free(s);
}

static void *counter_open(const struct counter *counter, int scope, struct event_spec *specs,
	size_t count, struct error *e)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s) {
		error_nomem(e);
		return NULL;
	}
	s->ops = counter->of;
	s->scope = scope;
	s->options = options_of(scope);
	if (reading_init(&s->reading, count, e) == 0)
		s->inner = s->ops->open(&s->options, specs, count, e);
	if (!s->inner) {
		close_session(s);
		return NULL;
	}
	return s;
}

static int counter_enable(void *session, bool on, struct error *e)
{
	struct session *s = session;
	bool process = s->scope == PERFEX_PROCESS;
	pid_t task = process ? getpid() : (pid_t)syscall(SYS_gettid);

	/* Attached at the first start, so that it is the thread that starts which is counted. */
	if (!s->attached && s->ops->attach(s->inner, task, process, e))
		return -1;
	s->attached = true;
	return s->ops->enable(s->inner, on, e);
}

static int counter_read_counts(void *session, struct count *counts, struct error *e)
{
	struct session *s = session;

	if ((s->ops->tick && s->ops->tick(s->inner, e)) || s->ops->read(s->inner, &s->reading, e))
		return -1;
	memcpy(counts, s->reading.counts, s->reading.count * sizeof(*counts));
	return 0;
}

static const struct counter_ops session_ops = {
	.open = counter_open,
	.enable = counter_enable,
	.read = counter_read_counts,
	.close = close_session,
};

const struct counter counter_os = {
	.ops = &session_ops, .source = "os", .accepts = counter_accepts, .of = &source_os};
const struct counter counter_pmu = {
	.ops = &session_ops, .source = "pmu", .accepts = counter_accepts, .of = &source_pmu};
