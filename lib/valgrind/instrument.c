/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: each superblock gets calls of the helpers, in the order in which the program's
 * instructions and their accesses come.  Instructions that touch no memory wait (a "run") for the
 * next one that does, for a branch or for a way out of the superblock, and go with it in one call.
 * An access waits too, for a store to the same place by the same instruction: the two are one call.
 *
 * Kinds of branches come from the instruction's bytes, their outcome from VEX: a side exit of a
 * conditional branch goes to the target or, where VEX turned the condition round, to the next
 * instruction.  Other side exits (string instructions, guarded operations) are no branches.
 *
 * Known deviation: VEX drops loads whose result is never used, so they are not counted.
 */
#include "valgrind/tool.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_hashtable.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "valgrind/decode.h"

/* Instructions of one translation; lives until that is discarded. */
struct block {
	VgHashNode node; /* key: the superblock's address */
	struct insn insns[];
};

enum access { ACCESS_NONE, ACCESS_LOAD, ACCESS_STORE, ACCESS_MODIFY };

struct builder {
	IRSB *out;
	struct insn *insns;
	struct decoded decoded; /* of the last of insns */
	Int count;              /* of insns so far */
	Int first;              /* where the run that waits begins; count: none does */
	Bool branch_due;        /* the last instruction is a branch that has not been told yet */
	enum access access;     /* the access that waits, after the run */
	IRExpr *address;
	Int size;
};

UInt fetch_line = 64;
static VgHashTable *blocks;

/* ---- pieces of intermediate representation ---- */

static IRExpr *word(UWord value)
{
	return IRExpr_Const(IRConst_U64(value));
}

static IRExpr *assign(struct builder *b, IRType type, IRExpr *value)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(t, value));
	return IRExpr_RdTmp(t);
}

static void call(
	struct builder *b, const HChar *name, void *function, IRExpr **arguments, IRExpr *guard)
{
	IRDirty *d = unsafeIRDirty_0_N(0, name, VG_(fnptr_to_fnentry)(function), arguments);

	if (guard)
		d->guard = guard;
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

#define CALL(b, guard, function, ...)                                                              \
	call(b, #function, (void *)(function), arguments_of((IRExpr *[]){__VA_ARGS__, NULL}), guard)

static IRExpr **arguments_of(IRExpr **a)
{
	if (!a[1])
		return mkIRExprVec_1(a[0]);
	if (!a[2])
		return mkIRExprVec_2(a[0], a[1]);
	if (!a[3])
		return mkIRExprVec_3(a[0], a[1], a[2]);
	return mkIRExprVec_4(a[0], a[1], a[2], a[3]);
}

/* ---- what waits ---- */

static struct insn *last(struct builder *b)
{
	return &b->insns[b->count - 1];
}

static IRExpr *run_start(struct builder *b)
{
	return word((UWord)&b->insns[b->first]);
}

static IRExpr *run_length(struct builder *b)
{
	return word((UWord)(b->count - b->first));
}

/* One access by itself, its instruction told before. */
static void tell_access(
	struct builder *b, enum access access, IRExpr *address, Int size, IRExpr *guard)
{
	if (access == ACCESS_LOAD)
		CALL(b, guard, helper_load, address, word((UWord)size));
	else if (access == ACCESS_STORE)
		CALL(b, guard, helper_store, address, word((UWord)size));
	else
		CALL(b, guard, helper_modify, address, word((UWord)size));
}

static void flush(struct builder *b)
{
	if (b->first == b->count) {
		if (b->access != ACCESS_NONE)
			tell_access(b, b->access, b->address, b->size, NULL);
	} else {
		if (b->access != ACCESS_NONE)
			last(b)->size = (uint16_t)b->size;
		switch (b->access) {
		case ACCESS_NONE:
			CALL(b, NULL, helper_run, run_start(b), run_length(b));
			break;
		case ACCESS_LOAD:
			CALL(b, NULL, helper_run_load, run_start(b), run_length(b), b->address);
			break;
		case ACCESS_STORE:
			CALL(b, NULL, helper_run_store, run_start(b), run_length(b), b->address);
			break;
		case ACCESS_MODIFY:
			CALL(b, NULL, helper_run_modify, run_start(b), run_length(b), b->address);
			break;
		}
	}
	b->first = b->count;
	b->access = ACCESS_NONE;
}

static void add_access(struct builder *b, enum access access, IRExpr *address, Int size)
{
	if (b->access == ACCESS_LOAD && access == ACCESS_STORE && size == b->size &&
		eqIRAtom(address, b->address)) {
		b->access = ACCESS_MODIFY;
		if (!(last(b)->class_bits & MODEL_LOCKED))
			last(b)->group.uops++;
		return;
	}
	if (b->access != ACCESS_NONE)
		flush(b);
	b->access = access;
	b->address = address;
	b->size = size;
}

static void add_guarded(
	struct builder *b, enum access access, IRExpr *address, Int size, IRExpr *guard)
{
	flush(b);
	tell_access(b, access, address, size, guard);
}

/* ---- branches ---- */

/* taken: an I1 atom. */
static void tell_conditional(struct builder *b, IRExpr *taken)
{
	IRExpr *wide = assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, taken));

	b->branch_due = False;
	if (b->access != ACCESS_NONE)
		flush(b); /* an empty run is all right: the branch is the instruction before its end
			   */
	CALL(b, NULL, helper_run_conditional, run_start(b), run_length(b), wide);
	b->first = b->count;
}

static Bool constant_address(const IRExpr *e, Addr *address)
{
	if (e->tag != Iex_Const || e->Iex.Const.con->tag != Ico_U64)
		return False;
	*address = e->Iex.Const.con->Ico.U64;
	return True;
}

/* The end of the current instruction.  next: where the superblock goes from here, NULL if it goes
 * on. */
static void end_instruction(struct builder *b, IRExpr *next)
{
	Addr to = 0;
	Bool run = b->first < b->count;

	if (!b->branch_due)
		return;
	b->branch_due = False;
	switch (last(b)->branch) {
	case MODEL_CONDITIONAL:
		/* VEX knew the outcome (no side exit is left), or follows both ways at once; then
		 * nobody knows it. */
		if (next && constant_address(next, &to))
			tell_conditional(b, IRExpr_Const(IRConst_U1(to == last(b)->target)));
		return;
	case MODEL_JUMP:
		if (b->access == ACCESS_NONE && run) {
			CALL(b, NULL, helper_run_jump, run_start(b), run_length(b));
			b->first = b->count;
			return;
		}
		break;
	case MODEL_CALL:
		if (b->access == ACCESS_STORE && run) {
			last(b)->size = (uint16_t)b->size;
			CALL(b, NULL, helper_run_call, run_start(b), run_length(b), b->address);
			b->first = b->count;
			b->access = ACCESS_NONE;
			return;
		}
		break;
	case MODEL_RETURN:
		if (b->access == ACCESS_LOAD && run && next) {
			last(b)->size = (uint16_t)b->size;
			CALL(b, NULL, helper_run_return, run_start(b), run_length(b), b->address,
				next);
			b->first = b->count;
			b->access = ACCESS_NONE;
			return;
		}
		break;
	}
	flush(b);
	if (last(b)->branch == MODEL_JUMP || last(b)->branch == MODEL_CALL)
		CALL(b, NULL, helper_branch, word((UWord)last(b)), word(last(b)->target));
	else if (next)
		CALL(b, NULL, helper_branch, word((UWord)last(b)), next);
}

/* ---- repeated string instructions ---- */

static void set_rep_active(struct builder *b, IRExpr *value)
{
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, word((UWord)&rep_active), value));
}

/* Before a side exit of one: going to itself keeps it active, leaving ends it; not taking the exit
 * keeps it. */
static void rep_exit(struct builder *b, IRExpr *guard, Addr to)
{
	Addr here = last(b)->from;

	set_rep_active(
		b, assign(b, Ity_I64, IRExpr_ITE(guard, word(to == here ? here : 0), word(here))));
}

/* ---- statements ---- */

static IRExpr *general_register(struct builder *b, unsigned number)
{
	static const Int offset[16] = {
		offsetof(VexGuestAMD64State, guest_RAX),
		offsetof(VexGuestAMD64State, guest_RCX),
		offsetof(VexGuestAMD64State, guest_RDX),
		offsetof(VexGuestAMD64State, guest_RBX),
		offsetof(VexGuestAMD64State, guest_RSP),
		offsetof(VexGuestAMD64State, guest_RBP),
		offsetof(VexGuestAMD64State, guest_RSI),
		offsetof(VexGuestAMD64State, guest_RDI),
		offsetof(VexGuestAMD64State, guest_R8),
		offsetof(VexGuestAMD64State, guest_R9),
		offsetof(VexGuestAMD64State, guest_R10),
		offsetof(VexGuestAMD64State, guest_R11),
		offsetof(VexGuestAMD64State, guest_R12),
		offsetof(VexGuestAMD64State, guest_R13),
		offsetof(VexGuestAMD64State, guest_R14),
		offsetof(VexGuestAMD64State, guest_R15),
	};

	return assign(b, Ity_I64, IRExpr_Get(offset[number & 15], Ity_I64));
}

static void tell_prefetch(struct builder *b)
{
	const struct decoded *d = &b->decoded;
	UWord constant = (UWord)(Word)d->displacement;
	IRExpr *sum;

	if (d->base == DECODE_RIP)
		constant += last(b)->from + d->length;
	sum = word(constant);
	if (d->base < 16)
		sum = assign(
			b, Ity_I64, IRExpr_Binop(Iop_Add64, general_register(b, d->base), sum));
	if (d->index < 16) {
		IRExpr *index = assign(b, Ity_I64,
			IRExpr_Binop(Iop_Shl64, general_register(b, d->index),
				IRExpr_Const(IRConst_U8(d->scale))));

		sum = assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, sum, index));
	}
	flush(b);
	CALL(b, NULL, helper_prefetch, sum);
}

/* Can an instruction join the group that waits? */
static Bool joins(struct builder *b, Addr address, UInt length)
{
	const struct insn *d = last(b);

	return b->first < b->count && b->access == ACCESS_NONE && !d->single &&
	       d->branch == DECODE_NO_BRANCH && !b->decoded.repeats &&
	       !(b->decoded.class_bits & ~PLAIN_CLASSES) && d->group.count < 255 &&
	       address == d->group.address + d->group.length &&
	       !((d->group.address ^ (address + length - 1)) & ~(Addr)(fetch_line - 1));
}

static void fill(struct insn *d, const struct decoded *decoded, Addr address, UInt length)
{
	d->group.length += (uint8_t)length;
	d->group.count++;
	d->group.fp += (decoded->class_bits & MODEL_FP) != 0;
	d->group.vector += (decoded->class_bits & MODEL_VECTOR) != 0;
	d->group.uops += decoded->uops;
	d->group.flops += decoded->flops;
	d->from = address;
	d->target = decoded->target;
	d->branch = decoded->branch;
	d->class_bits = decoded->class_bits;
	d->single = decoded->repeats || (decoded->class_bits & ~PLAIN_CLASSES) ||
		    ((address ^ (address + length - 1)) & ~(Addr)(fetch_line - 1));
}

static void begin_instruction(struct builder *b, const IRStmt *mark)
{
	Addr address = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
	UInt length = mark->Ist.IMark.len;

	end_instruction(b, NULL);
	if (b->access != ACCESS_NONE)
		flush(b);
	/* Zero where VEX could not decode it. */
	if (length == 0)
		length = VG_MIN_INSTR_SZB;
	decode((const uint8_t *)address, length, address, &b->decoded);
	if (b->decoded.repeats)
		flush(b);
	if (b->count == 0 || !joins(b, address, length)) {
		b->insns[b->count] = (struct insn){.group.address = address};
		b->count++;
	}
	fill(last(b), &b->decoded, address, length);
	b->branch_due = last(b)->branch != DECODE_NO_BRANCH;
	if (b->decoded.repeats) {
		CALL(b, NULL, helper_repeatable, word((UWord)last(b)));
		b->first = b->count;
	}
	if (b->decoded.class_bits & MODEL_PREFETCH)
		tell_prefetch(b);
}

static void see_exit(struct builder *b, const IRStmt *st)
{
	IRExpr *guard = st->Ist.Exit.guard;
	Addr to = st->Ist.Exit.dst->Ico.U64;

	if (b->branch_due && last(b)->branch == MODEL_CONDITIONAL) {
		if (to != last(b)->target)
			guard = assign(b, Ity_I1, IRExpr_Unop(Iop_Not1, guard));
		tell_conditional(b, guard);
	} else {
		flush(b);
		if (b->decoded.repeats)
			rep_exit(b, guard, to);
	}
}

static void see_dirty(struct builder *b, const IRDirty *d)
{
	Bool always = d->guard->tag == Iex_Const && d->guard->Iex.Const.con->Ico.U1;

	if (d->mFx == Ifx_None)
		return;
	for (enum access a = ACCESS_LOAD; a <= ACCESS_STORE; a++) {
		if (d->mFx != (a == ACCESS_LOAD ? Ifx_Read : Ifx_Write) && d->mFx != Ifx_Modify)
			continue;
		if (always)
			add_access(b, a, d->mAddr, d->mSize);
		else
			add_guarded(b, a, d->mAddr, d->mSize, d->guard);
	}
}

static void see_cas(struct builder *b, const IRCAS *cas)
{
	Int size = sizeofIRType(typeOfIRExpr(b->out->tyenv, cas->dataLo));

	if (cas->dataHi)
		size *= 2;
	/* VEX makes a locked operation of a load and a compare-and-swap; in truth it reads once. */
	if (b->access != ACCESS_LOAD || b->size != size || !eqIRAtom(b->address, cas->addr))
		add_access(b, ACCESS_LOAD, cas->addr, size);
	add_access(b, ACCESS_STORE, cas->addr, size);
}

static Int loadg_size(const IRLoadG *lg)
{
	IRType result, loaded;

	typeOfIRLoadGOp(lg->cvt, &result, &loaded);
	return sizeofIRType(loaded);
}

/* What a statement does, told before the statement itself. */
static void see(struct builder *b, const IRStmt *st)
{
	const IRTypeEnv *types = b->out->tyenv;
	const IRExpr *data;

	switch (st->tag) {
	case Ist_IMark:
		begin_instruction(b, st);
		break;
	case Ist_WrTmp:
		data = st->Ist.WrTmp.data;
		if (data->tag == Iex_Load)
			add_access(b, ACCESS_LOAD, data->Iex.Load.addr,
				sizeofIRType(data->Iex.Load.ty));
		break;
	case Ist_Store:
		add_access(b, ACCESS_STORE, st->Ist.Store.addr,
			sizeofIRType(typeOfIRExpr(types, st->Ist.Store.data)));
		break;
	case Ist_LoadG:
		add_guarded(b, ACCESS_LOAD, st->Ist.LoadG.details->addr,
			loadg_size(st->Ist.LoadG.details), st->Ist.LoadG.details->guard);
		break;
	case Ist_StoreG:
		add_guarded(b, ACCESS_STORE, st->Ist.StoreG.details->addr,
			sizeofIRType(typeOfIRExpr(types, st->Ist.StoreG.details->data)),
			st->Ist.StoreG.details->guard);
		break;
	case Ist_CAS:
		see_cas(b, st->Ist.CAS.details);
		break;
	case Ist_Dirty:
		see_dirty(b, st->Ist.Dirty.details);
		break;
	case Ist_Exit:
		see_exit(b, st);
		break;
	default:
		break; /* Put, PutI, MBE, AbiHint, NoOp; LLSC is not x86's */
	}
}

/* ---- superblocks ---- */

static struct block *block_new(Addr address, const IRSB *in)
{
	struct block *block;
	Int instructions = 0;

	for (Int i = 0; i < in->stmts_used; i++)
		instructions += in->stmts[i]->tag == Ist_IMark;
	block = VG_(malloc)("block", sizeof(*block) + (SizeT)instructions * sizeof(struct insn));
	block->node.key = address;
	if (!blocks)
		blocks = VG_(HT_construct)("blocks");
	VG_(HT_add_node)(blocks, block);
	return block;
}

void discard_superblock(Addr address, VexGuestExtents extents)
{
	struct block *block = blocks ? VG_(HT_remove)(blocks, address) : NULL;

	(void)extents;
	VG_(free)(block);
}

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word)
{
	struct builder b = {.out = deepCopyIRSBExceptStmts(in)};
	Addr to;
	Int i = 0;

	(void)layout, (void)extents, (void)host;
	tl_assert(guest_word == host_word && host_word == Ity_I64);
	b.insns = block_new(closure->nraddr, in)->insns;
	/* Before the first mark stands what Valgrind needs for itself. */
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(b.out, in->stmts[i]);
	for (; i < in->stmts_used; i++) {
		see(&b, in->stmts[i]);
		addStmtToIRSB(b.out, in->stmts[i]);
	}
	if (b.count == 0)
		return b.out;
	end_instruction(&b, in->next);
	flush(&b);
	if (b.decoded.repeats && !(constant_address(in->next, &to) && to == last(&b)->from))
		set_rep_active(&b, word(0));
	return b.out;
}
