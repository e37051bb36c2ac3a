/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Machine descriptions: any text is either refused with a message, or survives being printed and
 * read again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "machine/machine.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf text = {0}, again = {0};
	struct machine m, twin;
	struct error e = {0};

	if (machine_parse((const char *)data, size, "input", &m, &e)) {
		if (!e.message[0] || e.code == ERR_NONE)
			abort();
		return 0;
	}
	machine_print(&m, &text);
	if (machine_parse(strbuf_text(&text), text.length, "input", &twin, &e))
		abort();
	machine_print(&twin, &again);
	if (strcmp(strbuf_text(&text), strbuf_text(&again)) ||
		memcmp(&m.model, &twin.model, sizeof(m.model)))
		abort();
	strbuf_fini(&text);
	strbuf_fini(&again);
	return 0;
}
