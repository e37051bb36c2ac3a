/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of functions: a short form is not longer than the name, but for the marks of what is left
 * out, and the shortest one fits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/report_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { LIMIT = 40 };
	char *name = malloc(size + 1);

	if (!name)
		return 0;
	memcpy(name, data, size);
	name[size] = '\0';
	for (int level = NAMES_FULL; level < NAMES_LEVELS; level++) {
		struct strbuf text = {0};

		report_name_put(&text, name, (enum names_level)level, LIMIT);
		if (text.length > 4 * strlen(name) + 5 ||
			(level == NAMES_ENDS && text.length > LIMIT))
			abort();
		strbuf_fini(&text);
	}
	free(name);
	return 0;
}
