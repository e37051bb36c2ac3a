/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The dependences between the instructions of a superblock, from VEX's flat intermediate
 * representation as it is after optimisation: values that pass from one instruction to another in
 * temporaries within the block, in guest registers between blocks.
 *
 * Source: def-use chains of straight-line code, one pass. Cost: a few operations per statement.
 *
 * The four fields in which VEX keeps the operands of flags are one register. Only instructions that
 * are documented to read flags need it: not those that keep some of them. The stack pointer moved
 * by a constant, and any register that an instruction moves by a constant besides its access
 * (string operations), is ready at once, as with the stack engines and renamers of processors.
 *
 * Known deviations: all results of an instruction are ready together, at its end; where
 * optimisation has merged additions of constants of several instructions, the last depends only on
 * what the first depends on; a fifth operand is ignored; DF, the rounding mode and similar state
 * are always ready.
 */
#include "valgrind/depend.h"

#include "libvex_guest_amd64.h"
#include "model/retire.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "valgrind/latency.h"
#include "valgrind/scan.h"
#include "valgrind/traits.h"
#include "valgrind/x87.h"

#define GUEST(field) ((Int)offsetof(VexGuestAMD64State, guest_##field))

enum { NO_SLOT = MODEL_SLOT_NONE, SET_MAX = 8 };

/* Slots of trace.h, each once. */
struct set {
	UChar count, slot[SET_MAX];
};

/* A temporary. */
struct value {
	Short insn;      /* the instruction that computes it; -1: it is a copy of slot */
	UChar moved;     /* it is a register moved by a constant */
	UChar slot;      /* the slot that others read; of one that is moved: the slot that was moved
			  */
	struct set from; /* the inputs of its instruction */
};

struct walk {
	const IRSB *in;
	struct model_insn *insns;
	struct value *values;          /* by temporary */
	Int insn;                      /* the current one; -1: before the first */
	Bool memory;                   /* it loads or stores */
	UChar now[MODEL_REGISTERS];    /* where each register is */
	UChar before[MODEL_REGISTERS]; /* where it was when the instruction began */
	UInt written[MODEL_REGISTERS]; /* bytes that the instruction writes, a bit each */
	UInt traits;                   /* of the current instruction */
	Int flags;                     /* the last instruction that wrote flags; -1: none here */
	Bool kept;                     /* and that one keeps some */
};

/* Of one instruction; results are registers. */
struct needed {
	struct set address, operands, results;
};

static struct value *values;
static Int values_room;
static struct needed needed[MODEL_BLOCK_INSNS_MAX];

static void set_add(struct set *s, UInt slot)
{
	Int i;

	if (slot == NO_SLOT || s->count == SET_MAX)
		return;
	for (i = 0; i < s->count; i++)
		if (s->slot[i] == slot)
			return;
	s->slot[s->count++] = (UChar)slot;
}

static void set_join(struct set *s, const struct set *other)
{
	Int i;

	for (i = 0; i < other->count; i++)
		set_add(s, other->slot[i]);
}

/* ---- the guest's registers ---- */

/* The register at an offset, and where it begins. */
static UInt register_at(Int offset, Int *base)
{
	if (offset >= GUEST(RAX) && offset < GUEST(CC_OP)) {
		*base = offset & ~7;
		return (UInt)(offset - GUEST(RAX)) / 8;
	}
	*base = offset;
	if (offset >= GUEST(CC_OP) && offset < GUEST(DFLAG))
		return MODEL_REGISTER_FLAGS;
	if (offset >= GUEST(YMM0) && offset < GUEST(YMM16)) {
		UInt n = (UInt)(offset - GUEST(YMM0)) / sizeof(U256);

		*base = GUEST(YMM0) + (Int)(n * sizeof(U256));
		return MODEL_REGISTER_VECTOR + n;
	}
	if (offset >= GUEST(FC3210) && offset < GUEST(FC3210) + 8)
		return MODEL_REGISTER_OTHER;
	return NO_SLOT;
}

static void write_register(struct walk *w, UInt reg, Int first, Int size)
{
	if (reg == NO_SLOT)
		return;
	if (!w->written[reg])
		w->before[reg] = w->now[reg];
	for (; size > 0 && first < 32; size--, first++)
		w->written[reg] |= 1u << first;
	w->now[reg] = (UChar)(MODEL_RESULT + w->insn);
	set_add(&needed[w->insn].results, reg);
}

/* ---- values ---- */

/* The slot of an operand for the current instruction; or the inputs of one that it computes itself.
 * A value of another instruction is a result of that one: it depends on that one's inputs. */
static struct set needs(const struct walk *w, const IRExpr *e)
{
	struct set s = {0};
	const struct value *v;

	if (!e || e->tag != Iex_RdTmp)
		return s;
	v = &w->values[e->Iex.RdTmp.tmp];
	if (v->insn == w->insn && v->insn >= 0)
		return v->from;
	if (v->insn >= 0 && !v->moved)
		set_join(&needed[v->insn].operands, &v->from);
	set_add(&s, v->slot);
	return s;
}

static void add_needs(const struct walk *w, struct set *to, const IRExpr *e)
{
	struct set s = needs(w, e);

	set_join(to, &s);
}

static void depend_use(struct walk *w, const IRExpr *e)
{
	if (w->insn >= 0)
		add_needs(w, &needed[w->insn].operands, e);
}

static void use_address(struct walk *w, const IRExpr *e)
{
	if (w->insn >= 0)
		add_needs(w, &needed[w->insn].address, e);
}

/* The current instruction computes t from `from`. */
static void depend_computes(struct walk *w, IRTemp t, struct set from)
{
	w->values[t] = (struct value){.insn = (Short)w->insn,
		.slot = (UChar)(w->insn < 0 ? NO_SLOT : MODEL_RESULT + w->insn),
		.from = from};
}

static void copies(struct walk *w, IRTemp t, UInt slot)
{
	if (w->insn >= 0 && slot == (UInt)(MODEL_RESULT + w->insn)) {
		depend_computes(w, t, (struct set){0});
		return;
	}
	w->values[t] = (struct value){.insn = -1, .slot = (UChar)slot};
}

static void depend_loads(struct walk *w, IRTemp t, const IRExpr *address)
{
	use_address(w, address);
	depend_computes(w, t, (struct set){0});
}

/* A register plus or minus a constant: is it there at once? */
static Bool moves(struct walk *w, IRTemp t, const IRExpr *e)
{
	const IRExpr *base = e->Iex.Binop.arg1;
	const struct value *v;

	if ((e->Iex.Binop.op != Iop_Add64 && e->Iex.Binop.op != Iop_Sub64) ||
		base->tag != Iex_RdTmp || e->Iex.Binop.arg2->tag != Iex_Const)
		return False;
	v = &w->values[base->Iex.RdTmp.tmp];
	if (v->slot == NO_SLOT || (v->insn == w->insn && !v->moved) || w->insn < 0)
		return False;
	if (!w->memory && v->slot != w->now[4])
		return False;
	w->values[t] = (struct value){
		.insn = (Short)w->insn, .moved = 1, .slot = v->slot, .from = {1, {v->slot}}};
	return True;
}

/* VEX computes conditions where they are used, from what was compared; then nothing is left of a
 * comparison. So what the current instruction computes from `from` are the flags of the one that
 * wrote them, and that needs these operands. */
static struct set condition(const struct walk *w, const IRExpr *e, struct set from)
{
	UInt flags = (UInt)(MODEL_RESULT + w->flags);
	struct set result = {1, {(UChar)flags}};
	Int i;

	if (w->flags < 0 || !(w->traits & TRAITS_READS_FLAGS) ||
		(e->tag != Iex_CCall && typeOfIRExpr(w->in->tyenv, e) != Ity_I1))
		return from;
	for (i = 0; !w->kept && i < from.count; i++)
		if (from.slot[i] != flags)
			set_add(&needed[w->flags].operands, from.slot[i]);
	return result;
}

/* Does the instruction compute e to keep flags that it does not need? */
static Bool keeps_flags(const struct walk *w, const IRExpr *e)
{
	static const HChar helper[] = "amd64g_calculate_rflags";

	if (w->traits & TRAITS_READS_FLAGS)
		return False;
	if (e->tag == Iex_CCall)
		return VG_(strncmp)(e->Iex.CCall.cee->name, helper, sizeof(helper) - 1) == 0;
	return (w->traits & TRAITS_KEEPS_FLAGS) && typeOfIRExpr(w->in->tyenv, e) == Ity_I1;
}

static void see_get(struct walk *w, IRTemp t, Int offset)
{
	Int base;
	UInt reg = register_at(offset, &base);

	if (reg == MODEL_REGISTER_FLAGS && w->insn >= 0 && !(w->traits & TRAITS_READS_FLAGS))
		reg = NO_SLOT;
	/* To leave a vector register takes time. */
	if (reg != NO_SLOT && w->insn >= 0 && w->insns[w->insn].latency == MODEL_LATENCY_MOVE)
		depend_computes(w, t, (struct set){1, {w->now[reg]}});
	else
		copies(w, t, reg == NO_SLOT ? NO_SLOT : w->now[reg]);
}

static void see_temporary(struct walk *w, IRTemp t, const IRExpr *e)
{
	struct set from = {0};
	IRExpr *const *args;
	UInt reg;

	if (keeps_flags(w, e)) {
		depend_computes(w, t, from);
		return;
	}
	switch (e->tag) {
	case Iex_Get:
		see_get(w, t, e->Iex.Get.offset);
		return;
	case Iex_GetI:
		reg = x87_register(e->Iex.GetI.descr, e->Iex.GetI.ix, e->Iex.GetI.bias);
		copies(w, t, reg == NO_SLOT ? NO_SLOT : w->now[reg]);
		return;
	case Iex_RdTmp:
		w->values[t] = w->values[e->Iex.RdTmp.tmp];
		return;
	case Iex_Const:
		w->values[t] = (struct value){.insn = -1, .slot = NO_SLOT};
		return;
	case Iex_Load:
		depend_loads(w, t, e->Iex.Load.addr);
		return;
	case Iex_Unop:
		add_needs(w, &from, e->Iex.Unop.arg);
		break;
	case Iex_Binop:
		if (moves(w, t, e))
			return;
		add_needs(w, &from, e->Iex.Binop.arg1);
		add_needs(w, &from, e->Iex.Binop.arg2);
		break;
	case Iex_Triop:
		add_needs(w, &from, e->Iex.Triop.details->arg1);
		add_needs(w, &from, e->Iex.Triop.details->arg2);
		add_needs(w, &from, e->Iex.Triop.details->arg3);
		break;
	case Iex_Qop:
		add_needs(w, &from, e->Iex.Qop.details->arg2);
		add_needs(w, &from, e->Iex.Qop.details->arg3);
		add_needs(w, &from, e->Iex.Qop.details->arg4);
		break;
	case Iex_CCall:
		for (args = e->Iex.CCall.args; *args; args++)
			add_needs(w, &from, *args);
		break;
	case Iex_ITE:
		add_needs(w, &from, e->Iex.ITE.cond);
		add_needs(w, &from, e->Iex.ITE.iftrue);
		if (!(w->traits & TRAITS_KEEPS_FLAGS))
			add_needs(w, &from, e->Iex.ITE.iffalse);
		break;
	default:
		break;
	}
	depend_computes(w, t, condition(w, e, from));
}

/* ---- statements ---- */

static void see_put(struct walk *w, Int offset, const IRExpr *data)
{
	Int base, size = sizeofIRType(typeOfIRExpr(w->in->tyenv, data));
	UInt reg = register_at(offset, &base);

	if (reg == NO_SLOT)
		return;
	if (data->tag == Iex_RdTmp) {
		const struct value *v = &w->values[data->Iex.RdTmp.tmp];

		/* It stays where it is: moved, or put back. */
		if (v->slot == w->now[reg] && reg < 16 && (v->moved || v->insn < 0))
			return;
	}
	if (reg != MODEL_REGISTER_FLAGS || !(w->traits & TRAITS_KEEPS_FLAGS))
		depend_use(w, data);
	write_register(w, reg, offset - base, size);
}

/* Registers that are exchanged are renamed; those of the block before, when it is left. */
static void see_put_element(struct walk *w, const IRPutI *p)
{
	UInt reg = x87_register(p->descr, p->ix, p->bias);

	if (reg == NO_SLOT)
		return;
	depend_use(w, p->data);
	write_register(w, reg, 0, 32);
	if (p->data->tag == Iex_RdTmp && w->insns[w->insn].latency == MODEL_LATENCY_NONE)
		w->now[reg] = w->values[p->data->Iex.RdTmp.tmp].slot;
}

static void depend_see_dirty(struct walk *w, const IRDirty *d)
{
	Int i, base;

	for (i = 0; d->args[i]; i++)
		if (!is_IRExpr_VECRET_or_GSPTR(d->args[i]))
			depend_use(w, d->args[i]);
	depend_use(w, d->guard);
	if (d->mFx != Ifx_None)
		use_address(w, d->mAddr);
	for (i = 0; w->insn >= 0 && i < d->nFxState; i++) {
		Int at, repeat, first = d->fxState[i].offset, size = d->fxState[i].size;

		for (repeat = 0; repeat <= d->fxState[i].nRepeats; repeat++)
			for (at = 0; at < size; at += 8) {
				Int offset = first + repeat * d->fxState[i].repeatLen + at;
				UInt reg = register_at(offset, &base);

				if (reg == NO_SLOT)
					continue;
				if (d->fxState[i].fx != Ifx_Write)
					set_add(&needed[w->insn].operands, w->now[reg]);
				if (d->fxState[i].fx != Ifx_Read)
					write_register(w, reg, offset - base, 8);
			}
	}
	if (d->tmp != IRTemp_INVALID)
		depend_computes(w, d->tmp, (struct set){0});
	if (w->insn >= 0 && w->insns[w->insn].latency == MODEL_LATENCY_ALU)
		w->insns[w->insn].latency = MODEL_LATENCY_MICROCODE;
}

static void depend_see_cas(struct walk *w, const IRCAS *cas)
{
	use_address(w, cas->addr);
	depend_use(w, cas->expdLo);
	depend_use(w, cas->expdHi);
	depend_use(w, cas->dataLo);
	depend_use(w, cas->dataHi);
	depend_computes(w, cas->oldLo, (struct set){0});
	if (cas->oldHi != IRTemp_INVALID)
		depend_computes(w, cas->oldHi, (struct set){0});
}

static void depend_see(struct walk *w, const IRStmt *st)
{
	x87_see(st);
	switch (st->tag) {
	case Ist_WrTmp:
		see_temporary(w, st->Ist.WrTmp.tmp, st->Ist.WrTmp.data);
		break;
	case Ist_Put:
		if (w->insn >= 0)
			see_put(w, st->Ist.Put.offset, st->Ist.Put.data);
		break;
	case Ist_PutI:
		if (w->insn >= 0)
			see_put_element(w, st->Ist.PutI.details);
		break;
	case Ist_Store:
		use_address(w, st->Ist.Store.addr);
		depend_use(w, st->Ist.Store.data);
		break;
	case Ist_StoreG:
		use_address(w, st->Ist.StoreG.details->addr);
		depend_use(w, st->Ist.StoreG.details->data);
		depend_use(w, st->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG:
		depend_use(w, st->Ist.LoadG.details->guard);
		depend_use(w, st->Ist.LoadG.details->alt);
		depend_loads(w, st->Ist.LoadG.details->dst, st->Ist.LoadG.details->addr);
		break;
	case Ist_CAS:
		depend_see_cas(w, st->Ist.CAS.details);
		break;
	case Ist_Dirty:
		depend_see_dirty(w, st->Ist.Dirty.details);
		break;
	case Ist_Exit:
		depend_use(w, st->Ist.Exit.guard);
		break;
	default:
		break; /* MBE, AbiHint, NoOp; LLSC is not x86's */
	}
}

/* ---- instructions ---- */

/* Operands that are ready late come first. */
static Int usefulness(const struct walk *w, UInt slot)
{
	const struct model_insn *from;

	if (slot < MODEL_RESULT)
		return slot == MODEL_REGISTER_FLAGS ? 0 : 1;
	from = &w->insns[slot - MODEL_RESULT];
	return 2 + (from->latency > MODEL_LATENCY_STORE) + 2 * (from->access_count > 0);
}

static void depend_choose(const struct walk *w, struct set *s, UChar *slots, Int room)
{
	Int i, j, best;

	for (i = 0; i < room; i++) {
		slots[i] = NO_SLOT;
		for (j = 0, best = -1; j < s->count; j++)
			if (s->slot[j] != NO_SLOT &&
				(best < 0 ||
					usefulness(w, s->slot[j]) > usefulness(w, s->slot[best])))
				best = j;
		if (best < 0)
			continue;
		slots[i] = s->slot[best];
		s->slot[best] = NO_SLOT;
	}
}

static void end_instruction(struct walk *w)
{
	UInt reg;

	if (w->insn < 0)
		return;
	/* A partial write to a register depends on the register's old value. Upper halves of
	 * vectors and of general registers, and the fields of the flags, do not count. */
	for (reg = 0; reg < MODEL_REGISTERS; reg++) {
		UInt all = reg < MODEL_REGISTER_FLAGS                                   ? 15
			   : reg >= MODEL_REGISTER_VECTOR && reg < MODEL_REGISTER_OTHER ? 0xffff
											: 0;

		if (w->written[reg] && (w->written[reg] & all) != all)
			set_add(&needed[w->insn].operands, w->before[reg]);
		w->written[reg] = 0;
	}
}

/* When all is known, also of what later instructions need of earlier ones. */
static void depend_fill(const struct walk *w)
{
	Int i, j;

	for (i = 0; i <= w->insn; i++) {
		struct model_insn *insn = &w->insns[i];
		struct needed *n = &needed[i];

		depend_choose(w, &n->address, insn->for_address, 2);
		depend_choose(w, &n->operands, insn->source, MODEL_SOURCES_MAX);
		for (j = 0; j < MODEL_RESULTS_MAX; j++)
			insn->result[j] =
				j < n->results.count ? n->results.slot[j] : MODEL_SLOT_SINK;
	}
}

static Bool touches_memory(const IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp:
		return st->Ist.WrTmp.data->tag == Iex_Load;
	case Ist_Store:
	case Ist_StoreG:
	case Ist_LoadG:
	case Ist_CAS:
		return True;
	case Ist_Dirty:
		return st->Ist.Dirty.details->mFx != Ifx_None;
	default:
		return False;
	}
}

/* The flags that it reads are those of the last instruction that wrote some. */
static void depend_on_flags(struct walk *w, const uint8_t *code, UInt length)
{
	struct model_insn *insn = &w->insns[w->insn];
	UInt traits = traits_of(code, length), before = w->traits;

	insn->traits = (UChar)((traits & TRAITS_FIELDS) / TRAITS_FIELD * MODEL_TRAIT_FIELD |
			       (traits & TRAITS_SCALED ? MODEL_TRAIT_SCALED : 0) |
			       (traits & TRAITS_VECTOR ? MODEL_TRAIT_VECTOR : 0) |
			       (traits & TRAITS_COMPARES ? MODEL_TRAIT_COMPARES : 0));
	if ((traits & TRAITS_JUMPS) && w->flags == w->insn - 1 && w->insn > 0)
		insn->traits |= (UChar)(before & TRAITS_COMPARES ? MODEL_TRAIT_AFTER_COMPARE
					: before & TRAITS_ADDS   ? MODEL_TRAIT_AFTER_ARITHMETIC
								 : 0);
	if ((traits & TRAITS_READS_FLAGS) && w->flags >= 0)
		set_add(&needed[w->insn].operands, (UInt)(MODEL_RESULT + w->flags));
	if (traits & TRAITS_WRITES_FLAGS) {
		w->flags = w->insn;
		w->kept = (traits & TRAITS_KEEPS_FLAGS) != 0;
	}
	w->traits = traits;
}

static void depend_begin_instruction(struct walk *w, Int at)
{
	const IRStmt *mark = w->in->stmts[at];
	Addr address = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
	struct model_insn *insn = &w->insns[++w->insn];
	Int i;

	insn->latency =
		(UChar)latency_of((const uint8_t *)address, mark->Ist.IMark.len, insn->class_bits);
	needed[w->insn] = (struct needed){0};
	depend_on_flags(w, (const uint8_t *)address, mark->Ist.IMark.len);
	w->memory = False;
	for (i = at + 1; i < w->in->stmts_used && w->in->stmts[i]->tag != Ist_IMark; i++)
		w->memory |= touches_memory(w->in->stmts[i]);
}

void depend(const IRSB *in, struct model_insn *insns, Int count, UInt top)
{
	struct walk w = {.in = in, .insns = insns, .insn = -1, .flags = -1};
	Int i;

	if (values_room < in->tyenv->types_used) {
		VG_(free)(values);
		values_room = 2 * in->tyenv->types_used;
		values = VG_(malloc)("values", (SizeT)values_room * sizeof(*values));
	}
	w.values = values;
	x87_begin(in, top);
	for (i = 0; i < in->tyenv->types_used; i++)
		values[i] = (struct value){.insn = -1, .slot = NO_SLOT};
	for (i = 0; i < MODEL_REGISTERS; i++)
		w.now[i] = (UChar)i;
	for (i = 0; i < in->stmts_used; i++) {
		if (in->stmts[i]->tag != Ist_IMark) {
			depend_see(&w, in->stmts[i]);
			continue;
		}
		end_instruction(&w);
		if (w.insn + 1 == count)
			break;
		depend_begin_instruction(&w, i);
	}
	depend_use(&w, in->next);
	end_instruction(&w);
	depend_fill(&w);
}

const uint32_t *depend_keys(const struct model_block *block)
{
	static uint32_t keys[MODEL_BLOCK_INSNS_MAX];

	for (UInt i = 0; i < block->insn_count; i++) {
		const struct model_insn *insn = &block->insns[i];

		keys[i] = insn->access_count == 1
				  ? scan_address((const uint8_t *)insn->address, insn->length)
				  : 0;
	}
	return keys;
}
