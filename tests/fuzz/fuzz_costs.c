/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost tables: whatever is accepted prints as text that is accepted, and means the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "costs/costs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int same(const struct cost_table *a, const struct cost_table *b)
{
	for (int i = 0; i < EVENT_LIMIT; i++) {
		const struct cost *x = &a->cost[i], *y = &b->cost[i];

		if (x->known != y->known || x->unit != y->unit || x->typical != y->typical ||
			x->minimum != y->minimum || x->maximum != y->maximum)
			return 0;
	}
	return a->clock_hz == b->clock_hz && !strcmp(a->name, b->name) &&
	       !strcmp(a->processor, b->processor) && !strcmp(a->date, b->date) &&
	       !strcmp(a->method, b->method);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cost_table first, second;
	struct strbuf text = {0};
	struct error e;

	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	if (costs_parse((const char *)data, size, "fuzz", &first, &e))
		return 0;
	costs_print(&first, &text);
	if (costs_parse(strbuf_text(&text), text.length, "fuzz", &second, &e))
		abort();
	if (!same(&first, &second))
		abort();
	strbuf_fini(&text);
	return 0;
}
