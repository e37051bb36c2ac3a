/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of events, of experiments, and events with periods: what is accepted is complete, what is
 * refused says why. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "collect/experiments.h"
#include "events/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void sampled(const char *text)
{
	struct collect_experiment x;
	struct collect_metrics m = {0};
	struct strbuf type = {0};
	struct error e = {0};

	if (collect_metrics_parse(&m, text, *text & 1, &e)) {
		if (e.code == ERR_NONE || !*e.message)
			abort();
	} else if (!m.list.count || !m.list.data[0].period) {
		abort();
	}
	collect_metrics_type(&m, &type);
	strbuf_fini(&type);
	collect_metrics_fini(&m);
	e = (struct error){0};
	if (collect_experiment_find(text, &x, &e)) {
		if (e.code != ERR_NOT_FOUND)
			abort();
	} else if (strcmp(x.name, text) != 0) {
		abort();
	} else if (collect_metrics_add(&m, &x, true, &e) == 0 && m.list.count != 2) {
		abort();
	}
	collect_metrics_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct event_spec spec;
	struct error e = {0};
	char *text;

	/* Names come from command lines: no longer than this, and no NUL inside. */
	if (size > 1000 || memchr(data, '\0', size) || !(text = malloc(size + 1)))
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (event_parse(text, &spec, &e)) {
		if (e.code == ERR_NONE || !*e.message)
			abort();
	} else {
		if (!*spec.name || !*spec.argument)
			abort();
		if ((spec.origin == EVENT_ORIGIN_TABLE) != (spec.event != NULL))
			abort();
		if (spec.encoded != (spec.origin != EVENT_ORIGIN_TABLE))
			abort();
		if (event_encode(&spec, &e) == 0 ? !spec.encoded || !*spec.code.text
						 : e.code == ERR_NONE)
			abort();
	}
	sampled(text);
	free(text);
	return 0;
}
