/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/btb.h"

void btb_catch_up(struct btb *b)
{
	uint64_t found[BTB_UNKNOWN + 1] = {0};
	uint32_t i, count = b->lates;

	for (i = 0; i < count; i++)
		__builtin_prefetch(btb_set_of(b, btb_hash(b->late[i].branch)), 1);
	for (i = 0; i < count; i++)
		found[btb_find_at(b, b->late[i].branch, b->late[i].epoch)]++;
	for (i = 0; i <= BTB_UNKNOWN; i++)
		b->found[i] += found[i];
	b->lates = 0;
}
