/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The static schedule of a measured block, for comparison with the measurement.
 */
#ifndef REPORT_BLOCK_SCHEDULE_H
#define REPORT_BLOCK_SCHEDULE_H

#include "events/label.h"
#include "schedule/schedule.h"

struct block_schedule {
	const struct core *core; /* borrowed */
	struct schedule total;
	struct insn *insns;        /* owned, count */
	struct schedule_row *rows; /* likewise */
	size_t count;
	char bound[96]; /* what binds: "port load", "dependency on imul", "front end" */
};

/* bytes: decodable code; options as schedule_block has them.  -1 with *e set, and s as after
 * block_schedule_fini. */
int block_schedule_make(struct block_schedule *s, const struct core *core,
	struct schedule_work *work, const void *bytes, size_t length, uint64_t address,
	const struct schedule_options *options, struct error *e);
void block_schedule_fini(struct block_schedule *s);

/* What instruction i waits for, in words: "port load", "result of 2"; "" where it does not wait. */
const char *block_schedule_reason(const struct block_schedule *s, size_t i, char text[96]);

/* Cycles as a quantity, estimated. */
struct quantity block_schedule_cycles(const struct block_schedule *s);

#endif
