/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hardware prefetchers. Each can be absent (config):
 *
 * - l1i_next, l1d_next: tagged sequential prefetching (Smith, "Cache memories", Computing Surveys
 *   14(3), 1982): the next lines, on a miss and on the first use of a line that was prefetched.
 * - l1d_stride: loads of one instruction at a constant distance (Fu, Patel and Janssens, MICRO
 *   1992; Chen and Baer, 1995). Its input is the misses and first uses. Distances of less than two
 *   lines mean the next line. Instructions have their entry by the low bits of their address; if
 *   the instruction is not known, the page is used instead.
 * - l2_stream: requests to L2 in ascending or descending lines of a page (Palacharla and Kessler,
 *   ISCA 1994, and the streamer of Intel's Optimization Reference Manual). Pages have their entry
 *   by the low bits of their number.
 * - l2_adjacent: a request that misses L2 also fetches the other line of its pair.
 *
 * None of them crosses a page. A prefetch is not counted as a reference or a miss; it takes its
 * turn with the supplier of the line (clock_line), other cores receive its requests, and it
 * replaces lines. A demand access that comes before the line arrives waits for the rest of the
 * latency.
 */
#include "model/state.h"

static int same_page_of(const struct model *m, uint64_t a, uint64_t b)
{
	return !((a ^ b) & ~m->page);
}

/* ---- when lines arrive ---- */

static struct arrival *arrival_of(struct core *core, uint64_t line)
{
	return &core->prefetch.arrivals[(line >> 6) % ARRIVALS];
}

/* Cycles where the retirement clock counts, else slots. */
static uint64_t now_of(const struct core *core)
{
	return core->retire ? core->retire->gone >> RETIRE_CYCLE_BITS : clock_now(&core->clock);
}

void prefetch_sent(struct model *m, struct core *core, uint64_t line, uint64_t latency)
{
	if (!core->retire && !m->timed)
		return;
	if (core->retire)
		latency = retire_ahead(
			core->retire, sender_turn(m->sender), latency / m->config.width);
	*arrival_of(core, line) = (struct arrival){line | 1, now_of(core) + latency, m->sender};
}

uint64_t prefetch_rest(struct model *m, struct core *core, uint64_t line)
{
	const struct arrival *a = arrival_of(core, line);
	uint64_t now;

	if (!core->retire && !m->timed)
		return 0;
	now = now_of(core);
	if (a->line != (line | 1) || a->ready <= now)
		return 0;
	m->sender = sender_of(sender_cause(a->sender), RETIRE_TURN_NONE);
	return (a->ready - now) * (core->retire ? m->config.width : 1);
}

/* ---- the first level ---- */

/* number modulo entries, mostly a power of two. */
static uint32_t prefetch_entry_of(uint32_t number, uint32_t entries)
{
	return LIKELY(!(entries & (entries - 1))) ? number & (entries - 1) : number % entries;
}

static void next_lines(struct model *m, struct core *core, uint64_t line, uint32_t lines,
	uint64_t line_size, int code)
{
	uint64_t a = line;

	for (; lines; lines--) {
		a += line_size;
		if (!same_page_of(m, a, line))
			break;
		if (code)
			hierarchy_ahead_l1i(m, core, a);
		else
			hierarchy_ahead_l1d(m, core, a);
	}
}

static void stride(struct model *m, struct core *core, uint64_t address)
{
	const struct model_prefetcher *config = &m->config.l1d_stride;
	uint64_t instruction = model_at(m);
	uint64_t key = instruction ? instruction : (address & ~m->page) | 1;
	struct stride_entry *e =
		&core->prefetch.strides[prefetch_entry_of((uint32_t)key, config->entries)];
	int64_t distance = (int64_t)(address - e->last), line = (int64_t)m->data_line + 1;
	uint64_t target;

	if (e->key != key) {
		*e = (struct stride_entry){key, address, 0};
		return;
	}
	e->last = address;
	if (distance < 2 * line && distance > -2 * line)
		distance = distance < 0 ? -line : line;
	if (distance != e->distance) {
		e->distance = distance;
		return;
	}
	target = address + (uint64_t)distance * config->ahead;
	if (same_page_of(m, target, address))
		hierarchy_ahead_l1d(m, core, target & ~m->data_line);
}

void prefetch_data(struct model *m, struct core *core, uint64_t line, enum purpose purpose)
{
	uint64_t address = (m->accessed & ~m->data_line) == line ? m->accessed : line;

	if (m->config.l1d_next.lines)
		next_lines(m, core, line, m->config.l1d_next.lines, m->data_line + 1, 0);
	if (m->config.l1d_stride.entries && purpose == LOAD)
		stride(m, core, address);
}

void prefetch_code(struct model *m, struct core *core, uint64_t line)
{
	if (m->config.l1i_next.lines)
		next_lines(m, core, line, m->config.l1i_next.lines, m->fetch_line + 1, 1);
}

/* ---- the second level ---- */

/* Prefetches the next lines of the stream, up to a limit at once. Not inlined, because few requests
 * come here. */
static NOINLINE void stream_on(
	struct model *m, struct core *core, struct stream_entry *e, uint64_t page, int64_t line)
{
	const struct model_prefetcher *config = &m->config.l2_stream;
	int64_t lines = (int64_t)((m->page + 1) >> core->l2.bits), way = e->way;
	uint32_t n;

	if ((e->front - line) * way < 0)
		e->front = line;
	for (n = 0; n < config->lines && (e->front - line) * way < config->ahead; n++) {
		if (e->front + way < 0 || e->front + way >= lines)
			break;
		e->front += way;
		hierarchy_ahead_l2(m, core, page + ((uint64_t)e->front << core->l2.bits));
	}
}

INLINE void stream(struct model *m, struct core *core, uint64_t address)
{
	const struct model_prefetcher *config = &m->config.l2_stream;
	uint64_t page = address & ~m->page;
	struct stream_entry *e = &core->prefetch.streams[prefetch_entry_of(
		(uint32_t)(address >> m->page_bits), config->entries)];
	int64_t line = (int64_t)((address & m->page) >> core->l2.bits);
	int64_t way;

	if (e->page != (page | 1)) {
		*e = (struct stream_entry){.page = page | 1, .last = line};
		return;
	}
	if (line == e->last)
		return;
	way = line > e->last ? 1 : -1;
	e->last = line;
	if (way != e->way) {
		e->way = way;
		e->front = line;
		return;
	}
	stream_on(m, core, e, page, line);
}

void prefetch_behind_l1(struct model *m, struct core *core, uint64_t address, int missed)
{
	uint64_t line = address & ~core->l2.offset, pair = line ^ (core->l2.offset + 1);

	if (missed && m->config.l2_adjacent && same_page_of(m, line, pair))
		hierarchy_ahead_l2(m, core, pair);
	if (m->config.l2_stream.entries)
		stream(m, core, line);
}
