/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples moved to the instruction that waited.  Code as GNU as makes it from what stands beside.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tap.h"
#include "explain/skid.h"
#include "unhex.h"

#define AT   UINT64_C(0x401000)
#define ROOM 64

struct bench {
	struct flow *flow;
	uint64_t raw[ROOM];
	struct explain_moved moved[ROOM];
};

static void begin(struct bench *b, const char *hex)
{
	uint8_t bytes[ROOM];
	struct error e;
	struct flow_request r = {.machine = ISA_X86_64, .begin = AT, .bytes = bytes};

	memset(b, 0, sizeof(*b));
	r.size = unhex(hex, bytes, sizeof(bytes));
	b->flow = flow_new(&r, &e);
}

static void move(struct bench *b, const double *edges, double entered)
{
	struct explain_skid s = {.flow = b->flow, .edges = edges, .entered = entered};
	double before = 0, after = 0;

	ok(explain_skid_move(&s, b->raw, 1, b->moved) == 0, "moved");
	for (size_t i = 0; i < b->flow->insns.count; i++) {
		before += (double)b->raw[i];
		after += b->moved[i].value;
	}
	is_near(after, before, 1e-6, "none is lost");
}

static void test_block(void)
{
	struct bench b;

	begin(&b, "488b074801f04889d8f3a490e800000000c3");
	/* mov (%rdi),%rax; add %rsi,%rax; mov %rbx,%rax; rep movsb; nop; call; ret */
	b.raw[1] = 100;
	b.raw[3] = 30; /* at the repeated one: it stays */
	b.raw[4] = 20; /* behind it: it waited */
	b.raw[6] = 7;  /* behind a call */
	b.raw[0] = 5;  /* at the entry */
	move(&b, NULL, NAN);
	is_near(b.moved[0].value, 105, 0, "the load waited, and what came at the entry stays");
	is_int(b.moved[0].sure, 100, "of which only the former is sure");
	ok(b.moved[0].estimated, "so this is an estimate");
	is_near(b.moved[3].value, 50, 0, "a repeated instruction keeps its samples");
	ok(b.moved[3].estimated, "which is a guess, too");
	is_near(b.moved[5].value, 7, 0, "what is behind a call is shown at the call");
	is_int(b.moved[5].sure, 0, "though the return waited");
	is_near(b.moved[1].value, 0, 0, "an instruction before one without samples has none");
	ok(!b.moved[1].estimated, "and that is sure");
	flow_free(b.flow);
}

/* 0 mov (%rdi),%eax; 1 test; 2 je 5; 3 mov $1; 4 jmp 6; 5 mov $2; 6 nop; 7 ret */
#define DIAMOND "8b0785c07407b801000000eb05b80200000090c3"

static void test_heads(void)
{
	struct bench b;
	double edges[4] = {0};

	begin(&b, DIAMOND);
	b.raw[3] = 40; /* one predecessor: test and je, which are fused */
	b.raw[4] = 30; /* so mov $1 waited, whose block has them: 30 of 40 / 2 */
	b.raw[6] = 10; /* at the join */
	move(&b, NULL, NAN);
	is_near(b.moved[1].value, 40, 0, "at a head: the branch before, at its compare");
	is_int(b.moved[1].sure, 40, "for sure, where only it leads there");
	is_near(b.moved[2].value, 0, 0, "not at the branch");
	is_near(b.moved[4].value, 10, 1e-9, "the join: to the side that has samples itself");
	is_near(b.moved[5].value, 0, 1e-9, "not to the other");
	ok(b.moved[4].estimated && b.moved[5].estimated, "which is an estimate for both");
	is_int(b.moved[5].might, 10, "though they might be the other's");

	for (size_t i = 0; i < b.flow->edges.count; i++)
		if (b.flow->edges.data[i].to == 3)
			edges[i] = b.flow->edges.data[i].kind == FLOW_JUMP ? 10 : 30;
	move(&b, edges, 40);
	is_near(b.moved[4].value, 2.5, 1e-9, "the join: by executions of the edges");
	is_near(b.moved[5].value, 7.5, 1e-9, "on both sides");
	flow_free(b.flow);
}

static void test_loop(void)
{
	struct bench b;
	double edges[2] = {0, 90};

	/* 0 add (%rdi),%eax; 1 dec %ecx; 2 jne 0; 3 ret: the entry is the head of the loop */
	begin(&b, "0307ffc975fac3");
	b.raw[0] = 100;
	move(&b, NULL, NAN);
	is_near(b.moved[1].value, 100, 0, "a loop at the entry: from its end");
	ok(b.moved[1].estimated, "an estimate");
	is_int(b.flow->edges.count, 2, "a way back and a way out");
	edges[0] = b.flow->edges.data[0].back ? 90 : 10;
	edges[1] = b.flow->edges.data[1].back ? 90 : 10;
	move(&b, edges, 10);
	is_near(b.moved[1].value, 90, 1e-9, "with executions known: nine tenths");
	is_near(b.moved[0].value, 10, 1e-9, "the rest came from the caller, and stays");
	flow_free(b.flow);
}

static void test_fusion(void)
{
	struct bench b;

	/* 0 cmpl $5,8(%rdi); 1 je 3; 2 nop; 3 ret: memory and immediate do not fuse */
	begin(&b, "837f0805740190c3");
	b.raw[2] = 9;
	move(&b, NULL, NAN);
	is_near(b.moved[1].value, 9, 0, "what is not fused: the branch itself");
	flow_free(b.flow);
}

int main(void)
{
	test_block();
	test_heads();
	test_loop();
	test_fusion();
	return done();
}
