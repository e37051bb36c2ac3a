/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes to single fields of a machine: refused with a message, or a machine that can be printed,
 * read and modelled. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "machine/private.h"

#include "../unit/machine_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = {0};
	struct machine m, twin;
	struct error e = {0};
	char *changes = malloc(size + 1);

	if (!changes)
		return 0;
	memcpy(changes, data, size);
	changes[size] = '\0';
	machine_defaults(&m);
	if (machine_change(&m, changes, &e)) {
		if (!e.message[0] || e.code == ERR_NONE)
			abort();
		free(changes);
		return 0;
	}
	free(changes);
	machine_print(&m, &text);
	if (machine_parse(strbuf_text(&text), text.length, "input", &twin, &e) ||
		memcmp(&m.model, &twin.model, sizeof(m.model)) || model_check(&m.model))
		abort();
	strbuf_fini(&text);
	return 0;
}
