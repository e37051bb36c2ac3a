/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: each superblock writes a record of itself (model/trace.h) and gets the descriptors
 * with which the model reads it. The code does little at run time: it takes room in the buffer,
 * stores the segment that begins, and stores each address.
 *
 * Kinds of branches come from the instruction's bytes, their outcome from VEX: a side exit of a
 * conditional branch goes to the target or, if VEX inverted the condition, to the next instruction.
 * Other side exits (string instructions, guarded operations) are not branches.
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
#include "valgrind/blocks.h"
#include "valgrind/counted.h"
#include "valgrind/dataspace.h"
#include "valgrind/decode.h"
#include "valgrind/depend.h"
#include "valgrind/executed.h"
#include "valgrind/extent.h"
#include "valgrind/modes.h"
#include "valgrind/profile.h"
#include "valgrind/sampled.h"
#include "valgrind/scan.h"
#include "valgrind/stacks.h"
#include "valgrind/thunk.h"
#include "valgrind/x87.h"

#define OUTCOMES_MAX MODEL_BLOCK_INSNS_MAX

struct builder {
	IRSB *out;
	struct model_block *block;
	struct decoded decoded; /* of the last instruction */
	IRExpr *record;         /* where the record is */
	IRConst *words;         /* of the record, times eight: set when they are known */
	IRConst **begun; /* what each segment writes into the record's first word; likewise */
	IRExpr *address; /* of the last access */
	Bool branch_due; /* the last instruction is a branch that is not recorded yet */
	uint16_t statics[MODEL_STATICS];             /* so far */
	struct model_outcome outcomes[OUTCOMES_MAX]; /* of branches so far that were passed */
	UInt outcome_count;
	struct model_outcome *next_outcome; /* room in the block */
	uint64_t *counters;                 /* of one that counts: for segments, then for guards */
	UInt guards_at;
};

UInt instrument_fetch_line = 64;
Bool instrument_dependences, instrument_addresses;

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

static IRExpr *load_word(struct builder *b, const void *from)
{
	return assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, word((UWord)from)));
}

static IRExpr *instrument_add(struct builder *b, IRExpr *a, IRExpr *c)
{
	return assign(b, Ity_I64, IRExpr_Binop(Iop_Add64, a, c));
}

/* Are there records? Else segments count themselves, and so do the targets of branches, unless only
 * blocks are counted. */
static Bool recording(void)
{
	return profile_kind != PROFILE_BLOCKS && !modes_counting && !executed_only;
}

static void add_to(struct builder *b, uint64_t *counter, IRExpr *n)
{
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, word((UWord)counter),
				      instrument_add(b, load_word(b, counter), n)));
}

/* Word `index` of the record becomes value, an atom. */
static void write_word(struct builder *b, UInt index, IRExpr *value)
{
	IRExpr *at;

	if (!recording())
		return;
	at = index ? instrument_add(b, b->record, word(index * sizeof(uint64_t))) : b->record;
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, value));
}

static IRExpr *next_record(struct builder *b)
{
	return assign(b, Ity_I64, IRExpr_Get(TRACE_AT, Ity_I64));
}

/* Room for a record; the buffer is emptied first if it is nearly full. The limit comes second,
 * where the host's instruction can have it. */
static void begin_record(struct builder *b)
{
	IRExpr *room;
	IRDirty *d;

	b->words = IRConst_U64(0);
	if (!recording())
		return;
	room = assign(b, Ity_I1,
		IRExpr_Binop(Iop_CmpLT64U, next_record(b), word((UWord)trace_limit + 1)));
	d = unsafeIRDirty_0_N(
		0, "trace_flush", VG_(fnptr_to_fnentry)((void *)trace_flush), mkIRExprVec_0());
	d->guard = assign(b, Ity_I1, IRExpr_Unop(Iop_Not1, room));
	d->nFxState = 1;
	d->fxState[0].fx = Ifx_Modify;
	d->fxState[0].offset = (UShort)TRACE_AT;
	d->fxState[0].size = sizeof(uint64_t);
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
	b->record = next_record(b);
	addStmtToIRSB(
		b->out, IRStmt_Put(TRACE_AT, instrument_add(b, b->record, IRExpr_Const(b->words))));
}

/* ---- descriptors ---- */

static struct model_insn *last(struct builder *b)
{
	return &b->block->insns[b->block->insn_count - 1];
}

static void begin_segment(struct builder *b)
{
	UInt number = b->block->segment_count++;
	struct model_segment *s = &b->block->segments[number];

	s->block = b->block;
	b->begun[number] = IRConst_U64(0);
	write_word(b, 0, IRExpr_Const(b->begun[number]));
	if (!recording() && !executed_only)
		add_to(b, modes_counting ? &b->counters[number] : &s->ended, word(1));
}

/* Counts the superblock's target, `next`: work is needed only if it differs from the last one. */
static void count_branch(struct builder *b, IRExpr *next)
{
	struct block_branch *branch = block_branch(b->block);
	IRDirty *d = unsafeIRDirty_0_N(0, "block_goes", VG_(fnptr_to_fnentry)((void *)block_goes),
		mkIRExprVec_2(word((UWord)branch), next));

	d->guard = assign(b, Ity_I1, IRExpr_Binop(Iop_CmpNE64, next, load_word(b, &branch->to)));
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
}

/* The last segment ends, if guard is null or true, with branch `by` if not null. next: its target,
 * 0: in the record. */
static void end_segment(struct builder *b, Addr next, const struct model_outcome *by, IRExpr *guard)
{
	struct model_block *block = b->block;
	struct model_segment *s = &block->segments[block->segment_count - 1];
	struct model_outcome *o = b->next_outcome;

	s->next = next;
	s->outcomes = o;
	for (UInt i = 0; i < b->outcome_count; i++)
		*o++ = b->outcomes[i];
	if (by)
		*o++ = *by;
	b->next_outcome = o;
	s->outcome_count = (uint8_t)(o - s->outcomes);
	VG_(memcpy)(s->statics, b->statics, sizeof(s->statics));
	for (const struct model_outcome *at = s->outcomes; at < o; at++)
		model_outcome_statics(at, s->statics);
	s->insn_count = block->insn_count;
	s->access_count = block->access_count;
	s->fetch_count = block->fetch_count;
	for (UInt i = 0; i < block->insn_count; i++)
		s->slow |= (block->insns[i].class_bits & MODEL_STEPPED) != 0;
	if (executed_only)
		executed_segment(s, guard);
}

/* A branch had this outcome and the superblock continues. */
static void pass_outcome(struct builder *b, const struct model_outcome *o)
{
	tl_assert(b->outcome_count < OUTCOMES_MAX);
	b->outcomes[b->outcome_count++] = *o;
}

static struct model_outcome outcome(struct builder *b, Bool taken)
{
	return (struct model_outcome){.insn = (uint16_t)(b->block->insn_count - 1),
		.taken = taken,
		.kind = last(b)->branch,
		.target = b->decoded.target,
		.from = last(b)->address};
}

/* ---- accesses ---- */

static void add_access(
	struct builder *b, enum model_access_kind kind, IRExpr *address, Int size, Bool guarded)
{
	struct model_block *block = b->block;

	if (executed_only && kind != MODEL_ACCESS_PREFETCH)
		executed_may_fault();
	last(b)->access_count++;
	block->accesses[block->access_count++] = (struct model_access){.kind = (uint8_t)kind,
		.guarded = guarded,
		.size = (uint16_t)size,
		.insn = (uint16_t)(block->insn_count - 1)};
	if (guarded || instrument_addresses)
		write_word(b, block->access_count, address);
	b->address = guarded ? NULL : address;
	if (guarded || kind == MODEL_ACCESS_PREFETCH)
		return;
	if (kind == MODEL_ACCESS_LOAD)
		b->statics[MODEL_STATIC_LOADS]++;
	else
		b->statics[MODEL_STATIC_STORES]++;
}

/* The load that the current instruction has just done, if it is this one; else NULL. */
static struct model_access *same_load(struct builder *b, IRExpr *address, Int size)
{
	struct model_access *a;

	if (!last(b)->access_count || !b->address || !eqIRAtom(address, b->address))
		return NULL;
	a = &b->block->accesses[b->block->access_count - 1];
	return a->kind == MODEL_ACCESS_LOAD && a->size == size ? a : NULL;
}

/* A store to the address that the same instruction has just loaded from is merged with that load.
 */
static void add_store(struct builder *b, IRExpr *address, Int size)
{
	struct model_access *a = same_load(b, address, size);

	if (a) {
		a->kind = MODEL_ACCESS_MODIFY;
		b->statics[MODEL_STATIC_STORES]++;
		if (!(last(b)->class_bits & MODEL_LOCKED)) {
			last(b)->uops++;
			b->statics[MODEL_STATIC_MICRO_OPS]++;
		}
		return;
	}
	add_access(b, MODEL_ACCESS_STORE, address, size, False);
}

/* Counts it when it happens. */
static void instrument_count_guarded(struct builder *b, enum model_access_kind kind, IRExpr *guard)
{
	uint64_t *counter = &b->counters[b->guards_at++];

	counted_statics(
		counter)[kind == MODEL_ACCESS_LOAD ? MODEL_STATIC_LOADS : MODEL_STATIC_STORES] = 1;
	add_to(b, counter, assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, guard)));
}

static void add_guarded(
	struct builder *b, enum model_access_kind kind, IRExpr *address, Int size, IRExpr *guard)
{
	if (recording())
		address = assign(b, Ity_I64, IRExpr_ITE(guard, address, word(0)));
	if (modes_counting)
		instrument_count_guarded(b, kind, guard);
	if (executed_only)
		executed_guarded(kind, guard);
	add_access(b, kind, address, size, True);
}

static IRExpr *general_register(struct builder *b, unsigned number)
{
	/* They are adjacent, in the order of their encoding. */
	return assign(b, Ity_I64,
		IRExpr_Get(
			offsetof(VexGuestAMD64State, guest_RAX) + 8 * (Int)(number & 15), Ity_I64));
}

static void tell_prefetch(struct builder *b)
{
	const struct scan_memory *o = &b->decoded.operand;
	UWord constant = (UWord)(Word)o->displacement;
	IRExpr *sum;

	if (o->base == SCAN_RIP)
		constant += last(b)->address + b->decoded.length;
	sum = word(constant);
	if (o->base < 16 && recording())
		sum = instrument_add(b, general_register(b, o->base), sum);
	if (o->index < 16 && recording()) {
		IRExpr *index = assign(b, Ity_I64,
			IRExpr_Binop(Iop_Shl64, general_register(b, o->index),
				IRExpr_Const(IRConst_U8(o->scale))));

		sum = instrument_add(b, sum, index);
	}
	add_access(b, MODEL_ACCESS_PREFETCH, sum, 1, False);
	b->address = NULL;
}

/* ---- instructions ---- */

/* Lines of the instruction cache that it is fetched from, where they are not the last one's. */
static void add_fetches(struct builder *b, Addr address, UInt length)
{
	struct model_block *block = b->block;
	Addr mask = ~(Addr)(instrument_fetch_line - 1), end = (address + length - 1) & mask;

	for (Addr line = address & mask; line <= end; line += instrument_fetch_line) {
		if (block->fetch_count && block->fetches[block->fetch_count - 1].line == line)
			continue;
		block->fetches[block->fetch_count++] = (struct model_fetch){
			.line = line, .insn = (uint16_t)(block->insn_count - 1)};
	}
}

static void add_instruction(struct builder *b, Addr address, UInt length)
{
	const struct decoded *d = &b->decoded;
	struct model_block *block = b->block;

	block->insns[block->insn_count] = (struct model_insn){
		.address = address,
		.class_bits = (uint16_t)(d->class_bits | (d->repeats ? MODEL_STEPPED : 0)),
		.length = (uint8_t)length,
		.uops = d->uops,
		.flops = d->flops,
		.branch = d->branch,
		.first_access = block->access_count,
	};
	block->insn_count++;
	b->statics[MODEL_STATIC_INSTRUCTIONS]++;
	b->statics[MODEL_STATIC_MICRO_OPS] += d->uops;
	b->statics[MODEL_STATIC_FP] += (d->class_bits & MODEL_FP) != 0;
	b->statics[MODEL_STATIC_VECTOR] += (d->class_bits & MODEL_VECTOR) != 0;
	b->statics[MODEL_STATIC_FLOPS] += d->flops;
	if (d->class_bits & ~PLAIN_CLASSES)
		block->specials[block->special_count++] = (uint8_t)(block->insn_count - 1);
	add_fetches(b, address, length);
}

static Bool constant_address(const IRExpr *e, Addr *address)
{
	if (e->tag != Iex_Const || e->Iex.Const.con->tag != Ico_U64)
		return False;
	*address = e->Iex.Const.con->Ico.U64;
	return True;
}

/* The end of a branch that no side exit has recorded, and the superblock continues. */
static void pass_branch(struct builder *b)
{
	struct model_outcome o;

	if (!b->branch_due)
		return;
	b->branch_due = False;
	if (last(b)->branch == MODEL_CONDITIONAL)
		return; /* VEX follows both paths at once: the outcome is unknown */
	o = outcome(b, True);
	pass_outcome(b, &o);
}

static void instrument_begin_instruction(struct builder *b, const IRStmt *mark)
{
	Addr address = mark->Ist.IMark.addr + mark->Ist.IMark.delta;
	UInt length = mark->Ist.IMark.len;

	/* Zero where VEX could not decode it. */
	if (length == 0)
		length = VG_MIN_INSTR_SZB;
	decode((const uint8_t *)address, length, address, &b->decoded);
	if (b->block->insn_count)
		pass_branch(b);
	else
		begin_record(b), begin_segment(b);
	if (executed_only)
		executed_instruction(b->statics, b->outcomes, b->outcome_count);
	add_instruction(b, address, length);
	if (executed_only && (b->decoded.class_bits & MODEL_DIVIDE))
		executed_may_fault();
	b->address = NULL;
	b->branch_due = last(b)->branch != MODEL_NO_BRANCH;
	if (b->decoded.class_bits & MODEL_PREFETCH)
		tell_prefetch(b);
}

/* ---- statements ---- */

/* A side exit, after which a new segment begins. */
static void see_exit(struct builder *b, const IRStmt *st)
{
	Addr to = st->Ist.Exit.dst->Ico.U64;

	if (b->branch_due && last(b)->branch == MODEL_CONDITIONAL) {
		struct model_outcome o = outcome(b, to == b->decoded.target);

		b->branch_due = False;
		end_segment(b, to, &o, st->Ist.Exit.guard);
		o.taken = !o.taken;
		pass_outcome(b, &o);
	} else {
		end_segment(b, to, NULL, st->Ist.Exit.guard);
	}
}

static void instrument_see_dirty(struct builder *b, const IRDirty *d)
{
	Bool always = d->guard->tag == Iex_Const && d->guard->Iex.Const.con->Ico.U1;
	Bool loads = d->mFx == Ifx_Read || d->mFx == Ifx_Modify;
	Bool stores = d->mFx == Ifx_Write || d->mFx == Ifx_Modify;

	if (loads && always)
		add_access(b, MODEL_ACCESS_LOAD, d->mAddr, d->mSize, False);
	else if (loads)
		add_guarded(b, MODEL_ACCESS_LOAD, d->mAddr, d->mSize, d->guard);
	if (stores && always)
		add_store(b, d->mAddr, d->mSize);
	else if (stores)
		add_guarded(b, MODEL_ACCESS_STORE, d->mAddr, d->mSize, d->guard);
}

static void instrument_see_cas(struct builder *b, const IRCAS *cas)
{
	Int size = sizeofIRType(typeOfIRExpr(b->out->tyenv, cas->dataLo));

	if (cas->dataHi)
		size *= 2;
	/* VEX makes a locked operation of a load and a compare-and-swap; in truth it reads once. */
	if (!same_load(b, cas->addr, size))
		add_access(b, MODEL_ACCESS_LOAD, cas->addr, size, False);
	add_store(b, cas->addr, size);
}

static Int loadg_size(const IRLoadG *lg)
{
	IRType result, loaded;

	typeOfIRLoadGOp(lg->cvt, &result, &loaded);
	return sizeofIRType(loaded);
}

/* Instruments a statement, before the statement itself. */
static void instrument_see(struct builder *b, const IRStmt *st)
{
	const IRTypeEnv *types = b->out->tyenv;
	const IRExpr *data;

	switch (st->tag) {
	case Ist_IMark:
		instrument_begin_instruction(b, st);
		break;
	case Ist_WrTmp:
		data = st->Ist.WrTmp.data;
		if (data->tag == Iex_Load)
			add_access(b, MODEL_ACCESS_LOAD, data->Iex.Load.addr,
				sizeofIRType(data->Iex.Load.ty), False);
		break;
	case Ist_Store:
		add_store(b, st->Ist.Store.addr,
			sizeofIRType(typeOfIRExpr(types, st->Ist.Store.data)));
		break;
	case Ist_LoadG:
		add_guarded(b, MODEL_ACCESS_LOAD, st->Ist.LoadG.details->addr,
			loadg_size(st->Ist.LoadG.details), st->Ist.LoadG.details->guard);
		break;
	case Ist_StoreG:
		add_guarded(b, MODEL_ACCESS_STORE, st->Ist.StoreG.details->addr,
			sizeofIRType(typeOfIRExpr(types, st->Ist.StoreG.details->data)),
			st->Ist.StoreG.details->guard);
		break;
	case Ist_CAS:
		instrument_see_cas(b, st->Ist.CAS.details);
		break;
	case Ist_Dirty:
		instrument_see_dirty(b, st->Ist.Dirty.details);
		break;
	case Ist_Exit:
		see_exit(b, st);
		break;
	default:
		break; /* Put, PutI, MBE, AbiHint, NoOp; LLSC is not x86's */
	}
}

/* For call paths: the stack pointer after a call, a return or a jump that may change the stack. */
static void instrument_write_stack(struct builder *b)
{
	struct model_block *block = b->block;
	UInt kind = last(b)->branch;

	if (!stacks_kept || !b->branch_due || kind == MODEL_CONDITIONAL || kind == MODEL_JUMP)
		return;
	block->stack = (uint8_t)(1 + kind);
	write_word(b, 1u + block->access_count, general_register(b, 4));
}

/* The end of the superblock. */
static void instrument_finish(struct builder *b, const IRSB *in)
{
	struct model_outcome o;
	Addr to = 0;
	UInt words;
	Bool known = constant_address(in->next, &to);

	if (b->block->indirect && profile_kind == PROFILE_BLOCKS)
		count_branch(b, in->next);
	instrument_write_stack(b);
	words = 1u + b->block->access_count + (b->block->stack != 0);
	if (b->block->indirect)
		write_word(b, words, in->next);
	b->block->words = (uint16_t)(words + b->block->indirect);
	b->words->Ico.U64 = b->block->words * sizeof(uint64_t);
	for (UInt i = 0; i < b->block->segment_count; i++)
		b->begun[i]->Ico.U64 = model_word(&b->block->segments[i], b->block->words);
	tl_assert(b->block->words <= TRACE_RECORD_MAX);
	if (!b->branch_due) {
		end_segment(b, to, NULL, NULL);
		return;
	}
	o = outcome(b, True);
	if (o.kind == MODEL_CONDITIONAL) {
		/* VEX computed the outcome: no side exit is left. */
		o.taken = to == b->decoded.target;
		end_segment(b, to, known ? &o : NULL, NULL);
		return;
	}
	end_segment(b, to, &o, NULL);
}

/* ---- superblocks ---- */

IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
	const VexGuestExtents *extents, const VexArchInfo *host, IRType guest_word,
	IRType host_word)
{
	struct builder b = {.out = deepCopyIRSBExceptStmts(in)};
	struct extent e = extent_of(in);
	Addr key = modes_key(closure->nraddr), to;
	Int i = 0;

	(void)layout, (void)extents, (void)host;
	sampled_translated(!(modes_counting ? block_find(closure->nraddr) != NULL
					    : counted_knows(modes_other(key))));
	tl_assert(guest_word == host_word && host_word == Ity_I64);
	tl_assert(e.insns <= MODEL_BLOCK_INSNS_MAX);
	b.guards_at = e.exits + 1;
	if (modes_counting)
		b.counters = counted_new(key, b.guards_at + e.guards);
	b.block = (executed_only ? block_scratch : block_new)(key, e.insns, e.accesses, e.fetches,
		e.exits + 1, (e.exits + 1) * e.branches, &b.next_outcome);
	b.block->indirect = !constant_address(in->next, &to);
	b.begun = VG_(malloc)("begun", (e.exits + 1) * sizeof(*b.begun));
	/* The statements before the first mark are Valgrind's own. */
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(b.out, in->stmts[i]);
	thunk_superblock(in, closure->nraddr);
	if (executed_only)
		executed_superblock(in, b.out, closure->nraddr, b.block);
	if (dataspace_kept)
		heap_instrument(b.out, closure->nraddr);
	for (; i < in->stmts_used; i++) {
		instrument_see(&b, in->stmts[i]);
		if (!thunk_unused(i))
			addStmtToIRSB(b.out, in->stmts[i]);
		if (in->stmts[i]->tag == Ist_Exit)
			begin_segment(&b);
	}
	if (b.block->insn_count)
		instrument_finish(&b, in);
	VG_(free)(b.begun);
	if (executed_only)
		return b.out;
	if (instrument_dependences && !modes_counting) {
		depend(in, b.block->insns, b.block->insn_count, x87_top());
		model_describe(model, b.block, NULL, depend_keys(b.block));
	}
	block_ready(b.block);
	if (modes_counting) {
		counted_describe(b.block, b.counters);
		block_discard(key);
	}
	return b.out;
}
