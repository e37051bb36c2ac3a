/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Monitor's file says: any text gives texts that end and metrics; what is printed again is
 * the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "monitor/monitor_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monitor_status status = {0};
	struct strbuf metrics = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	monitor_status_parse(text, &status);
	for (const struct monitor_field *f = monitor_fields; f->name; f++)
		if (f->kind == FIELD_TEXT && !memchr((char *)&status + f->offset, '\0', f->size))
			abort();
	monitor_status_metrics(&status, size & 1, &metrics);
	if (!metrics.failed && (metrics.length < 6 || memcmp(metrics.data + metrics.length - 6,
							      "# EOF\n", 6) != 0))
		abort();
	strbuf_fini(&metrics);
	free(text);
	return 0;
}
