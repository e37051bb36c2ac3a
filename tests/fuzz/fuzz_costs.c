/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cost tables: whatever is accepted prints as text that is accepted, and means the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "costs/costs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct cost_table first, second;
	struct strbuf text = {0};
	struct error e;

	memset(&first, 0, sizeof(first));
	memset(&second, 0, sizeof(second));
	if (costs_parse((const char *)data, size, "fuzz", &first, &e))
		return 0;
	first.origin[0] = '\0';
	costs_print(&first, &text);
	if (costs_parse(strbuf_text(&text), text.length, "fuzz", &second, &e))
		abort();
	second.origin[0] = '\0';
	if (memcmp(&first, &second, sizeof(first)) != 0)
		abort();
	strbuf_fini(&text);
	return 0;
}
