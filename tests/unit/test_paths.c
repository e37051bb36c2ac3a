/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths against a machine that knows them: random calls, returns, longjmps, signals (on the
 * same stack and on one of their own), and coroutines that change stacks by returns and by jumps.
 * After each step the path must be the machine's, caller for caller.
 */
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "model/paths.h"

#define REGION    (UINT64_C(1) << 20)
#define REGIONS   12
#define DEPTH_MAX 400
#define NODES     (1u << 18)

/* ---- the machine ---- */

struct frame {
	uint64_t sp, caller; /* caller 0: a signal came, at `at` */
	uint64_t at;
};

/* Frames of a stack, those of handlers on it included. */
struct stack {
	struct frame frames[DEPTH_MAX];
	unsigned depth;
	uint64_t sp;
	unsigned region;
};

static struct stack stacks[REGIONS]; /* [0]: the thread's own; [REGIONS - 1]: of signals */
static unsigned current, started;
/* Handlers that run: whom they interrupted, and how deep that was. */
static struct {
	unsigned stack, depth, on;
	uint64_t at, sp;
} handlers[64];
static unsigned handler_count;
static unsigned seed;

static unsigned below(unsigned n)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 8) % n;
}

static uint64_t high_of(unsigned stack)
{
	/* Neighbours in memory are not neighbours in number. */
	return (UINT64_C(0x10000000) + (1 + stack * 5 % REGIONS) * REGION) - 64;
}

/* ---- what it tells ---- */

static struct path_nodes nodes;
static struct paths paths;

static uint32_t place(uint64_t address)
{
	return (uint32_t)(address >> 12);
}

static int apart(uint64_t a, uint64_t b)
{
	return (a - UINT64_C(0x10000000)) / REGION != (b - UINT64_C(0x10000000)) / REGION;
}

static void *memory(void *old, size_t size)
{
	if (size)
		return realloc(old, size);
	free(old);
	return NULL;
}

static void record(unsigned kind, uint64_t address, uint64_t sp, uint64_t target)
{
	struct model_insn insn = {.address = address, .length = 5, .branch = (uint8_t)kind};
	struct model_segment segment = {.insn_count = 1, .next = kind == MODEL_CALL ? target : 0};
	struct model_block block = {.insns = &insn,
		.segments = &segment,
		.insn_count = 1,
		.segment_count = 1,
		.stack = (uint8_t)(1 + kind),
		.indirect = kind != MODEL_CALL,
		.words = (uint16_t)(2 + (kind != MODEL_CALL))};
	uint64_t words[3] = {(uintptr_t)&segment, sp, target};

	segment.block = &block;
	paths_record(&paths, &segment, words);
}

static void begin(unsigned first_seed, uint32_t limit)
{
	seed = first_seed;
	memset(stacks, 0, sizeof(stacks));
	for (unsigned i = 0; i < REGIONS; i++)
		stacks[i].sp = high_of(i);
	current = handler_count = 0;
	started = 1;
	nodes = (struct path_nodes){.limit = limit, .place = place};
	nodes.node = calloc(limit, sizeof(*nodes.node));
	nodes.hash = calloc(limit, sizeof(*nodes.hash));
	paths = (struct paths){.nodes = &nodes, .memory = memory, .apart = apart};
	paths_enter(&paths, stacks[0].sp);
}

static void end(void)
{
	paths_fini(&paths);
	free(nodes.node);
	free(nodes.hash);
}

/* ---- steps ---- */

static uint64_t some_address(void)
{
	return 0x400000 + 16 * below(200);
}

static void do_call(void)
{
	struct stack *s = &stacks[current];
	uint64_t caller = some_address();

	if (s->depth == DEPTH_MAX)
		return;
	s->sp -= 16 + 8 * below(below(20) ? 10 : 600);
	s->frames[s->depth++] = (struct frame){s->sp, caller, 0};
	record(below(2) ? MODEL_CALL : MODEL_INDIRECT_CALL, caller, s->sp, 0x500000);
}

/* How deep a handler on this stack may be left by returns. */
static unsigned floor_of(unsigned stack)
{
	for (unsigned i = handler_count; i-- > 0;)
		if (handlers[i].on == stack)
			return handlers[i].on == handlers[i].stack ? handlers[i].depth : 0;
	return 0;
}

static void do_return(void)
{
	struct stack *s = &stacks[current];
	const struct frame *f;

	if (s->depth <= floor_of(current))
		return;
	f = &s->frames[--s->depth];
	s->sp = f->sp + 8;
	record(MODEL_RETURN, 0x500010, s->sp, f->caller + 5);
}

/* Leaves some frames at once, as longjmp (a jump) and eh_return (a return elsewhere) do. */
static void do_leave(void)
{
	struct stack *s = &stacks[current];
	unsigned low = floor_of(current), to;

	if (s->depth <= low + 1)
		return;
	to = low + below(s->depth - low);
	s->sp = s->frames[to].sp + 8 + 8 * below(2);
	s->depth = to;
	record(below(2) ? MODEL_RETURN : MODEL_INDIRECT_JUMP, 0x500020, s->sp, 0x400003);
}

static void do_jump(void)
{
	record(MODEL_INDIRECT_JUMP, 0x500030, stacks[current].sp, some_address());
}

/* A call of something that goes on elsewhere: a coroutine that waits, or a new one. */
static void do_switch(void)
{
	unsigned to = below(REGIONS - 1), kind = below(2) ? MODEL_RETURN : MODEL_INDIRECT_JUMP;
	struct stack *s;
	const struct frame *f;

	if (handler_count || to == current || stacks[current].depth == DEPTH_MAX)
		return;
	do_call();
	current = to;
	s = &stacks[to];
	if (!s->depth) {
		s->sp = high_of(to) - 16;
		record(kind, 0x500040, s->sp, 0x400008);
		return;
	}
	f = &s->frames[--s->depth];
	s->sp = f->sp + 8;
	record(kind, 0x500040, s->sp, f->caller + 5);
}

static void do_signal(void)
{
	bool own = below(2);
	unsigned on = own ? REGIONS - 1 : current;

	if (handler_count == 8 || stacks[current].depth == DEPTH_MAX)
		return;
	handlers[handler_count].stack = current;
	handlers[handler_count].depth = stacks[current].depth;
	handlers[handler_count].on = on;
	handlers[handler_count].sp = stacks[current].sp;
	handlers[handler_count++].at = some_address();
	paths_signal(&paths, handlers[handler_count - 1].at);
	if (on != current)
		stacks[on].sp = high_of(on);
	current = on;
	stacks[on].sp -= 1200;
	paths_enter(&paths, stacks[on].sp);
}

static void drop_handler(void)
{
	handler_count--;
	if (handlers[handler_count].on != handlers[handler_count].stack)
		stacks[handlers[handler_count].on].depth = 0;
	current = handlers[handler_count].stack;
	stacks[current].depth = handlers[handler_count].depth;
	stacks[current].sp = handlers[handler_count].sp;
}

static void do_signal_end(void)
{
	if (!handler_count)
		return;
	drop_handler();
	paths_signal_end(&paths);
}

/* siglongjmp to what was interrupted, or further up. */
static void do_signal_leave(void)
{
	struct stack *s;
	unsigned to;

	if (!handler_count)
		return;
	drop_handler();
	s = &stacks[current];
	if (s->depth <= floor_of(current) + 1) {
		paths_signal_end(&paths);
		return;
	}
	to = floor_of(current) + below(s->depth - floor_of(current));
	s->sp = s->frames[to].sp + 8;
	s->depth = to;
	record(MODEL_INDIRECT_JUMP, 0x500050, s->sp, 0x400003);
}

/* ---- the comparison ---- */

/* The machine's path, innermost first: addresses of calls and interrupted instructions. */
static unsigned machine_path(uint64_t *to)
{
	unsigned n = 0, stack = current, handler = handler_count;

	for (;;) {
		unsigned low = 0;

		if (handler && handlers[handler - 1].on == stack &&
			handlers[handler - 1].on == handlers[handler - 1].stack)
			low = handlers[handler - 1].depth;
		for (unsigned i = stacks[stack].depth; i-- > low;)
			to[n++] = stacks[stack].frames[i].caller;
		if (!handler)
			return n;
		handler--;
		to[n++] = handlers[handler].at;
		stack = handlers[handler].stack;
		/* What it interrupted is as deep as it was then. */
		if (stack == handlers[handler].on)
			stacks[stack].depth = handlers[handler].depth;
	}
}

static bool agrees(void)
{
	static uint64_t want[REGIONS * DEPTH_MAX];
	unsigned depths[REGIONS], n, i = 0;
	uint32_t node = paths_node(&paths);

	for (unsigned k = 0; k < REGIONS; k++)
		depths[k] = stacks[k].depth;
	n = machine_path(want);
	for (unsigned k = 0; k < REGIONS; k++)
		stacks[k].depth = depths[k];
	for (; node != PATH_ROOT && node != PATH_LOST; node = nodes.node[node].parent, i++)
		if (i >= n || nodes.node[node].address != want[i] ||
			nodes.node[node].image != place(want[i]))
			return false;
	return node == PATH_ROOT && i == n;
}

struct step {
	unsigned weight;
	void (*take)(void);
};

static void random_runs(const char *name, const struct step *steps, unsigned count)
{
	unsigned total = 0, wrong = 0;

	for (unsigned i = 0; i < count; i++)
		total += steps[i].weight;
	for (unsigned run = 0; run < 40; run++) {
		begin(run + 1, NODES);
		for (unsigned n = 0; n < 4000; n++) {
			unsigned w = below(total), i = 0;

			while (w >= steps[i].weight)
				w -= steps[i++].weight;
			steps[i].take();
			/* Not each time: nodes are made when they are asked for. */
			if (!below(3) && !agrees())
				wrong++;
		}
		end();
	}
	is_int(wrong, 0, "%s: paths are the machine's", name);
}

static void check_random(void)
{
	static const struct step plain[] = {{50, do_call}, {48, do_return}, {20, do_jump}};
	static const struct step leaving[] = {
		{60, do_call}, {48, do_return}, {2, do_leave}, {20, do_jump}};
	static const struct step signals[] = {{60, do_call}, {50, do_return}, {2, do_leave},
		{20, do_jump}, {4, do_signal}, {3, do_signal_end}, {1, do_signal_leave}};
	static const struct step coroutines[] = {
		{60, do_call}, {50, do_return}, {1, do_leave}, {20, do_jump}, {6, do_switch}};
	static const struct step all[] = {{60, do_call}, {50, do_return}, {1, do_leave},
		{20, do_jump}, {6, do_switch}, {2, do_signal}, {2, do_signal_end},
		{1, do_signal_leave}};

#define RUNS(name, steps) random_runs(name, steps, sizeof(steps) / sizeof((steps)[0]))
	RUNS("calls and returns", plain);
	RUNS("frames left at once", leaving);
	RUNS("signals", signals);
	RUNS("coroutines", coroutines);
	RUNS("all of it", all);
}

static void check_limits(void)
{
	uint32_t node;

	begin(1, 64);
	for (unsigned i = 0; i < 100; i++) {
		stacks[0].sp -= 32;
		record(MODEL_CALL, 0x400000 + 16 * i, stacks[0].sp, 0x500000);
	}
	is_int(paths_node(&paths), (long long)PATH_LOST, "no room for nodes: the path is lost");
	record(MODEL_INDIRECT_JUMP, 0x500000, stacks[0].sp + 90 * 32, 0);
	ok(paths_node(&paths) != PATH_LOST, "but not of those that found room");
	end();

	begin(1, 1 << 21);
	for (unsigned i = 0; i < PATH_FRAMES_MAX + 1000; i++) {
		stacks[0].sp -= 16;
		record(MODEL_CALL, 0x400000, stacks[0].sp, 0x500000);
	}
	is_int(paths_node(&paths), (long long)PATH_LOST, "too deep: the path is lost");
	for (unsigned i = 0; i < 1000; i++)
		record(MODEL_RETURN, 0x500000, stacks[0].sp += 16, 0x400005);
	stacks[0].sp += 16;
	record(MODEL_RETURN, 0x500000, stacks[0].sp, 0x400005);
	node = paths_node(&paths);
	ok(node != PATH_LOST && node != PATH_ROOT, "and found again on the way back");
	end();
}

static void check_gone(void)
{
	uint32_t first, second;

	begin(1, 1024);
	record(MODEL_CALL, 0x400000, stacks[0].sp - 8, 0x500000);
	first = paths_node(&paths);
	record(MODEL_RETURN, 0x500000, stacks[0].sp, 0x400005);
	paths_gone(&nodes, 0x3ff000, 0x2000);
	record(MODEL_CALL, 0x400000, stacks[0].sp - 8, 0x500000);
	second = paths_node(&paths);
	ok(first != second, "where code was replaced, paths are new ones");
	path_nodes_reset(&nodes);
	paths_forget(&paths);
	is_int(paths_node(&paths), 1, "in the child of a fork they are counted anew");
	is_int(nodes.node[1].address, 0x400000, "and are what they were");
	end();
}

int main(void)
{
	check_random();
	check_limits();
	check_gone();
	return done();
}
