/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From a place in copies to the corresponding place in the originals. */
#include "branches/cache.h"

/* The last that begins at or before `at`. */
static const struct place *leave_find(const struct arena *a, uint32_t at)
{
	size_t low = vec_search(i, a->places.count, a->places.data[i].at <= at);

	return low ? &a->places.data[low - 1] : NULL;
}

static bool slot(const struct cache *c, const struct arena *a, uint32_t number, void *value)
{
	return process_read(c->process->memory, arena_slot_address(a, number), value, 8);
}

static bool undo(
	const struct cache *c, const struct arena *a, uint8_t how, struct user_regs_struct *r)
{
	if (how & FORWARD)
		how |= UNDO_RCX | UNDO_RDX;
	return (!(how & UNDO_RAX) || slot(c, a, SLOT_RAX, &r->rax)) &&
	       (!(how & UNDO_RCX) || slot(c, a, SLOT_RCX, &r->rcx)) &&
	       (!(how & UNDO_RDX) || slot(c, a, SLOT_RDX, &r->rdx));
}

int leave_copies(struct cache *c, struct user_regs_struct *r, struct place *at)
{
	int which = arena_at(c, r->rip);
	const struct arena *a = which < 0 ? NULL : &c->arenas[which];
	const struct place *p = a ? leave_find(a, (uint32_t)(r->rip - a->code)) : NULL;
	uint64_t sum, number;

	if (!p || !undo(c, a, p->undo, r))
		return -1;
	*at = *p;
	if (p->undo & FORWARD) {
		if (!slot(c, a, SLOT_TARGET, &sum))
			return -1;
		number = sum >> 48;
		if (number == 0 || number > c->sites.count)
			return -1;
		at->address = sum - c->sites.data[number - 1].key;
	}
	r->rip = at->address;
	if (p->undo & CALLED)
		r->rcx = at->address;
	return 0;
}
