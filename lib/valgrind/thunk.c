/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source: Muchnick, Advanced Compiler Design and Implementation, 14.1.3 (live variables). Variant:
 * backwards over one superblock; at its exits, what is live follows from at most FOLLOWED
 * instructions of the program's code. Cost: some tenths of a microsecond for each superblock.
 *
 * Proofs hold as long as the code that was looked at. It is in the same file as the superblock and
 * cannot be written; if any of the file's code is unmapped or made writable, all of it is
 * translated anew (changing.c). A handler of an asynchronous signal may see other flags than the
 * program had, if it reads those of the interrupted code; where a handler may see registers after a
 * fault, all stores are kept (resume.c).
 */
#include "valgrind/thunk.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

#include "isa/brief.h"
#include "libvex.h"
#include "libvex_guest_amd64.h"
#include "valgrind/tool.h"

#define FOLLOWED 16
#define WORDS    4
#define LIVE     15 /* all words, a bit each */
/* The words, in the order of the state. */
enum { OPERATION, OPERAND, OPERAND_2, OLD_CARRY };

/* Operations of VEX, each for 1, 2, 4 and 8 bytes: those that use no old carry; those of one
 * operand. */
static const struct {
	UChar first, last, words;
} operations[] = {
	{0, 0, 1 << OPERAND},                    /* copy */
	{1, 8, 1 << OPERAND | 1 << OPERAND_2},   /* add, sub */
	{17, 20, 1 << OPERAND},                  /* and, or, xor */
	{29, 36, 1 << OPERAND | 1 << OPERAND_2}, /* shl, shr */
	{45, 52, 1 << OPERAND | 1 << OPERAND_2}, /* mul */
};

static Bool known;
static Addr file_begin, file_end; /* of the superblock's file: its code */
static UChar *unused;             /* by statement */
static Int room;

static Int thunk_word(Int offset)
{
	Int word = (offset - (Int)offsetof(VexGuestAMD64State, guest_CC_OP)) / 8;

	return offset < (Int)offsetof(VexGuestAMD64State, guest_CC_OP) || word >= WORDS ? -1 : word;
}

/* The words of the thunk that an operation uses, without itself. */
static UInt thunk_words(ULong operation)
{
	for (UInt i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		if (operation >= operations[i].first && operation <= operations[i].last)
			return operations[i].words;
	return LIVE;
}

static ULong flags_by(ULong operation, UInt words, ULong rest)
{
	VexGuestAMD64State s = {.guest_CC_OP = operation, .guest_DFLAG = 1};

	s.guest_CC_DEP1 = words & 1 << OPERAND ? 0x123456789abcdef0 : rest;
	s.guest_CC_DEP2 = words & 1 << OPERAND_2 ? 0xfedcba9876543217 : rest;
	s.guest_CC_NDEP = words & 1 << OLD_CARRY ? 1 : rest;
	return LibVEX_GuestAMD64_get_rflags(&s);
}

void thunk_begin(void)
{
	known = True;
	for (UInt i = 0; i < sizeof(operations) / sizeof(operations[0]); i++)
		for (ULong op = operations[i].first; op <= operations[i].last; op++)
			known &= flags_by(op, operations[i].words, 0) ==
				 flags_by(op, operations[i].words, ~(ULong)0);
}

/* ---- what follows ---- */

static Bool file_find(Addr address)
{
	const NSegment *s = VG_(am_find_nsegment)(address);

	if (!s || s->kind != SkFileC || changing_may(address))
		return False;
	file_begin = s->start;
	file_end = s->end;
	return True;
}

/* Does the program's code there overwrite all flags before it reads any? */
static Bool flags_unread(Addr address)
{
	uint8_t live = 0x3f;
	struct insn insn;
	struct insn_flags flags;

	for (UInt i = 0; i < FOLLOWED && live; i++) {
		if (address < file_begin || address > file_end ||
			!isa_brief((const uint8_t *)address, file_end - address + 1, address, &insn,
				&flags) ||
			flags.reads & live)
			return False;
		live &= (uint8_t)~flags.kills;
		address += insn.length;
		if (!(insn.classes & INSN_BRANCH))
			continue;
		if (!insn.has_target || insn.classes & INSN_CONDITIONAL)
			return False;
		address = insn.target;
	}
	return !live;
}

static UInt live_at(IRJumpKind kind, const IRConst *to)
{
	return (kind == Ijk_Boring || kind == Ijk_Call) && flags_unread(to->Ico.U64) ? 0 : LIVE;
}

/* ---- the superblock ---- */

/* Words that a statement may read other than by Get of one of them: all or none. */
static UInt read_by(const IRStmt *st)
{
	const IRDirty *d;
	Int word;

	switch (st->tag) {
	case Ist_WrTmp:
		if (st->Ist.WrTmp.data->tag != Iex_Get)
			return 0;
		word = thunk_word(st->Ist.WrTmp.data->Iex.Get.offset);
		return word < 0 ? 0 : 1u << word;
	case Ist_Dirty:
		d = st->Ist.Dirty.details;
		return d->nFxState ? LIVE : 0;
	case Ist_Exit:
		return live_at(st->Ist.Exit.jk, st->Ist.Exit.dst);
	default:
		return 0;
	}
}

/* The words that the operation stored by the same instruction does not use. */
static UInt unused_of_operation(const IRSB *in, Int statement)
{
	for (Int i = statement; i >= 0 && in->stmts[i]->tag != Ist_IMark; i--) {
		const IRStmt *st = in->stmts[i];

		if (st->tag == Ist_Put && thunk_word(st->Ist.Put.offset) == OPERATION)
			return st->Ist.Put.data->tag == Iex_Const
				       ? LIVE & ~1u &
						 ~thunk_words(
							 st->Ist.Put.data->Iex.Const.con->Ico.U64)
				       : 0;
	}
	return 0;
}

void thunk_superblock(const IRSB *in, Addr address)
{
	UInt live = LIVE;

	if (in->stmts_used > room) {
		room = 2 * in->stmts_used;
		unused = VG_(realloc)("thunk", unused, (SizeT)room);
	}
	VG_(memset)(unused, 0, (SizeT)in->stmts_used);
	if (!known || resume_handles)
		return;
	if (!file_find(address))
		file_begin = 1, file_end = 0;
	if (in->next->tag == Iex_Const)
		live = live_at(in->jumpkind, in->next->Iex.Const.con);
	for (Int i = in->stmts_used - 1; i >= 0; i--) {
		const IRStmt *st = in->stmts[i];
		Int word = st->tag == Ist_Put ? thunk_word(st->Ist.Put.offset) : -1;

		if (word < 0) {
			live |= read_by(st);
			continue;
		}
		unused[i] = !(live & ~unused_of_operation(in, i) & 1u << word);
		live &= ~(1u << word);
	}
}

Bool thunk_unused(Int statement)
{
	return unused[statement];
}
