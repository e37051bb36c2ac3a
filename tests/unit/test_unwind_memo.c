/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths that the unwinder keeps: what it looks up again, and that no path differs from the one that
 * is sought anew. */
#include <link.h>
#include <stdlib.h>

#include "../tap.h"
#include "image/unwind.h"

#if defined(__x86_64__)

#define MEMO_DEPTH 16
#define WORDS      8
#define AT         0x7000u
#define ROUNDS     200000

/* A function that keeps rbx for its caller, one whose frame hangs on rbx, and one that has it
 * computed by an expression (DW_OP_breg3 16, of the word there: DW_OP_deref). */
extern const char memo_keeps[], memo_hangs[], memo_computes[];
__asm__(".text\n"
	".type keeping, @function\n"
	"keeping: .cfi_startproc\n"
	"push %rbx\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset rbx, -16\n"
	"memo_keeps: pop %rbx\n"
	"ret\n"
	".cfi_endproc\n"
	".size keeping, . - keeping\n"
	".type hanging, @function\n"
	"hanging: .cfi_startproc\n"
	".cfi_def_cfa rbx, 16\n"
	"call keeping\n"
	"memo_hangs: ret\n"
	".cfi_endproc\n"
	".size hanging, . - hanging\n"
	".type computing, @function\n"
	"computing: .cfi_startproc\n"
	".cfi_escape 0x0f, 0x03, 0x73, 0x10, 0x06\n"
	"call keeping\n"
	"memo_computes: ret\n"
	".cfi_endproc\n"
	".size computing, . - computing\n");

static struct image *own;
static uint64_t own_bias;
static size_t finds;

static int take_bias(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)size, (void)context;
	own_bias = info->dlpi_addr;
	return 1; /* the first is the program */
}

static struct image *find_own(void *context, uint64_t pc, uint64_t *bias)
{
	(void)context;
	finds++;
	*bias = own_bias;
	return pc >= (uint64_t)memo_keeps && pc <= (uint64_t)memo_computes ? own : NULL;
}

static size_t walk(
	struct unwinder *u, struct unwind_state *s, uint64_t space, uint64_t *pcs, int *complete)
{
	uint64_t signals;

	s->space = space;
	memset(pcs, 0, MEMO_DEPTH * sizeof(*pcs));
	return unwind(u, s, find_own, NULL, pcs, MEMO_DEPTH, complete, &signals);
}

/* Frames: keeping, hanging, then 0x2222 without rules. */
static void test_kept(struct unwinder *u)
{
	uint64_t stack[WORDS] = {AT + 0x10, (uint64_t)memo_hangs, 0, 0x2222}, pcs[MEMO_DEPTH];
	struct unwind_state s = {.known = 1u << 16 | 1u << 7 | 1u << 6 | 1u << 3 | 1u << 12,
		.stack = (uint8_t *)stack,
		.stack_address = AT,
		.stack_size = sizeof(stack)};
	int complete;
	size_t n;

	s.registers[16] = (uint64_t)memo_keeps;
	s.registers[7] = AT;
	n = walk(u, &s, 1, pcs, &complete);
	ok(n == 3 && pcs[2] == 0x2222 && finds == 3, "a path is sought (%zu frames)", n);
	s.registers[3] = s.registers[12] = stack[2] = stack[7] = 99;
	n = walk(u, &s, 1, pcs, &complete);
	ok(n == 3 && pcs[2] == 0x2222 && finds == 3, "what it does not depend on may differ");
	stack[3] = 0x3333;
	n = walk(u, &s, 1, pcs, &complete);
	ok(n == 3 && pcs[2] == 0x3333 && finds == 6, "a return address may not");
	stack[0] = AT + 0x18;
	stack[4] = 0x4444;
	n = walk(u, &s, 1, pcs, &complete);
	ok(n == 3 && pcs[2] == 0x4444 && finds == 9, "nor a saved register that it hangs on");
	n = walk(u, &s, 2, pcs, &complete);
	ok(n == 3 && finds == 12, "nor the mappings");
	s.stack_size = 24;
	n = walk(u, &s, 2, pcs, &complete);
	ok(n == 2 && finds == 14, "nor the length of the copy");
}

static uint64_t some_word(void)
{
	const uint64_t words[] = {AT + 8 * ((uint64_t)rand() % (WORDS + 2)), (uint64_t)memo_keeps,
		(uint64_t)memo_hangs, (uint64_t)memo_computes, 0, 0x1111};

	return words[rand() % 3 ? 0 : rand() % 6];
}

/* Stacks of which a word changes now and then. */
static void test_same(struct unwinder *u)
{
	uint64_t stack[WORDS] = {0}, kept[MEMO_DEPTH], anew[MEMO_DEPTH];
	struct unwind_state s = {
		.stack = (uint8_t *)stack, .stack_address = AT, .stack_size = sizeof(stack)};
	size_t different = 0, again = 0, long_ones = 0;

	srand(1);
	s.registers[7] = AT;
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t code[] = {
			(uint64_t)memo_keeps, (uint64_t)memo_hangs, (uint64_t)memo_computes};
		int a, b;
		size_t n, m;

		s.registers[16] = code[rand() % 3];
		s.known = 1u << 16 | 1u << 7 | (rand() % 8 ? 1u << 3 | 1u << 6 : 0);
		s.stack_size = rand() % 8 ? sizeof(stack) : 8 * (unsigned)(rand() % WORDS);
		stack[rand() % WORDS] = some_word();
		s.registers[rand() % 2 ? 3 : 6] = some_word();
		finds = 0;
		n = walk(u, &s, 1 + (uint64_t)(rand() % 2), kept, &a);
		again += finds == 0;
		long_ones += n > 2;
		m = walk(u, &s, 0, anew, &b);
		different += n != m || a != b || memcmp(kept, anew, sizeof(kept)) != 0;
	}
	is_int(different, 0, "kept paths are those that would be found");
	ok(again > ROUNDS / 100 && long_ones > ROUNDS / 100,
		"of which there are some (%zu kept, %zu long)", again, long_ones);
}

int main(void)
{
	struct image_identity id = {.path = "/proc/self/exe"};
	struct image_search where = {0};
	struct unwinder *u = unwind_new(NULL);

	dl_iterate_phdr(take_bias, NULL);
	own = image_open(&id, &where, NULL);
	if (!u || !own)
		return 1;
	test_kept(u);
	test_same(u);
	unwind_free(u);
	image_close(own);
	return done();
}

#else

int main(void)
{
	skip("the code is of x86-64");
	return done();
}

#endif
