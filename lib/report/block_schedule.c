/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/block_schedule.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void block_schedule_fini(struct block_schedule *s)
{
	free(s->insns);
	free(s->rows);
	memset(s, 0, sizeof(*s));
}

static int decode(struct block_schedule *s, const uint8_t *bytes, size_t length, uint64_t address,
	struct error *e)
{
	s->insns = calloc(length ? length : 1, sizeof(*s->insns));
	s->rows = calloc(length ? length : 1, sizeof(*s->rows));
	if (!s->insns || !s->rows)
		return error_nomem(e);
	for (size_t at = 0; at < length;)
		at += isa_decode(
			ISA_X86_64, bytes + at, length - at, address + at, &s->insns[s->count++]);
	return 0;
}

static void name_bound(struct block_schedule *s)
{
	const struct schedule *t = &s->total;
	const char *name = schedule_cause_name(t->bound);
	char ports[64];

	if (t->bound == SCHEDULE_PORT)
		snprintf(s->bound, sizeof(s->bound), "port %s",
			core_ports_name(s->core, t->bound_ports, ports));
	else if (t->bound == SCHEDULE_INPUT && t->chain >= 0)
		snprintf(s->bound, sizeof(s->bound), "%s on %s", name,
			isa_mnemonic(ISA_X86_64, s->insns[t->chain].mnemonic));
	else
		snprintf(s->bound, sizeof(s->bound), "%s", name);
}

int block_schedule_make(struct block_schedule *s, const struct core *core,
	struct schedule_work *work, const void *bytes, size_t length, uint64_t address,
	const struct schedule_options *options, struct error *e)
{

	memset(s, 0, sizeof(*s));
	s->core = core;
	if (decode(s, bytes, length, address, e) ||
		schedule_block(work, core, s->insns, s->count, options, &s->total, s->rows, e)) {
		block_schedule_fini(s);
		return -1;
	}
	name_bound(s);
	return 0;
}

const char *block_schedule_reason(const struct block_schedule *s, size_t i, char text[96])
{
	const struct schedule_row *r = &s->rows[i];
	char ports[64];

	text[0] = '\0';
	if (r->mi < 0.005)
		return text;
	if (r->cause == SCHEDULE_PORT)
		snprintf(text, 96, "port %s", core_ports_name(s->core, r->ports, ports));
	else if ((r->cause == SCHEDULE_INPUT || r->cause == SCHEDULE_MEMORY) && r->blame >= 0)
		snprintf(text, 96, "%s %d",
			r->cause == SCHEDULE_INPUT ? "result of" : "what is stored by",
			r->blame + 1);
	else
		snprintf(text, 96, "%s", schedule_cause_name(r->cause));
	return text;
}

struct quantity block_schedule_cycles(const struct block_schedule *s)
{
	return quantity_exact(s->total.cycles, LABEL_ESTIMATED);
}
