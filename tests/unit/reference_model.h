/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The native caches, TLBs and coherence, restated slowly and obviously: a cache is an array that is
 * searched, and a core asks all the others.  What it must agree with lib/model on is every count in
 * ref_compared, over random machines and random traces of several threads.
 */
#ifndef TESTS_REFERENCE_MODEL_H
#define TESTS_REFERENCE_MODEL_H

#include "model_machine.h"
#include "reference_cache.h"
#include "reference_prefetch.h"

/* What an access is for; from REF_AHEAD on no demand. */
enum ref_purpose { REF_FETCH, REF_LOAD, REF_STORE, REF_AHEAD, REF_FETCH_AHEAD };

struct ref_core {
	struct ref_cache l1i, l1d, l2, itlb, dtlb, stlb;
	struct ref_cache large_itlb, large_dtlb, large_stlb;
	uint64_t fetch_line; /* number of the line that instructions are fetched from */
	uint64_t counts[EVENT_LIMIT];
	bool active;
	struct ref_prefetchers prefetchers;
};

#define REF_LARGE      64
#define REF_LARGE_SIZE (UINT64_C(2) << 20)

struct reference {
	struct model_config config;
	struct ref_core cores[MODEL_CORES_MAX];
	struct ref_cache ll;
	unsigned core;
	uint64_t at;           /* the instruction */
	uint64_t accessed;     /* where its last data access began */
	bool large[REF_LARGE]; /* units of 2 MiB that are one page */
};

#define REF_NO_LINE UINT64_MAX

/* Uses a line, which is put in if it is not there; *old is what had to go for it. */
static struct ref_way *ref_use(
	struct ref_cache *c, uint64_t address, struct ref_way *old, bool *hit)
{
	struct ref_way *w = ref_find(c, address);

	*old = (struct ref_way){0};
	*hit = w != NULL;
	if (!w)
		return ref_put(c, address, old);
	ref_used(c, w, false);
	return w;
}

static bool ref_overlap(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
	return a < b + b_size && b < a + a_size;
}

static bool ref_has(const struct ref_cache *c)
{
	return c->sets != 0;
}

/* ---- lines that go ---- */

static void ref_forget_code(struct ref_core *core, uint64_t address, uint64_t size)
{
	struct ref_cache *c = &core->l1i;

	for (uint64_t i = 0; i < c->sets * c->ways; i++)
		if (c->all[i].valid && ref_overlap(c->all[i].line, c->line_size, address, size)) {
			c->all[i].valid = false;
			if (core->fetch_line == c->all[i].line / c->line_size)
				core->fetch_line = REF_NO_LINE;
		}
}

/* The first level loses these bytes; was anything there modified? */
static bool ref_recall_l1(struct ref_core *core, uint64_t address, uint64_t size)
{
	struct ref_cache *c = &core->l1d;
	bool modified = false;

	ref_forget_code(core, address, size);
	for (uint64_t i = 0; i < c->sets * c->ways; i++) {
		struct ref_way *w = &c->all[i];

		if (!w->valid || !ref_overlap(w->line, c->line_size, address, size))
			continue;
		w->valid = false;
		if (w->state != M)
			continue;
		core->counts[EV_L1_WRITEBACK_QUADWORDS] += c->line_size / 16;
		modified = true;
	}
	return modified;
}

static bool ref_recall(struct ref_core *core, uint64_t address, uint64_t size)
{
	struct ref_cache *c = &core->l2;
	bool modified = false;

	if (!ref_has(c))
		return ref_recall_l1(core, address, size);
	for (uint64_t a = address; a < address + size; a += c->line_size) {
		bool dirty = ref_recall_l1(core, a, c->line_size);
		struct ref_way *w = ref_find(c, a);

		if (w) {
			dirty |= w->state == M;
			w->valid = false;
		}
		if (dirty)
			core->counts[EV_L2_WRITEBACK_QUADWORDS] += c->line_size / 16;
		modified |= dirty;
	}
	return modified;
}

static void ref_leave_ll(struct reference *r, struct ref_core *core, struct ref_way old)
{
	bool dirty = old.state == M;

	if (!old.valid)
		return;
	if (r->config.ll_inclusion == MODEL_INCLUSIVE)
		for (unsigned i = 0; i < r->config.cores; i++)
			dirty |= ref_recall(&r->cores[i], old.line, r->ll.line_size);
	if (dirty && !ref_has(&core->l2))
		core->counts[EV_L2_WRITEBACK_QUADWORDS] += r->ll.line_size / 16;
}

static void ref_to_ll(struct reference *r, struct ref_core *core, uint64_t address, bool dirty)
{
	struct ref_way old, *w;
	bool hit;

	if (!ref_has(&r->ll))
		return;
	w = ref_use(&r->ll, address, &old, &hit);
	if (dirty)
		w->state = M;
	ref_leave_ll(r, core, old);
}

static void ref_leave_core(struct reference *r, struct ref_core *core, uint64_t address, bool dirty)
{
	if (dirty || r->config.ll_inclusion == MODEL_EXCLUSIVE)
		ref_to_ll(r, core, address, dirty);
}

static void ref_leave_l2(struct reference *r, struct ref_core *core, struct ref_way old)
{
	bool dirty = old.state == M;

	if (!old.valid)
		return;
	if (r->config.l2_inclusion == MODEL_INCLUSIVE)
		dirty |= ref_recall_l1(core, old.line, core->l2.line_size);
	if (dirty)
		core->counts[EV_L2_WRITEBACK_QUADWORDS] += core->l2.line_size / 16;
	ref_leave_core(r, core, old.line, dirty);
}

static void ref_leave_l1(struct reference *r, struct ref_core *core, struct ref_way old)
{
	struct ref_way *w, next;
	bool hit;

	if (!old.valid)
		return;
	if (old.state == M)
		core->counts[EV_L1_WRITEBACK_QUADWORDS] += core->l1d.line_size / 16;
	if (!ref_has(&core->l2)) {
		ref_leave_core(r, core, old.line, old.state == M);
		return;
	}
	if (old.state != M && r->config.l2_inclusion != MODEL_EXCLUSIVE)
		return;
	w = ref_use(&core->l2, old.line, &next, &hit);
	if (old.state > w->state)
		w->state = old.state;
	if (old.state == M)
		w->written = true;
	ref_leave_l2(r, core, next);
}

/* ---- coherence ---- */

static uint64_t ref_unit(const struct reference *r)
{
	const struct ref_core *core = &r->cores[0];

	return ref_has(&core->l2) && core->l2.line_size > core->l1d.line_size ? core->l2.line_size
									      : core->l1d.line_size;
}

/* All copies of the core in the unit: the highest state, and a new state unless -1. */
static int ref_copies(struct reference *r, struct ref_core *core, uint64_t address, int new_state)
{
	uint64_t size = ref_unit(r), unit = address / size * size;
	struct ref_cache *caches[3] = {&core->l1d, &core->l2, &core->l1i};
	int highest = I;

	for (int n = 0; n < 3; n++)
		for (uint64_t i = 0; i < caches[n]->sets * caches[n]->ways; i++) {
			struct ref_way *w = &caches[n]->all[i];

			if (!w->valid || !ref_overlap(w->line, caches[n]->line_size, unit, size))
				continue;
			if (n == 2 && highest == I)
				highest = S;
			if (n < 2 && w->state > highest)
				highest = w->state;
			if (new_state < 0 || n == 2)
				continue;
			w->state = new_state;
			w->written = w->prefetched = false;
			w->valid = new_state != I;
		}
	if (new_state == I)
		ref_forget_code(core, unit, size);
	return highest;
}

/* Asks all other cores; the highest state that one had. */
static int ref_ask(struct reference *r, struct ref_core *core, uint64_t address, bool exclusive)
{
	uint64_t size = ref_unit(r);
	int highest = I;

	for (unsigned n = 0; n < r->config.cores; n++) {
		struct ref_core *other = &r->cores[n];
		int state;

		if (other == core || !other->active)
			continue;
		state = ref_copies(r, other, address, -1);
		if (state == I)
			continue;
		if (state > highest)
			highest = state;
		if (state >= E)
			other->counts[EV_INTERVENTION_HITS]++;
		else if (exclusive)
			other->counts[EV_INVALIDATION_HITS]++;
		if (state == M && !exclusive) {
			bool l2 = ref_has(&other->l2);

			other->counts[l2 ? EV_L2_WRITEBACK_QUADWORDS : EV_L1_WRITEBACK_QUADWORDS] +=
				(l2 ? other->l2.line_size : other->l1d.line_size) / 16;
			ref_to_ll(r, other, address / size * size, true);
		}
		if (exclusive)
			ref_copies(r, other, address, I);
		else if (state >= E)
			ref_copies(r, other, address, S);
	}
	return highest;
}

static int ref_ask_for_code(struct reference *r, struct ref_core *core, uint64_t address)
{
	uint64_t size = ref_unit(r);
	int highest = I;

	for (uint64_t unit = address / size * size; unit < address + core->l1i.line_size;
		unit += size) {
		int one = ref_ask(r, core, unit, false);

		if (one > highest)
			highest = one;
	}
	return highest;
}

/* ---- lines that come ---- */

static void ref_claim(
	struct reference *r, struct ref_core *core, uint64_t address, int state, struct ref_way *l2)
{
	if (state == S) {
		core->counts[EV_STORES_TO_SHARED]++;
		ref_ask(r, core, address, true);
		if (ref_copies(r, core, address, -1) == S)
			ref_copies(r, core, address, E);
	} else if (state == E && !(l2 && l2->written)) {
		core->counts[EV_STORES_TO_CLEAN]++;
	}
	if (l2)
		l2->written = true;
}

/* Is it in the last level?  It is afterwards, or the reverse if that is exclusive. */
static bool ref_in_ll(struct reference *r, struct ref_core *core, uint64_t address, bool keep,
	struct ref_way *old)
{
	struct ref_way *w = ref_find(&r->ll, address);
	bool hit;

	*old = (struct ref_way){0};
	if (r->config.ll_inclusion != MODEL_EXCLUSIVE) {
		ref_use(&r->ll, address, old, &hit);
		return hit;
	}
	if (!w)
		return false;
	if (keep) {
		ref_used(&r->ll, w, false);
		return true;
	}
	if (w->state == M && !ref_has(&core->l2))
		core->counts[EV_L2_WRITEBACK_QUADWORDS] += r->ll.line_size / 16;
	w->valid = false;
	return true;
}

static void ref_outside(struct reference *r, struct ref_core *core, uint64_t address,
	enum ref_purpose purpose, int others)
{
	bool fetch = purpose == REF_FETCH || purpose == REF_FETCH_AHEAD;
	bool secondary = !ref_has(&core->l2), counted = purpose < REF_AHEAD;
	struct ref_way old;

	if (!ref_has(&r->ll))
		return;
	core->counts[EV_LL_REFERENCES] += counted;
	core->counts[EV_L2_REFERENCES] += secondary && counted;
	if (others == M)
		return;
	if (ref_in_ll(r, core, address, fetch || (others != I && purpose != REF_STORE), &old))
		return;
	if (counted) {
		core->counts[fetch ? EV_LL_INSTRUCTION_MISSES : EV_LL_DATA_MISSES]++;
		core->counts[fetch ? EV_L2I_MISSES : EV_L2D_MISSES] += secondary;
	}
	ref_leave_ll(r, core, old);
}

static int ref_from_l2(struct reference *r, struct ref_core *core, uint64_t address,
	enum ref_purpose purpose, struct ref_way *w)
{
	bool fetch = purpose == REF_FETCH || purpose == REF_FETCH_AHEAD;
	int held = w->state, state = held == S ? S : E;

	if (r->config.l2_inclusion == MODEL_EXCLUSIVE && !fetch) {
		w->valid = false;
		w = NULL;
		state = held;
	}
	if (purpose != REF_STORE)
		return state;
	ref_claim(r, core, address, held, w);
	return M;
}

/* Behind the first level; the state for L1. */
static int ref_refill(struct reference *r, struct ref_core *core, uint64_t address,
	enum ref_purpose purpose, bool *missed)
{
	bool fetch = purpose == REF_FETCH || purpose == REF_FETCH_AHEAD;
	bool counted = purpose < REF_AHEAD, store = purpose == REF_STORE;
	bool late = r->config.ll_inclusion == MODEL_EXCLUSIVE, hit = false;
	struct ref_way *w = NULL, old = {0};
	int others, state;

	if (ref_has(&core->l2)) {
		core->counts[EV_L2_REFERENCES] += counted;
		w = ref_find(&core->l2, address);
		if (w || r->config.l2_inclusion != MODEL_EXCLUSIVE)
			w = ref_use(&core->l2, address, &old, &hit);
		*missed = !hit;
		if (hit)
			return ref_from_l2(r, core, address, purpose, w);
		if (counted)
			core->counts[fetch ? EV_L2I_MISSES : EV_L2D_MISSES]++;
		if (!late)
			ref_leave_l2(r, core, old);
	}
	others = fetch ? ref_ask_for_code(r, core, address) : ref_ask(r, core, address, store);
	state = store || (others == I && !fetch) ? E : S;
	if (w) {
		w->state = state;
		w->written = store;
	}
	ref_outside(r, core, address, purpose, others);
	if (late)
		ref_leave_l2(r, core, old);
	return store ? M : state;
}

/* Does a victim of L1 go out after the line that takes its place came? */
static bool ref_late(const struct reference *r)
{
	return (ref_has(&r->cores[0].l2) ? r->config.l2_inclusion : r->config.ll_inclusion) ==
	       MODEL_EXCLUSIVE;
}

/* ---- prefetchers ---- */

static void ref_ahead_l2(struct reference *r, struct ref_core *core, uint64_t address)
{
	struct ref_way old, *w;
	bool hit;
	int others;

	if (ref_find(&core->l2, address) ||
		(r->config.l2_inclusion == MODEL_EXCLUSIVE && ref_find(&core->l1d, address)))
		return;
	core->counts[EV_HARDWARE_PREFETCHES]++;
	w = ref_use(&core->l2, address, &old, &hit);
	if (r->config.ll_inclusion != MODEL_EXCLUSIVE)
		ref_leave_l2(r, core, old);
	others = ref_ask(r, core, address, false);
	w->state = others == I ? E : S;
	ref_outside(r, core, address, REF_AHEAD, others);
	if (r->config.ll_inclusion == MODEL_EXCLUSIVE)
		ref_leave_l2(r, core, old);
}

/* A request went from L1 to L2, and missed there or not. */
static void ref_behind_l1(struct reference *r, struct ref_core *core, uint64_t address, bool missed)
{
	uint64_t size = core->l2.line_size, pair;
	struct ref_wanted w;

	if (!ref_has(&core->l2))
		return;
	pair = (address / size ^ 1) * size;
	if (missed && r->config.l2_adjacent &&
		pair / r->config.page_size == address / r->config.page_size)
		ref_ahead_l2(r, core, pair);
	if (!r->config.l2_stream.entries)
		return;
	w = ref_want_stream(&core->prefetchers, &r->config, address);
	for (unsigned i = 0; i < w.count; i++)
		ref_ahead_l2(r, core, w.address[i]);
}

static void ref_data_line(
	struct reference *r, struct ref_core *core, uint64_t address, enum ref_purpose purpose);

static void ref_ahead_l1d(struct reference *r, struct ref_core *core, uint64_t address)
{
	address = address / core->l1d.line_size * core->l1d.line_size;
	if (ref_find(&core->l1d, address))
		return;
	core->counts[EV_HARDWARE_PREFETCHES]++;
	ref_data_line(r, core, address, REF_AHEAD);
}

/* A miss of L1D, or the first use of a line that was prefetched. */
static void ref_behind_data(
	struct reference *r, struct ref_core *core, uint64_t address, enum ref_purpose purpose)
{
	uint64_t size = core->l1d.line_size;
	struct ref_wanted w =
		ref_want_next(address, size, r->config.l1d_next.lines, r->config.page_size);

	for (unsigned i = 0; i < w.count; i++)
		ref_ahead_l1d(r, core, w.address[i]);
	if (purpose != REF_LOAD)
		return;
	if (r->config.l1d_stride.entries) {
		w = ref_want_stride(&core->prefetchers, &r->config, r->at,
			r->accessed / size == address / size ? r->accessed : address);
		for (unsigned i = 0; i < w.count; i++)
			ref_ahead_l1d(r, core, w.address[i]);
	}
	if (r->config.l1d_stream.entries) {
		w = ref_want_near(&core->prefetchers, &r->config, address);
		for (unsigned i = 0; i < w.count; i++)
			ref_ahead_l1d(r, core, w.address[i]);
	}
}

/* ---- the first level ---- */

static void ref_data_line(
	struct reference *r, struct ref_core *core, uint64_t address, enum ref_purpose purpose)
{
	bool store = purpose == REF_STORE, hit, missed = false, first;
	struct ref_way *w, old;
	int state;

	w = ref_use(&core->l1d, address, &old, &hit);
	if (hit) {
		first = w->prefetched;
		w->prefetched = false;
		if (store && w->state != M) {
			ref_claim(r, core, address, w->state, ref_find(&core->l2, address));
			ref_forget_code(core, address, core->l1d.line_size);
			w->state = M;
		}
		if (first)
			ref_behind_data(r, core, address, purpose);
		return;
	}
	core->counts[EV_L1D_MISSES] += purpose < REF_AHEAD;
	if (!ref_late(r))
		ref_leave_l1(r, core, old);
	state = ref_refill(r, core, address, purpose, &missed);
	w->state = state;
	w->prefetched = purpose == REF_AHEAD;
	if (state == M)
		ref_forget_code(core, address, core->l1d.line_size);
	if (ref_late(r))
		ref_leave_l1(r, core, old);
	ref_behind_l1(r, core, address, missed);
	if (purpose != REF_AHEAD)
		ref_behind_data(r, core, address, purpose);
}

/* What L1D holds modified of a line that is fetched goes out. */
static void ref_release(struct reference *r, struct ref_core *core, uint64_t address)
{
	uint64_t size = core->l1d.line_size;

	for (uint64_t a = address / size * size; a < address + core->l1i.line_size; a += size) {
		struct ref_way *w = ref_find(&core->l1d, a), old;

		if (!w || w->state != M)
			continue;
		old = *w;
		w->valid = false;
		ref_leave_l1(r, core, old);
	}
}

static void ref_behind_code(struct reference *r, struct ref_core *core, uint64_t address);

static void ref_code_line(
	struct reference *r, struct ref_core *core, uint64_t address, enum ref_purpose purpose)
{
	bool hit, missed = false, first;
	struct ref_way *w, old;

	w = ref_use(&core->l1i, address, &old, &hit);
	if (hit) {
		first = w->prefetched;
		w->prefetched = false;
		if (first)
			ref_behind_code(r, core, address);
		return;
	}
	core->counts[EV_L1I_MISSES] += purpose == REF_FETCH;
	ref_release(r, core, address);
	ref_refill(r, core, address, purpose, &missed);
	w->prefetched = purpose != REF_FETCH;
	if (ref_late(r))
		ref_leave_l1(r, core, old);
	ref_behind_l1(r, core, address, missed);
	if (purpose == REF_FETCH)
		ref_behind_code(r, core, address);
}

static void ref_behind_code(struct reference *r, struct ref_core *core, uint64_t address)
{
	struct ref_wanted w = ref_want_next(
		address, core->l1i.line_size, r->config.l1i_next.lines, r->config.page_size);

	for (unsigned i = 0; i < w.count; i++) {
		if (ref_find(&core->l1i, w.address[i]))
			continue;
		core->counts[EV_HARDWARE_PREFETCHES]++;
		ref_code_line(r, core, w.address[i], REF_FETCH_AHEAD);
	}
}

/* ---- what a program does ---- */

static bool ref_is_large(const struct reference *r, uint64_t address)
{
	return address / REF_LARGE_SIZE < REF_LARGE && r->large[address / REF_LARGE_SIZE];
}

/* Far from all small pages, in the set that the number of the large one says. */
static uint64_t ref_large_key(const struct ref_cache *c, uint64_t address)
{
	return ((c->sets << 30) + address / REF_LARGE_SIZE) * c->line_size;
}

static bool ref_use_tlb(const struct reference *r, struct ref_cache *small, struct ref_cache *large,
	const struct model_tlb_config *rule, uint64_t address)
{
	struct ref_way old;
	bool hit;

	if (!ref_is_large(r, address))
		ref_use(small, address, &old, &hit);
	else if (rule->entries)
		ref_use(large, address, &old, &hit);
	else if (rule->ways == MODEL_LARGE_SPLIT)
		ref_use(small, address, &old, &hit);
	else
		ref_use(small, ref_large_key(small, address), &old, &hit);
	return hit;
}

static void ref_translate(struct reference *r, struct ref_core *core, uint64_t address, bool fetch)
{
	const struct model_config *c = &r->config;
	struct ref_cache *first = fetch ? &core->itlb : &core->dtlb;
	struct ref_cache *large = fetch ? &core->large_itlb : &core->large_dtlb;
	bool hit = false;

	if (ref_has(first)) {
		if (ref_use_tlb(r, first, large, fetch ? &c->large_itlb : &c->large_dtlb, address))
			return;
		core->counts[fetch ? EV_ITLB_MISSES : EV_DTLB_MISSES]++;
	}
	if (ref_has(&core->stlb))
		hit = ref_use_tlb(r, &core->stlb, &core->large_stlb, &c->large_stlb, address);
	if (!hit && (ref_has(first) || ref_has(&core->stlb)))
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
	r->accessed = address;
	for (uint64_t n = address / line; n <= (address + size - 1) / line; n++)
		ref_data_line(r, core, n * line, store ? REF_STORE : REF_LOAD);
}

static void ref_fetch(struct reference *r, uint64_t address, unsigned length)
{
	struct ref_core *core = &r->cores[r->core];
	uint64_t line = core->l1i.line_size;

	core->counts[EV_INSTRUCTIONS]++;
	r->at = address;
	for (uint64_t n = address / line; n <= (address + length - 1) / line; n++) {
		/* Nothing happens while fetching goes on in the same line. */
		if (n == core->fetch_line)
			continue;
		ref_translate(r, core, n * line, true);
		ref_code_line(r, core, n * line, REF_FETCH);
		core->fetch_line = n;
	}
}

/* ---- mappings ---- */

static void ref_flush(struct ref_cache *c, uint64_t unit)
{
	for (uint64_t i = 0; i < c->sets * c->ways; i++) {
		uint64_t line = c->all[i].line;

		if (line / REF_LARGE_SIZE == unit ||
			line == ref_large_key(c, unit * REF_LARGE_SIZE))
			c->all[i].valid = false;
	}
}

/* Translations of what changes are dropped by every core that has run. */
static void ref_map(struct reference *r, uint64_t address, uint64_t length, bool large)
{
	bool any = large;

	if (r->config.large_pages != MODEL_PAGES_KERNEL)
		return;
	for (uint64_t unit = 0; unit < REF_LARGE; unit++)
		any |= r->large[unit];
	for (uint64_t unit = 0; unit < REF_LARGE && any; unit++) {
		uint64_t begin = unit * REF_LARGE_SIZE, end = begin + REF_LARGE_SIZE;

		if (large ? begin < address || end > address + length
			  : !ref_overlap(begin, REF_LARGE_SIZE, address, length))
			continue;
		r->large[unit] = large;
		for (unsigned i = 0; i < r->config.cores; i++) {
			struct ref_core *core = &r->cores[i];

			if (!core->active)
				continue;
			ref_flush(&core->itlb, unit);
			ref_flush(&core->dtlb, unit);
			ref_flush(&core->stlb, unit);
			ref_flush(&core->large_itlb, unit);
			ref_flush(&core->large_dtlb, unit);
			ref_flush(&core->large_stlb, unit);
		}
	}
}

static void ref_empty(struct ref_cache *c)
{
	for (uint64_t i = 0; i < c->sets * c->ways; i++)
		c->all[i].valid = false;
}

/* Where the kernel leaves no translations. */
static void ref_system_call(struct reference *r)
{
	struct ref_core *core = &r->cores[r->core];

	ref_empty(&core->itlb);
	ref_empty(&core->dtlb);
	ref_empty(&core->stlb);
	ref_empty(&core->large_itlb);
	ref_empty(&core->large_dtlb);
	ref_empty(&core->large_stlb);
}

/* ---- the whole ---- */

static void ref_tlb(
	struct ref_cache *c, const struct model_tlb_config *shape, uint64_t page, uint32_t policy)
{
	ref_cache_new(c, shape->entries, shape->entries ? shape->ways : 1, page, policy);
}

static void ref_cache_of(
	struct ref_cache *c, const struct model_cache_config *shape, uint32_t policy)
{
	ref_cache_new(
		c, shape->size ? shape->size / shape->line : 0, shape->ways, shape->line, policy);
}

static struct reference *ref_new(const struct model_config *config)
{
	struct reference *r = calloc(1, sizeof(*r));
	const uint32_t *policy = config->policy;

	r->config = *config;
	for (unsigned i = 0; i < config->cores; i++) {
		struct ref_core *core = &r->cores[i];
		uint64_t page = config->page_size;

		ref_cache_of(&core->l1i, &config->l1i, policy[MODEL_L1I]);
		ref_cache_of(&core->l1d, &config->l1d, policy[MODEL_L1D]);
		ref_cache_of(&core->l2, &config->l2, policy[MODEL_L2]);
		ref_tlb(&core->itlb, &config->itlb, page, policy[MODEL_ITLB]);
		ref_tlb(&core->dtlb, &config->dtlb, page, policy[MODEL_DTLB]);
		ref_tlb(&core->stlb, &config->stlb, page, policy[MODEL_STLB]);
		page = REF_LARGE_SIZE;
		ref_tlb(&core->large_itlb, &config->large_itlb, page, policy[MODEL_ITLB]);
		ref_tlb(&core->large_dtlb, &config->large_dtlb, page, policy[MODEL_DTLB]);
		ref_tlb(&core->large_stlb, &config->large_stlb, page, policy[MODEL_STLB]);
		core->fetch_line = REF_NO_LINE;
	}
	ref_cache_of(&r->ll, &config->ll, policy[MODEL_LL]);
	return r;
}

static void ref_free(struct reference *r)
{
	for (unsigned i = 0; i < r->config.cores; i++) {
		ref_cache_free(&r->cores[i].l1i);
		ref_cache_free(&r->cores[i].l1d);
		ref_cache_free(&r->cores[i].l2);
		ref_cache_free(&r->cores[i].itlb);
		ref_cache_free(&r->cores[i].dtlb);
		ref_cache_free(&r->cores[i].stlb);
		ref_cache_free(&r->cores[i].large_itlb);
		ref_cache_free(&r->cores[i].large_dtlb);
		ref_cache_free(&r->cores[i].large_stlb);
	}
	ref_cache_free(&r->ll);
	free(r);
}

static const int ref_compared[] = {
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
	EV_HARDWARE_PREFETCHES,
};

/* The first event whose counts differ, or -1. */
static int ref_difference(const struct run *run, const struct reference *r, unsigned threads)
{
	for (unsigned t = 0; t < threads; t++) {
		const uint64_t *got = t ? run->others[t] : run->counts;

		for (size_t i = 0; i < sizeof(ref_compared) / sizeof(ref_compared[0]); i++) {
			int event = ref_compared[i];

			if (got[event] == r->cores[t].counts[event])
				continue;
			printf("# core %u, event %d: %llu, reference %llu\n", t, event,
				(unsigned long long)got[event],
				(unsigned long long)r->cores[t].counts[event]);
			return event;
		}
	}
	return -1;
}

#endif
