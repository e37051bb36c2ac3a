/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Dependences within and between superblocks, from intermediate representation written by hand. */
#include <stdlib.h>

#include "../tap.h"

#if defined(__x86_64__) && defined(__has_include)
#if __has_include(<pub_tool_basics.h>)
#define HAVE_VALGRIND
#endif
#endif

#ifdef HAVE_VALGRIND
#define VGA_amd64                1
#define VGO_linux                1
#define VGP_amd64_linux          1
#define VGPV_amd64_linux_vanilla 1
#undef offsetof
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#include "model/model.h"
#include "valgrind/depend.c" /* part of the tool, and not of the library */
#include "valgrind/latency.c"
#include "valgrind/scan.c"
#include "valgrind/traits.c"
#include "valgrind/x87.c"

/* ---- of Valgrind ---- */

void *VG_(malloc)(const HChar *cost, SizeT bytes)
{
	(void)cost;
	return malloc(bytes);
}

void VG_(free)(void *memory)
{
	free(memory);
}

IRType typeOfIRExpr(const IRTypeEnv *env, const IRExpr *e)
{
	return e->tag == Iex_RdTmp ? env->types[e->Iex.RdTmp.tmp] : Ity_I64;
}

Int VG_(strncmp)(const HChar *a, const HChar *b, SizeT n)
{
	return strncmp(a, b, n);
}

ThreadId VG_(get_running_tid)(void)
{
	return 1;
}

void VG_(get_shadow_regs_area)(ThreadId tid, UChar *to, Int shadow, PtrdiffT offset, SizeT size)
{
	(void)tid, (void)shadow, (void)offset;
	memset(to, 0, size);
}

Int sizeofIRType(IRType type)
{
	return type == Ity_I8     ? 1
	       : type == Ity_I16  ? 2
	       : type == Ity_I32  ? 4
	       : type == Ity_V128 ? 16
				  : 8;
}

/* ---- superblocks ---- */

enum { A, C, D, B, SP, BP, SI, DI, FLAGS = MODEL_REGISTER_FLAGS, X = MODEL_REGISTER_VECTOR };
enum { NONE = MODEL_SLOT_NONE, SINK = MODEL_SLOT_SINK, R = MODEL_RESULT };

static IRType types[64];
static IRTypeEnv env = {.types = types, .types_size = 64, .types_used = 64};
static IRStmt stmts[256], *stmt_list[256];
static IRSB block = {.tyenv = &env, .stmts = stmt_list, .stmts_size = 256};
static IRExpr exprs[512];
static int expr_count;
static struct model_insn insns[16];
static int insn_count;
static IRConst constants[256];
static int constant_count;

static void begin(void)
{
	block.stmts_used = 0;
	expr_count = insn_count = constant_count = 0;
	memset(insns, 0, sizeof(insns));
	for (int i = 0; i < 64; i++)
		types[i] = Ity_I64;
	for (int i = 0; i < 256; i++)
		stmt_list[i] = &stmts[i];
}

static IRExpr *expr(IRExpr e)
{
	exprs[expr_count] = e;
	return &exprs[expr_count++];
}

static IRExpr *tmp(IRTemp t)
{
	return expr((IRExpr){.tag = Iex_RdTmp, .Iex.RdTmp.tmp = t});
}

static IRExpr *constant(ULong value)
{
	constants[constant_count] = (IRConst){.tag = Ico_U64, .Ico.U64 = value};
	return expr((IRExpr){.tag = Iex_Const, .Iex.Const.con = &constants[constant_count++]});
}

static IRExpr *get(Int offset)
{
	return expr((IRExpr){.tag = Iex_Get, .Iex.Get = {.offset = offset, .ty = Ity_I64}});
}

static IRExpr *binop(IROp op, IRExpr *a, IRExpr *b)
{
	return expr((IRExpr){.tag = Iex_Binop, .Iex.Binop = {.op = op, .arg1 = a, .arg2 = b}});
}

static IRExpr *load(IRTemp address)
{
	return expr((IRExpr){.tag = Iex_Load, .Iex.Load = {.ty = Ity_I64, .addr = tmp(address)}});
}

static void add(IRStmt st)
{
	stmts[block.stmts_used++] = st;
}

/* Bytes of the instruction in hexadecimal. */
static void mark(const char *hex)
{
	static uint8_t bytes[16][16];
	uint8_t *at = bytes[insn_count];
	UInt length = 0;

	for (; *hex; hex += 2) {
		char two[3] = {hex[0], hex[1], 0};

		at[length++] = (uint8_t)strtoul(two, NULL, 16);
	}
	insn_count++;
	add((IRStmt){.tag = Ist_IMark, .Ist.IMark = {.addr = (Addr)at, .len = length}});
}

static void write(IRTemp t, IRExpr *e)
{
	add((IRStmt){.tag = Ist_WrTmp, .Ist.WrTmp = {.tmp = t, .data = e}});
}

static void put(Int offset, IRExpr *data)
{
	add((IRStmt){.tag = Ist_Put, .Ist.Put = {.offset = offset, .data = data}});
}

static void store(IRTemp address, IRExpr *data)
{
	add((IRStmt){.tag = Ist_Store,
		.Ist.Store = {.end = Iend_LE, .addr = tmp(address), .data = data}});
}

static void end(void)
{
	block.next = constant(0);
	depend(&block, insns, insn_count, 6);
}

static void is_insn(
	int i, int latency, int a0, int a1, int s0, int s1, int r0, int r1, const char *what)
{
	const struct model_insn *n = &insns[i];

	ok(n->latency == latency && n->for_address[0] == a0 && n->for_address[1] == a1 &&
			n->source[0] == s0 && n->source[1] == s1 && n->result[0] == r0 &&
			n->result[1] == r1,
		"%s", what);
	if (tap_failed)
		printf("# latency %d address %d %d source %d %d %d %d result %d %d %d\n",
			n->latency, n->for_address[0], n->for_address[1], n->source[0],
			n->source[1], n->source[2], n->source[3], n->result[0], n->result[1],
			n->result[2]);
}

static void chase(void)
{
	begin();
	mark("488b00"); /* mov (%rax),%rax */
	write(0, get(GUEST(RAX)));
	write(1, load(0));
	put(GUEST(RAX), tmp(1));
	mark("488b4008"); /* mov 8(%rax),%rax */
	write(2, binop(Iop_Add64, tmp(1), constant(8)));
	write(3, load(2));
	put(GUEST(RAX), tmp(3));
	insns[0].access_count = insns[1].access_count = 1;
	end();
	is_insn(0, MODEL_LATENCY_NONE, A, NONE, NONE, NONE, A, SINK,
		"a pointer chase needs its own last result");
	is_insn(1, MODEL_LATENCY_NONE, R, NONE, NONE, NONE, A, SINK,
		"and within a block that of the instruction before");
}

static void arithmetic(void)
{
	begin();
	mark("4801d8"); /* add %rbx,%rax */
	write(0, get(GUEST(RAX)));
	write(1, get(GUEST(RBX)));
	write(2, binop(Iop_Add64, tmp(0), tmp(1)));
	put(GUEST(CC_OP), constant(4));
	put(GUEST(CC_DEP1), tmp(0));
	put(GUEST(CC_DEP2), tmp(1));
	put(GUEST(RAX), tmp(2));
	mark("4889c1"); /* mov %rax,%rcx */
	put(GUEST(RCX), tmp(2));
	mark("0fafca"); /* imul %edx,%ecx, in this block */
	write(3, get(GUEST(RDX)));
	write(4, binop(Iop_Mul64, tmp(2), tmp(3)));
	put(GUEST(RCX), tmp(4));
	mark("0f95c0"); /* setne %al */
	write(5, get(GUEST(CC_DEP1)));
	types[6] = Ity_I8;
	write(6, expr((IRExpr){.tag = Iex_Unop, .Iex.Unop = {.op = Iop_64to8, .arg = tmp(5)}}));
	put(GUEST(RAX), tmp(6));
	end();
	is_insn(0, MODEL_LATENCY_ALU, NONE, NONE, A, B, FLAGS, A,
		"operands, the flags and the result");
	is_insn(1, MODEL_LATENCY_NONE, NONE, NONE, R, NONE, C, SINK,
		"a move has the result of the instruction before");
	is_insn(2, MODEL_LATENCY_MULTIPLY, NONE, NONE, R, D, C, SINK,
		"results of this block come first");
	is_insn(3, MODEL_LATENCY_ALU, NONE, NONE, R + 2, R, A, SINK,
		"part of a register keeps the rest of it; flags come from who wrote them last");
}

static void stack(void)
{
	begin();
	mark("50"); /* push %rax */
	write(0, get(GUEST(RSP)));
	write(1, binop(Iop_Sub64, tmp(0), constant(8)));
	put(GUEST(RSP), tmp(1));
	write(2, get(GUEST(RAX)));
	store(1, tmp(2));
	mark("5b"); /* pop %rbx */
	write(3, load(1));
	put(GUEST(RSP), tmp(0));
	put(GUEST(RBX), tmp(3));
	mark("4801d8"); /* add %rbx,%rax */
	write(4, binop(Iop_Add64, tmp(2), tmp(3)));
	put(GUEST(RAX), tmp(4));
	insns[0].access_count = insns[1].access_count = 1;
	end();
	is_insn(0, MODEL_LATENCY_STORE, SP, NONE, A, NONE, SINK, SINK,
		"a push moves the stack pointer at once");
	is_insn(1, MODEL_LATENCY_NONE, SP, NONE, NONE, NONE, B, SINK, "so does a pop");
	is_insn(2, MODEL_LATENCY_ALU, NONE, NONE, R + 1, A, A, SINK, "a load's result comes first");
}

static void vectors(void)
{
	begin();
	types[0] = types[2] = Ity_V128;
	types[3] = types[4] = types[5] = Ity_F64;
	mark("f20f58c1"); /* addsd %xmm1,%xmm0 */
	write(3, get(GUEST(YMM0)));
	write(4, get(GUEST(YMM1)));
	write(5, binop(Iop_Add64F0x2, tmp(3), tmp(4)));
	put(GUEST(YMM0), tmp(5));
	mark("f20f1011"); /* movsd (%rcx),%xmm2 */
	write(1, get(GUEST(RCX)));
	types[2] = Ity_V128;
	write(2, load(1));
	put(GUEST(YMM2), tmp(2));
	mark("660fefc2"); /* pxor %xmm2,%xmm0 */
	write(0, binop(Iop_XorV128, tmp(2), tmp(5)));
	put(GUEST(YMM0), tmp(0));
	insns[1].access_count = 1;
	end();
	is_insn(0, MODEL_LATENCY_FP_ADD, NONE, NONE, X, X + 1, X, SINK, "scalar addition");
	is_insn(1, MODEL_LATENCY_VECTOR_LOAD, C, NONE, NONE, NONE, X + 2, SINK,
		"a load that writes all needs not what was");
	is_insn(2, MODEL_LATENCY_VECTOR, NONE, NONE, R + 1, R, X, SINK,
		"of two results that of the load first");
}

/* As optimisation leaves it: registers are written once, at the end. */
static void chain(void)
{
	begin();
	mark("480fafc3"); /* imul %rbx,%rax */
	write(0, get(GUEST(RAX)));
	write(1, get(GUEST(RBX)));
	write(2, binop(Iop_Mul64, tmp(0), tmp(1)));
	mark("480fafc3");
	write(3, binop(Iop_Mul64, tmp(2), tmp(1)));
	mark("480fafc3");
	write(4, binop(Iop_Mul64, tmp(3), tmp(1)));
	put(GUEST(RAX), tmp(4));
	end();
	is_insn(0, MODEL_LATENCY_MULTIPLY, NONE, NONE, A, B, SINK, SINK, "the first of a chain");
	is_insn(1, MODEL_LATENCY_MULTIPLY, NONE, NONE, R, B, SINK, SINK, "the second");
	is_insn(2, MODEL_LATENCY_MULTIPLY, NONE, NONE, R + 1, B, A, SINK, "the last");
}

/* Of the flags that it does not write; as VEX has them. */
static void keeping(void)
{
	static IRCallee carry = {.name = "amd64g_calculate_rflags_c"};
	IRExpr *arguments[3] = {0};

	begin();
	arguments[0] = tmp(2);
	arguments[1] = tmp(3);
	mark("48ffc0"); /* inc %rax */
	write(0, get(GUEST(RAX)));
	write(1, binop(Iop_Add64, tmp(0), constant(1)));
	write(2, get(GUEST(CC_OP)));
	write(3, get(GUEST(CC_DEP1)));
	write(4, expr((IRExpr){.tag = Iex_CCall, .Iex.CCall = {.cee = &carry, .args = arguments}}));
	put(GUEST(CC_NDEP), tmp(4));
	put(GUEST(CC_DEP1), tmp(1));
	put(GUEST(RAX), tmp(1));
	mark("48d3e3"); /* shl %cl,%rbx */
	write(5, get(GUEST(RBX)));
	write(6, get(GUEST(RCX)));
	write(7, binop(Iop_Shl64, tmp(5), tmp(6)));
	write(8, expr((IRExpr){.tag = Iex_ITE,
			 .Iex.ITE = {.cond = tmp(6), .iftrue = tmp(7), .iffalse = tmp(1)}}));
	put(GUEST(CC_DEP1), tmp(8));
	put(GUEST(CC_NDEP), tmp(4));
	put(GUEST(RBX), tmp(7));
	mark("480f94c2"); /* sete %dl */
	write(9, expr((IRExpr){.tag = Iex_Unop, .Iex.Unop = {.op = Iop_64to8, .arg = tmp(8)}}));
	put(GUEST(RDX), tmp(9));
	end();
	is_insn(0, MODEL_LATENCY_ALU, NONE, NONE, A, NONE, FLAGS, A, "inc needs no flags");
	is_insn(1, MODEL_LATENCY_SHIFT, NONE, NONE, B, C, FLAGS, B, "nor does a shift by cl");
	ok(insns[1].source[2] == NONE, "nor the operand of who wrote them last");
	is_insn(2, MODEL_LATENCY_ALU, NONE, NONE, R + 1, NONE, D, SINK,
		"who reads them needs the shift");
}

/* ---- the x87 stack ---- */

static IRRegArray stack_registers = {.elemTy = Ity_F64, .nElems = 8},
		  stack_tags = {.elemTy = Ity_I8, .nElems = 8};

static IRExpr *element(IRTemp top, Int bias)
{
	stack_registers.base = GUEST(FPREG);
	return expr((IRExpr){.tag = Iex_GetI,
		.Iex.GetI = {.descr = &stack_registers, .ix = tmp(top), .bias = bias}});
}

static void put_element(IRTemp top, Int bias, IRExpr *data)
{
	static IRPutI puts[8];
	static int count;
	IRPutI *p = &puts[count++ % 8];

	*p = (IRPutI){.descr = &stack_registers, .ix = tmp(top), .bias = bias, .data = data};
	add((IRStmt){.tag = Ist_PutI, .Ist.PutI.details = p});
}

static IRExpr *constant32(UInt value)
{
	IRExpr *e = constant(0);

	constants[constant_count - 1] = (IRConst){.tag = Ico_U32, .Ico.U32 = value};
	return e;
}

/* The stack begins at register 6. */
static void x87(void)
{
	enum { S = MODEL_REGISTER_X87 };

	begin();
	mark("d8c1"); /* fadd %st(1),%st */
	write(0, get(GUEST(FTOP)));
	write(1, element(0, 0));
	write(2, element(0, 1));
	write(3, binop(Iop_AddF64, tmp(1), tmp(2)));
	put_element(0, 0, tmp(3));
	mark("d9c9"); /* fxch */
	put_element(0, 0, tmp(2));
	put_element(0, 1, tmp(3));
	mark("dcc8"); /* fmul %st,%st(0) */
	write(4, binop(Iop_MulF64, tmp(2), tmp(2)));
	put_element(0, 0, tmp(4));
	mark("dec1"); /* faddp */
	write(5, binop(Iop_Add32, tmp(0), constant32(1)));
	put(GUEST(FTOP), tmp(5));
	write(6, element(5, 0));
	write(7, binop(Iop_AddF64, tmp(4), tmp(6)));
	put_element(5, 0, tmp(7));
	mark("d8c1"); /* fadd %st(1),%st */
	write(8, get(GUEST(FTOP)));
	write(9, element(8, 1));
	write(10, binop(Iop_AddF64, tmp(7), tmp(9)));
	put_element(8, 0, tmp(10));
	end();
	is_insn(0, MODEL_LATENCY_X87, NONE, NONE, S + 6, S + 7, S + 6, SINK,
		"two registers of the stack are added");
	is_insn(1, MODEL_LATENCY_NONE, NONE, NONE, R, S + 7, S + 6, S + 7,
		"registers are exchanged");
	is_insn(2, MODEL_LATENCY_X87, NONE, NONE, S + 7, NONE, S + 6, SINK,
		"and the next instruction needs only the one that it names");
	is_insn(3, MODEL_LATENCY_X87, NONE, NONE, R + 2, R, S + 7, SINK,
		"also in the register to which it was exchanged");
	is_insn(4, MODEL_LATENCY_X87, NONE, NONE, R + 3, S, S + 7, SINK,
		"the register above the last one is the first one");
	begin();
	mark("d8c1");
	write(0, load(1));
	write(1, element(0, 0));
	write(2, binop(Iop_AddF64, tmp(1), tmp(1)));
	put_element(0, 0, tmp(2));
	end();
	is_int(insns[0].source[0], MODEL_REGISTER_OTHER, "a top that is not known is any");
	ok(x87_register(&stack_tags, tmp(0), 0) == MODEL_SLOT_NONE, "tags are ready at once");
}

/* movq %xmm0,%rax; the number is then used without the register. */
static void leaving(void)
{
	begin();
	mark("66480f7ec0");
	write(0, get(GUEST(YMM0)));
	mark("4801d8"); /* add %rbx,%rax */
	write(1, get(GUEST(RBX)));
	write(2, binop(Iop_Add64, tmp(0), tmp(1)));
	put(GUEST(RAX), tmp(2));
	end();
	is_insn(1, MODEL_LATENCY_ALU, NONE, NONE, R, B, A, SINK,
		"what leaves a vector register needs the move");
	is_int(insns[0].source[0], X, "and the move needs the register");
}

static void stale(void)
{
	begin();
	mark("90");
	end();
	is_insn(0, MODEL_LATENCY_NONE, NONE, NONE, NONE, NONE, SINK, SINK, "nothing needs nothing");
}

int main(void)
{
	chase();
	arithmetic();
	stack();
	vectors();
	chain();
	keeping();
	x87();
	leaving();
	stale();
	return done();
}
#else
int main(void)
{
	skip("Valgrind's headers are not installed, or not for this processor");
	return done();
}
#endif
