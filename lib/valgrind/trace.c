/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The buffer of records (model/trace.h) between the program's code, which fills it, and the model,
 * which runs the records whenever it is full, and before each event whose order matters: another
 * thread's turn, a system call, a signal, a translation that is discarded. It is small enough to
 * stay in the host's second-level cache, and large enough that a superblock is in it many times
 * (see model/fetched.c).
 *
 * A fault leaves the last record unfinished. Valgrind then leaves the code by a long jump, so that
 * `inside` stays set; the instructions before the one at the program counter were executed, because
 * Valgrind keeps the program counter exact at each access.
 */
#include "valgrind/tool.h"

#include "libvex_guest_amd64.h"
#include "model/fast.h"
#include "valgrind/executed.h"
#include "valgrind/profile.h"
#include "valgrind/sampled.h"
#include "valgrind/slices.h"

uint64_t trace_buffer[TRACE_WORDS + TRACE_RECORD_MAX + 1]; /* model_run reads one more */
uint64_t *trace_limit = trace_buffer + TRACE_WORDS;
/* The address of the next record. While the program's code runs it is in the thread's state, where
 * that code reaches it without an address. */
static uint64_t *trace_at = trace_buffer;
static uint64_t **trace_place = &trace_at;
static Bool inside;

void trace_be_fine(void)
{
	trace_limit = trace_buffer + TRACE_WORDS_FINE;
}

void trace_flush(void)
{
	const uint64_t *end = *trace_place;
	ULong instructions;

	*trace_place = trace_buffer;
	if (end == trace_buffer)
		return;
	instructions = model_fast_instructions(model);
	model_run(model, trace_buffer, end);
	profile_make_room();
	sampled_modelled(model_fast_instructions(model) - instructions);
	if (UNLIKELY(slices_on)) {
		model_sync(model);
		slices_look();
	}
}

/* The number of the record's instructions before the one at address. */
static UInt trace_executed(const uint64_t *record, Addr address)
{
	const struct model_segment *s = model_word_segment(record[0]);
	UInt i = 0;

	while (i < s->insn_count && s->block->insns[i].address != address)
		i++;
	return i;
}

void trace_stop(ThreadId tid, Addr program_counter)
{
	uint64_t *at = trace_buffer, *end = *trace_place;

	if (executed_only) {
		executed_stop(tid, program_counter, inside);
		inside = False;
		return;
	}
	if (!inside) {
		trace_flush();
		return;
	}
	trace_leave();
	if (end == trace_buffer)
		return;
	while (at + model_word_words(*at) < end)
		at += model_word_words(*at);
	trace_at = at;
	trace_flush();
	model_run_part(model, at, trace_executed(at, program_counter));
}

void trace_enter(void *guest_state)
{
	uint64_t **to = (uint64_t **)((Addr)guest_state + TRACE_AT);

	*to = *trace_place;
	trace_place = to;
	inside = True;
}

void trace_leave(void)
{
	trace_at = *trace_place;
	trace_place = &trace_at;
	inside = False;
}
