/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of events by instruction. An instruction gets a row (struct model_insn.row) at its first
 * event. A row is a chain of pieces, each with the counts of one bank of events that often occur
 * together, so that most instructions need one.
 *
 * The memory is the caller's; pieces need not be zeroed. If no piece is left, the count is added to
 * the counts lost.
 */
#ifndef MODEL_ROWS_H
#define MODEL_ROWS_H

#include <stdint.h>

#include "events/numbers.h"

/* The items counted: events by their numbers, and further ones. */
#define MODEL_ROW_ITEMS 128
/* Executions in records that a fault ended, which no segment has in its sums. */
#define MODEL_ROW_EXECUTED EVENT_LIMIT
/* Slots by enum model_cause (retire.h), where the retirement clock runs. */
#define MODEL_ROW_CAUSES (EVENT_LIMIT + 8)
#define MODEL_ROW_SLOTS  15
#define MODEL_ROW_BANKS  8

struct model_row {
	uint32_t link; /* the next piece's index * MODEL_ROW_BANKS + this one's bank */
	uint32_t counts[MODEL_ROW_SLOTS];
};

/* Where a count went beyond 32 bits. */
struct model_carry {
	uint32_t row, slot;
	uint64_t times; /* that it wrapped round */
};

struct model_rows {
	struct model_row *row; /* null: there are none; [0] is not used */
	uint32_t limit;        /* capacity in pieces, [0] included */
	uint32_t used;         /* likewise; 0 counts as 1 */
	struct model_carry *carry;
	uint32_t carry_limit, carry_count;
	uint64_t lost; /* occurrences that are in no row */
};

/* n more of an item; *row: 0 before the first. */
void rows_add(struct model_rows *r, uint32_t *row, unsigned item, uint64_t n);
/* Calls visit for each item that is not zero. */
void rows_walk(const struct model_rows *r, uint32_t row,
	void (*visit)(void *context, unsigned item, uint64_t n), void *context);
uint64_t rows_get(const struct model_rows *r, uint32_t row, unsigned item);
/* Clears all rows. */
void rows_reset(struct model_rows *r);

#endif
