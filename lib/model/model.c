/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The modelled processor: the functions for the caller, with the fast paths.
 *
 * Assumptions (perfex-model(7) describes them for users):
 * - Only executed instructions exist: no speculation, so every instruction that is issued
 *   graduates.
 * - Virtual addresses index everything; pages are of config.page_size, or of 2 MiB where model_map
 *   was called (tlb.c).
 * - Threads run one at a time, in the caller's interleaving; thread t runs on core t modulo
 *   config.cores.
 * - Caches: hierarchy.c (native) and cachegrind.c. Coherence: coherence.c. Branches: branch.c.
 *   Store buffer: forward.c. Prefetchers: prefetch.c. Cycles: clock.c, or retire.c. Records of many
 *   instructions at once: run.c.
 * - The kernel is not modelled.
 *
 * The fast paths leave out what would change nothing: a fetch from the line of the last fetch and a
 * translation of the page of the last one are hits on the most recent entry of their set. So all
 * counts are the same as if every access had taken the slow path.
 */
#include "model/run.h"

static void init_core(struct model *m, unsigned number)
{
	struct core *core = &m->cores[number];
	struct cache *const caches[] = {&core->l1i, &core->l1d, &core->l2, &core->itlb, &core->dtlb,
		&core->stlb, &core->large_itlb, &core->large_dtlb, &core->large_stlb};
	unsigned i;

	for (i = 0; i < sizeof(caches) / sizeof(caches[0]); i++)
		caches[i]->time = &m->tick;
	core->number = number;
	core->page_bits = m->page_bits;
	core->slotted = core->l1d.policy == MODEL_LRU && core->l1d.used == core->line_used &&
			(core->dtlb.ways ? core->dtlb.policy == MODEL_LRU &&
						   core->dtlb.used == core->page_used
					 : !core->stlb.ways);
	core->usual = (uint32_t)hierarchy_is_usual(m, core);
	core->usual_tlbs = (uint32_t)tlb_is_usual(m, core);
	core->imitates = (uint32_t)cachegrind_is_usual(m, core);
	core->fetch_line = NEVER;
	core->clock.next_wait = NEVER;
	core->clock.stores_full = NEVER;
	core->stores.number = STORES_MAX + 1;
	core->stores.window = m->config.window;
	if (!core->clocked)
		return;
	retire_init(core->clocked, &m->config);
	if (!m->sampled)
		core->retire = core->clocked;
}

/* Few combinations have a loop of their own: the smallest of these that has all that are needed. */
static uint32_t model_parts_run(const struct model *m, uint32_t parts)
{
	if (m->cores[0].clocked) {
		parts &= ~(uint32_t)MODEL_PART_CLOCK; /* the one of the loop */
		if (parts & MODEL_PART_STORES)
			return parts;
	}
	if (parts & (MODEL_PART_STORES | MODEL_PART_CLOCK))
		return MODEL_PARTS_ALL;
	if (!(parts & (MODEL_PART_CACHES | MODEL_PART_TLBS)) && loop_is_common(m))
		return parts | MODEL_PART_PREDICTORS;
	return parts | MODEL_PARTS_MISSES;
}

int model_needs_addresses(const struct model *m)
{
	return (int)m->addresses;
}

struct model *model_init(void *memory, const struct model_config *whole)
{
	const struct model_config needed = model_needed(whole), *config = &needed;
	struct model *m = memory;
	uint64_t width = config->width;
	unsigned i;

	model_lay_out(m, config);
	m->config = *config;
	m->cachegrind = config->flavour == MODEL_CACHEGRIND;
	m->stored = m->cachegrind ? SHARED : MODIFIED;
	m->data_line = config->l1d.line - 1;
	m->fetch_line = config->l1i.line - 1;
	m->unit = config->l2.line > config->l1d.line && config->l2.size ? config->l2.line - 1
									: m->data_line;
	m->page = config->page_size - 1;
	m->page_bits = (uint32_t)__builtin_ctz(config->page_size);
	prefetch_init(m);
	m->prefetching = config->l1i_next.lines || config->l1d_next.lines ||
			 config->l1d_stride.entries || config->l1d_stream.entries ||
			 (config->l2.size && (config->l2_stream.entries || config->l2_adjacent));
	m->timed = config->parts & MODEL_PART_CLOCK && !model_clock_retires(config);
	m->least_line = config->l1d.line < config->l1i.line ? config->l1d.line : config->l1i.line;
	if (config->ll.line < m->least_line)
		m->least_line = config->ll.line;
	m->window = config->window;
	m->memory = config->memory_latency * width;
	m->intervention = config->intervention_latency * width;
	m->line_interval[LINE_FROM_L2] = config->l2_interval * width;
	m->line_interval[LINE_FROM_LL] = config->ll_interval * width;
	m->line_interval[LINE_FROM_MEMORY] = config->memory_interval * width;
	m->taken_interval = config->taken_interval * width;
	m->second_tlb = config->stlb_latency * width;
	m->walk = config->walk_latency * width;
	m->mispredict = config->mispredict_penalty * width;
	m->divide = config->divide_latency * width;
	m->fp_divide = config->fp_divide_latency * width;
	m->forward = config->store_forward_penalty * width;
	m->alias = config->execution.alias * width;
	m->lock = config->lock_latency * width;
	for (i = 0; i < model_core_count(config); i++)
		init_core(m, i);
	m->ll.time = &m->tick;
	m->core = m->cores;
	m->parts_away = model_parts_run(m, config->parts);
	m->parts_clocked =
		m->sampled ? MODEL_PARTS_ALL & ~(uint32_t)MODEL_PART_CLOCK : m->parts_away;
	m->parts = m->parts_clocked;
	lasting_init(&m->lasting, config);
	if (m->sampled)
		sampled_clock_init(m->sampled, config);
	m->addresses = (m->parts & MODEL_PART_CACHES) != 0;
	batch_init(m);
	return m;
}

#define SCATTERED_LEAST (4 << 20)

void *model_scattered(const struct model *m, size_t *bytes)
{
	*bytes = m->packed.rows ? m->packed.sets * PACKED_ENTRIES * sizeof(uint32_t) : 0;
	return *bytes >= SCATTERED_LEAST ? m->packed.rows : (void *)0;
}

/* ---- threads ---- */

void model_derive(const struct model *m, uint64_t *counts)
{
	counts[EV_CYCLES_16] = counts[EV_CYCLES];
	counts[EV_INSTRUCTIONS_15] = counts[EV_INSTRUCTIONS];
	counts[EV_STORE_CONDITIONALS] = counts[EV_LOCKED_INSTRUCTIONS];
	counts[EV_DECODED_BRANCHES] = counts[EV_CONDITIONAL_BRANCHES];
	counts[EV_TLB_MISSES] = counts[EV_DTLB_WALKS] + counts[EV_ITLB_WALKS];
	counts[EV_WALK_CYCLES] = counts[EV_TLB_MISSES] * m->config.walk_latency;
	counts[EV_MISPREDICTED_BRANCHES] = counts[EV_MISPREDICTED_CONDITIONALS] +
					   counts[EV_MISPREDICTED_INDIRECTS] +
					   counts[EV_MISPREDICTED_RETURNS];
}

void model_sync(struct model *m)
{
	if (!m->counts)
		return;
	if (m->batch.on)
		batch_settle(m);
	clock_flush(m, m->core);
	model_derive(m, m->counts);
}

void model_switch_thread(struct model *m, unsigned thread, uint64_t *counts)
{
	unsigned number = thread % model_core_count(&m->config);

	model_sync(m);
	m->core = &m->cores[number];
	/* A thread that takes a core over leaves the other's cycles complete: they were brought up
	 * to date above. */
	m->core->counts = counts;
	m->core->thread = thread;
	m->counts = counts;
	if (m->sampled)
		sampled_clock_counts(m->core);
	if (!(m->active >> number & 1))
		slots_drop(m->core, 0, UINT64_MAX);
	if (m->sampled)
		sampled_clock_core(m, m->core);
	m->parts = !m->sampled || m->core->retire ? m->parts_clocked : m->parts_away;
	m->active |= UINT64_C(1) << number;
}

void model_describe(struct model *m, struct model_block *block, const struct retire_form *forms,
	const uint32_t *keys)
{
	if (m->cores[0].clocked && block->ops)
		retire_prepare(m->cores[0].clocked, block, forms, keys);
}

/* ---- instructions ---- */

/* Is the page's translation in the first TLB? If so, notes its use. */
static inline int page_known(struct model *m, struct page_slot *slots, uint64_t address)
{
	uint64_t page = (address >> m->page_bits) + 1;
	const struct page_slot *slot = page_slot(slots, page);

	if (slot->page != page)
		return 0;
	*slot->used = ++m->tick;
	return 1;
}

/* Notes for the retirement clock a line that was fetched or accessed after latency slots. */
static void note_line(struct model *m, struct core *core, enum purpose purpose, uint64_t latency,
	uint64_t address)
{
	static const enum retire_what what[] = {
		[FETCH] = RETIRE_FETCH,
		[LOAD] = RETIRE_LOAD,
		[STORE] = RETIRE_STORE,
		[PREFETCH] = RETIRE_PREFETCH,
	};
	unsigned cause = sender_cause(m->sender);

	if (!latency)
		return;
	if (purpose == FETCH)
		cause += MODEL_CAUSE_FETCH_L2 - MODEL_CAUSE_L2;
	note(m, core, what[purpose], (enum model_cause)cause, latency, address);
	if (core->retire)
		retire_note_turn(core->retire, sender_turn(m->sender));
}

static void note_translation(
	struct model *m, struct core *core, enum purpose purpose, uint64_t latency)
{
	if (latency && purpose != PREFETCH)
		note(m, core,
			purpose == FETCH  ? RETIRE_FETCH
			: purpose == LOAD ? RETIRE_LOAD
					  : RETIRE_STORE,
			purpose == FETCH ? MODEL_CAUSE_ITLB : MODEL_CAUSE_DTLB, latency, 0);
}

static NOINLINE void fetch_slowly(
	struct model *m, struct core *core, uint64_t address, unsigned length)
{
	uint64_t last = address + length - 1, line = address & ~m->fetch_line, latency = 0;
	uint64_t part;

	if (m->cachegrind)
		latency = cachegrind_fetch(m, core, address, length);
	for (;;) {
		if (line != core->fetch_line) {
			if (!page_known(m, core->fetch_pages, line)) {
				latency += part = tlb_translate_fetch(m, core, line);
				note_translation(m, core, FETCH, part);
			}
			if (!m->cachegrind) {
				latency += part = hierarchy_fetch(m, core, line);
				note_line(m, core, FETCH, part, line);
			}
			core->fetch_line = line;
		}
		if (line == (last & ~m->fetch_line))
			break;
		line += m->fetch_line + 1;
	}
	core->clock.front += latency;
}

/* A fetch from another line than the last one. */
static inline void model_fetch_other(
	struct model *m, struct core *core, uint64_t address, unsigned length)
{
	const uint64_t *entry = cache_guess(&core->l1i, address);

	if (LIKELY(entry != 0) && !((address ^ (address + length - 1)) & ~m->fetch_line) &&
		page_known(m, core->fetch_pages, address)) {
		cache_touch(&core->l1i, entry);
		core->fetch_line = address & ~m->fetch_line;
		return;
	}
	fetch_slowly(m, core, address, length);
}

void model_fetch_line(struct model *m, struct core *core, uint64_t line)
{
	if (line != core->fetch_line)
		model_fetch_other(m, core, line, 1);
}

NOINLINE void model_classify_special(struct model *m, struct core *core, unsigned class_bits)
{
	if (class_bits & MODEL_PREFETCH)
		count(m, EV_SOFTWARE_PREFETCHES, 1);
	if (class_bits & MODEL_SYSCALL)
		count(m, EV_SYSTEM_CALLS, 1);
	if (class_bits & (MODEL_DIVIDE | MODEL_FP_DIVIDE)) {
		int fp = (class_bits & MODEL_DIVIDE) == 0;

		count(m, EV_DIVIDES, 1);
		count(m, EV_DIVIDER_CYCLES,
			fp ? m->config.fp_divide_latency : m->config.divide_latency);
		clock_divide(m, core, fp ? m->fp_divide : m->divide);
	}
	if (class_bits & MODEL_LOCKED) {
		count(m, EV_LOCKED_INSTRUCTIONS, 1);
		core->clock.back += m->lock;
	}
	if (class_bits & MODEL_SERIALISING)
		clock_drain(m, core);
}

static NOINLINE void model_classify(
	struct model *m, struct core *core, unsigned class_bits, unsigned flops)
{
	m->counts[EV_FP_OPERATIONS] += flops;
	if (class_bits & MODEL_FP)
		m->counts[EV_FP_INSTRUCTIONS]++;
	if (class_bits & MODEL_VECTOR)
		m->counts[EV_VECTOR_INSTRUCTIONS]++;
	model_classify_special(m, core, class_bits);
}

void model_instruction(struct model *m, uint64_t address, unsigned length, unsigned class_bits,
	unsigned uops, unsigned flops)
{
	struct core *core = m->core;
	uint64_t *counts = m->counts;

	if (++core->clock.order >= core->clock.next_wait)
		clock_wait(&core->clock);
	core->class_bits = class_bits;
	m->at = address;
	if (!(class_bits & MODEL_REPEATED)) {
		counts[EV_INSTRUCTIONS]++;
		counts[EV_MICRO_OPS] += uops;
		if (class_bits | flops)
			model_classify(m, core, class_bits, flops);
	}
	if (!m->addresses)
		return;
	if (!length)
		length = 1;
	if (((address ^ core->fetch_line) | ((address + length - 1) ^ core->fetch_line)) &
		~m->fetch_line)
		model_fetch_other(m, core, address, length);
}

/* ---- data ---- */

/* Translations and lines that the fast path did not settle. */
static uint64_t access_data(
	struct model *m, struct core *core, uint64_t address, unsigned size, enum purpose purpose)
{
	uint64_t last = address + size - 1, latency = 0, part;
	uint64_t line = address & ~m->data_line, page = address & ~m->page;

	m->accessed = address;
	m->accessed_size = size;
	for (;; page += m->page + 1) {
		if (!page_known(m, core->data_pages, page)) {
			latency += part = tlb_translate_data(m, core, page);
			note_translation(m, core, purpose, part);
		}
		if (page == (last & ~m->page))
			break;
	}
	if (m->cachegrind)
		return latency + cachegrind_data(m, core, address, size);
	for (;; line += m->data_line + 1) {
		latency += part = hierarchy_data(m, core, line, purpose);
		note_line(m, core, purpose, part, line);
		if (line == (last & ~m->data_line))
			break;
	}
	return latency;
}

NOINLINE void model_load_slowly(struct model *m, struct core *core, uint64_t address, unsigned size)
{
	uint64_t latency;

	if (!size)
		size = 1;
	forward_load(m, core, address, size);
	if ((address ^ (address + size - 1)) & ~m->data_line)
		count(m, EV_SPLIT_ACCESSES, 1);
	latency = access_data(m, core, address, size, LOAD);
	if (latency)
		clock_load(m, core, latency);
}

/* The fast path is for a load in one granule of eight bytes whose line is found at once. It calls
 * no functions. */
void model_load(struct model *m, uint64_t address, unsigned size)
{
	struct core *core = m->core;
	uint64_t last = address + size - 1;

	m->counts[EV_LOADS]++;
	if (!m->addresses)
		return;
	if (m->batch.on) {
		batch_step_data(m, address, size);
		return;
	}
	if (LIKELY(!((address ^ last) >> 3)) &&
		!forward_meets(m, core, address, size, core->clock.order)) {
		const uint64_t *entry = cache_guess(&core->l1d, address);

		if (LIKELY(entry != 0) && LIKELY(page_known(m, core->data_pages, address))) {
			cache_touch(&core->l1d, entry);
			return;
		}
	}
	model_load_slowly(m, core, address, size);
}

NOINLINE void model_store_slowly(
	struct model *m, struct core *core, uint64_t address, unsigned size)
{
	uint64_t latency;

	if (!size)
		size = 1;
	if (core->stores.number >= core->clock.stores_full)
		clock_store_full(&core->clock);
	forward_store(&core->stores, address, size, core->clock.order);
	if ((address ^ (address + size - 1)) & ~m->data_line)
		count(m, EV_SPLIT_ACCESSES, 1);
	latency = access_data(m, core, address, size, STORE);
	if (latency)
		clock_store(m, core, latency);
}

void model_store(struct model *m, uint64_t address, unsigned size)
{
	struct core *core = m->core;
	uint64_t last = address + size - 1;

	m->counts[EV_STORES]++;
	if (!m->addresses)
		return;
	if (m->batch.on) {
		batch_step_data(m, address, size);
		return;
	}
	if (LIKELY(!((address ^ last) >> 3)) &&
		LIKELY(core->stores.number < core->clock.stores_full)) {
		const uint64_t *entry = cache_guess(&core->l1d, address);

		if (LIKELY(entry != 0) && (*entry & MESI) == m->stored &&
			LIKELY(page_known(m, core->data_pages, address))) {
			cache_touch(&core->l1d, entry);
			forward_remember(&core->stores, address, size, core->clock.order);
			return;
		}
	}
	model_store_slowly(m, core, address, size);
}

void model_prefetch(struct model *m, uint64_t address)
{
	if (!m->cachegrind && m->addresses)
		access_data(m, m->core, address, 1, PREFETCH);
}
