/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Source: constant propagation over one straight piece of code. Cost: a few comparisons per
 * statement.
 *
 * Known deviation: the top of the stack is the one at the time of translation. Compilers leave the
 * stack empty between functions, so code has the same top each time; where it has not, values pass
 * from block to block in other registers than the model takes them to.
 */
#include "valgrind/x87.h"

#include "libvex_guest_amd64.h"
#include "model/trace.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#define X87_GUEST(field) ((PtrdiffT)offsetof(VexGuestAMD64State, guest_##field))

enum { KNOWN = 8 };

/* KNOWN and the number of a register; 0: not known. */
static UChar x87_now, *x87_numbers; /* of the top; by temporary */
static Int x87_room;

UInt x87_top(void)
{
	UInt top = 0;

	VG_(get_shadow_regs_area)
	(VG_(get_running_tid)(), (UChar *)&top, 0, X87_GUEST(FTOP), sizeof(top));
	return top;
}

void x87_begin(const IRSB *in, UInt top)
{
	Int i;

	if (x87_room < in->tyenv->types_used) {
		VG_(free)(x87_numbers);
		x87_room = 2 * in->tyenv->types_used;
		x87_numbers = VG_(malloc)("x87", (SizeT)x87_room);
	}
	for (i = 0; i < in->tyenv->types_used; i++)
		x87_numbers[i] = 0;
	x87_now = (UChar)(KNOWN + (top & 7));
}

static UChar x87_atom(const IRExpr *e)
{
	if (e->tag == Iex_Const && e->Iex.Const.con->tag == Ico_U32)
		return (UChar)(KNOWN + (e->Iex.Const.con->Ico.U32 & 7));
	return e->tag == Iex_RdTmp ? x87_numbers[e->Iex.RdTmp.tmp] : 0;
}

static UChar x87_number(const IRExpr *e)
{
	UChar a, b;

	if (e->tag == Iex_Get && e->Iex.Get.offset == X87_GUEST(FTOP))
		return x87_now;
	if (e->tag != Iex_Binop)
		return x87_atom(e);
	if (e->Iex.Binop.op != Iop_Add32 && e->Iex.Binop.op != Iop_Sub32)
		return 0;
	a = x87_atom(e->Iex.Binop.arg1);
	b = x87_atom(e->Iex.Binop.arg2);
	if (!a || !b)
		return 0;
	return (UChar)(KNOWN + ((e->Iex.Binop.op == Iop_Add32 ? a + b : a - b) & 7));
}

void x87_see(const IRStmt *st)
{
	if (st->tag == Ist_WrTmp)
		x87_numbers[st->Ist.WrTmp.tmp] = x87_number(st->Ist.WrTmp.data);
	if (st->tag == Ist_Put && st->Ist.Put.offset == X87_GUEST(FTOP))
		x87_now = x87_atom(st->Ist.Put.data);
}

UInt x87_register(const IRRegArray *array, const IRExpr *index, Int bias)
{
	UChar number = x87_atom(index);

	if (array->base != X87_GUEST(FPREG))
		return MODEL_SLOT_NONE;
	return number ? MODEL_REGISTER_X87 + ((UInt)(number + bias) & 7) : MODEL_REGISTER_OTHER;
}
