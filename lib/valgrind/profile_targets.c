/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Targets of indirect branches. */
#include "valgrind/blocks.h"
#include "valgrind/images.h"
#include "valgrind/profile.h"
#include "valgrind/tally.h"
#include "valgrind/tool.h"

#define TARGETS_FIRST (1u << 14)
#define TARGETS_LAST  (1u << 21)

static struct model_targets *targets; /* the watch's */
static struct tally indirect;         /* by branch, target, their images */

static void make_targets(UInt entries)
{
	targets->entry = VG_(calloc)("targets", entries, sizeof(*targets->entry));
	targets->mask = entries - 1;
	targets->used = 0;
}

void targets_begin(struct model_watch *watch)
{
	targets = &watch->targets;
	make_targets(TARGETS_FIRST);
}

void profile_make_room(void)
{
	struct model_targets old;

	if (!targets || targets->used <= targets->mask / 2 || targets->mask + 1 >= TARGETS_LAST)
		return;
	old = *targets;
	make_targets((UInt)(old.mask + 1) * 4);
	for (ULong i = 0; i <= old.mask; i++)
		if (old.entry[i].count)
			targets_add(
				targets, old.entry[i].from, old.entry[i].to, old.entry[i].count);
	VG_(free)(old.entry);
}

void profile_goes(Addr from, Addr to, uint64_t times)
{
	profile_make_room();
	targets_add(targets, from, to, times);
}

static void clear_targets(void)
{
	VG_(memset)(targets->entry, 0, (targets->mask + 1) * sizeof(*targets->entry));
	targets->used = 0;
}

void targets_keep(void)
{
	if (!targets)
		return;
	for (ULong i = 0; i <= targets->mask; i++) {
		const struct model_target *e = &targets->entry[i];

		if (e->count)
			tally_add(&indirect, e->from, e->to,
				(ULong)images_at(e->from) << 32 | images_at(e->to), e->count);
	}
	clear_targets();
}

void targets_reset(void)
{
	tally_reset(&indirect);
	if (!targets)
		return;
	clear_targets();
	targets->lost = 0;
}

ULong targets_lost(void)
{
	return (targets ? targets->lost : 0) + indirect.lost;
}

void targets_write(struct bytes *to)
{
	blocks_tell_branches();
	targets_keep();
	for (UInt i = 0; i < indirect.size; i++) {
		const struct tally_entry *e = &indirect.entries[i];

		if (!e->count)
			continue;
		bytes_v(to, e->key[2] >> 32);
		bytes_v(to, e->key[0]);
		bytes_v(to, e->key[2] & 0xffffffff);
		bytes_v(to, e->key[1]);
		bytes_v(to, e->count);
	}
}
