/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Counts that only grow and that a program can read at any time, so that spans are differences: the
 * counts of the modelled processor, by client requests; and the kernel's values for the calling
 * thread and process, which need no privilege and work under any seccomp filter: CPU time and the
 * events of getrusage(2).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "model/wire/requests.h"
#include "perfex/private.h"

#ifdef __ELF__
__asm__(".pushsection .note.perfex, \"a\", %note\n"
	"	.balign 4\n"
	"	.long 7, 0, 0\n"
	"	.asciz \"" MODEL_NOTE "\"\n"
	"	.balign 4\n"
	"	.popsection\n");
_Static_assert(sizeof(MODEL_NOTE) == 7, "the note gives its length");
#endif

struct figures {
	const struct counter *counter;
	int scope;
	bool on;
	size_t count;
	uint64_t begin[EVENT_LIMIT], total[EVENT_LIMIT]; /* at the last start; over earlier spans */
	int numbers[];
};

static void *figures_open(const struct counter *counter, int scope, struct event_spec *specs,
	size_t count, struct error *e)
{
	struct figures *s = calloc(1, sizeof(*s) + count * sizeof(s->numbers[0]));

	if (!s) {
		error_nomem(e);
		return NULL;
	}
	s->counter = counter;
	s->scope = scope;
	s->count = count;
	for (size_t i = 0; i < count; i++)
		s->numbers[i] = specs[i].event->number;
	return s;
}

static int figures_enable(void *session, bool on, struct error *e)
{
	struct figures *s = session;
	uint64_t now[EVENT_LIMIT] = {0};

	if (s->on == on)
		return 0;
	if (s->counter->now(s->scope, on ? s->begin : now, e))
		return -1;
	for (size_t i = 0; !on && i < EVENT_LIMIT; i++)
		s->total[i] += now[i] - s->begin[i];
	s->on = on;
	return 0;
}

static int figures_read(void *session, struct count *counts, struct error *e)
{
	struct figures *s = session;
	uint64_t now[EVENT_LIMIT] = {0};

	if (s->on && s->counter->now(s->scope, now, e))
		return -1;
	for (size_t i = 0; i < s->count; i++) {
		int number = s->numbers[i];
		uint64_t value = s->total[number] + (s->on ? now[number] - s->begin[number] : 0);

		counts[i].quantity = quantity_exact((double)value, s->counter->label);
	}
	return 0;
}

static const struct counter_ops figures_ops = {
	.open = figures_open,
	.enable = figures_enable,
	.read = figures_read,
	.close = free,
};

/* ---- the modelled processor ---- */

bool counter_model_present(void)
{
	return model_request_version() != 0;
}

double counter_model_clock(void)
{
	return (double)model_request_clock();
}

static int figures_model_accepts(
	const struct counter *counter, int scope, struct event_spec *spec, struct error *why)
{
	(void)counter;
	(void)scope;
	if (spec->event && model_request_counts_event(spec->event->number))
		return 0;
	if (spec->event && (spec->event->flags & EVENT_OS)) {
		error_set(why, ERR_UNSUPPORTED,
			"%s: under the model the kernel would count the model itself", spec->name);
		return error_hint(why, "run the program without the model to count this event");
	}
	error_set(why, ERR_UNSUPPORTED,
		"%s: the modelled machine does not have this event, or perfex was not asked for it",
		spec->name);
	return error_hint(why, "`perfex -source model -list` shows the events that it counts; "
			       "perfex -e or -a asks for them");
}

static int figures_model_now(int scope, uint64_t *now, struct error *e)
{
	unsigned got;

	memset(now, 0, EVENT_LIMIT * sizeof(*now));
	got = scope == PERFEX_PROCESS ? model_request_read_process(now, EVENT_LIMIT)
				      : model_request_read_thread(now, EVENT_LIMIT);
	if (got < EV_COUNT) {
		error_set(e, ERR_UNSUPPORTED,
			"the model that this program runs under does not answer as expected");
		return error_hint(
			e, "libperfex and perfex have different versions: install both again");
	}
	return 0;
}

const struct counter counter_model = {
	.ops = &figures_ops,
	.source = "model",
	.accepts = figures_model_accepts,
	.now = figures_model_now,
	.label = LABEL_MODEL,
};

/* ---- the kernel's values, read by the thread itself ---- */

static int figures_self_accepts(
	const struct counter *counter, int scope, struct event_spec *spec, struct error *why)
{
	(void)counter;
	(void)scope;
	switch (spec->event ? spec->event->number : -1) {
	case EV_TASK_CLOCK:
	case EV_PAGE_FAULTS:
	case EV_MAJOR_FAULTS:
	case EV_CONTEXT_SWITCHES:
		return 0;
	}
	return error_set(why, ERR_UNSUPPORTED,
		"%s: the kernel does not report it to the thread itself", spec->name);
}

static int figures_self_now(int scope, uint64_t *now, struct error *e)
{
	bool process = scope == PERFEX_PROCESS;
	struct timespec t;
	struct rusage u;

	if (getrusage(process ? RUSAGE_SELF : RUSAGE_THREAD, &u) != 0 ||
		clock_gettime(process ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_THREAD_CPUTIME_ID, &t) !=
			0)
		return error_sys(e, errno, "cannot read the resource usage of this %s",
			process ? "process" : "thread");
	now[EV_TASK_CLOCK] = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
	now[EV_PAGE_FAULTS] = (uint64_t)(u.ru_minflt + u.ru_majflt);
	now[EV_MAJOR_FAULTS] = (uint64_t)u.ru_majflt;
	now[EV_CONTEXT_SWITCHES] = (uint64_t)(u.ru_nvcsw + u.ru_nivcsw);
	return 0;
}

const struct counter counter_self = {
	.ops = &figures_ops,
	.source = "os",
	.accepts = figures_self_accepts,
	.now = figures_self_now,
	.label = LABEL_MEASURED,
};
