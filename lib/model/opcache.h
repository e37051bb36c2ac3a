/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cache of decoded operations, for the retirement clock: is code fetched from there, or
 * decoded?
 *
 * An entry has the operations of one group (retire_prepare_fetches) from where code was jumped to,
 * or from the end of the group before. It is in the set of L1I's that the line is in, in which its
 * first instruction begins. What was used longest ago leaves first. Only the clock needs to know,
 * and it mostly runs in short windows. So nothing is done outside: L1I has the time of each line's
 * last use anyway, and it is noted in which places of a line groups begin (opcache_add). When a
 * window begins, each set has the lines that were used last, and whose groups fit. From then on
 * what is decoded displaces the lines of its set that were used longest ago; segments that were
 * found there since the last one left are (an epoch). All of that begins anew every OPCACHE_EPOCH
 * instructions.
 *
 * Source: AMD's Software Optimization Guides (56665, 58455), whose op caches have as many sets as
 * L1I; Kotra et al., Improving the Utilization of Micro-operation Caches in x86 Processors, MICRO
 * 2020, for the limit of displacements and immediates and for entries that go on in the next line.
 * lib/machine/data/zen3.machine has what was timed.
 *
 * Known deviations: lines that L1I has lost are not there; a line leaves with all its entries; a
 * record of which one group is not there is decoded as a whole.
 */
#ifndef MODEL_OPCACHE_H
#define MODEL_OPCACHE_H

#include "model/state.h"
#include "model/trace.h"

#define OPCACHE_EPOCH UINT64_C(4000)

/* Of a core. */
struct opcache {
	/* By entry of L1I: where groups begin, a bit for each 16th of the line. */
	struct opcache_line {
		uint16_t known, there; /* of all that were executed; of those in the cache */
	} * line;
	uint64_t epoch,
		until; /* the present one; number of the instruction at which all begins anew */
	uint32_t ways; /* entries of a set */
	uint8_t until_branch; /* what follows a group that is not there is decoded up to a taken
				 branch */
	uint8_t jumped;       /* the record before had one */
};

/* Is the segment decoded, of which the epoch does not know that it is there? */
int opcache_decodes(struct model *m, struct core *core, struct model_segment *s);

/* A segment's lines are in L1I now, where their hints say. */
static inline void opcache_add(struct core *core, const struct model_segment *s, unsigned count)
{
	if (!core->opcache)
		return;
	for (unsigned i = 0; i < count && i < MODEL_RUNNING_LINES; i++)
		core->opcache->line[s->run.entry[i]].known |= s->line_groups[i];
	for (unsigned i = MODEL_RUNNING_LINES; i < count; i++)
		core->opcache->line[s->block->fetches[i].hint].known |= s->block->fetches[i].groups;
}

/* The entry of L1I gets another line. */
static inline void opcache_drop(struct core *core, uint64_t entry)
{
	if (core->opcache)
		core->opcache->line[entry] = (struct opcache_line){0, 0};
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
	struct opcache *o = core->opcache;
	struct retire *t = core->retire;

	if (!o || s->slow)
		return;
	if (t->instructions >= o->until || UNLIKELY(s->op_epoch != o->epoch) ||
		UNLIKELY(t->decodes))
		t->decodes = (uint32_t)opcache_decodes(m, core, s);
	o->jumped = s->statics[MODEL_STATIC_TAKEN] != 0;
}

#endif
