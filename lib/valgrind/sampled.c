/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * While superblocks count, the tool itself does not run. The core's own counter of superblocks,
 * which is in the program's state so that threads get their turns, returns control from time to
 * time, and then the executed instructions are added up. While records are written, instructions
 * are counted when the buffer is emptied, and that counter is set so that control returns at the
 * next opportunity. Modes change only there.
 */
#include "valgrind/sampled.h"

#include "pub_tool_libcprint.h"

#include "model/fast.h"
#include "valgrind/counted.h"
#include "valgrind/modes.h"
#include "valgrind/tool.h"

#define SUPERBLOCKS   50000   /* at most, before we look */
#define OF_SUPERBLOCK 5       /* instructions, about */
#define QUIET         2000000 /* instructions */
#define AFTERWARDS    50000   /* likewise, modelled after new code */
/* Limits of special instructions: a number, and one in ONE_IN. */
#define SPECIALS 100000
#define ONE_IN   1000

static struct model_fast plan;
static Bool sampling;
static ULong left;      /* instructions to be modelled until something is due */
static Bool due, exact; /* it is; it is the end of the exact beginning */
static ULong to_skip, skipped;
/* Code that was not executed before is modelled separately if it comes after a time without any:
 * the ends of programs, for example, differ from the rest. */
static Bool surprised, special; /* there is such code; it is being modelled */
static ULong quiet;             /* instructions since the last new code */
static ULong specials;          /* instructions that were modelled for themselves */
static ULong instructions;      /* in total, after the beginning */
static UInt translated;         /* superblocks, for records, since the last stretch */
static UInt looked;             /* counter when it was set */
static ULong ran, counted;      /* superblocks and instructions since we looked */
static ULong look_at;           /* superblocks: then we look again */
static Bool told;               /* that modes do not work */
static volatile UInt *evaluated;

static void sampled_begin_look(void)
{
	model_fast_reset(&plan, counts_windows());
	left = MODEL_FAST_EXACT;
	exact = True;
	due = False;
	to_skip = skipped = 0;
	quiet = specials = instructions = 0;
	surprised = special = False;
	ran = look_at = counted = translated = 0;
}

void sampled_begin(void)
{
	sampling = True;
	modes_begin();
	sampled_begin_look();
}

void sampled_forked(void)
{
	if (!sampling)
		return;
	counted_reset();
	if (modes_counting)
		modes_set(False);
	sampled_begin_look();
}

/* Adds the counters to the current thread's counts; returns the number of instructions. */
static ULong sampled_take_counts(void)
{
	int64_t sums[COUNTED_STATICS] = {0};

	counted_take(sums);
	counted_add(sums);
	counts_windows()->beyond += (uint64_t)sums[MODEL_STATIC_INSTRUCTIONS];
	instructions += (ULong)sums[MODEL_STATIC_INSTRUCTIONS];
	counted += (ULong)sums[MODEL_STATIC_INSTRUCTIONS];
	return (ULong)sums[MODEL_STATIC_INSTRUCTIONS];
}

static void totals(uint64_t *counts)
{
	model_sync(model);
	counts_sum(counts, EVENT_LIMIT);
}

static void part_ended(void)
{
	uint64_t counts[EVENT_LIMIT];

	if (exact) {
		due = modes_proven();
		if (modes_refuted() && !told) {
			told = True;
			VG_(umsg)
			("perfexmodel: this Valgrind keeps translations in an unknown way: "
			 "everything is modelled, nothing is skipped\n");
		}
	} else if (special) {
		due = True;
	} else {
		totals(counts);
		left = model_fast_part(&plan, counts);
		due = !left;
	}
	if (due && evaluated)
		*evaluated = 0;
}

void sampled_modelled(ULong n)
{
	if (!sampling)
		return;
	quiet += n;
	if (!exact)
		instructions += n;
	if (special)
		specials += n;
	else if (!exact)
		counts_windows()->beyond += n;
	if (due)
		return;
	left = left > n ? left - n : 0;
	if (!left)
		part_ended();
}

void sampled_translated(Bool new)
{
	if (!sampling || exact)
		return;
	translated += !modes_counting;
	if (!new)
		return;
	if (modes_counting && quiet >= QUIET && specials < SPECIALS + instructions / ONE_IN)
		surprised = True;
	quiet = 0;
	if (special)
		left = AFTERWARDS;
}

void sampled_enter(volatile UInt *counter)
{
	if (!sampling)
		return;
	evaluated = counter;
	if (modes_counting && *counter > look_at - ran)
		*counter = look_at > ran ? (UInt)(look_at - ran) : 0;
	if (surprised)
		*counter = 0; /* not a single one */
	looked = *counter;
}

static void skip(void)
{
	trace_flush();
	model_sync(model);
	if (!special) {
		to_skip = model_fast_skip(&plan, translated);
		skipped = 0;
		translated = 0;
	}
	exact = due = special = False;
	ran = counted = 0;
	look_at = SUPERBLOCKS;
	modes_set(True);
}

static void model_again(void)
{
	uint64_t counts[EVENT_LIMIT];

	modes_set(False);
	model_fast_resume(model, !surprised);
	if (surprised) {
		surprised = False;
		special = True;
		left = AFTERWARDS;
		return;
	}
	totals(counts);
	left = model_fast_begin(&plan, skipped, counts);
}

/* Soon before the skipped part is over. */
static void sampled_look_again(void)
{
	ULong each = counted / (ran | 1);

	look_at = (to_skip - skipped) / (each | 1);
	if (look_at < SUPERBLOCKS)
		look_at = SUPERBLOCKS;
	ran = counted = 0;
}

Bool sampled_leave(void)
{
	UInt now;

	if (!sampling)
		return False;
	now = *evaluated + 1; /* -1: it is down */
	evaluated = NULL;
	if (due) {
		skip();
		return True;
	}
	if (!modes_counting)
		return False;
	if (looked > now) {
		ran += looked - now;
		quiet += (ULong)(looked - now) * OF_SUPERBLOCK;
	}
	if (ran < look_at && !surprised)
		return False;
	skipped += sampled_take_counts();
	if (skipped < to_skip && !surprised) {
		sampled_look_again();
		return False;
	}
	if (skipped >= to_skip)
		surprised = False;
	model_again();
	return True;
}

/* The iterations of a repeated instruction that were modelled count as one, and so do the others:
 * if modes change in the middle of an instruction, it counts once too often. */
void sampled_resume(void)
{
	static const int64_t less[EVENT_LIMIT] = {[EV_INSTRUCTIONS] = -1, [EV_MICRO_OPS] = -1};

	if (!modes_counting || !model_repeating(model))
		return;
	model_fast_count(model, less, 0, 0);
	model_set_repeating(model, 0);
}

void sampled_sync(void)
{
	if (modes_counting)
		skipped += sampled_take_counts();
}
