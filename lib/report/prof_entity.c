/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/prof_entity.h"

#include <stdio.h>

static const char *thread_text(struct prof_table *t, const struct prof_data *d, uint32_t index)
{
	const struct prof_group *g =
		(const struct prof_group *)(const void *)d->groups.entries + index;
	const char *name = g->command ? g->command : "";
	char rank[24] = "";

	if (g->key.rank >= 0)
		snprintf(rank, sizeof(rank), "rank %d ", g->key.rank);
	if (!g->key.pid && !g->key.tid)
		return prof_text(t, "%s%s", rank, rank[0] ? name : "all together");
	if (g->key.tid == g->key.pid || !g->key.tid)
		return prof_text(t, "%sprocess %d %s", rank, (int)g->key.pid, name);
	return prof_text(t, "%sthread %d of %d %s", rank, (int)g->key.tid, (int)g->key.pid, name);
}

int prof_entity_row(struct prof_table *t, const struct prof_data *d, const struct prof_entity *n,
	enum prof_grain grain, struct prof_row *row)
{
	const struct prof_place *p = prof_place_at(d, n->place);
	struct image_line line = {0};

	*row = (struct prof_row){.parent = -1, .image = d->images.data[n->key.image].name};
	if (d->request->threads) {
		row->thread = thread_text(t, d, n->key.group);
		if (!row->thread)
			return -1;
	}
	if (grain == PROF_BY_IMAGE)
		return 0;
	if (grain == PROF_BY_SOURCE && n->key.file) {
		row->image = NULL;
		row->file = prof_string_at(d, n->key.file);
		row->line = n->key.line;
		return 0;
	}
	row->procedure = prof_string_at(d, n->key.procedure);
	row->address = n->key.begin ? n->key.begin : p->key.address;
	row->addressed = !d->request->compare;
	if (n->key.inlined)
		row->note = "inlined";
	if (grain >= PROF_BY_LINE) {
		row->address = p->key.address;
		row->file = n->key.file ? prof_string_at(d, n->key.file) : NULL;
		row->line = n->key.line;
	} else if (d->names.ops->line(d->names.context, p->key.image, row->address, &line) == 0) {
		row->file = line.file;
		row->line = line.line;
	}
	return 0;
}
