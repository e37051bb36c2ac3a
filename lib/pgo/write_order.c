/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order of functions for linkers: symbols for ld.lld --symbol-ordering-file, sections (of
 * -ffunction-sections) for gold --section-ordering-file, which puts what is listed last, in order.
 */
#include <string.h>

#include "pgo/private.h"

static int write_names(struct pgo *p, FILE *out, const char *prefix, struct error *e)
{
	size_t count, written = 0;
	uint32_t *list = pgo_cluster(&p->code, &p->counts, &count);

	if (!list)
		return error_nomem(e);
	for (size_t i = 0; i < count; i++) {
		const char *name = p->code.functions.data[list[i]].name;

		/* stubs of the procedure linkage table are made by the linker */
		if (!strchr(name, '@') && pgo_name_fits(name))
			written += fprintf(out, "%s%s\n", prefix, name) > 0;
	}
	free(list);
	return written ? 0
		       : error_set(e, ERR_NOT_FOUND,
				 "no function with a symbol has samples: compile without -s, "
				 "or sample a longer run");
}

int pgo_write_order(struct pgo *p, FILE *out, struct error *e)
{
	return write_names(p, out, "", e);
}

int pgo_write_sections(struct pgo *p, FILE *out, struct error *e)
{
	return write_names(p, out, ".text.", e);
}
