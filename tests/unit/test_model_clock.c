/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Cycles worked out by hand, store forwarding against a restatement, determinism, and what must
 * hold of any counts. */
#include "../tap.h"
#include "model_machine.h"

static struct run run;
static uint64_t before[EVENT_LIMIT], order;

/* One instruction a cycle and round figures. */
static struct model_config plain(void)
{
	struct model_config c = zen4();

	c.cores = 1;
	c.width = 1;
	c.window = 10;
	c.store_buffer = 4;
	c.l2.latency = 8;
	c.ll.latency = 40;
	c.memory_latency = 100;
	c.walk_latency = 0;
	c.stlb_latency = 0;
	c.divide_latency = 30;
	c.store_forward_penalty = 12;
	c.lock_latency = 20;
	c.mispredict_penalty = 15;
	return c;
}

static void nothing(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		model_instruction(run.model, 0x401000 + 4 * (order++ % 16), 4, 0, 1, 0);
}

static void mark(void)
{
	model_sync(run.model);
	memcpy(before, run.counts, sizeof(before));
}

static uint64_t since(int event)
{
	model_sync(run.model);
	return run.counts[event] - before[event];
}

static void begin(const struct model_config *config)
{
	run_begin(&run, config);
	nothing(100);
	mark();
}

static void load_misses(void)
{
	struct model_config c = plain();

	begin(&c);
	nothing(60);
	is_int(since(EV_CYCLES), 60, "an instruction a cycle when nothing is in its way");
	mark();
	nothing(1);
	model_load(run.model, 0x10000, 8);
	nothing(49);
	is_int(since(EV_BACKEND_STALLS), 90, "the window hides 10 of 100 cycles");
	is_int(since(EV_CYCLES), 140, "cycles are base and stalls");
	mark();
	nothing(1);
	model_load(run.model, 0x20000, 8);
	nothing(5);
	model_load(run.model, 0x30000, 8);
	nothing(50);
	is_int(since(EV_BACKEND_STALLS), 90, "a miss five instructions on overlaps with it");
	mark();
	nothing(1);
	model_load(run.model, 0x40000, 8);
	nothing(10);
	model_load(run.model, 0x50000, 8);
	nothing(50);
	is_int(since(EV_BACKEND_STALLS), 180, "a miss a window on does not");
	for (int i = 0; i < 1024; i++)
		model_load(run.model, 0x100000 + 64 * i, 8);
	nothing(100);
	mark();
	model_load(run.model, 0x100000, 8);
	nothing(50);
	is_int(since(EV_L1D_MISSES), 1, "a line in the second level");
	is_int(since(EV_CYCLES), 50, "costs nothing when the window covers it");
	run_end(&run);
	c.width = 6;
	begin(&c);
	nothing(6000);
	is_int(since(EV_CYCLES), 1000, "six instructions a cycle");
	run_end(&run);
}

static void store_misses(void)
{
	struct model_config c = plain();

	begin(&c);
	for (int i = 0; i < 8; i++)
		model_load(run.model, 0x80000, 8);
	model_store(run.model, 0x80000, 8);
	nothing(200);
	mark();
	nothing(1);
	model_store(run.model, 0x10000, 8);
	nothing(50);
	is_int(since(EV_CYCLES), 51, "a store that misses holds nobody up");
	for (int i = 0; i < 3; i++)
		model_store(run.model, 0x80000, 8);
	is_int(since(EV_CYCLES), 51, "while the buffer has room");
	model_store(run.model, 0x80000, 8);
	is_int(since(EV_BACKEND_STALLS), 50,
		"the store that finds it full waits for the rest of the 100 cycles");
	run_end(&run);
}

static void other_stalls(void)
{
	struct model_config c = plain();

	begin(&c);
	model_instruction(run.model, 0x401000, 4, MODEL_DIVIDE, 1, 0);
	nothing(60);
	is_int(since(EV_BACKEND_STALLS), 20, "a division is hidden as a load is");
	mark();
	for (int i = 0; i < 4; i++)
		model_instruction(run.model, 0x401000, 4, MODEL_DIVIDE, 1, 0);
	nothing(10);
	is_int(since(EV_DIVIDER_CYCLES), 120, "the divider works for four times 30 cycles");
	is_int(since(EV_CYCLES), 121, "and ten instructions on, the program waits for that");
	mark();
	model_instruction(run.model, 0x401000, 4, MODEL_LOCKED, 1, 0);
	is_int(since(EV_CYCLES), 21, "a locked instruction");
	mark();
	model_branch(run.model, MODEL_CONDITIONAL, 0x401000, 0x401004, 0x401020, 1);
	is_int(since(EV_FRONTEND_STALLS), 15, "a misprediction");
	mark();
	model_instruction(run.model, 0x402000, 4, 0, 1, 0);
	is_int(since(EV_FRONTEND_STALLS), 100, "an instruction line from memory");
	nothing(1);
	mark();
	model_load(run.model, 0x60000, 8);
	nothing(1);
	model_instruction(run.model, 0x401000, 4, MODEL_SERIALISING, 1, 0);
	is_int(since(EV_BACKEND_STALLS), 98,
		"a serialising instruction waits for what is under way");
	is_int(since(EV_FRONTEND_STALLS), 15, "and for the pipeline to fill");
	run_end(&run);
}

static void forwarding(void)
{
	struct model_config c = plain();

	begin(&c);
	model_store(run.model, 0x10000, 8);
	model_load(run.model, 0x10000, 8);
	model_load(run.model, 0x10004, 4);
	is_int(since(EV_STORE_FORWARD_FAILURES), 0, "a load of what one store wrote is forwarded");
	model_load(run.model, 0x10004, 8);
	is_int(since(EV_STORE_FORWARD_FAILURES), 1, "one that needs more is not");
	model_store(run.model, 0x10000, 1);
	model_load(run.model, 0x10000, 8);
	is_int(since(EV_STORE_FORWARD_FAILURES), 2, "the youngest store decides");
	nothing(11);
	model_load(run.model, 0x10000, 8);
	is_int(since(EV_STORE_FORWARD_FAILURES), 2, "not when it is older than the window");
	model_store(run.model, 0x20010, 8);
	model_load(run.model, 0x31010, 8);
	is_int(since(EV_ALIASES_4K), 1, "the same bits 11..0 at another page alias");
	model_store(run.model, 0x20ffc, 8);
	model_load(run.model, 0x33000, 2);
	is_int(since(EV_ALIASES_4K), 2, "also across the page's end");
	is_int(since(EV_STORE_FORWARD_FAILURES), 2, "which is no failure");
	run_end(&run);
}

struct ref_store {
	uint64_t first, last, order;
};

/* Byte by byte: which bytes of the page does it touch? */
static bool same_low_bits(const struct ref_store *s, uint64_t first, uint64_t last)
{
	for (uint64_t a = s->first; a <= s->last; a++)
		for (uint64_t b = first; b <= last; b++)
			if (a % 4096 == b % 4096)
				return true;
	return false;
}

/* So many that the ring of stores comes round often. */
#define FORWARDINGS 300000

static void random_forwarding(void)
{
	struct model_config c = zen4();
	struct ref_store *stores = calloc(FORWARDINGS, sizeof(*stores));
	uint64_t seed = 21, failures = 0, aliases = 0, count = 0, now = 100;

	c.cores = 1;
	c.window = 40;
	c.store_buffer = 12;
	begin(&c);
	for (int i = 0; i < FORWARDINGS; i++) {
		uint64_t first = 0x10000 + random_below(&seed, 3) * 4096 + random_below(&seed, 160);
		unsigned size = 1u << random_below(&seed, 6);
		uint64_t last = first + size - 1;

		if (random_below(&seed, 3)) {
			nothing(1);
			now++;
		}
		if (random_below(&seed, 8) == 0)
			first += 4000, last += 4000;
		if (i >= 1000 && random_below(&seed, 8) == 0) {
			/* Bytes that nothing has stored to for long, next to such that have. */
			first = 0x10800 + 8 * random_below(&seed, 20);
			model_load(run.model, first + 4, 4);
			model_store(run.model, first, 4);
			stores[count++] = (struct ref_store){first, first + 3, now};
			continue;
		}
		if (i < 100)
			first += 0x800, last += 0x800;
		if (random_below(&seed, 3) == 0) {
			model_store(run.model, first, size);
			stores[count++] = (struct ref_store){first, last, now};
			continue;
		}
		model_load(run.model, first, size);
		for (uint64_t back = 1; back <= 12 && back <= count; back++) {
			const struct ref_store *s = &stores[count - back];

			if (now - s->order > 40)
				break;
			if (!same_low_bits(s, first, last))
				continue;
			if (first > s->last || last < s->first)
				aliases++;
			else if (first < s->first || last > s->last)
				failures++;
			break;
		}
	}
	is_int(run.counts[EV_STORE_FORWARD_FAILURES], failures,
		"random loads and stores: failures as restated");
	is_int(run.counts[EV_ALIASES_4K], aliases, "and aliases");
	ok(failures > 1000 && aliases > 1000, "many of both");
	free(stores);
	run_end(&run);
}

/* A trace of everything, the same for the same seed. */
static void trace(struct model *m, struct run *r, uint64_t seed, int steps, unsigned threads)
{
	uint64_t pc = 0x401000;

	(void)m;
	for (int i = 0; i < steps; i++) {
		uint64_t address = 0x100000 + random_below(&seed, 1 << random_below(&seed, 22));
		unsigned size = 1u << random_below(&seed, 6),
			 length = 1 + (unsigned)random_below(&seed, 15);
		unsigned class_bits = random_below(&seed, 16) ? 0 : 1u << random_below(&seed, 9);

		model_instruction(r->model, pc, length, class_bits,
			1 + (unsigned)random_below(&seed, 3), class_bits & MODEL_FP ? 2 : 0);
		switch (random_below(&seed, 8)) {
		case 0:
		case 1:
			model_load(r->model, address, size);
			break;
		case 2:
			model_store(r->model, address, size);
			break;
		case 3:
			model_prefetch(r->model, address);
			break;
		case 4:
			model_branch(r->model, random_below(&seed, 6), pc, pc + length,
				0x401000 + (address & 0xff0), (int)random_below(&seed, 2));
			pc = 0x401000 + (address & 0xfff0);
			break;
		default:
			break;
		}
		pc += length;
		if (threads > 1 && !random_below(&seed, 100))
			run_thread(r, (unsigned)random_below(&seed, threads));
		if (!random_below(&seed, 1000))
			model_sync(r->model);
	}
	model_sync(r->model);
}

/* Sums over threads: external events are charged elsewhere than what they follow from. */
static void sum(const struct run *r, uint64_t *c)
{
	for (int e = 0; e < EVENT_LIMIT; e++) {
		c[e] = r->counts[e];
		for (int t = 1; t < MODEL_CORES_MAX; t++)
			c[e] += r->others[t][e];
	}
}

static void identities(const char *name, const struct model_config *config)
{
	static struct run again;
	uint64_t c[EVENT_LIMIT];
	int left = 0;

	run_begin(&run, config);
	trace(run.model, &run, 77, 200000, 6);
	run_begin(&again, config);
	trace(again.model, &again, 77, 200000, 6);
	ok(!memcmp(run.counts, again.counts, sizeof(run.counts)) &&
			!memcmp(run.others, again.others, sizeof(run.others)),
		"%s: the same calls give the same counts", name);
	run_end(&again);
	sum(&run, c);
	ok(c[EV_CYCLES] >= c[EV_FRONTEND_STALLS] + c[EV_BACKEND_STALLS],
		"%s: stalls are part of the cycles", name);
	/* Base cycles: all calls of model_instruction, less what is not whole yet on each core, and
	 * in each of three counts. */
	ok(llabs((long long)(c[EV_CYCLES] - c[EV_FRONTEND_STALLS] - c[EV_BACKEND_STALLS]) -
		   (long long)(200000 / config->width)) <= 3 * config->cores,
		"%s: cycles are base and stalls", name);
	ok(c[EV_L1D_MISSES] <= 2 * (c[EV_LOADS] + c[EV_STORES]), "%s: L1D misses <= lines touched",
		name);
	ok(c[EV_L2D_MISSES] <= c[EV_L1D_MISSES], "%s: L2 data misses <= L1 data misses", name);
	ok(c[EV_L2I_MISSES] <= c[EV_L1I_MISSES],
		"%s: L2 instruction misses <= L1 instruction misses", name);
	ok(c[EV_LL_DATA_MISSES] <= c[EV_L2D_MISSES], "%s: LL data misses <= L2 data misses", name);
	is_int(c[EV_L2_REFERENCES], c[EV_L1D_MISSES] + c[EV_L1I_MISSES],
		"%s: L1 misses go to the secondary cache", name);
	ok(c[EV_DTLB_WALKS] <= c[EV_DTLB_MISSES] || !config->dtlb.entries,
		"%s: walks <= DTLB misses", name);
	is_int(c[EV_MISPREDICTED_BRANCHES],
		c[EV_MISPREDICTED_CONDITIONALS] + c[EV_MISPREDICTED_INDIRECTS] +
			c[EV_MISPREDICTED_RETURNS],
		"%s: mispredictions by kind add up", name);
	ok(c[EV_MISPREDICTED_CONDITIONALS] <= c[EV_CONDITIONAL_BRANCHES],
		"%s: mispredicted <= conditional", name);
	ok(c[EV_INTERVENTION_HITS] <= c[EV_INTERVENTIONS], "%s: intervention hits <= interventions",
		name);
	ok(c[EV_INVALIDATION_HITS] <= c[EV_INVALIDATIONS], "%s: invalidation hits <= invalidations",
		name);
	for (int e = 0; e < EVENT_LIMIT; e++)
		if (c[e] && !model_counts_event(config, e)) {
			printf("# event %d is counted but not claimed\n", e);
			left++;
		}
	is_int(left, 0, "%s: no count but of what the model says it counts", name);
	for (int e = 0; e < EVENT_LIMIT; e++)
		if (!c[e] && model_counts_event(config, e) &&
			e != EV_PAGE_FAULTS /* the tool's */) {
			printf("# event %d is claimed but was not counted\n", e);
			left++;
		}
	is_int(left, 0, "%s: all that it says it counts happens in a trace of everything", name);
	run_end(&run);
}

int main(void)
{
	struct model_config c;

	load_misses();
	store_misses();
	other_stalls();
	forwarding();
	random_forwarding();
	c = zen4();
	c.l2.size = 65536;
	c.ll.size = 262144;
	identities("zen4", &c);
	c = r10000();
	c.l2.size = 65536;
	identities("r10000", &c);
	c = zen4();
	c.flavour = MODEL_CACHEGRIND;
	c.cores = 1;
	c.l2.size = 0;
	identities("cachegrind", &c);
	return done();
}
