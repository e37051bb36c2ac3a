/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache of decoded operations, for the retirement clock: is code fetched from there, or
 * decoded?
 *
 * An entry has the operations of one group (retire.h) from where code was jumped to, or from the
 * end of the group before. What was used longest ago leaves first. Only the clock needs to know,
 * and it mostly runs in short windows. So nothing is done outside: L1I has the time of each line's
 * last use anyway, and it is noted in which places of a line groups begin (opcache_add). When a
 * window begins, the lines that were used last, and whose groups fit, are in the cache. From then
 * on a segment is there if it was run since, or if all its lines are; what is decoded displaces the
 * lines that were used longest ago. That begins anew every OPCACHE_EPOCH instructions: an epoch.
 *
 * Known deviations: lines that L1I has lost are not there; sets do not matter.
 */
#ifndef MODEL_OPCACHE_H
#define MODEL_OPCACHE_H

#include "model/state.h"
#include "model/trace.h"

#define OPCACHE_EPOCH UINT64_C(4000)
/* Classes of times since the last use: OPCACHE_EACH for each power of two. */
#define OPCACHE_EACH    8u
#define OPCACHE_CLASSES (64 * OPCACHE_EACH)

/* Of a core. */
struct opcache {
	/* By entry of L1I. */
	struct opcache_line {
		uint16_t groups;  /* where they begin, a bit for each 16th of the line */
		uint16_t class;   /* 0: it was used in the epoch */
		uint16_t counted; /* in of_class; the line may have got more groups since */
	} * line;
	uint64_t epoch, until; /* the present one; number of the instruction that ends it */
	uint32_t entries, held;
	uint32_t oldest;                    /* lines of this class, and above, are not there */
	uint32_t of_class[OPCACHE_CLASSES]; /* entries; of class 0 unknown */
};

/* Are some of the segment's groups to be decoded, which runs for the first time in an epoch, or in
 * a new one? */
int opcache_lacks(struct model *m, struct core *core, struct model_segment *s);

/* A segment's lines are in L1I now, where their hints say. */
static inline void opcache_add(struct core *core, const struct model_segment *s, unsigned count)
{
	if (!core->opcache)
		return;
	for (unsigned i = 0; i < count && i < MODEL_RUNNING_LINES; i++)
		core->opcache->line[s->run.entry[i]].groups |= s->line_groups[i];
	for (unsigned i = MODEL_RUNNING_LINES; i < count; i++)
		core->opcache->line[s->block->fetches[i].hint].groups |=
			s->block->fetches[i].groups;
}

/* The entry of L1I gets another line. */
static inline void opcache_drop(struct core *core, uint64_t entry)
{
	if (core->opcache)
		core->opcache->line[entry] = (struct opcache_line){0, OPCACHE_CLASSES, 0};
}

/* A window begins. */
static inline void opcache_begin(struct core *core)
{
	if (core->opcache)
		core->opcache->until = 0;
}

/* What the clock must know of the record that is run next. */
static inline void opcache_look(struct model *m, struct core *core, struct model_segment *s)
{
	const struct opcache *o = core->opcache;
	struct retire *t = core->retire;

	if (!o || s->slow)
		return;
	if (t->instructions < o->until && LIKELY(s->op_epoch == o->epoch))
		t->decodes = 0;
	else
		t->decodes = (uint32_t)opcache_lacks(m, core, s);
}

#endif
