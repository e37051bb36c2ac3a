/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See rows.h.  Cost: finding the piece, mostly the first, and an addition. */
#include "model/rows.h"

#include "events/numbers.h"

#define SLOT(bank, slot) (1 + (bank)*MODEL_ROW_SLOTS + (slot))

/* Where each event has its place: 1 + bank * MODEL_ROW_SLOTS + slot; 0: nowhere. */
static const uint8_t event_place[EVENT_LIMIT] = {
	/* What loads and stores do. */
	[EV_L1D_MISSES] = SLOT(0, 0),
	[EV_L2_REFERENCES] = SLOT(0, 1),
	[EV_L2D_MISSES] = SLOT(0, 2),
	[EV_LL_REFERENCES] = SLOT(0, 3),
	[EV_LL_DATA_MISSES] = SLOT(0, 4),
	[EV_DTLB_MISSES] = SLOT(0, 5),
	[EV_DTLB_WALKS] = SLOT(0, 6),
	[EV_L1_WRITEBACK_QUADWORDS] = SLOT(0, 7),
	[EV_L2_WRITEBACK_QUADWORDS] = SLOT(0, 8),
	[EV_SPLIT_ACCESSES] = SLOT(0, 9),
	[EV_STORE_FORWARD_FAILURES] = SLOT(0, 10),
	[EV_HARDWARE_PREFETCHES] = SLOT(0, 11),
	[EV_STORES_TO_CLEAN] = SLOT(0, 12),
	[EV_BACKEND_STALLS] = SLOT(0, 13),
	[EV_CYCLES] = SLOT(0, 14),
	/* Fetches and branches. */
	[EV_L1I_MISSES] = SLOT(1, 0),
	[EV_L2I_MISSES] = SLOT(1, 1),
	[EV_LL_INSTRUCTION_MISSES] = SLOT(1, 2),
	[EV_ITLB_MISSES] = SLOT(1, 3),
	[EV_ITLB_WALKS] = SLOT(1, 4),
	[EV_FRONTEND_STALLS] = SLOT(1, 5),
	[EV_MISPREDICTED_CONDITIONALS] = SLOT(1, 6),
	[EV_MISPREDICTED_INDIRECTS] = SLOT(1, 7),
	[EV_MISPREDICTED_RETURNS] = SLOT(1, 8),
	[EV_BRANCHES] = SLOT(1, 9),
	[EV_CONDITIONAL_BRANCHES] = SLOT(1, 10),
	[EV_TAKEN_BRANCHES] = SLOT(1, 11),
	[EV_CALLS] = SLOT(1, 12),
	[EV_INDIRECT_BRANCHES] = SLOT(1, 13),
	[EV_RETURNS] = SLOT(1, 14),
	/* Other threads, and rare instructions. */
	[EV_STORES_TO_SHARED] = SLOT(2, 0),
	[EV_INTERVENTIONS] = SLOT(2, 1),
	[EV_INTERVENTION_HITS] = SLOT(2, 2),
	[EV_INVALIDATIONS] = SLOT(2, 3),
	[EV_INVALIDATION_HITS] = SLOT(2, 4),
	[EV_FAILED_STORE_CONDITIONALS] = SLOT(2, 5),
	[EV_LOCKED_INSTRUCTIONS] = SLOT(2, 6),
	[EV_DIVIDES] = SLOT(2, 7),
	[EV_DIVIDER_CYCLES] = SLOT(2, 8),
	[EV_SYSTEM_CALLS] = SLOT(2, 9),
	[EV_SOFTWARE_PREFETCHES] = SLOT(2, 10),
	[EV_ALIASES_4K] = SLOT(2, 11),
	[EV_MEMORY_ORDER_CLEARS] = SLOT(2, 12),
	[EV_D_WAY_MISPREDICTS] = SLOT(2, 13),
	[EV_I_WAY_MISPREDICTS] = SLOT(2, 14),
	/* Determined by execution for most instructions; must be counted for others. */
	[EV_INSTRUCTIONS] = SLOT(3, 0),
	[EV_MICRO_OPS] = SLOT(3, 1),
	[EV_LOADS] = SLOT(3, 2),
	[EV_STORES] = SLOT(3, 3),
	[EV_FP_INSTRUCTIONS] = SLOT(3, 4),
	[EV_VECTOR_INSTRUCTIONS] = SLOT(3, 5),
	[EV_FP_OPERATIONS] = SLOT(3, 6),
};

/* The same for any item: items that are not events follow the events. */
static unsigned model_rows_place_of(unsigned item)
{
	unsigned other = item - EVENT_LIMIT;

	return item < EVENT_LIMIT ? event_place[item]
				  : SLOT(4u + other / MODEL_ROW_SLOTS, other % MODEL_ROW_SLOTS);
}

static unsigned bank_of(const struct model_row *p)
{
	return p->link % MODEL_ROW_BANKS;
}

static uint32_t next_of(const struct model_row *p)
{
	return p->link / MODEL_ROW_BANKS;
}

/* The piece of a bank; 0: there is none. */
static uint32_t model_rows_find(const struct model_rows *r, uint32_t row, unsigned bank)
{
	while (row && bank_of(&r->row[row]) != bank)
		row = next_of(&r->row[row]);
	return row;
}

/* A new piece in front of the row; 0: no room. */
static uint32_t model_rows_extend(struct model_rows *r, uint32_t *row, unsigned bank)
{
	struct model_row *p;
	unsigned i;

	if (!r->used)
		r->used = 1;
	if (r->used >= r->limit)
		return 0;
	p = &r->row[r->used];
	p->link = *row * MODEL_ROW_BANKS + bank;
	for (i = 0; i < MODEL_ROW_SLOTS; i++)
		p->counts[i] = 0;
	return *row = r->used++;
}

static struct model_carry *find_carry(const struct model_rows *r, uint32_t piece, unsigned slot)
{
	uint32_t i;

	for (i = 0; i < r->carry_count; i++)
		if (r->carry[i].row == piece && r->carry[i].slot == slot)
			return &r->carry[i];
	return (struct model_carry *)0;
}

static void carry(struct model_rows *r, uint32_t piece, unsigned slot, uint64_t times)
{
	struct model_carry *c = find_carry(r, piece, slot);

	if (!c && r->carry_count < r->carry_limit) {
		c = &r->carry[r->carry_count++];
		*c = (struct model_carry){.row = piece, .slot = slot};
	}
	if (c)
		c->times += times;
	else
		r->lost += times << 32;
}

void rows_add(struct model_rows *r, uint32_t *row, unsigned item, uint64_t n)
{
	unsigned place = model_rows_place_of(item), bank, slot;
	uint64_t sum;
	uint32_t piece;

	if (!place || !r->row) {
		r->lost += n;
		return;
	}
	bank = (place - 1) / MODEL_ROW_SLOTS;
	slot = (place - 1) % MODEL_ROW_SLOTS;
	piece = *row;
	if (!piece || bank_of(&r->row[piece]) != bank) {
		piece = model_rows_find(r, *row, bank);
		if (!piece)
			piece = model_rows_extend(r, row, bank);
	}
	if (!piece) {
		r->lost += n;
		return;
	}
	sum = r->row[piece].counts[slot] + n;
	r->row[piece].counts[slot] = (uint32_t)sum;
	if (sum >> 32)
		carry(r, piece, slot, sum >> 32);
}

static uint64_t model_rows_whole(const struct model_rows *r, uint32_t piece, unsigned slot)
{
	const struct model_carry *c = r->carry_count ? find_carry(r, piece, slot) : 0;

	return r->row[piece].counts[slot] + (c ? c->times << 32 : 0);
}

uint64_t rows_get(const struct model_rows *r, uint32_t row, unsigned item)
{
	unsigned place = model_rows_place_of(item);
	uint32_t piece = place ? model_rows_find(r, row, (place - 1) / MODEL_ROW_SLOTS) : 0;

	return piece ? model_rows_whole(r, piece, (place - 1) % MODEL_ROW_SLOTS) : 0;
}

void rows_walk(const struct model_rows *r, uint32_t row,
	void (*visit)(void *context, unsigned item, uint64_t n), void *context)
{
	unsigned item;

	for (item = 0; row && item < MODEL_ROW_ITEMS; item++) {
		uint64_t n = rows_get(r, row, item);

		if (n)
			visit(context, item, n);
	}
}

void rows_reset(struct model_rows *r)
{
	r->used = 1;
	r->carry_count = 0;
	r->lost = 0;
}
