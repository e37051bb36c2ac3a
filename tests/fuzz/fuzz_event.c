/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of events: what is accepted is complete, what is refused says why. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "events/event.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	free(text);
	return 0;
}
