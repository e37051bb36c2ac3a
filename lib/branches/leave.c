/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a place in copies to the corresponding place in the originals. */
#include "branches/cache.h"

/* The last that begins at or before `at`. */
static const struct place *leave_find(const struct arena *a, uint32_t at)
{
	size_t low = vec_search(i, a->places.count, a->places.data[i].at <= at);

	return low ? &a->places.data[low - 1] : NULL;
}

/* slots: the first ones of the arena. */
static void undo(uint8_t how, const uint64_t *slots, struct user_regs_struct *r)
{
	if (how & FORWARD)
		how |= UNDO_RCX | UNDO_RDX;
	if (how & UNDO_RAX)
		r->rax = slots[SLOT_RAX];
	if (how & UNDO_RCX)
		r->rcx = slots[SLOT_RCX];
	if (how & UNDO_RDX)
		r->rdx = slots[SLOT_RDX];
}

int leave_copies(struct cache *c, struct user_regs_struct *r, struct place *at)
{
	int which = arena_at(c, r->rip);
	const struct arena *a = which < 0 ? NULL : &c->arenas[which];
	const struct place *p = a ? leave_find(a, (uint32_t)(r->rip - a->code)) : NULL;
	const struct site_key *site;
	uint64_t slots[SLOT_RDX + 1], sum = 0;

	if (!p || (p->undo & (FORWARD | UNDO_RAX | UNDO_RCX | UNDO_RDX) &&
			  (!arena_read(c, a, a->data, slots, sizeof(slots)) ||
				  !arena_read(c, a, arena_slot_address(a, SLOT_TARGET), &sum,
					  sizeof(sum)))))
		return -1;
	*at = *p;
	if (p->undo & FORWARD) {
		site = copy_site(c, sum);
		if (!site)
			return -1;
		at->address = sum - site->key;
	}
	undo(p->undo, slots, r);
	r->rip = at->address;
	if (p->undo & CALLED)
		r->rcx = at->address;
	return 0;
}
