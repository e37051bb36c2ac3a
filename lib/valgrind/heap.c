/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Blocks of the heap. The program keeps its allocator: nothing is replaced, preloaded or called in
 * its place. So addresses, counts and the environment are those of a run without data-space
 * profiling, and static executables and allocators of the program's own work as well. Allocators
 * are recognised by the names of their functions. A superblock that begins one (a call always
 * begins one) reports its arguments; every superblock compares the stack pointer with the one at
 * which the allocator will have returned, which is one comparison while there is no allocation in
 * progress, and then has the result.
 *
 * An allocator that calls another (operator new malloc, realloc free) is one allocation: the
 * outermost counts.
 */
#include "valgrind/dataspace.h"

#include "libvex_guest_amd64.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_machine.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_threadstate.h"

#include "valgrind/spans.h"
#include "valgrind/stacks.h"
#include "valgrind/tool.h"
#include "valgrind/valgrind_variables.h"

struct call {
	Addr due;     /* the stack pointer when it will have returned; 1: no call is active */
	Addr returns; /* to there */
	enum allocator kind;
	Addr old, where; /* the reallocated block; where the result is stored */
	SizeT size;
	UInt node;
};

#define NOBODY 1 /* no stack pointer */

Addr heap_due = NOBODY;
static OSet *blocks;       /* of struct span */
static struct call *calls; /* by Valgrind's number of the thread */
static ThreadId running;

void heap_begin(void)
{
	blocks = spans_new();
	calls = VG_(calloc)("calls", VG_N_THREADS, sizeof(*calls));
	for (UInt i = 0; i < VG_N_THREADS; i++)
		calls[i].due = NOBODY;
}

void heap_thread(ThreadId tid)
{
	running = tid;
	heap_due = calls[tid].due;
}

/* ---- blocks ---- */

static void remove_block(struct span *b)
{
	objects_gone(dataspace_objects(), b->start, b->size);
	spans_remove(blocks, b);
}

void heap_unmapped(Addr a, SizeT length)
{
	struct span *b;

	while ((b = spans_over(blocks, a, length)) != NULL)
		remove_block(b);
}

static void heap_add_block(Addr start, SizeT size, UInt node)
{
	UInt object;

	if (!size)
		size = 1;
	if (!start || start + size < start)
		return;
	heap_unmapped(start, size);
	objects_gone(dataspace_objects(), start, size);
	object = dataspace_object(MODEL_OBJECT_HEAP, 0, 0, 0, 0, node, "");
	dataspace_add_block(object, start, size);
	spans_add(blocks, start, size, object);
}

static void free_block(Addr start)
{
	struct span *b = start ? spans_at(blocks, start) : NULL;

	if (b && b->start == start)
		remove_block(b);
}

UInt heap_find(Addr address, Addr *start)
{
	const struct span *b = spans_at(blocks, address);

	if (!b)
		return 0;
	*start = b->start;
	return b->object;
}

void heap_forked(void)
{
	UInt object = 0;
	struct span *b;

	VG_(OSetGen_ResetIter)(blocks);
	while ((b = VG_(OSetGen_Next)(blocks)) != NULL) {
		if (!object)
			object = dataspace_object(MODEL_OBJECT_HEAP, 0, 0, 0, 0, PATH_ROOT, "");
		b->object = object;
		dataspace_add_block(object, b->start, b->size);
	}
}

/* ---- calls ---- */

static SizeT product(SizeT a, SizeT b)
{
	return b && a > (SizeT)-1 / b ? 0 : a * b;
}

/* The node of the call that allocates. */
static UInt site(void)
{
	UInt node = paths_node(stacks_of(running));

	return node == PATH_LOST ? PATH_ROOT : node;
}

void heap_enter(UWord kind, UWord a, UWord b, UWord c, UWord sp)
{
	struct call *call = &calls[running];

	/* One within another, which has not returned; else that one was left otherwise. */
	if (call->due != NOBODY && sp + sizeof(Addr) < call->due)
		return;
	trace_flush();
	call->due = heap_due = NOBODY;
	if (kind == FREES) {
		free_block(a);
		return;
	}
	if (!tool_readable(sp, sizeof(Addr)))
		return;
	*call = (struct call){.kind = (enum allocator)kind,
		.due = sp + sizeof(Addr),
		.returns = *(Addr *)sp,
		.node = site()};
	call->size = kind == ALLOCATES ? a : kind == ALIGNS || kind == REALLOCATES ? b : c;
	if (kind == ALLOCATES_MANY)
		call->size = product(a, b);
	if (kind == REALLOCATES_MANY)
		call->size = product(b, c);
	if (kind == REALLOCATES || kind == REALLOCATES_MANY)
		call->old = a;
	if (kind == ALIGNS_AT)
		call->where = a;
	heap_due = call->due;
}

static void heap_finish(const struct call *call, Addr result)
{
	if (call->kind == ALIGNS_AT) {
		if (result || !tool_readable(call->where, sizeof(Addr)))
			return;
		result = *(Addr *)call->where;
	}
	/* realloc(p, 0) frees. */
	if (call->old && (result || !call->size))
		free_block(call->old);
	if (result && tool_readable(result, 1))
		heap_add_block(result, call->size, call->node);
}

void heap_return(UWord code, UWord value)
{
	struct call call = calls[running];

	calls[running].due = heap_due = NOBODY;
	if (code != call.returns)
		return;
	trace_flush();
	heap_finish(&call, value);
}

/* ---- translation ---- */

static IRExpr *heap_assign(IRSB *out, IRType type, IRExpr *value)
{
	IRTemp t = newIRTemp(out->tyenv, type);

	addStmtToIRSB(out, IRStmt_WrTmp(t, value));
	return IRExpr_RdTmp(t);
}

static IRExpr *heap_register(IRSB *out, Int offset)
{
	return heap_assign(out, Ity_I64, IRExpr_Get(offset, Ity_I64));
}

static IRExpr *heap_word(UWord value)
{
	return IRExpr_Const(IRConst_U64(value));
}

void heap_instrument(IRSB *out, Addr at)
{
	IRExpr *sp, *due, *rdi, *rsi, *rdx;
	enum allocator kind;
	IRDirty *d;

	dataspace_see(at);
	kind = variables_allocator(at);
	sp = heap_register(out, offsetof(VexGuestAMD64State, guest_RSP));
	due = heap_assign(out, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, heap_word((UWord)&heap_due)));
	d = unsafeIRDirty_0_N(0, "heap_return", VG_(fnptr_to_fnentry)((void *)heap_return),
		mkIRExprVec_2(heap_word(at),
			heap_register(out, offsetof(VexGuestAMD64State, guest_RAX))));
	d->guard = heap_assign(out, Ity_I1, IRExpr_Binop(Iop_CmpEQ64, sp, due));
	addStmtToIRSB(out, IRStmt_Dirty(d));
	if (kind == NO_ALLOCATOR)
		return;
	rdi = heap_register(out, offsetof(VexGuestAMD64State, guest_RDI));
	rsi = heap_register(out, offsetof(VexGuestAMD64State, guest_RSI));
	rdx = heap_register(out, offsetof(VexGuestAMD64State, guest_RDX));
	d = unsafeIRDirty_0_N(0, "heap_enter", VG_(fnptr_to_fnentry)((void *)heap_enter),
		mkIRExprVec_5(heap_word(kind), rdi, rsi, rdx, sp));
	addStmtToIRSB(out, IRStmt_Dirty(d));
}
