/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native caches, TLBs and coherence against a slow and obvious restatement of their rules: a
 * cache is a heap of copies with the time of their last use, found by looking at all of them; a
 * core asks all the others.  Both must agree on every count, over random machines and random traces
 * of several threads.
 */
#include "../tap.h"
#include "model_machine.h"

enum { I, S, E, M };

struct copy {
	uint64_t line; /* address */
	uint64_t used; /* time, 0: no copy */
	int state;
	bool written;
};

struct heap {
	uint64_t line_size, sets, ways, size; /* size: copies that it can hold */
	struct copy *copies;
};

struct ref_core {
	struct heap l1i, l1d, l2, itlb, dtlb, stlb;
	uint64_t fetch_line;
	uint64_t counts[EVENT_LIMIT];
	bool active;
};

struct reference {
	struct model_config config;
	struct ref_core cores[MODEL_CORES_MAX];
	struct heap ll;
	unsigned core;
	uint64_t time;
};

static void heap_new(struct heap *h, uint64_t lines, uint64_t ways, uint64_t line_size)
{
	*h = (struct heap){.line_size = line_size, .ways = ways, .size = lines};
	if (!lines)
		return;
	h->sets = lines / ways;
	h->copies = calloc(lines, sizeof(*h->copies));
}

static struct copy *find(struct heap *h, uint64_t address)
{
	for (uint64_t i = 0; i < h->size; i++)
		if (h->copies[i].used && h->copies[i].line == address / h->line_size * h->line_size)
			return &h->copies[i];
	return NULL;
}

/* Room for a line: *old is what was there before (used 0: nothing). */
static struct copy *make_room(struct heap *h, uint64_t address, struct copy *old)
{
	uint64_t set = address / h->line_size % h->sets, in_set = 0;
	struct copy *oldest = NULL, *free_copy = NULL, *room;

	for (uint64_t i = 0; i < h->size; i++) {
		struct copy *c = &h->copies[i];

		if (!c->used) {
			free_copy = c;
		} else if (c->line / h->line_size % h->sets == set) {
			in_set++;
			if (!oldest || c->used < oldest->used)
				oldest = c;
		}
	}
	room = in_set == h->ways ? oldest : free_copy;
	*old = *room;
	*room = (struct copy){.line = address / h->line_size * h->line_size, .used = 1, .state = S};
	return room;
}

static void write_to_ll(struct reference *r, uint64_t *counts, uint64_t address)
{
	struct copy old = {0}, *c;

	if (!r->ll.size)
		return;
	c = find(&r->ll, address);
	if (!c) {
		c = make_room(&r->ll, address, &old);
		if (old.used && old.state == M && !r->cores[0].l2.size)
			counts[EV_L2_WRITEBACK_QUADWORDS] += r->ll.line_size / 16;
	}
	c->used = ++r->time;
	c->state = M;
}

static void leave_l2(struct reference *r, struct ref_core *core, struct copy old)
{
	if (!old.used || old.state != M)
		return;
	core->counts[EV_L2_WRITEBACK_QUADWORDS] += core->l2.line_size / 16;
	write_to_ll(r, core->counts, old.line);
}

static void leave_l1(struct reference *r, struct ref_core *core, struct copy old)
{
	struct copy *c, next = {0};

	if (!old.used || old.state != M)
		return;
	core->counts[EV_L1_WRITEBACK_QUADWORDS] += core->l1d.line_size / 16;
	if (!core->l2.size) {
		write_to_ll(r, core->counts, old.line);
		return;
	}
	c = find(&core->l2, old.line);
	if (!c)
		c = make_room(&core->l2, old.line, &next);
	c->used = ++r->time;
	c->state = M;
	c->written = true;
	leave_l2(r, core, next);
}

static uint64_t unit_size(const struct reference *r)
{
	const struct ref_core *core = &r->cores[0];

	return core->l2.size && core->l2.line_size > core->l1d.line_size ? core->l2.line_size
									 : core->l1d.line_size;
}

/* Calls for all data copies of the core in the unit: highest state, and new state unless -1. */
static int all_copies(struct reference *r, struct ref_core *core, uint64_t address, int new_state)
{
	uint64_t size = unit_size(r), unit = address / size * size;
	struct heap *heaps[2] = {&core->l1d, &core->l2};
	int highest = I;

	for (int h = 0; h < 2; h++)
		for (uint64_t i = 0; i < heaps[h]->size; i++) {
			struct copy *c = &heaps[h]->copies[i];

			if (!c->used || c->line / size * size != unit)
				continue;
			if (c->state > highest)
				highest = c->state;
			if (new_state < 0)
				continue;
			c->state = new_state;
			c->written = false;
			if (new_state == I)
				c->used = 0;
		}
	return highest;
}

/* Asks all other cores; the highest state that one had. */
static int ask(struct reference *r, struct ref_core *core, uint64_t address, bool exclusive)
{
	uint64_t size = unit_size(r);
	int highest = I;

	for (unsigned n = 0; n < r->config.cores; n++) {
		struct ref_core *other = &r->cores[n];
		int state;

		if (other == core || !other->active)
			continue;
		state = all_copies(r, other, address, -1);
		if (state == I)
			continue;
		if (state > highest)
			highest = state;
		if (state >= E)
			other->counts[EV_INTERVENTION_HITS]++;
		else if (exclusive)
			other->counts[EV_INVALIDATION_HITS]++;
		if (state == M && !exclusive) {
			other->counts[other->l2.size ? EV_L2_WRITEBACK_QUADWORDS
						     : EV_L1_WRITEBACK_QUADWORDS] +=
				(other->l2.size ? other->l2.line_size : other->l1d.line_size) / 16;
			write_to_ll(r, other->counts, address / size * size);
		}
		if (exclusive)
			all_copies(r, other, address, I);
		else if (state >= E)
			all_copies(r, other, address, S);
	}
	return highest;
}

static void store_to(struct reference *r, struct ref_core *core, uint64_t address, int state)
{
	struct copy *l2 = find(&core->l2, address);

	if (state == S) {
		core->counts[EV_STORES_TO_SHARED]++;
		ask(r, core, address, true);
		if (all_copies(r, core, address, -1) == S)
			all_copies(r, core, address, E);
	} else if (state == E && !(l2 && l2->written)) {
		core->counts[EV_STORES_TO_CLEAN]++;
	}
	if (l2)
		l2->written = true;
}

static void from_outside(
	struct reference *r, struct ref_core *core, uint64_t address, bool fetch, bool modified)
{
	struct copy *c, old = {0};
	bool secondary = !core->l2.size;

	if (!r->ll.size)
		return;
	core->counts[EV_LL_REFERENCES]++;
	core->counts[EV_L2_REFERENCES] += secondary;
	if (modified)
		return;
	c = find(&r->ll, address);
	if (!c) {
		core->counts[fetch ? EV_LL_INSTRUCTION_MISSES : EV_LL_DATA_MISSES]++;
		core->counts[fetch ? EV_L2I_MISSES : EV_L2D_MISSES] += secondary;
		c = make_room(&r->ll, address, &old);
		if (old.used && old.state == M && secondary)
			core->counts[EV_L2_WRITEBACK_QUADWORDS] += r->ll.line_size / 16;
	}
	c->used = ++r->time;
}

/* Behind the first level; the state for L1. */
static int refill(
	struct reference *r, struct ref_core *core, uint64_t address, bool store, bool fetch)
{
	struct copy *c = NULL, old = {0};
	int others, state;

	if (core->l2.size) {
		core->counts[EV_L2_REFERENCES]++;
		c = find(&core->l2, address);
		if (c) {
			c->used = ++r->time;
			state = c->state == S ? S : E;
			if (store)
				store_to(r, core, address, c->state);
			return store ? M : state;
		}
		core->counts[fetch ? EV_L2I_MISSES : EV_L2D_MISSES]++;
		c = make_room(&core->l2, address, &old);
		c->used = ++r->time;
		leave_l2(r, core, old);
	}
	others = ask(r, core, address, store);
	state = store || (others == I && !fetch) ? E : S;
	if (c) {
		c->state = state;
		c->written = store;
	}
	from_outside(r, core, address, fetch, others == M);
	return store ? M : state;
}

static void ref_data_line(struct reference *r, struct ref_core *core, uint64_t address, bool store)
{
	struct copy *c = find(&core->l1d, address), old;
	int state;

	if (c) {
		c->used = ++r->time;
		if (store && c->state != M) {
			store_to(r, core, address, c->state);
			c->state = M;
		}
		return;
	}
	core->counts[EV_L1D_MISSES]++;
	c = make_room(&core->l1d, address, &old);
	leave_l1(r, core, old);
	state = refill(r, core, address, store, false);
	c->used = ++r->time;
	c->state = state;
}

static bool ref_page(struct reference *r, struct heap *h, uint64_t address)
{
	struct copy *c = find(h, address), old;
	bool hit = c != NULL;

	if (!c)
		c = make_room(h, address, &old);
	c->used = ++r->time;
	return hit;
}

static void ref_translate(struct reference *r, struct ref_core *core, uint64_t address, bool fetch)
{
	struct heap *first = fetch ? &core->itlb : &core->dtlb;

	if (first->size) {
		if (ref_page(r, first, address))
			return;
		core->counts[fetch ? EV_ITLB_MISSES : EV_DTLB_MISSES]++;
	}
	if (core->stlb.size && ref_page(r, &core->stlb, address))
		return;
	if (first->size || core->stlb.size)
		core->counts[fetch ? EV_ITLB_WALKS : EV_DTLB_WALKS]++;
}

static void ref_data(struct reference *r, uint64_t address, unsigned size, bool store)
{
	struct ref_core *core = &r->cores[r->core];
	uint64_t line = core->l1d.line_size, page = r->config.page_size;

	core->counts[store ? EV_STORES : EV_LOADS]++;
	core->counts[EV_SPLIT_ACCESSES] += address / line != (address + size - 1) / line;
	for (uint64_t n = address / page; n <= (address + size - 1) / page; n++)
		ref_translate(r, core, n * page, false);
	for (uint64_t n = address / line; n <= (address + size - 1) / line; n++)
		ref_data_line(r, core, n * line, store);
}

static void ref_fetch(struct reference *r, uint64_t address, unsigned length)
{
	struct ref_core *core = &r->cores[r->core];
	uint64_t line = core->l1i.line_size;
	struct copy *c, old;

	core->counts[EV_INSTRUCTIONS]++;
	for (uint64_t n = address / line; n <= (address + length - 1) / line; n++) {
		/* Translated once for each change of line. */
		if (n != core->fetch_line)
			ref_translate(r, core, n * line, true);
		core->fetch_line = n;
		c = find(&core->l1i, n * line);
		if (!c) {
			core->counts[EV_L1I_MISSES]++;
			c = make_room(&core->l1i, n * line, &old);
			refill(r, core, n * line, false, true);
		}
		c->used = ++r->time;
	}
}

static void ref_cache(struct heap *h, const struct model_cache_config *c)
{
	heap_new(h, c->size ? c->size / c->line : 0, c->ways, c->line);
}

static struct reference *ref_new(const struct model_config *config)
{
	struct reference *r = calloc(1, sizeof(*r));

	r->config = *config;
	for (unsigned i = 0; i < config->cores; i++) {
		struct ref_core *core = &r->cores[i];

		ref_cache(&core->l1i, &config->l1i);
		ref_cache(&core->l1d, &config->l1d);
		ref_cache(&core->l2, &config->l2);
		heap_new(&core->itlb, config->itlb.entries, config->itlb.ways, config->page_size);
		heap_new(&core->dtlb, config->dtlb.entries, config->dtlb.ways, config->page_size);
		heap_new(&core->stlb, config->stlb.entries, config->stlb.ways, config->page_size);
		core->fetch_line = UINT64_MAX;
	}
	ref_cache(&r->ll, &config->ll);
	return r;
}

static void ref_free(struct reference *r)
{
	for (unsigned i = 0; i < r->config.cores; i++) {
		free(r->cores[i].l1i.copies);
		free(r->cores[i].l1d.copies);
		free(r->cores[i].l2.copies);
		free(r->cores[i].itlb.copies);
		free(r->cores[i].dtlb.copies);
		free(r->cores[i].stlb.copies);
	}
	free(r->ll.copies);
	free(r);
}

static const int compared[] = {
	EV_INSTRUCTIONS,
	EV_LOADS,
	EV_STORES,
	EV_SPLIT_ACCESSES,
	EV_L1I_MISSES,
	EV_L1D_MISSES,
	EV_L2I_MISSES,
	EV_L2D_MISSES,
	EV_L2_REFERENCES,
	EV_LL_REFERENCES,
	EV_LL_DATA_MISSES,
	EV_LL_INSTRUCTION_MISSES,
	EV_L1_WRITEBACK_QUADWORDS,
	EV_L2_WRITEBACK_QUADWORDS,
	EV_DTLB_MISSES,
	EV_DTLB_WALKS,
	EV_ITLB_MISSES,
	EV_ITLB_WALKS,
	EV_INTERVENTION_HITS,
	EV_INVALIDATION_HITS,
	EV_STORES_TO_CLEAN,
	EV_STORES_TO_SHARED,
};

static int difference(const struct run *run, const struct reference *r, unsigned threads)
{
	for (unsigned t = 0; t < threads; t++) {
		const uint64_t *got = t ? run->others[t] : run->counts;

		for (size_t i = 0; i < sizeof(compared) / sizeof(compared[0]); i++)
			if (got[compared[i]] != r->cores[t].counts[compared[i]]) {
				printf("# core %u, event %d: %llu, reference %llu\n", t,
					compared[i], (unsigned long long)got[compared[i]],
					(unsigned long long)r->cores[t].counts[compared[i]]);
				return compared[i];
			}
	}
	return -1;
}

static uint64_t pick(uint64_t *seed, const uint64_t *choices, uint64_t count)
{
	return choices[random_below(seed, count)];
}

static struct model_cache_config random_cache(uint64_t *seed, uint64_t most_lines, uint32_t line)
{
	uint32_t ways = 1 + (uint32_t)random_below(seed, 8);
	uint32_t sets = 1 + (uint32_t)random_below(seed, most_lines / ways);

	return (struct model_cache_config){sets * ways * line, ways, line, 10};
}

static struct model_tlb_config random_tlb(uint64_t *seed, uint64_t most)
{
	uint32_t ways = 1 + (uint32_t)random_below(seed, 4);

	if (!random_below(seed, 5))
		return (struct model_tlb_config){0, 0};
	return (struct model_tlb_config){
		ways * (uint32_t)(1 + random_below(seed, most / ways)), ways};
}

static struct model_config random_machine(uint64_t *seed)
{
	static const uint64_t lines[] = {16, 32, 64};
	struct model_config c = zen4();
	uint32_t line = (uint32_t)pick(seed, lines, 3);

	c.cores = 1 + (uint32_t)random_below(seed, 4);
	c.l1i = random_cache(seed, 16, (uint32_t)pick(seed, lines, 3));
	c.l1d = random_cache(seed, 24, line);
	if (c.l1i.line > line)
		line = c.l1i.line;
	line <<= random_below(seed, 2);
	c.l2 = random_cache(seed, 64, line);
	if (!random_below(seed, 4))
		c.l2.size = 0;
	line <<= random_below(seed, 2);
	c.ll = random_cache(seed, 128, line);
	if (!random_below(seed, 4))
		c.ll.size = 0;
	c.itlb = random_tlb(seed, 8);
	c.dtlb = random_tlb(seed, 8);
	c.stlb = random_tlb(seed, 24);
	return c;
}

/* Near the last address, anywhere in a small region, or in a region of the thread's own. */
static uint64_t random_address(uint64_t *seed, uint64_t *last, unsigned thread)
{
	switch (random_below(seed, 4)) {
	case 0:
	case 1:
		*last += random_below(seed, 48);
		break;
	case 2:
		*last = 0x100000 + random_below(seed, 0x4000);
		break;
	default:
		*last = 0x200000 + thread * 0x40000 + random_below(seed, 24) * 4096 +
			random_below(seed, 256);
		break;
	}
	return *last;
}

static int compare(uint64_t number, unsigned accesses)
{
	static struct run run;
	uint64_t seed = number * UINT64_C(0x9E3779B97F4A7C15) + 1, last[2] = {0x100000, 0x101000};
	struct model_config config = random_machine(&seed);
	struct reference *r = ref_new(&config);
	int event = -1;

	run_begin(&run, &config);
	r->cores[0].active = true;
	for (unsigned i = 0; i < accesses && event < 0; i++) {
		uint64_t choice = random_below(&seed, 64), address;
		unsigned size = 1u << random_below(&seed, 6);

		if (choice == 0) {
			r->core = (unsigned)random_below(&seed, config.cores);
			run_thread(&run, r->core);
			r->cores[r->core].active = true;
		} else if (choice < 24) {
			address = random_address(&seed, &last[0], 8);
			size = 1 + (unsigned)random_below(&seed, 15);
			model_instruction(run.model, address, size, 0, 1, 0);
			ref_fetch(r, address, size);
		} else {
			address = random_address(&seed, &last[1], r->core);
			if (choice == 24)
				size = 1 + (unsigned)random_below(&seed, 700);
			if (choice < 44) {
				model_store(run.model, address, size);
				ref_data(r, address, size, true);
			} else {
				model_load(run.model, address, size);
				ref_data(r, address, size, false);
			}
		}
		if (i % 64 == 0 || i == accesses - 1)
			event = difference(&run, r, config.cores);
	}
	ref_free(r);
	run_end(&run);
	return event;
}

int main(void)
{
	int wrong = 0;

	for (uint64_t number = 1; number <= 200; number++) {
		int event = compare(number, 4000);

		if (event >= 0) {
			printf("# machine %llu differs in event %d\n", (unsigned long long)number,
				event);
			wrong++;
		}
	}
	is_int(wrong, 0,
		"200 random machines of up to 4 cores agree with the reference on 800000 accesses");
	return done();
}
