/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/executed.h"

#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"

#include "libvex_guest_amd64.h"
#include "valgrind/counted.h"
#include "valgrind/faults.h"
#include "valgrind/tool.h"

/* In the shadow registers, in words. */
enum {
	EXECUTED_SITE,      /* number of the last superblock that stored it */
	EXECUTED_REPEATING, /* see model_repeating */
	EXECUTED_SUMS,      /* two in a word: one addition for both */
	EXECUTED_WORDS = EXECUTED_SUMS + (COUNTED_STATICS + 1) / 2
};

/* A sum's part of its word. Words are read and cleared whenever the program's code stops, many
 * times a second: sums are below 2^31. Within a superblock they may be negative. */
#define SUM_BITS 32

/* What a fault changes: rows of the instruction's distance from the superblock and, for each sum,
 * the difference between what was executed before the instruction and what was added. */
struct site {
	Addr address;
	Int *rows;
	UInt count, room;
	Bool again; /* it is an iteration of a repeated instruction */
};

struct site_node {
	VgHashNode node; /* key: the address */
	UInt number;
};

#define ROWS_FIRST 4

Bool executed_only;
static UChar wanted[COUNTED_STATICS]; /* the static that each sum is of */
static UInt wanted_count;
static struct site *sites;
static UInt site_count, site_room;
static VgHashTable *site_numbers;

void executed_begin(const struct model_config *config)
{
	executed_only = True;
	for (UInt i = 0; i < COUNTED_STATICS; i++)
		if (counted_exists(i) && model_asked(config, counted_event(i)))
			wanted[wanted_count++] = (UChar)i;
	site_numbers = VG_(HT_construct)("sites");
}

/* ---- the superblock that is being translated ---- */

static IRSB *out;
static const struct model_block *block;
static Addr start;
static UInt site;                      /* its number */
static Bool known;                     /* it has one */
static Bool stored;                    /* the code stores it */
static int32_t added[COUNTED_STATICS]; /* in the superblock so far, by static */
/* What there was when the current instruction began. */
static struct model_segment before;
static Bool instruction_known; /* it has a row */
/* Guarded accesses of the current instruction. */
static struct {
	UInt what;
	IRExpr *guard;
} * guards;
static UInt guard_count, guard_room;

static Int place(UInt word)
{
	return (Int)(sizeof(VexGuestAMD64State) + word * sizeof(uint64_t));
}

static IRExpr *executed_word(ULong n)
{
	return IRExpr_Const(IRConst_U64(n));
}

static IRExpr *temporary(IRType type, IRExpr *value)
{
	IRTemp t = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(t, value));
	return IRExpr_RdTmp(t);
}

static IRExpr *executed_get(UInt word)
{
	return temporary(Ity_I64, IRExpr_Get(place(word), Ity_I64));
}

static void executed_put(UInt word, IRExpr *value)
{
	addStmtToIRSB(out, IRStmt_Put(place(word), value));
}

/* n of a sum, as a part of its word. */
static ULong word_part(UInt sum, Long n)
{
	return (ULong)n << sum % 2 * SUM_BITS;
}

/* Adds parts of a sum's word. */
static void executed_add(UInt sum, IRExpr *parts)
{
	UInt word = EXECUTED_SUMS + sum / 2;

	executed_put(word, temporary(Ity_I64, IRExpr_Binop(Iop_Add64, executed_get(word), parts)));
}

/* Takes the sums out of their words. */
static void executed_take(uint64_t *words, int64_t *sums)
{
	for (UInt k = 0; k < wanted_count; k++) {
		uint64_t *word = &words[EXECUTED_SUMS + k / 2];
		int64_t n = (int32_t)*word;

		*word = (*word - (uint64_t)n) >> SUM_BITS;
		sums[wanted[k]] = n;
	}
}

static UInt site_number(Addr address)
{
	struct site_node *n = VG_(HT_lookup)(site_numbers, address);

	if (n)
		return n->number;
	if (site_count == site_room) {
		site_room = site_room ? 2 * site_room : 1024;
		sites = VG_(realloc)("sites", sites, site_room * sizeof(*sites));
	}
	n = VG_(malloc)("site", sizeof(*n));
	n->node.key = address;
	n->number = site_count;
	VG_(HT_add_node)(site_numbers, n);
	sites[site_count] = (struct site){.address = address};
	return site_count++;
}

/* Does it call a function that accesses the program's memory? */
static Bool calls_memory(const IRSB *in)
{
	for (Int i = 0; i < in->stmts_used; i++)
		if (in->stmts[i]->tag == Ist_Dirty &&
			in->stmts[i]->Ist.Dirty.details->mFx != Ifx_None)
			return True;
	return False;
}

void executed_superblock(const IRSB *in, IRSB *to, Addr address, const struct model_block *b)
{
	out = to;
	block = b;
	start = address;
	known = False;
	stored = resume_handles || calls_memory(in);
	guard_count = 0;
	VG_(memset)(added, 0, sizeof(added));
}

static void executed_add_guarded(void)
{
	for (UInt i = 0; i < guard_count; i++)
		for (UInt k = 0; k < wanted_count; k++)
			if (wanted[k] == guards[i].what)
				executed_add(k,
					temporary(Ity_I64, IRExpr_ITE(guards[i].guard,
								   executed_word(word_part(k, 1)),
								   executed_word(0))));
	guard_count = 0;
}

void executed_instruction(
	const uint16_t *statics, const struct model_outcome *passed, UInt passed_count)
{
	executed_add_guarded();
	VG_(memcpy)(before.statics, statics, sizeof(before.statics));
	for (UInt i = 0; i < passed_count; i++)
		model_outcome_statics(&passed[i], before.statics);
	before.insn_count = block->insn_count;
	instruction_known = False;
}

void executed_guarded(enum model_access_kind kind, IRExpr *guard)
{
	if (guard_count == guard_room) {
		guard_room = guard_room ? 2 * guard_room : 16;
		guards = VG_(realloc)("guards", guards, guard_room * sizeof(*guards));
	}
	guards[guard_count].what =
		kind == MODEL_ACCESS_LOAD ? MODEL_STATIC_LOADS : MODEL_STATIC_STORES;
	guards[guard_count++].guard = guard;
}

/* Does the superblock begin with a repeated instruction? Then it consists of it, or of several
 * iterations if VEX unrolled it. */
static Bool begins_repeated(void)
{
	return (block->insns[0].class_bits & MODEL_STEPPED) != 0;
}

/* Iterations after the first in this superblock are not instructions of their own. */
static void executed_sum(const struct model_segment *s, int32_t *sums)
{
	counted_sum(block, s, sums);
	for (UInt i = 1; begins_repeated() && i < s->insn_count; i++) {
		sums[MODEL_STATIC_INSTRUCTIONS]--;
		sums[MODEL_STATIC_MICRO_OPS] -= block->insns[i].uops;
	}
}

void executed_may_fault(void)
{
	struct site *s;
	int32_t sums[COUNTED_STATICS];
	Int *row;

	if (instruction_known)
		return;
	instruction_known = True;
	if (!known) {
		known = True;
		site = site_number(start);
		sites[site].count = 0;
		if (stored)
			executed_put(EXECUTED_SITE, executed_word(site));
	}
	s = &sites[site];
	s->again = begins_repeated();
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : ROWS_FIRST;
		s->rows = VG_(realloc)(
			"rows", s->rows, s->room * (1 + wanted_count) * sizeof(*s->rows));
	}
	row = s->rows + s->count++ * (1 + wanted_count);
	*row++ = (Int)(block->insns[block->insn_count - 1].address - start);
	executed_sum(&before, sums);
	for (UInt k = 0; k < wanted_count; k++)
		*row++ = sums[wanted[k]] - added[wanted[k]];
}

/* Notes whether the next superblock is another iteration of the instruction. */
static void executed_repeat(const struct model_segment *s, Addr address, IRExpr *guard)
{
	IRExpr *now = executed_word(s->next == address ? address : 0);

	if (guard)
		now = temporary(Ity_I64, IRExpr_ITE(guard, now, executed_get(EXECUTED_REPEATING)));
	executed_put(EXECUTED_REPEATING, now);
}

/* Adds what is counted in the first iteration of a repeated instruction only: a further one is not
 * an instruction of its own. */
static void executed_add_first(UInt sum, Int n)
{
	IRExpr *first = temporary(Ity_I1,
		IRExpr_Binop(Iop_CmpNE64, executed_get(EXECUTED_REPEATING), executed_word(start)));

	executed_add(sum, temporary(Ity_I64, IRExpr_ITE(first, executed_word(word_part(sum, n)),
						     executed_word(0))));
}

static Bool counted_once(UInt what)
{
	return what == MODEL_STATIC_INSTRUCTIONS || what == MODEL_STATIC_MICRO_OPS;
}

void executed_segment(const struct model_segment *s, IRExpr *guard)
{
	const struct model_insn *last = &block->insns[block->insn_count - 1];
	int32_t sums[COUNTED_STATICS];
	ULong parts = 0;

	executed_add_guarded();
	executed_sum(s, sums);
	for (UInt k = 0; k < wanted_count; k++) {
		Int n = sums[wanted[k]] - added[wanted[k]];

		added[wanted[k]] = sums[wanted[k]];
		if (n && begins_repeated() && counted_once(wanted[k]))
			executed_add_first(k, n);
		else
			parts += word_part(k, n);
		if (!parts || (k % 2 == 0 && k + 1 < wanted_count))
			continue;
		executed_add(k, executed_word(parts));
		parts = 0;
	}
	if (last->class_bits & MODEL_STEPPED)
		executed_repeat(s, last->address, guard);
}

/* ---- at run time ---- */

static const struct site *site_of_fault(const uint64_t *words)
{
	const struct site_node *n;
	uint64_t number = words[EXECUTED_SITE];

	if (faults_superblock) {
		n = VG_(HT_lookup)(site_numbers, faults_superblock);
		number = n ? n->number : site_count;
	}
	return number < site_count ? &sites[number] : NULL;
}

/* Corrects the sums by what the superblock executed until it faulted. */
static void executed_fault(uint64_t *words, Addr address)
{
	const struct site *s = site_of_fault(words);

	if (!s)
		return;
	for (UInt i = 0; i < s->count; i++) {
		const Int *row = s->rows + i * (1 + wanted_count);

		if (s->address + (Addr)(Long)row[0] != address)
			continue;
		for (UInt k = 0; k < wanted_count; k++)
			/* These were not added in a further iteration. */
			if (!s->again || words[EXECUTED_REPEATING] != address ||
				!counted_once(wanted[k]))
				words[EXECUTED_SUMS + k / 2] += word_part(k, row[1 + k]);
		return;
	}
}

void executed_stop(ThreadId tid, Addr address, Bool faulted)
{
	int64_t sums[COUNTED_STATICS] = {0};
	uint64_t words[EXECUTED_WORDS];
	SizeT size = (EXECUTED_SUMS + (wanted_count + 1) / 2) * sizeof(*words);

	VG_(get_shadow_regs_area)(tid, (UChar *)words, 1, 0, size);
	if (faulted)
		executed_fault(words, address);
	executed_take(words, sums);
	VG_(set_shadow_regs_area)(tid, 1, 0, size, (const UChar *)words);
	counted_add(sums);
}

void executed_interrupted(ThreadId tid)
{
	const uint64_t none = 0;

	VG_(set_shadow_regs_area)
	(tid, 1, EXECUTED_REPEATING * sizeof(none), sizeof(none), (const UChar *)&none);
}
