/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In order, as the Alpha 21164 issues: instructions come in aligned groups of the core's renaming
 * width (four, of four bytes each). From the current group they issue in order, each to a pipe that
 * it can use and that is free in that cycle, when their inputs are ready; the next group follows
 * when the last of this one has issued. Mi is the time at the head of the issue queue: an
 * instruction that issues together with the one before it has none.
 *
 * As in the paper, instructions before the block are ignored.
 */
#include <stdlib.h>
#include <string.h>

#include "schedule/private.h"

struct issue {
	const struct core *c;
	uint32_t ready[REG_COUNT];
	int from[REG_COUNT];
	uint32_t cycle, busy;          /* pipes taken in this cycle */
	uint32_t held[CORE_PORTS_MAX]; /* first cycle in which a pipe is free again */
};

static void next_cycle(struct issue *q, uint32_t to)
{
	if (to == q->cycle)
		return;
	q->cycle = to;
	q->busy = 0;
	for (unsigned p = 0; p < q->c->ports; p++)
		if (q->held[p] > to)
			q->busy |= 1u << p;
}

static uint32_t pipe_of(const struct op *op)
{
	return op->uops[0].ports;
}

static void issue_one(struct issue *q, const struct op *op, struct schedule_row *row)
{
	uint32_t ports = op->loads + op->executes + op->addresses ? pipe_of(op) : 0;

	for (unsigned n = 0; n < (unsigned)op->input_count + op->address_count; n++) {
		unsigned reg =
			n < op->input_count ? op->input[n].reg : op->address[n - op->input_count];

		if (q->ready[reg] > q->cycle) {
			next_cycle(q, q->ready[reg]);
			row->cause = SCHEDULE_INPUT;
			row->blame = q->from[reg];
		}
	}
	while (ports && !(ports & ~q->busy)) {
		next_cycle(q, q->cycle + 1);
		row->cause = SCHEDULE_PORT;
		row->ports = ports;
	}
	if (ports) {
		unsigned p = (unsigned)__builtin_ctz(ports & ~q->busy);

		q->busy |= 1u << p;
		q->held[p] = q->cycle + op->uops[0].busy;
	}
}

void schedule_in_order(const struct core *c, const struct op *ops, size_t count, struct schedule *s,
	struct schedule_row *rows)
{
	struct issue q = {.c = c, .cycle = 1};
	struct schedule_row none = {0};
	uint32_t before = 0;

	for (size_t i = 0; i < count; i++) {
		struct schedule_row *row = rows ? &rows[i] : &none;
		uint32_t latency = ops[i].loads ? ops[i].load_latency : ops[i].latency;

		memset(row, 0, sizeof(*row));
		row->blame = -1;
		if (i && ops[i].where / (4 * c->rename) != ops[i - 1].where / (4 * c->rename)) {
			next_cycle(&q, q.cycle + 1);
			row->cause = SCHEDULE_FRONT_END;
		}
		issue_one(&q, &ops[i], row);
		for (unsigned n = 0; n < ops[i].output_count; n++) {
			q.ready[ops[i].output[n]] = q.cycle + latency;
			q.from[ops[i].output[n]] = (int)i;
		}
		row->mi = q.cycle - before;
		row->issue = row->retire = q.cycle;
		row->complete = q.cycle + latency;
		if (row->mi == 0)
			row->cause = SCHEDULE_NONE;
		else if (!row->cause)
			row->cause = SCHEDULE_FRONT_END;
		before = q.cycle;
	}
	s->cycles = q.cycle;
	s->bound = SCHEDULE_FRONT_END;
}
