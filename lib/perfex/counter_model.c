/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Counts of the modelled processor, asked for by client requests.  They only grow: spans are
 * differences. */
#include <stdlib.h>
#include <string.h>

#include "perfex/private.h"
#include "sources/model_requests.h"

struct session {
	int scope;
	bool on;
	size_t count;
	uint64_t begin[EVENT_LIMIT], total[EVENT_LIMIT]; /* at the last start; over earlier spans */
	int numbers[];
};

bool counter_model_present(void)
{
	return model_request_version() != 0;
}

double counter_model_clock(void)
{
	return (double)model_request_clock();
}

static int counter_model_accepts(int scope, struct event_spec *spec, struct error *why)
{
	(void)scope;
	if (spec->event && model_request_counts_event(spec->event->number))
		return 0;
	if (spec->event && (spec->event->flags & EVENT_OS)) {
		error_set(why, ERR_UNSUPPORTED,
			"%s: inside the model the kernel would count the model itself", spec->name);
		return error_hint(why, "run the program without the model to count this event");
	}
	error_set(why, ERR_UNSUPPORTED,
		"%s: the modelled machine has nothing that this event counts", spec->name);
	return error_hint(why, "`perfex -source model -list` shows those that it counts");
}

static void *counter_model_open_session(
	int scope, struct event_spec *specs, size_t count, struct error *e)
{
	struct session *s = calloc(1, sizeof(*s) + count * sizeof(s->numbers[0]));

	if (!s) {
		error_nomem(e);
		return NULL;
	}
	s->scope = scope;
	s->count = count;
	for (size_t i = 0; i < count; i++)
		s->numbers[i] = specs[i].event->number;
	return s;
}

static int counts_now(const struct session *s, uint64_t *now, struct error *e)
{
	unsigned got;

	memset(now, 0, EVENT_LIMIT * sizeof(*now));
	got = s->scope == PERFEX_PROCESS ? model_request_read_process(now, EVENT_LIMIT)
					 : model_request_read_thread(now, EVENT_LIMIT);
	if (got < EV_COUNT) {
		error_set(e, ERR_UNSUPPORTED,
			"the model that this program runs under does not answer as expected");
		return error_hint(
			e, "libperfex and perfex are of different versions: install both anew");
	}
	return 0;
}

static int counter_model_enable(void *session, bool on, struct error *e)
{
	struct session *s = session;
	uint64_t now[EVENT_LIMIT] = {0};

	if (s->on == on)
		return 0;
	if (counts_now(s, on ? s->begin : now, e))
		return -1;
	for (size_t i = 0; !on && i < EVENT_LIMIT; i++)
		s->total[i] += now[i] - s->begin[i];
	s->on = on;
	return 0;
}

static int counter_model_read_counts(void *session, struct count *counts, struct error *e)
{
	struct session *s = session;
	uint64_t now[EVENT_LIMIT] = {0};

	if (s->on && counts_now(s, now, e))
		return -1;
	for (size_t i = 0; i < s->count; i++) {
		int number = s->numbers[i];
		uint64_t value = s->total[number] + (s->on ? now[number] - s->begin[number] : 0);

		counts[i].quantity = quantity_exact((double)value, LABEL_MODEL);
	}
	return 0;
}

const struct counter_ops counter_model = {
	.source = "model",
	.accepts = counter_model_accepts,
	.open = counter_model_open_session,
	.enable = counter_model_enable,
	.read = counter_model_read_counts,
	.close = free,
};
