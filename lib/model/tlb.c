/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translations, below the fast paths: first-level TLBs for instructions and data, a second level
 * for both, and walks of the page table.
 *
 * Pages are of config.page_size, except those of 2 MiB set by model_map. Each TLB keeps a large
 * page by its own rule (config.large_itlb ...): in entries of another array, in one entry of the
 * same array, in the set of the large page's number, or in pieces of the small size.
 *
 * The slot of a page has what the fast paths need: that its translation is in the first TLB, and
 * where to note its use. If replacement is neither lru nor random, only the page for which the TLB
 * was used last has a slot.
 */
#include "model/state.h"

#define LARGE_BITS 21
/* In the entry of a large page among small ones; part of its key. */
#define LARGE 0x800

static uint64_t large_key(const struct cache *tlb, uint64_t address)
{
	return address >> LARGE_BITS << tlb->bits | LARGE;
}

/* ---- which pages are large ---- */

/* The first range that ends after this unit of 2 MiB. */
static uint32_t range_at(const struct model *m, uint64_t unit)
{
	uint32_t low = 0, high = m->large_count;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (m->large[middle].end > unit)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static int tlb_is_large(const struct model *m, uint64_t address)
{
	uint64_t unit = address >> LARGE_BITS;
	uint32_t at;

	if (!m->large_count)
		return 0;
	at = range_at(m, unit);
	return at < m->large_count && m->large[at].begin <= unit;
}

/* Puts `count` ranges in the place of those from..to. */
static void replace_ranges(struct model *m, uint32_t from, uint32_t to,
	const struct large_range *ranges, uint32_t count)
{
	uint32_t behind = m->large_count - to, i;

	if (count > to - from)
		for (i = behind; i-- > 0;)
			m->large[from + count + i] = m->large[to + i];
	else
		for (i = 0; i < behind; i++)
			m->large[from + count + i] = m->large[to + i];
	for (i = 0; i < count; i++)
		m->large[from + i] = ranges[i];
	m->large_count = from + count + behind;
}

/* Units begin..end are large from here on, or not. */
static void set_range(struct model *m, uint64_t begin, uint64_t end, int large)
{
	uint32_t from = range_at(m, begin), to = from, count = 0;
	struct large_range new[3];

	if (from < m->large_count && m->large[from].begin < begin)
		new[count++] = (struct large_range){m->large[from].begin, begin};
	if (large)
		new[count++] = (struct large_range){begin, end};
	for (; to < m->large_count && m->large[to].begin < end; to++)
		if (m->large[to].end > end)
			new[count++] = (struct large_range){end, m->large[to].end};
	/* Ranges that do not fit are not large. */
	while (m->large_count - (to - from) + count > LARGE_RANGES && count)
		count--;
	replace_ranges(m, from, to, new, count);
}

/* ---- slots ---- */

/* The slots of pages that were translated by this entry, of which victim was there. */
static void lose(struct model *m, struct core *core, struct page_slot *slots, struct cache *tlb,
	const uint64_t *entry, uint64_t victim)
{
	const uint64_t *used = &tlb->used[entry - tlb->entries];
	uint64_t page = (victim >> m->page_bits) + 1;
	struct page_slot *slot = page_slot(slots, page);
	unsigned i;

	if (tlb->bits != LARGE_BITS && !(victim & LARGE)) {
		if (slot->page == page && slot->used == used) {
			slot->page = 0;
			if (slots == core->fetch_pages)
				fetched_lose_page(m, core, page);
		}
		/* Its lines may have slots also when another page has taken the page's. */
		if (slots == core->data_pages && tlb->used == core->page_used)
			slots_drop(core, victim & ~m->page, m->page + 1);
		return;
	}
	if (slots == core->data_pages)
		slots_drop(core, 0, UINT64_MAX);
	else
		fetched_lose(m, core);
	for (i = 0; i < PAGE_SLOTS; i++)
		if (slots[i].used == used)
			slots[i].page = 0;
}

/* The page has a slot from now on. */
static void tlb_set_slot(
	struct model *m, struct core *core, struct page_slot *slots, uint64_t page, uint64_t *used)
{
	struct page_slot *slot = page_slot(slots, page);

	if (slots == core->fetch_pages && slot->page && slot->page != page)
		fetched_lose_page(m, core, slot->page);
	*slot = (struct page_slot){page, used};
}

/* The TLB's entry translates the address now, and replaced victim (0 or NEVER: nothing). slots:
 * those whose first TLB this is, or null. */
static void found(struct model *m, struct core *core, struct page_slot *slots, struct cache *tlb,
	uint64_t address, uint64_t *entry, uint64_t victim)
{
	uint64_t page = (address >> m->page_bits) + 1;

	if (tlb->policy != MODEL_LRU && tlb->policy != MODEL_RANDOM) {
		if (tlb->recent != page) {
			struct page_slot *code = page_slot(core->fetch_pages, tlb->recent);

			page_slot(core->data_pages, tlb->recent)->page = 0;
			if (code->page == tlb->recent) {
				fetched_settle(core);
				fetched_lose(m, core);
				code->page = 0;
			}
		}
		tlb->recent = page;
	} else if (victim != NEVER && victim) {
		lose(m, core, core->data_pages, tlb, entry, victim);
		lose(m, core, core->fetch_pages, tlb, entry, victim);
	}
	if (slots && page != 1)
		tlb_set_slot(m, core, slots, page, &tlb->used[entry - tlb->entries]);
}

/* ---- translations ---- */

/* Uses the translation in one TLB; returns whether it was there. */
static int tlb_use(struct model *m, struct core *core, struct page_slot *slots, struct cache *small,
	struct cache *large, uint32_t split, uint64_t address, int is)
{
	struct cache *tlb = is && large->ways ? large : small;
	uint64_t victim, *entry;

	if (is && tlb == small && !split)
		entry = cache_use_key(
			small, address >> LARGE_BITS, large_key(small, address), &victim);
	else
		entry = cache_use(tlb, address, &victim);
	found(m, core, slots, tlb, address, entry, victim);
	return victim == NEVER;
}

/* Nothing translates. */
static uint64_t no_translation(
	struct model *m, struct core *core, struct page_slot *slots, uint64_t address)
{
	uint64_t page = address >> m->page_bits;

	if (page)
		tlb_set_slot(m, core, slots, page + 1, &core->page_used[PAGES_NOTED - 1]);
	return 0;
}

/* ---- first accesses ---- */

static uint8_t *seen_group(const struct model *m, uint64_t page)
{
	uint64_t group = page >> 3;

	return &m->seen[(group ^ group >> SEEN_BITS) & ((1u << SEEN_BITS) - 1)];
}

/* Notes that the page is accessed, and returns whether it was before. Code is of files, of which
 * the kernel maps some pages at once. */
static int see_page(const struct model *m, uint64_t address, int code)
{
	uint64_t page = address >> 12;
	uint8_t *group = seen_group(m, page), bit = (uint8_t)(1u << (page & 7));

	if (*group & bit)
		return 1;
	*group = code ? 255 : *group | bit;
	return 0;
}

/* Latency of a walk where the kernel empties the TLBs. For what they had, entries of the page table
 * are still in L1D if neither a page fault nor the program has replaced what was there. */
static uint64_t walk_after(
	const struct model *m, struct core *core, uint64_t address, int large, int code)
{
	uint64_t again = (uint64_t)m->config.execution.kernel_flush * m->config.width;

	if (m->seen && !large && !see_page(m, address, code)) {
		core->flush_due = FLUSH_DATA | FLUSH_FETCH | FLUSH_FAULT;
		return m->walk;
	}
	if (!core->refills || !core->near)
		return m->walk;
	core->refills--;
	return again < m->walk ? again : m->walk;
}

void model_unmap(struct model *m, uint64_t address, uint64_t length)
{
	uint64_t page = address >> 12, end = (address + length + 4095) >> 12;

	if (!m->seen || !length || end < page)
		return;
	if (end - page > UINT64_C(8) << SEEN_BITS)
		end = page + (UINT64_C(8) << SEEN_BITS);
	for (; page < end; page++)
		*seen_group(m, page) &= (uint8_t) ~(1u << (page & 7));
}

/* slots: those without a first-level TLB, or null. */
static uint64_t translate_second(struct model *m, struct core *core, struct page_slot *slots,
	uint64_t address, int is, enum event_number walks)
{
	uint32_t split = m->config.large_stlb.ways == MODEL_LARGE_SPLIT;

	if (core->stlb.ways &&
		tlb_use(m, core, slots, &core->stlb, &core->large_stlb, split, address, is))
		return slots ? 0 : m->second_tlb;
	count(m, walks, 1);
	if (UNLIKELY(m->config.execution.kernel_flush != 0))
		return walk_after(m, core, address, is, walks == EV_ITLB_WALKS);
	return m->walk;
}

/* ---- the machines of today ---- */

static int tlb_usual_sets(const struct cache *tlb)
{
	return tlb->policy == MODEL_LRU && cache_ways_at_once(tlb, UINT64_MAX) && !tlb->sets;
}

/* Two levels of data TLBs, LRU; instructions have a first level of their own. */
int tlb_is_usual(const struct model *m, const struct core *core)
{
	return core->itlb.ways && tlb_usual_sets(&core->dtlb) && tlb_usual_sets(&core->stlb) &&
	       core->dtlb.used == core->page_used && m->page_bits == 12 &&
	       core->l1d.bits == 6; /* a page has 64 lines: see page_lines */
}

/* ---- an index of the first TLB of data ---- */

/* Fewer entries are soon searched. */
#define INDEXED_LEAST 33

static int tlb_is_indexed(const struct cache *tlb)
{
	return tlb->ways >= INDEXED_LEAST && tlb->ways <= OLD_PAGES_MAX && !tlb->mask;
}

static NOINLINE void index_pages(struct page_index *x, const struct cache *tlb)
{
	for (unsigned i = 0; i < PAGE_COUNTS; i++)
		x->pages[i] = 0;
	for (unsigned i = 0; i < tlb->ways; i++)
		if (tlb->entries[i] && !(tlb->entries[i] & LARGE))
			x->pages[(tlb->entries[i] & ~UNSEEN) >> 12 & (PAGE_COUNTS - 1)]++;
	x->next = x->count = 0;
	x->valid = 1;
}

INLINE void sort_old(uint64_t *old, uint32_t count)
{
	for (uint32_t i = 1; i < count; i++) {
		uint64_t key = old[i];
		uint32_t at = i;

		for (; at > 0 && old[at - 1] > key; at--)
			old[at] = old[at - 1];
		old[at] = key;
	}
}

/* Times only grow. So of those that were the oldest once, the first one that was not used since is
 * the oldest now. About a third of all are sorted at a time. */
enum { OLD_SAMPLES = 8, OLD_SHARE = 2 };

static NOINLINE void find_old(struct page_index *x, const struct cache *tlb)
{
	uint64_t sample[OLD_SAMPLES], limit;
	uint32_t step = tlb->ways / OLD_SAMPLES, count = 0;

	for (uint32_t i = 0; i < OLD_SAMPLES; i++)
		sample[i] = tlb->used[i * step];
	sort_old(sample, OLD_SAMPLES);
	limit = sample[OLD_SHARE];
	for (uint32_t i = 0; i < tlb->ways; i++) {
		x->old[count] = tlb->used[i] * OLD_PAGES_MAX + i;
		count += tlb->used[i] <= limit;
	}
	sort_old(x->old, count);
	x->next = 0;
	x->count = count;
}

/* As cache_oldest. */
INLINE uint32_t oldest_page(struct page_index *x, const struct cache *tlb)
{
	for (;;) {
		while (x->next < x->count) {
			uint64_t old = x->old[x->next++];
			uint32_t way = old % OLD_PAGES_MAX;

			if (tlb->used[way] == old / OLD_PAGES_MAX)
				return way;
		}
		find_old(x, tlb);
	}
}

/* Lines of the page that the entry is of have no slots now. */
INLINE void page_slots_drop(struct core *core, uint64_t entry, uint64_t page)
{
	uint64_t lines = core->page_lines[entry];

	core->page_lines[entry] = 0;
	for (; lines; lines &= lines - 1)
		slot_drop(core, page | (uint64_t)__builtin_ctzll(lines) << 6);
}

/* What tlb_translate_data does for a small page among such, of which there is a translation in the
 * second level at the least. */
static uint64_t translate_usual(struct model *m, struct core *core, uint64_t address)
{
	struct cache *tlb = &core->dtlb, *second = &core->stlb;
	uint64_t number = address >> 12, line = number << 12, last = (number & second->mask);
	uint64_t set = (number & tlb->mask) * tlb->ways, at, victim;
	struct page_index *x = &core->page_index;
	int indexed = tlb_is_indexed(tlb), way = -1, way2 = 0;
	struct page_slot *slot;

	if (indexed && UNLIKELY(!x->valid))
		index_pages(x, tlb);
	if (!indexed || x->pages[number % PAGE_COUNTS])
		way = cache_way(tlb->entries + set, tlb->ways, line);

	if (way >= 0) {
		at = set + (uint32_t)way;
		tlb->used[at] = ++m->tick;
		*page_slot(core->data_pages, number + 1) =
			(struct page_slot){number + 1, &tlb->used[at]};
		return 0;
	}
	last *= second->ways;
	way2 = cache_way(second->entries + last, second->ways, line);
	if (UNLIKELY(way2 < 0))
		return NEVER;
	at = set + (indexed ? oldest_page(x, tlb) : cache_oldest(tlb->used + set, tlb->ways));
	victim = tlb->entries[at] & ~UNSEEN;
	if (UNLIKELY(victim & LARGE))
		return NEVER;
	tlb->entries[at] = line | SHARED;
	tlb->used[at] = ++m->tick;
	if (LIKELY(victim != 0)) {
		slot = page_slot(core->data_pages, (victim >> 12) + 1);
		if (slot->page == (victim >> 12) + 1)
			slot->page = 0;
		page_slots_drop(core, at, victim & ~m->page);
		if (indexed)
			x->pages[(victim >> 12) % PAGE_COUNTS]--;
	}
	if (indexed)
		x->pages[number % PAGE_COUNTS]++;
	*page_slot(core->data_pages, number + 1) = (struct page_slot){number + 1, &tlb->used[at]};
	count(m, EV_DTLB_MISSES, 1);
	second->used[last + (uint32_t)way2] = ++m->tick;
	return m->second_tlb;
}

/* misses: of the first level, where there is one. */
INLINE uint64_t translate(struct model *m, struct core *core, struct page_slot *slots,
	struct cache *first, struct cache *large, uint32_t split, uint64_t address,
	enum event_number misses, enum event_number walks)
{
	int is = tlb_is_large(m, address);

	if (!first->ways)
		return core->stlb.ways ? translate_second(m, core, slots, address, is, walks)
				       : no_translation(m, core, slots, address);
	if (tlb_use(m, core, slots, first, large, split, address, is))
		return 0;
	count(m, misses, 1);
	return translate_second(m, core, (struct page_slot *)0, address, is, walks);
}

uint64_t tlb_translate_data(struct model *m, struct core *core, uint64_t address)
{
	if (UNLIKELY(core->flush_due & FLUSH_DATA))
		tlb_flush(m, core, core->flush_due & ~(uint32_t)FLUSH_FETCH);
	if (LIKELY(core->usual_tlbs) && LIKELY(!m->large_count) && LIKELY(address >> 12)) {
		uint64_t latency = translate_usual(m, core, address);

		if (LIKELY(latency != NEVER))
			return latency;
	}
	core->page_index.valid = 0;
	/* The same translations may be those of instructions. */
	if (!core->itlb.ways && core->stlb.ways)
		fetched_settle(core);
	return translate(m, core, core->data_pages, &core->dtlb, &core->large_dtlb,
		m->config.large_dtlb.ways == MODEL_LARGE_SPLIT, address, EV_DTLB_MISSES,
		EV_DTLB_WALKS);
}

uint64_t tlb_translate_fetch(struct model *m, struct core *core, uint64_t address)
{
	fetched_settle(core);
	return translate(m, core, core->fetch_pages, &core->itlb, &core->large_itlb,
		m->config.large_itlb.ways == MODEL_LARGE_SPLIT, address, EV_ITLB_MISSES,
		EV_ITLB_WALKS);
}

/* ---- mappings that change ---- */

/* Translations of units begin..end leave the TLB. */
static void flush(struct cache *tlb, uint64_t begin, uint64_t end)
{
	uint64_t count = (tlb->sets ? tlb->sets : tlb->mask + 1) * tlb->ways, i;

	for (i = 0; i < count; i++) {
		uint64_t entry = tlb->entries[i] & ~UNSEEN;
		uint64_t unit = tlb->bits != LARGE_BITS && (entry & LARGE) ? entry >> tlb->bits
									   : entry >> LARGE_BITS;

		if (entry && unit >= begin && unit < end)
			cache_remove(tlb, &tlb->entries[i]);
	}
}

static void flush_core(struct model *m, struct core *core, uint64_t begin, uint64_t end)
{
	struct cache *const tlbs[] = {&core->itlb, &core->dtlb, &core->stlb, &core->large_itlb,
		&core->large_dtlb, &core->large_stlb};
	unsigned i;

	fetched_settle(core);
	fetched_lose(m, core);
	for (i = 0; i < sizeof(tlbs) / sizeof(tlbs[0]); i++)
		if (tlbs[i]->ways)
			flush(tlbs[i], begin, end);
	slots_drop(core, 0, UINT64_MAX);
	core->page_index.valid = 0;
	for (i = 0; i < PAGE_SLOTS; i++)
		core->data_pages[i].page = core->fetch_pages[i].page = 0;
}

/* ---- the kernel ---- */

static uint64_t tlb_entries_of(const struct cache *c)
{
	return (c->sets ? c->sets : c->mask + 1) * c->ways;
}

static void empty(struct cache *tlb)
{
	if (!tlb->ways)
		return;
	for (uint64_t i = 0; i < tlb_entries_of(tlb); i++)
		tlb->entries[i] = tlb->used[i] = 0;
	for (uint64_t i = 0; tlb->policy_sets && i < tlb_entries_of(tlb) / tlb->ways; i++)
		tlb->policy_sets[i].filled = 0;
}

/* A miss of the data TLBs may find them empty: it may replace any page. Those of instructions are
 * emptied where no code is being run. */
void tlb_flush(struct model *m, struct core *core, uint32_t what)
{
	if (!core->itlb.ways)
		what |= FLUSH_FETCH;
	core->flush_due &= ~what;
	if (what & FLUSH_FETCH) {
		fetched_settle(core);
		fetched_lose(m, core);
		empty(&core->itlb);
		empty(&core->large_itlb);
		for (unsigned i = 0; i < PAGE_SLOTS; i++)
			core->fetch_pages[i].page = 0;
	}
	if (what & FLUSH_DATA) {
		core->refills = m->config.stlb.entries;
		core->near = !(what & FLUSH_FAULT) &&
			     m->counts[EV_L1D_MISSES] - core->flushed < tlb_entries_of(&core->l1d);
		core->flushed = m->counts[EV_L1D_MISSES];
		empty(&core->dtlb);
		empty(&core->large_dtlb);
		empty(&core->stlb);
		empty(&core->large_stlb);
		slots_drop(core, 0, UINT64_MAX);
		core->page_index.valid = 0;
		for (unsigned i = 0; i < PAGE_SLOTS; i++)
			core->data_pages[i].page = 0;
	}
}

void model_system_call(struct model *m)
{
	if (m->config.execution.kernel_flush && m->config.parts & MODEL_PART_TLBS)
		tlb_flush(m, m->core, FLUSH_DATA | FLUSH_FETCH);
}

void model_map(struct model *m, uint64_t address, uint64_t length, unsigned page_bits)
{
	uint64_t unit = UINT64_C(1) << LARGE_BITS, last = address + length - 1, begin, end, cores;
	int large = page_bits >= LARGE_BITS;

	if (m->config.large_pages != MODEL_PAGES_KERNEL || m->page_bits != 12 || m->cachegrind ||
		!length || last < address)
		return;
	/* A range can become large only in whole pages of 2 MiB, and stops being large with any
	 * part of one. */
	begin = large ? (address >> LARGE_BITS) + ((address & (unit - 1)) != 0)
		      : address >> LARGE_BITS;
	end = large && ((last + 1) & (unit - 1)) ? last >> LARGE_BITS : (last >> LARGE_BITS) + 1;
	if (begin >= end || (!large && !m->large_count))
		return;
	set_range(m, begin, end, large);
	for (cores = m->active; cores; cores &= cores - 1)
		flush_core(m, &m->cores[__builtin_ctzll(cores)], begin, end);
}
