/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "schedule/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
