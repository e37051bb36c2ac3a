/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What became of an access to memory that a window has foreseen, by a watchpoint: a debug register
 * makes the kernel take a sample after each instruction that accesses the address.
 *
 * The first sample that is after the foreseen instruction is that access, and the next one is what
 * its bytes were needed for. A processor says where it continues, not which instruction has made
 * the access, so that is looked for in the bytes before: of those that end there, the one whose
 * operand overlaps, and of equals the one that is reached from most bytes before it. Whether
 * something was written is known without it, by a second debug register.
 */
#ifndef VALUES_VALUE_WATCH_H
#define VALUES_VALUE_WATCH_H

#include "values/values.h"

#define WATCH_CODE 64 /* bytes: several instructions */

/* An access to a watched address. */
struct watch_hit {
	uint64_t next; /* where the thread continues; in the kernel: its address */
	uint64_t ns;   /* CPU time of the thread */
	bool writes;
	uint64_t general[16];            /* after the instruction */
	uint8_t code[WATCH_CODE], known; /* the bytes before next; how many, the last ones */
};

enum watch_fate {
	WATCH_WAITS,   /* not yet known */
	WATCH_MISSED,  /* the foreseen access was not seen, or one came before that is another */
	WATCH_UNKNOWN, /* what the second one was */
	WATCH_TOLD,
};

/* Of hits in order of time, at most `most` of which can come. over: none will. ns_of_hit: CPU time
 * that taking one costs. What is known is appended to `seen` of the window. */
enum watch_fate value_watch_tell(const struct value_touch *touch, const struct watch_hit *hits,
	size_t count, size_t most, bool over, double ns_of_hit, struct value_window *window);
/* Chooses an access of a window, a store or a load, that can be watched: chance is uniform in (0,
 * 1]. NULL: there is none. */
const struct value_touch *value_watch_choose(
	const struct value_window *window, bool store, double chance);

#endif
