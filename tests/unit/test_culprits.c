/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Culprits: what must hold for any code, on random bytes and on procedures that are hard (very
 * large, irreducible, recursive, data among code); and rules whose outcome is known.
 */
#include <stdio.h>

#include "../tap.h"
#include "culprits_check.h"

#define AT 0x401000

static struct core core;

static struct flow *graph(const uint8_t *bytes, size_t size)
{
	struct flow_request r = {.machine = ISA_X86_64, .begin = AT, .bytes = bytes, .size = size};
	struct error e;

	return flow_new(&r, &e);
}

static void try_bytes(const uint8_t *bytes, size_t size, uint64_t seed, const char *what)
{
	struct flow *f = graph(bytes, size);
	const char *wrong = f ? culprits_try(f, &core, seed) : "no graph";

	if (!wrong)
		wrong = culprits_try_lines(f, &core);
	is_str(wrong ? wrong : "", "", what);
	flow_free(f);
}

static void test_random(void)
{
	static uint8_t bytes[4096];
	uint64_t state = 88172645463325252u;
	const char *wrong = NULL, *unsure = NULL;

	for (int round = 0; round < 200 && !wrong && !unsure; round++) {
		size_t size = 16 + culprits_random(&state) % (sizeof(bytes) - 16);
		struct flow *f;

		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)culprits_random(&state);
		f = graph(bytes, size);
		wrong = f ? culprits_try(f, &core, culprits_random(&state)) : "no graph";
		if (!wrong && round % 4 == 0)
			unsure = culprits_try_unsure(f, &core, culprits_random(&state));
		flow_free(f);
	}
	is_str(wrong ? wrong : "", "", "random bytes: parts add up, bounds hold");
	is_str(unsure ? unsure : "", "",
		"bounds where executions are not sure hold what is found with any that they may "
		"be");
}

/* mov (%rax),%rbx; add %rbx,%rcx; jne back, each as many times as there is room. */
static void test_large(void)
{
	static const uint8_t piece[] = {0x48, 0x8b, 0x18, 0x48, 0x01, 0xd9, 0x75, 0xf8};
	size_t size = 300000 / 3 * sizeof(piece);
	uint8_t *bytes = malloc(size);

	for (size_t i = 0; i < size; i++)
		bytes[i] = piece[i % sizeof(piece)];
	try_bytes(bytes, size, 11, "300,000 instructions in 100,000 loops");
	for (size_t i = 0; i < size; i++)
		bytes[i] = 0x90;
	memcpy(bytes, piece, 6);
	try_bytes(bytes, size, 12, "one block of 800,000 instructions");
	free(bytes);
}

static void test_hard(void)
{
	/* jne into a loop's middle; jmp back; a call of itself; data; a jump into an instruction.
	 */
	static const uint8_t irreducible[] = {
		0x75, 0x03, 0x48, 0xff, 0xc0, 0x48, 0x8b, 0x18, 0x75, 0xf8, 0xc3};
	static const uint8_t recursive[] = {
		0xe8, 0xfb, 0xff, 0xff, 0xff, 0x48, 0x8b, 0x04, 0x24, 0xc3};
	static const uint8_t data[] = {0xff, 0xff, 0xff, 0xff, 0x00, 0x06, 0x0e, 0x16, 0xc3};
	static const uint8_t middle[] = {0xeb, 0xff, 0xc0, 0x48, 0x8b, 0x00, 0xc3};

	try_bytes(irreducible, sizeof(irreducible), 21, "a loop that is entered in its middle");
	try_bytes(recursive, sizeof(recursive), 22, "a procedure that calls itself");
	try_bytes(data, sizeof(data), 23, "data that are no instructions");
	try_bytes(middle, sizeof(middle), 24, "a jump into the middle of itself");
}

/* ---- rules ---- */

/* All of the code is one procedure whose instruction `at` waited, so many cycles each of a million
 * times.  more: what else is known; its arrays for culprits_find are filled in here. */
static struct culprits judged_with(const uint8_t *bytes, size_t size, uint32_t at,
	double cycles_each, const struct culprits_input *more, struct flow **f)
{
	static double cycles[64], mi[64], executions[64];
	static struct schedule_row rows[64];
	struct culprits_input in = *more;
	struct culprits c = {0};

	in.core = &core;
	in.machine = &culprits_machine;
	in.cycles = cycles;
	in.sample = 1000;
	in.executions = executions;
	in.mi = mi;
	in.rows = rows;

	in.flow = *f = graph(bytes, size);
	for (int i = 0; i < 64; i++)
		executions[i] = 1e6;
	memset(cycles, 0, sizeof(cycles));
	cycles[at] = cycles_each * 1e6;
	if (!*f || culprits_find(&c, &in, NULL))
		return (struct culprits){0};
	return c;
}

static struct culprits judged(
	const uint8_t *bytes, size_t size, uint32_t at, const double *edges, struct flow **f)
{
	const struct culprits_input more = {.edges = edges, .counted = edges != NULL};

	return judged_with(bytes, size, at, 20, &more, f);
}

/* Of its wait, what is probably this cause's: a share. */
static double share(const struct culprits *c, uint32_t insn, unsigned cause)
{
	double likely = 0, all = 0;

	for (uint32_t k = c->wait ? c->wait[insn].first : 0;
		c->wait && k < c->wait[insn].first + c->wait[insn].count; k++) {
		all += c->list.data[k].likely;
		likely += c->list.data[k].cause == cause ? c->list.data[k].likely : 0;
	}
	return all > 0 ? likely / all : 0;
}

static unsigned listed(const struct culprits *c, uint32_t insn)
{
	unsigned set = 0;

	for (uint32_t k = c->wait[insn].first; k < c->wait[insn].first + c->wait[insn].count; k++)
		set |= 1u << c->list.data[k].cause;
	return set;
}

static void test_rules(void)
{
	static const struct {
		const char *what;
		uint8_t bytes[32];
		uint8_t size, at;
		unsigned with, without; /* causes */
	} table[] = {
		{"a load may miss", {0x90, 0x48, 0x8b, 0x07, 0xc3}, 5, 1,
			CULPRIT_DATA | 1u << CULPRIT_DTLB,
			1u << CULPRIT_MISPREDICT | 1u << CULPRIT_DIVIDER | 1u << CULPRIT_ICACHE},
		{"the stack does not", {0x90, 0x48, 0x8b, 0x44, 0x24, 0x08, 0xc3}, 7, 1, 0,
			CULPRIT_DATA | 1u << CULPRIT_DTLB},
		{"what was loaded just before does not", {0x48, 0x8b, 0x07, 0x48, 0x8b, 0x0f, 0xc3},
			7, 1, 0, CULPRIT_DATA},
		{"what was stored just before is forwarded",
			{0x48, 0x89, 0x07, 0x48, 0x8b, 0x0f, 0xc3}, 7, 1, 0,
			CULPRIT_DATA | 1u << CULPRIT_FORWARD},
		{"a narrow store before a wide load", {0x88, 0x07, 0x48, 0x8b, 0x0f, 0xc3}, 6, 1,
			1u << CULPRIT_FORWARD, CULPRIT_DATA},
		{"a call between them may have done anything",
			{0x48, 0x8b, 0x07, 0xe8, 0, 1, 0, 0, 0x48, 0x8b, 0x07, 0xc3}, 12, 2,
			CULPRIT_DATA, 0},
		{"a division", {0x90, 0x48, 0xf7, 0xf1, 0xc3}, 5, 1, 1u << CULPRIT_DIVIDER,
			CULPRIT_DATA | 1u << CULPRIT_MISPREDICT},
		{"a locked addition", {0x90, 0xf0, 0x48, 0x01, 0x07, 0xc3}, 6, 1,
			1u << CULPRIT_LOCKED, 1u << CULPRIT_MISPREDICT},
		{"an addition waits for nothing but operands", {0x90, 0x48, 0x01, 0xd8, 0xc3}, 5, 1,
			0, ~(1u << CULPRIT_DEPENDENCY)},
		{"behind a branch", {0x74, 0x01, 0x90, 0x48, 0x01, 0xd8, 0xc3}, 7, 2,
			1u << CULPRIT_MISPREDICT, CULPRIT_DATA | 1u << CULPRIT_ICACHE},
		{"behind a jump", {0xeb, 0x00, 0x48, 0x01, 0xd8, 0xc3}, 6, 1, 0,
			1u << CULPRIT_MISPREDICT | CULPRIT_DATA | 1u << CULPRIT_ICACHE},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		struct flow *f;
		struct culprits c = judged(table[i].bytes, table[i].size, table[i].at, NULL, &f);
		unsigned set = c.wait ? listed(&c, table[i].at) : ~0u;

		ok(c.wait && (set & table[i].with) == table[i].with &&
				!(set & table[i].without & ((1u << CULPRITS) - 1)),
			"%s", table[i].what);
		culprits_fini(&c);
		flow_free(f);
	}
}

/* dec; jne to itself: of a million turns, ten thousand ended. */
static void test_loop(void)
{
	static const uint8_t bytes[] = {0xff, 0xcf, 0x75, 0xfc, 0x90, 0xc3};
	static const double edges[] = {10000, 990000};
	struct flow *f;
	struct culprits c = judged(bytes, sizeof(bytes), 0, edges, &f);
	double high = 0;

	for (uint32_t k = 0; c.wait && k < c.wait[0].count; k++)
		if (c.list.data[k].cause == CULPRIT_MISPREDICT)
			high = c.list.data[k].high;
	ok(c.wait && high <= (2 * 10000 + 10000) * 21,
		"a loop that goes on for long: mispredicted twice an end at most");
	culprits_fini(&c);
	flow_free(f);
}

/* The same loop, where edges are estimates: its end may be less foreseen than they say. */
static void test_estimated(void)
{
	static const uint8_t bytes[] = {0xff, 0xcf, 0x75, 0xfc, 0x90, 0xc3};
	static const double edges[] = {10000, 990000};
	const struct culprits_input more = {.edges = edges};
	struct flow *f;
	struct culprits c = judged_with(bytes, sizeof(bytes), 0, 20, &more, &f);

	ok(c.wait && c.wait[0].unexplained == 0,
		"bounds from estimated edges leave nothing unexplained");
	culprits_fini(&c);
	flow_free(f);
}

/* A load that takes its own latency each time, and one that takes longer. */
static void test_chain(void)
{
	static const uint8_t bytes[] = {0x90, 0x48, 0x8b, 0x07, 0xc3};
	static const double edges[] = {1};
	const struct culprits_input counted = {.edges = edges, .counted = true};
	const struct culprits_input estimated = {.edges = edges};
	double latency = core.load_latency, chain, either, missed;
	struct flow *f;
	struct culprits c = judged_with(bytes, sizeof(bytes), 1, latency, &counted, &f);

	chain = share(&c, 1, CULPRIT_DEPENDENCY);
	culprits_fini(&c);
	flow_free(f);
	c = judged_with(bytes, sizeof(bytes), 1, latency, &estimated, &f);
	either = share(&c, 1, CULPRIT_DEPENDENCY);
	culprits_fini(&c);
	flow_free(f);
	c = judged_with(bytes, sizeof(bytes), 1, 3 * latency, &counted, &f);
	missed = share(&c, 1, CULPRIT_DEPENDENCY);
	culprits_fini(&c);
	flow_free(f);
	ok(chain > either && either > missed && missed > 0,
		"a load that takes its latency each time is a link of a chain: %.2f, %.2f, %.2f",
		chain, either, missed);
}

/* Misses of data that take 14 cycles each time, and of translations that take 7. */
static void test_translation(void)
{
	static const uint8_t bytes[] = {0x90, 0x48, 0x8b, 0x07, 0xc3};
	static double data[8], walks[8], times[8], none[8];
	struct culprits_input more = {.any_events = true};
	double hidden, seen;
	struct flow *f;
	struct culprits c;

	data[1] = 14e6;
	walks[1] = 7e6;
	times[1] = 1e6;
	more.events[CULPRIT_ICACHE] = more.events_most[CULPRIT_ICACHE] = none;
	more.events_times[CULPRIT_ICACHE] = more.events_full[CULPRIT_ICACHE] = none;
	more.events[CULPRIT_L2] = more.events_most[CULPRIT_L2] = data;
	more.events_times[CULPRIT_L2] = more.events_times[CULPRIT_DTLB] = times;
	more.events_full[CULPRIT_L2] = data;
	more.events[CULPRIT_DTLB] = more.events_most[CULPRIT_DTLB] = walks;
	more.events_full[CULPRIT_DTLB] = walks;
	c = judged_with(bytes, sizeof(bytes), 1, 5, &more, &f);
	hidden = share(&c, 1, CULPRIT_DTLB);
	culprits_fini(&c);
	flow_free(f);
	c = judged_with(bytes, sizeof(bytes), 1, 20, &more, &f);
	seen = share(&c, 1, CULPRIT_DTLB);
	culprits_fini(&c);
	flow_free(f);
	ok(hidden < 0.15 && seen > 0.25 && seen < 0.35,
		"of a miss, the translation is hidden first: %.2f of a short wait, %.2f of a long "
		"one",
		hidden, seen);
}

/* je; nop; rdtsc.  A misprediction that was counted costs what it costs, half the wait here; the
 * rest is somebody else's. */
static void test_counted(void)
{
	static const uint8_t bytes[] = {0x74, 0x01, 0x90, 0x0f, 0x31, 0xc3};
	static const double edges[] = {500000, 500000, 500000};
	static double wrong[8], most[8];
	struct culprits_input more = {.edges = edges, .counted = true, .any_events = true};
	struct flow *f;
	struct culprits c;

	wrong[0] = 2e6;
	most[0] = 2e7;
	more.events[CULPRIT_MISPREDICT] = wrong;
	more.events_most[CULPRIT_MISPREDICT] = most;
	c = judged_with(bytes, sizeof(bytes), 2, 4, &more, &f);
	ok(share(&c, 2, CULPRIT_MISPREDICT) < 0.7 && share(&c, 2, CULPRIT_MISPREDICT) > 0,
		"counted mispredictions get what they cost: %.2f",
		share(&c, 2, CULPRIT_MISPREDICT));
	culprits_fini(&c);
	flow_free(f);
}

static double share_in(const uint8_t *bytes, size_t size, uint32_t at, double cycles_each,
	const struct culprits_input *more, enum culprit_cause cause)
{
	struct flow *f;
	struct culprits c = judged_with(bytes, size, at, cycles_each, more, &f);
	double is = share(&c, at, cause);

	culprits_fini(&c);
	flow_free(f);
	return is;
}

/* movzx eax, [rdi]; xor rdx, [rsi + rax * 8]; inc rdi; dec ecx; jne: and the same with a wide
 * index. */
static void test_small_table(void)
{
	static const uint8_t small[] = {0x0f, 0xb6, 0x07, 0x48, 0x33, 0x14, 0xc6, 0x48, 0xff, 0xc7,
		0xff, 0xc9, 0x75, 0xf2, 0xc3};
	static const uint8_t large[] = {0x48, 0x8b, 0x07, 0x48, 0x33, 0x14, 0xc6, 0x48, 0xff, 0xc7,
		0xff, 0xc9, 0x75, 0xf2, 0xc3};
	const struct culprits_input more = {.edges = NULL};
	double few = share_in(small, sizeof(small), 1, 4, &more, CULPRIT_MEMORY);
	double many = share_in(large, sizeof(large), 1, 4, &more, CULPRIT_MEMORY);

	ok(few < 0.5 * many, "an index of 256 values hardly misses: %.2f, else %.2f", few, many);
}

/* mov rax, [rdi]; inc rdi; dec ecx; jne: and mov rdi, [rdi]; inc rdx; dec ecx; jne. */
static void test_ahead(void)
{
	static const uint8_t walk[] = {
		0x48, 0x8b, 0x07, 0x48, 0xff, 0xc7, 0xff, 0xc9, 0x75, 0xf6, 0xc3};
	static const uint8_t chase[] = {
		0x48, 0x8b, 0x3f, 0x48, 0xff, 0xc2, 0xff, 0xc9, 0x75, 0xf6, 0xc3};
	static double data[8], walks[8], times[8], none[8];
	struct culprits_input more = {.edges = NULL};
	double ahead = share_in(walk, sizeof(walk), 0, 4, &more, CULPRIT_DEPENDENCY);
	double behind = share_in(chase, sizeof(chase), 0, 4, &more, CULPRIT_DEPENDENCY);

	ok(ahead < 0.5 * behind,
		"what a hit takes is over when the address is known early: %.2f, else %.2f", ahead,
		behind);
	data[0] = 14e6;
	walks[0] = 7e6;
	times[0] = 1e6;
	more.any_events = true;
	more.events[CULPRIT_ICACHE] = more.events_most[CULPRIT_ICACHE] = none;
	more.events_times[CULPRIT_ICACHE] = more.events_full[CULPRIT_ICACHE] = none;
	more.events[CULPRIT_L2] = more.events_most[CULPRIT_L2] = data;
	more.events_times[CULPRIT_L2] = more.events_times[CULPRIT_DTLB] = times;
	more.events_full[CULPRIT_L2] = data;
	more.events[CULPRIT_DTLB] = more.events_most[CULPRIT_DTLB] = walks;
	more.events_full[CULPRIT_DTLB] = walks;
	ahead = share_in(walk, sizeof(walk), 0, 14, &more, CULPRIT_DTLB);
	behind = share_in(chase, sizeof(chase), 0, 14, &more, CULPRIT_DTLB);
	ok(ahead < 0.01 && behind > 0.1, "and so is its translation: %.2f, else %.2f", ahead,
		behind);
}

/* je over two nops: those that were mispredicted went where there was a wait. */
/* mov rax, [rdi], of which it was seen where the data came from; and without a conflict that rules
 * see. */
static void test_seen(void)
{
	static const uint8_t load[] = {0x90, 0x48, 0x8b, 0x07, 0xc3};
	static const uint8_t narrow[] = {0x88, 0x07, 0x48, 0x8b, 0x0f, 0xc3};
	struct culprit_seen seen[8] = {{.levels = false}};
	const struct culprits_input more = {.seen = seen};
	double unseen = share_in(load, sizeof(load), 1, 20, &more, CULPRIT_L2), is;

	seen[1] = (struct culprit_seen){.levels = true, .share = {0, 0, 0.1}, .most = {0, 0, 0.2}};
	is = share_in(load, sizeof(load), 1, 20, &more, CULPRIT_MEMORY);
	ok(unseen > 0 && is > 0.5 && share_in(load, sizeof(load), 1, 20, &more, CULPRIT_L2) == 0,
		"data that was seen to come from memory: %.2f, and not from L2", is);
	seen[1] = (struct culprit_seen){.levels = true};
	ok(share_in(load, sizeof(load), 1, 20, &more, CULPRIT_MEMORY) == 0,
		"data that was seen in L1 is no culprit");
	seen[1] = (struct culprit_seen){.forwarding = true};
	ok(share_in(narrow, sizeof(narrow), 1, 20, &more, CULPRIT_FORWARD) == 0,
		"nor is a store that was never seen to be in the way");
	seen[1] = (struct culprit_seen){.forwarding = true, .blocked = 1, .blocked_most = 1};
	ok(share_in(narrow, sizeof(narrow), 1, 20, &more, CULPRIT_FORWARD) > 0.5,
		"and one that was is");
}

/* Two multiplications in a loop, one the other's operand: the first has all samples, and the
 * schedule has 4 cycles of each. */
enum { PAIR = 8 };

static struct culprits netted(const uint8_t *bytes, size_t size, const double *cycles,
	const double *executions, const double *edges, const double *mi, struct flow **f)
{
	static struct schedule_row rows[PAIR];
	struct culprits_input in = {.core = &core,
		.machine = &culprits_machine,
		.cycles = cycles,
		.sample = 1000,
		.executions = executions,
		.edges = edges,
		.mi = mi,
		.rows = rows};
	struct culprits c = {0};

	in.flow = *f = graph(bytes, size);
	if (!*f || culprits_find(&c, &in, NULL))
		return (struct culprits){0};
	return c;
}

static double beyond(const struct culprits *c, uint32_t insn)
{
	return c->wait ? c->wait[insn].dynamic / 1e6 : NAN;
}

static void test_netted(void)
{
	/* imul %rax,%rax; imul %rax,%rbx; jne back; ret */
	static const uint8_t loop[] = {
		0x48, 0x0f, 0xaf, 0xc0, 0x48, 0x0f, 0xaf, 0xd8, 0x75, 0xf6, 0xc3};
	/* The same with a branch out, hardly ever or mostly taken, between them. */
	static const uint8_t parts[] = {
		0x48, 0x0f, 0xaf, 0xc0, 0x74, 0x06, 0x48, 0x0f, 0xaf, 0xd8, 0x75, 0xf4, 0xc3};
	static const double often[] = {1e6, 1e6, 1e6, 1e6}, seldom[] = {1e6, 1e5, 1e6, 1e6};
	static const double through[] = {1e6, 0, 0, 1e6}, out[] = {1e5, 9e5, 0, 1e5};
	double cycles[PAIR] = {7e6}, mi[PAIR] = {4, 4}, far[PAIR] = {4, 0, 4}, edges[] = {0, 1e6};
	struct culprits c;
	struct flow *f;

	c = netted(loop, sizeof(loop), cycles, often, edges, mi, &f);
	ok(beyond(&c, 0) < 0.2, "a chain as long as the schedule's waits for nothing else: %.2f",
		beyond(&c, 0));
	ok(c.wait && c.wait[0].shown > 2e6 && c.wait[0].shown_of == 1,
		"what the second lacks is shown at the first");
	culprits_fini(&c);
	flow_free(f);
	cycles[0] = 11e6;
	c = netted(loop, sizeof(loop), cycles, often, edges, mi, &f);
	ok(fabs(beyond(&c, 0) - 4) < 0.2, "of a longer one, the rest is dynamic: %.2f",
		beyond(&c, 0));
	culprits_fini(&c);
	flow_free(f);
	cycles[0] = 7e6;
	c = netted(parts, sizeof(parts), cycles, often, through, far, &f);
	ok(beyond(&c, 0) < 0.2, "blocks that are executed together are as one: %.2f",
		beyond(&c, 0));
	culprits_fini(&c);
	flow_free(f);
	c = netted(parts, sizeof(parts), cycles, seldom, out, far, &f);
	ok(beyond(&c, 0) > 2, "of a block that is seldom executed, nothing is taken: %.2f",
		beyond(&c, 0));
	culprits_fini(&c);
	flow_free(f);
}

static void test_ways(void)
{
	static const uint8_t bytes[] = {0x74, 0x02, 0x90, 0x90, 0x90, 0xc3};
	static const double edges[] = {500000, 500000, 500000};
	static double wrong[8], most[8];
	struct culprits_input more = {.edges = edges, .counted = true, .any_events = true};

	wrong[0] = 6e6;
	most[0] = 2e7;
	more.events[CULPRIT_MISPREDICT] = wrong;
	more.events_most[CULPRIT_MISPREDICT] = most;
	ok(share_in(bytes, sizeof(bytes), 1, 6, &more, CULPRIT_MISPREDICT) > 0.8 &&
			share_in(bytes, sizeof(bytes), 3, 6, &more, CULPRIT_MISPREDICT) > 0.8,
		"counted mispredictions went where there was a wait");
}

int main(void)
{
	struct error e;

	if (core_parse(&core, culprits_core, sizeof(culprits_core) - 1, "tiny", &e)) {
		ok(false, "the core is one");
		return done();
	}
	test_random();
	test_large();
	test_hard();
	test_rules();
	test_loop();
	test_estimated();
	test_chain();
	test_translation();
	test_counted();
	test_small_table();
	test_ahead();
	test_ways();
	test_netted();
	test_seen();
	core_fini(&core);
	return done();
}
