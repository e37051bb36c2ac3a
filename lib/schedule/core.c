/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/names.h"
#include "base/strbuf.h"
#include "isa/isa.h"

void core_fini(struct core *c)
{
	for (size_t i = 0; i < c->own_mnemonics.count; i++)
		free(c->own_mnemonics.data[i]);
	vec_fini(&c->own_mnemonics);
	vec_fini(&c->rules);
}

int core_mnemonic(const struct core *c, const char *name)
{
	if (!c->x86) {
		for (size_t i = 0; i < c->own_mnemonics.count; i++)
			if (strcmp(c->own_mnemonics.data[i], name) == 0)
				return (int)i;
		return -1;
	}
	for (unsigned i = 1; i < CORE_MNEMONICS_MAX; i++) {
		const char *known = isa_mnemonic(ISA_X86_64, i);

		if (known && strcmp(known, name) == 0)
			return (int)i;
	}
	return -1;
}

const char *core_ports_name(const struct core *c, uint32_t ports, char text[64])
{
	size_t at = 0;

	for (unsigned i = 0; i < c->group_count; i++)
		if (c->groups[i].ports == ports)
			return c->groups[i].name;
	text[0] = '\0';
	for (unsigned i = 0; i < c->ports && at < 50; i++)
		if (ports >> i & 1)
			at += (size_t)snprintf(
				text + at, 64 - at, "%s%s", at ? " " : "", c->port_names[i]);
	return text;
}

static void note_origin(struct core *c, const char *name, bool path)
{
	char *whole = path ? realpath(name, NULL) : NULL;

	snprintf(c->origin, sizeof(c->origin), "%s", whole ? whole : name);
	free(whole);
}

int core_find(struct core *c, const char *name, struct error *e)
{
	bool path = strchr(name, '/') != NULL || strchr(name, '.') != NULL;
	struct strbuf file = {0};
	char *where = NULL, *text;
	size_t length;
	int rc;

	if (!path) {
		strbuf_printf(&file, "cores/%s.core", name);
		where = file_data_path(strbuf_text(&file), e);
		strbuf_fini(&file);
		if (!where) {
			error_set(e, ERR_NOT_FOUND, "there is no description of a core '%s'", name);
			return error_hint(e, "prof block -cores lists them; a file's name has a "
					     "dot or a slash in it");
		}
	}
	text = file_read(where ? where : name, 0, &length, e);
	free(where);
	if (!text)
		return -1;
	rc = core_parse(c, text, length, name, e);
	free(text);
	if (rc == 0)
		note_origin(c, name, path);
	return rc;
}

int core_walk(void (*each)(const char *name, void *context), void *context, struct error *e)
{
	return names_walk("cores", ".core", each, context, e);
}
