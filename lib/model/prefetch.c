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
 * - l1d_stream: loads that are near each other, in whatever order: where three of the four lines
 *   before a load's line were loaded, the lines after it; where three of the four after it were,
 *   those before it. Its input is that of l1d_stride. Of 64 lines at a time it knows which were
 *   loaded.
 * - l2_stream: requests to L2 in ascending or descending lines of a page (Palacharla and Kessler,
 *   ISCA 1994, and the streamer of Intel's Optimization Reference Manual). With stream_step a
 *   stream begins where two of the page's last eight lines are within 3 x stream_step lines before
 *   this one, and goes on with lines that it has prefetched, in whatever order: requests of the
 *   first level's prefetcher come in between. Its pages have at most 64 lines; larger ones count as
 *   several. Pages have one of four entries by the low bits of their number.
 * - l2_adjacent: a request that misses L2 also fetches the other line of its pair.
 *
 * None of them crosses a page, except both streams where the machine says so: those continue in the
 * page that follows, as if its addresses were those of memory. A prefetch is not counted as a
 * reference or a miss; it takes its turn with the supplier of the line (clock_line), other cores
 * receive its requests, and it replaces lines. A demand access that comes before the line arrives
 * waits for the rest of the latency.
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
	/* The set of the next one in the last level is fetched by the host. */
	if (same_page_of(m, target, address) &&
		hierarchy_ahead_l1d(m, core, target & ~m->data_line) && m->ll.ways)
		outside_come_near(m, target + (uint64_t)distance, 0);
}

/* The entry for these 64 lines. Arrays whose distance is a large power of two have others. */
static struct near_entry *near_entry_at(const struct model *m, struct core *core, uint64_t region)
{
	uint64_t mixed = region ^ region >> 5 ^ region >> 11;

	return &core->prefetch
			.near[prefetch_entry_of((uint32_t)mixed, m->config.l1d_stream.entries)];
}

enum { NEAR_LINES = 64, NEAR = 4 }; /* of an entry; so near are loads of a stream */

/* Are three of these four set? */
static int three_of_four(uint64_t bits)
{
	return 0xe880 >> bits & 1; /* of 7, 11, 13, 14, 15 */
}

/* Loads went on to a line the way that e has: prefetches the next lines, up to a limit at once. Not
 * inlined, because few come here. */
static NOINLINE void near_on(
	struct model *m, struct core *core, struct near_entry *e, uint64_t number, int64_t way)
{
	const struct model_prefetcher *config = &m->config.l1d_stream;
	int64_t left = (int64_t)(e->front - number) * way;
	uint32_t n;

	if (way != e->way || left < 0 || left > 2 * (int64_t)config->ahead)
		e->front = number;
	e->way = way;
	for (n = 0; n < config->lines && (int64_t)(e->front - number) * way < config->ahead; n++) {
		uint64_t target = (e->front + (uint64_t)way) << core->l1d.bits;

		if (!m->config.stream_pages && !same_page_of(m, target, number << core->l1d.bits))
			break;
		e->front += (uint64_t)way;
		hierarchy_ahead_l1d(m, core, target);
	}
}

/* The way of loads that came to a line: which of the four before and after it were loaded. */
INLINE void near_goes(struct model *m, struct core *core, struct near_entry *e, uint64_t number,
	uint64_t before, uint64_t after)
{
	int up = three_of_four(before), down = three_of_four(after);

	if (up || down)
		near_on(m, core, e, number, up && (!down || before == 15 || after != 15) ? 1 : -1);
}

/* Of the 64 lines before or after those of a line at an edge; a stream that comes from there goes
 * on in a new entry. Returns which were loaded. */
static uint64_t near_beside(const struct model *m, struct core *core, struct near_entry *e,
	uint64_t region, int64_t way)
{
	const struct near_entry *beside = near_entry_at(m, core, region - (uint64_t)way);

	if (beside->region != region - (uint64_t)way + 1)
		return 0;
	if (!e->loaded && !e->way && beside->way == way) {
		e->way = way;
		e->front = beside->front;
	}
	return beside->loaded;
}

static NOINLINE void near_edge(
	struct model *m, struct core *core, struct near_entry *e, uint64_t number)
{
	uint64_t line = number % NEAR_LINES, region = number / NEAR_LINES, beside, before, after;

	if (line < NEAR) {
		beside = near_beside(m, core, e, region, 1);
		before = (beside >> (NEAR_LINES - NEAR) | e->loaded << NEAR) >> line & 15;
		after = e->loaded >> (line + 1) & 15;
	} else {
		beside = near_beside(m, core, e, region, -1);
		before = e->loaded >> (line - NEAR) & 15;
		after = line + 1 < NEAR_LINES ? e->loaded >> (line + 1) : 0;
		after = (after | beside << (NEAR_LINES - 1 - line)) & 15;
	}
	e->loaded |= UINT64_C(1) << line;
	near_goes(m, core, e, number, before, after);
}

INLINE void near(struct model *m, struct core *core, uint64_t address)
{
	uint64_t number = address >> core->l1d.bits, line = number % NEAR_LINES, loaded;
	struct near_entry *e = near_entry_at(m, core, number / NEAR_LINES);

	if (e->region != number / NEAR_LINES + 1)
		*e = (struct near_entry){.region = number / NEAR_LINES + 1};
	loaded = e->loaded;
	if (loaded >> line & 1) /* another tour */
		e->loaded = loaded = 0;
	if (UNLIKELY(line - NEAR >= NEAR_LINES - 2 * NEAR)) {
		near_edge(m, core, e, number);
		return;
	}
	e->loaded = loaded | UINT64_C(1) << line;
	near_goes(m, core, e, number, loaded >> (line - NEAR) & 15, loaded >> (line + 1) & 15);
}

void prefetch_data(struct model *m, struct core *core, uint64_t line, enum purpose purpose)
{
	uint64_t address = (m->accessed & ~m->data_line) == line ? m->accessed : line;

	if (m->config.l1d_next.lines)
		next_lines(m, core, line, m->config.l1d_next.lines, m->data_line + 1, 0);
	if (m->config.l1d_stride.entries && purpose == LOAD)
		stride(m, core, address);
	if (m->config.l1d_stream.entries && purpose == LOAD)
		near(m, core, line);
}

void prefetch_code(struct model *m, struct core *core, uint64_t line)
{
	if (m->config.l1i_next.lines)
		next_lines(m, core, line, m->config.l1i_next.lines, m->fetch_line + 1, 1);
}

/* ---- the second level ---- */

void prefetch_init(struct model *m)
{
	uint32_t line = m->config.l2.size ? m->config.l2.line : m->config.l1d.line;
	uint32_t bits = (uint32_t)__builtin_ctz(line) + STREAM_LINE_BITS;
	uint32_t reach = (NEAR - 1) * m->config.stream_step;

	m->stream_page_bits = m->config.stream_step && bits < m->page_bits ? bits : m->page_bits;
	m->stream_page = (UINT64_C(1) << m->stream_page_bits) - 1;
	m->stream_reach = reach < STREAM_LINES ? reach : STREAM_LINES;
}

/* Prefetches the next lines of the stream, up to a limit at once. Not inlined, because few requests
 * come here. */
static NOINLINE void stream_on(
	struct model *m, struct core *core, struct stream_entry *e, uint64_t page, int64_t line)
{
	const struct model_prefetcher *config = &m->config.l2_stream;
	int64_t lines = (int64_t)((m->stream_page + 1) >> core->l2.bits), way = e->way;
	uint32_t n;

	if ((e->front - line) * way < 0)
		e->front = line;
	for (n = 0; n < config->lines && (e->front - line) * way < config->ahead; n++) {
		if (!m->config.stream_pages && (e->front + way < 0 || e->front + way >= lines))
			break;
		e->front += way;
		hierarchy_ahead_l2(m, core, page + ((uint64_t)e->front << core->l2.bits));
	}
}

/* The entries that a page can have: four, so that arrays whose distance is a large power of two do
 * not take each other's. */
enum { STREAM_WAYS = 4 };
/* Requests against a stream's way, one after the other, that do not end it. */
enum { AGAINST = 2 };

static struct stream_entry *stream_set(const struct model *m, struct core *core, uint64_t page)
{
	uint32_t entries = m->config.l2_stream.entries;
	uint32_t sets = entries > STREAM_WAYS ? entries / STREAM_WAYS : 1;

	return core->prefetch.streams +
	       (size_t)STREAM_WAYS *
		       prefetch_entry_of((uint32_t)(page >> m->stream_page_bits), sets);
}

static uint32_t stream_ways(const struct model *m)
{
	uint32_t entries = m->config.l2_stream.entries;

	return entries < STREAM_WAYS ? entries : STREAM_WAYS;
}

/* Of the page's stream, or null. */
static struct stream_entry *stream_known(const struct model *m, struct core *core, uint64_t page)
{
	struct stream_entry *e = stream_set(m, core, page);
	uint32_t ways = stream_ways(m), i;

	for (i = 0; i < ways; i++)
		if (e[i].page == (page | 1))
			return &e[i];
	return (struct stream_entry *)0;
}

/* A page is requested that has no stream. If that of the page before comes from there, it goes on.
 */
static NOINLINE void stream_begins(struct model *m, struct core *core, uint64_t page, int64_t line)
{
	int64_t lines = (int64_t)((m->stream_page + 1) >> core->l2.bits), way;
	struct stream_entry *e = stream_set(m, core, page), *oldest = e;
	uint32_t ways = stream_ways(m), i;

	for (i = 1; i < ways; i++)
		oldest = e[i].used < oldest->used ? &e[i] : oldest;
	*oldest = (struct stream_entry){.page = page | 1,
		.last = line,
		.recent = m->config.stream_step ? UINT64_C(1) << line : 0,
		.order = STREAM_NONE << 8 | (uint64_t)line,
		.used = ++core->prefetch.requests};
	for (way = -1; m->config.stream_pages && way <= 1; way += 2) {
		const struct stream_entry *before =
			stream_known(m, core, page - (uint64_t)way * (m->stream_page + 1));

		if (!before || before->way != way || (before->front - lines * way - line) * way < 0)
			continue;
		oldest->way = way;
		oldest->front = before->front - lines * way;
		stream_on(m, core, oldest, page, line);
		return;
	}
}

/* Is the line one that the stream has prefetched, or came by? Such requests may come in another
 * order, those of the first level's prefetcher among them, and leave lines out. */
static int stream_has(const struct model *m, const struct stream_entry *e, int64_t line)
{
	int64_t ahead = (e->front - line) * e->way;

	return e->way && ahead >= 0 && ahead <= 2 * (int64_t)m->config.l2_stream.ahead;
}

/* Does the stream go on with the line? */
static int stream_goes_on(const struct model *m, struct stream_entry *e, int64_t line)
{
	int toward = (line - e->last) * e->way > 0;

	if (!m->config.stream_step)
		return toward;
	e->against = toward ? 0 : e->against + 1;
	return e->against <= AGAINST && stream_has(m, e, line);
}

/* Are two of the page's recent requests near `line` the way `way`? */
static int stream_near(
	const struct model *m, const struct stream_entry *e, int64_t line, int64_t way)
{
	uint64_t behind = way > 0 ? e->recent << (63 - line) << 1 : e->recent >> line >> 1;
	uint64_t near = way > 0 ? behind >> (64 - m->stream_reach)
				: behind & UINT64_MAX >> (64 - m->stream_reach);

	return (near & (near - 1)) != 0;
}

/* The way of the stream that the line begins, 0: none. */
static int64_t stream_way(const struct model *m, const struct stream_entry *e, int64_t line)
{
	int64_t way = line > e->last ? 1 : -1;

	if (!m->config.stream_step || stream_near(m, e, line, way))
		return way;
	return stream_near(m, e, line, -way) ? -way : 0;
}

static void stream_remember(struct stream_entry *e, int64_t line)
{
	uint64_t bit = UINT64_C(1) << line, oldest = e->order >> 56;

	if (e->recent & bit)
		return;
	e->recent =
		(e->recent & ~((uint64_t)(oldest < STREAM_LINES) << oldest % STREAM_LINES)) | bit;
	e->order = e->order << 8 | (uint64_t)line;
}

INLINE void stream(struct model *m, struct core *core, uint64_t address)
{
	uint64_t page = address & ~m->stream_page;
	struct stream_entry *e = stream_known(m, core, page);
	int64_t line = (int64_t)((address & m->stream_page) >> core->l2.bits), way;
	int on;

	if (!e) {
		stream_begins(m, core, page, line);
		return;
	}
	e->used = ++core->prefetch.requests;
	if (line == e->last)
		return;
	on = stream_goes_on(m, e, line);
	if (!on) {
		way = stream_way(m, e, line);
		on = m->config.stream_step && way;
		if (on || !m->config.stream_step) {
			e->way = way;
			e->front = line;
			e->against = 0;
		}
	}
	if (m->config.stream_step)
		stream_remember(e, line);
	e->last = line;
	if (on)
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
