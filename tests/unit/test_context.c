/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cycles that instructions keep retirement waiting on the ways through a procedure: what one block
 * leaves behind, the next one meets. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "../tap.h"
#include "analysis/context.h"
#include "build_data.h"
#include "schedule/core.h"
#include "unhex.h"

#define AT UINT64_C(0x401000)

static struct core core;
static struct schedule_paths *paths;

struct subject {
	struct flow *f;
	struct schedule_row *rows;
};

/* Bytes as GNU as makes them of what stands beside them. */
static struct subject make(const char *hex, const double *edge)
{
	uint8_t bytes[512];
	struct flow_request r = {
		.machine = ISA_X86_64, .begin = AT, .bytes = bytes, .size = unhex(hex, bytes, 512)};
	struct schedule_path *path;
	struct subject s = {0};
	struct error e;

	s.f = flow_new(&r, &e);
	s.rows = s.f ? calloc(s.f->insns.count + 1, sizeof(*s.rows)) : NULL;
	path = schedule_path_begin(paths, &e);
	if (s.rows && (!path || analysis_context(path, s.f, &core, edge, s.rows, &e))) {
		free(s.rows);
		s.rows = NULL;
	}
	schedule_path_end(paths, path);
	return s;
}

static void drop(struct subject *s)
{
	flow_free(s->f);
	free(s->rows);
}

static double block_mi(const struct subject *s, uint32_t block)
{
	const struct flow_block *b = &s->f->blocks.data[block];
	double sum = 0;

	for (uint32_t i = b->first; i < b->first + b->count; i++)
		sum += s->rows[i].mi;
	return sum;
}

/* imul %rax,%rax x4; dec %rcx; jne; ret: a chain of four multiplications a round. */
#define CHAIN "480fafc0480fafc0480fafc0480fafc0"

static void test_loop(void)
{
	struct subject s = make(CHAIN "48ffc975ebc3", NULL);

	if (!s.rows) {
		ok(false, "a loop has a schedule");
		return;
	}
	ok(fabs(block_mi(&s, 0) - 12) < 1.5,
		"a loop's chain of results goes on from round to round (%.3g)", block_mi(&s, 0));
	for (uint32_t i = 0; i < s.f->insns.count; i++)
		ok(s.rows[i].mi >= 0 && s.rows[i].blame < (int)s.f->insns.count,
			"instruction %u waits no less than nothing, for one of its own", i);
	drop(&s);
}

/* A loop whose rounds are more than a walk has, of a procedure that begins a chain anew: walks do
 * not overlap where the rounds of the loop would not. */
static void test_long_loop(void)
{
	/* xor %eax,%eax; 1: imul %rdi,%rax; add $4,%rdx; dec %ecx; jne 1b; ret */
	static const char hex[] = "31c0480fafc74883c204ffc975f4c3";
	static const double edges[] = {1, 1, 1000}, turned[] = {1, 1000, 1};
	struct subject a = make(hex, edges), b = make(hex, turned);

	if (!a.rows || !b.rows || a.f->blocks.count != 3) {
		ok(false, "a long loop has a schedule");
		return;
	}
	ok(fmax(block_mi(&a, 1), block_mi(&b, 1)) > 2.8,
		"a round of a long loop takes as long as its chain (%.3g, %.3g)", block_mi(&a, 1),
		block_mi(&b, 1));
	drop(&a);
	drop(&b);
}

/* A block of multiplications, then one that needs their result, or one that does not. */
static void test_overlap(void)
{
	/* CHAIN; test %edi,%edi; je 1f; add %rax,%rbx x2; ret; 1: add %rdx,%rsi x2; ret */
	static const char hex[] = CHAIN "85ff74074801c34801c3c34801d64801d6c3";
	static const double falls[] = {99, 1}, jumps[] = {1, 99};
	struct subject needs = make(hex, falls), not = make(hex, jumps);

	if (!needs.rows || !not .rows) {
		ok(false, "both ways have a schedule");
		return;
	}
	ok(block_mi(&needs, 2) < 2,
		"a block that needs nothing of those before it costs next to nothing behind them "
		"(%.3g)",
		block_mi(&needs, 2));
	ok(block_mi(&needs, 1) >= block_mi(&needs, 2),
		"and not more than one that waits for them (%.3g)", block_mi(&needs, 1));
	drop(&needs);
	drop(&not );
}

/* Shares of edges decide in what state a block is met. */
static void test_shares(void)
{
	/* test; je 1f; CHAIN; 1: add %rax,%rbx; lea (%rbx,%rbx),%rdx; ret */
	static const char hex[] = "85ff7410" CHAIN "4801c3488d141bc3";
	static const double through[] = {100, 0, 100}, past[] = {0, 100, 0};
	struct subject a = make(hex, through), b = make(hex, past);
	uint32_t last;

	if (!a.rows || !b.rows || a.f->blocks.count != 3) {
		ok(false, "a procedure of three blocks has a schedule");
		return;
	}
	last = 2;
	ok(block_mi(&a, 1) + block_mi(&a, last) > block_mi(&b, last) + 8,
		"behind a chain it takes longer than past it (%.3g, %.3g)",
		block_mi(&a, 1) + block_mi(&a, last), block_mi(&b, last));
	drop(&a);
	drop(&b);
}

static void test_no_code(void)
{
	struct subject s = make("06074801c3c3", NULL), nothing = make("", NULL);

	ok(s.rows && !(s.rows[0].mi > 0) && s.rows[0].blame == -1,
		"what is no instruction keeps nobody waiting");
	ok(nothing.f && nothing.rows, "no code at all");
	drop(&s);
	drop(&nothing);
}

/* The same each time: no dice are thrown. */
static void test_again(void)
{
	static const char hex[] = CHAIN "85ff74074801c34801c3c34801d64801d6c3";
	struct subject a = make(hex, NULL), b = make(hex, NULL);
	bool same = a.rows && b.rows;

	for (uint32_t i = 0; same && i < a.f->insns.count; i++)
		same = fabs(a.rows[i].mi - b.rows[i].mi) < 1e-12;
	ok(same, "a schedule is the same each time");
	drop(&a);
	drop(&b);
}

int main(void)
{
	struct error e = {0};

	build_data();
	if (core_find(&core, "zen4", &e)) {
		ok(0, "%s", e.message);
		return done();
	}
	paths = schedule_paths_new(&core, &e);
	test_loop();
	test_long_loop();
	test_overlap();
	test_shares();
	test_no_code();
	test_again();
	schedule_paths_free(paths);
	core_fini(&core);
	return done();
}
