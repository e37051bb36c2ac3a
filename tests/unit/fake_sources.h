/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The three sources, made up: they take the places of source_pmu, source_model and source_os when a
 * test is linked, so that plan.c and run.c can be seen at work where there are no counters.  The
 * pmu has two counters and takes turns beyond.
 */
#ifndef TESTS_FAKE_SOURCES_H
#define TESTS_FAKE_SOURCES_H

#include <stdlib.h>

#include "process/launch.h"
#include "sources/source.h"

#define FAKE_COUNTERS 2

struct fake {
	bool works;                      /* probe */
	int (*on_attach)(pid_t pid);     /* called by attach; -1 makes it fail */
	int tick_fails;                  /* tick returns -1 from this call on; 0: never */
	void (*fill)(struct reading *r); /* called by read */
	double interval;
	int opened, closed, enabled, disabled, ticks, finished;
	bool had_usage;
};

static struct fake fake_pmu, fake_model, fake_os;

struct fake_session {
	struct fake *fake;
	size_t count;
};

static int fake_probe(struct fake *f, struct error *why)
{
	if (f->works)
		return 0;
	error_set(why, ERR_UNSUPPORTED, "does not work");
	return error_hint(why, "mend it");
}

static int fake_accepts(struct fake *f, const struct event_spec *spec, struct error *why)
{
	bool os = spec->event && (spec->event->flags & EVENT_OS);
	bool known = f == &fake_os      ? os
		     : f == &fake_model ? spec->event && (spec->event->flags & EVENT_MODEL)
					: !os;

	return known ? 0 : error_set(why, ERR_UNSUPPORTED, "not for this source");
}

static void *fake_open(struct fake *f, size_t count)
{
	struct fake_session *s = calloc(1, sizeof(*s));

	s->fake = f;
	s->count = count;
	f->opened++;
	return s;
}

static int fake_prepare(void *session, struct launch *launch, struct error *e)
{
	(void)session;
	(void)launch;
	(void)e;
	return 0;
}

static int fake_attach(void *session, pid_t pid, bool running, struct error *e)
{
	struct fake_session *s = session;

	(void)running;
	if (s->fake->on_attach && s->fake->on_attach(pid))
		return error_set(e, ERR_BUSY, "cannot attach");
	return 0;
}

static int fake_thread(void *session, enum trace_news news, pid_t pid, pid_t tid,
	const char *command, struct error *e)
{
	(void)session;
	(void)news;
	(void)pid;
	(void)tid;
	(void)command;
	(void)e;
	return 0;
}

static int fake_enable(void *session, bool on, struct error *e)
{
	struct fake_session *s = session;

	(void)e;
	*(on ? &s->fake->enabled : &s->fake->disabled) += 1;
	return 0;
}

static double fake_interval(void *session)
{
	return ((struct fake_session *)session)->fake->interval;
}

static int fake_tick(void *session, struct error *e)
{
	struct fake *f = ((struct fake_session *)session)->fake;

	f->ticks++;
	if (f->tick_fails && f->ticks >= f->tick_fails)
		return error_set(e, ERR_SYSTEM, "cannot tick");
	return 0;
}

static size_t fake_groups(void *session)
{
	struct fake_session *s = session;

	return s->fake == &fake_pmu ? (s->count + FAKE_COUNTERS - 1) / FAKE_COUNTERS : 1;
}

/* Each event counts 1000 times its place among the session's, as the source labels it. */
static int fake_read(void *session, struct reading *r, struct error *e)
{
	struct fake_session *s = session;

	(void)e;
	for (size_t i = 0; i < r->count; i++)
		r->counts[i].quantity = quantity_exact(1000.0 * (double)(i + 1),
			s->fake == &fake_model ? LABEL_MODEL : LABEL_MEASURED);
	if (s->fake->fill)
		s->fake->fill(r);
	return 0;
}

static int fake_finish(void *session, const struct rusage *usage, struct error *e)
{
	struct fake_session *s = session;

	(void)e;
	s->fake->finished++;
	s->fake->had_usage = usage != NULL;
	return 0;
}

static void fake_close(void *session)
{
	((struct fake_session *)session)->fake->closed++;
	free(session);
}

#define FAKE(which, is_native)                                                                     \
	static int which##_probe(const struct source_options *o, struct error *why)                \
	{                                                                                          \
		(void)o;                                                                           \
		return fake_probe(&fake_##which, why);                                             \
	}                                                                                          \
	static int which##_accepts(                                                                \
		const struct source_options *o, struct event_spec *spec, struct error *why)        \
	{                                                                                          \
		(void)o;                                                                           \
		return fake_accepts(&fake_##which, spec, why);                                     \
	}                                                                                          \
	static void *which##_open(const struct source_options *o, struct event_spec *specs,        \
		size_t count, struct error *e)                                                     \
	{                                                                                          \
		(void)o;                                                                           \
		(void)specs;                                                                       \
		(void)e;                                                                           \
		return fake_open(&fake_##which, count);                                            \
	}                                                                                          \
	const struct source_ops source_##which = {                                                 \
		.name = #which,                                                                    \
		.native = is_native,                                                               \
		.probe = which##_probe,                                                            \
		.accepts = which##_accepts,                                                        \
		.open = which##_open,                                                              \
		.prepare = fake_prepare,                                                           \
		.attach = fake_attach,                                                             \
		.thread = (is_native) ? fake_thread : NULL,                                        \
		.enable = fake_enable,                                                             \
		.tick_interval = fake_interval,                                                    \
		.tick = fake_tick,                                                                 \
		.groups = fake_groups,                                                             \
		.read = fake_read,                                                                 \
		.finish = fake_finish,                                                             \
		.close = fake_close,                                                               \
	}

FAKE(pmu, true);
FAKE(model, false);
FAKE(os, true);

#endif
