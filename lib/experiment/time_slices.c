/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/time_slices.h"

#include <stdlib.h>

#include "experiment/private.h"

enum {
	SHIFT_LEAST = 16,                          /* 65 us */
	SHIFT_MOST = 64 - EXPERIMENT_SLICE_LEVELS, /* times have 64 bits */
	CELLS_MOST = 1 << 20, /* beside two a row, as long as a run is recorded: 16 MB */
};

/* ---- adding ---- */

/* The rows of from, in slices that are 2^more times as wide; to is not initialised. */
static int slices_widened(struct table *to, const struct table *from, unsigned more)
{
	if (row_init(to, &experiment_slices_kind))
		return -1;
	for (size_t i = 0; i < from->count; i++) {
		struct experiment_slice row = *(const struct experiment_slice *)table_at(from, i);

		row.key.slice = more < 32 ? row.key.slice >> more : 0;
		if (row_add(to, &experiment_slices_kind, &row) < 0) {
			table_fini(to);
			return -1;
		}
	}
	return 0;
}

static int slices_widen(struct experiment *x, unsigned shift)
{
	struct table wide;

	if (x->slices.count) {
		if (slices_widened(&wide, &x->slices, shift - x->slicing.shift))
			return -1;
		table_fini(&x->slices);
		x->slices = wide;
	}
	x->slicing.shift = shift;
	return 0;
}

/* So that there is a slice for this time. */
static int slices_reach(struct experiment *x, uint64_t time)
{
	unsigned shift = x->slices.count ? x->slicing.shift : SHIFT_LEAST;

	shift += shift < SHIFT_MOST && x->slices.count >= CELLS_MOST + 2 * x->samples.count;
	while (time >> shift >= EXPERIMENT_SLICES_MOST)
		shift++;
	return shift == x->slicing.shift ? 0 : slices_widen(x, shift);
}

static int slices_add_cell(struct experiment *x, long sample, uint64_t slice, uint64_t count)
{
	const struct experiment_slice row = {
		.key = {(uint32_t)sample, (uint32_t)slice}, .count = count};

	return sample < 0 || (count && row_add(&x->slices, &experiment_slices_kind, &row) < 0) ? -1
											       : 0;
}

int experiment_add_between(
	struct experiment *x, const struct experiment_sample *sample, uint64_t begin, uint64_t end)
{
	long row = experiment_row(x, EXPERIMENT_SAMPLES, sample);
	uint64_t last = end > begin ? end - 1 : begin, done = 0;

	if (row < 0 || slices_reach(x, last))
		return -1;
	for (uint64_t at = begin >> x->slicing.shift; done < sample->count; at++) {
		uint64_t until = (at + 1) << x->slicing.shift, upto = sample->count;

		if (until && until <= last) /* the last of all slices ends at 2^64 */
			upto = (uint64_t)((double)sample->count * (double)(until - begin) /
					  (double)(end - begin));
		if (slices_add_cell(x, row, at, upto - done))
			return -1;
		done = upto;
	}
	return 0;
}

int experiment_add_at(struct experiment *x, const struct experiment_sample *sample, uint64_t time)
{
	return experiment_add_between(x, sample, time, time);
}

uint64_t experiment_slices_end(const struct experiment *x)
{
	uint64_t end = 0;

	for (size_t i = 0; i < x->slices.count; i++)
		if (experiment_slice_at(x, i)->key.slice >= end)
			end = (uint64_t)experiment_slice_at(x, i)->key.slice + 1;
	return end << x->slicing.shift;
}

const struct table *time_slices_align(
	struct experiment *a, const struct experiment *b, struct table *own)
{
	unsigned shift = b->slicing.shift;

	if (b->slicing.room < a->slicing.room)
		a->slicing.room = b->slicing.room;
	if (a->slices.count && a->slicing.shift > shift)
		shift = a->slicing.shift;
	if (shift != a->slicing.shift && slices_widen(a, shift))
		return NULL;
	if (shift == b->slicing.shift)
		return &b->slices;
	return slices_widened(own, &b->slices, shift - b->slicing.shift) ? NULL : own;
}

/* ---- rows of samples with their slices, of a settled experiment ---- */

struct slices_row {
	const struct experiment_sample *sample;
	const struct experiment_slice *cells;
	size_t count;
	uint64_t timed; /* samples with a time */
};

/* The row of sample i, whose cells begin at number *at; *at is moved after them. */
static struct slices_row slices_row(const struct experiment *x, size_t i, size_t *at)
{
	struct slices_row r = {experiment_sample_at(x, i), experiment_slice_at(x, *at), 0, 0};

	for (; *at < x->slices.count && experiment_slice_at(x, *at)->key.sample == i; ++*at) {
		r.timed = row_sum(r.timed, r.cells[r.count].count);
		r.count++;
	}
	/* Counts that stopped at their greatest value do not add up. */
	if (r.timed > r.sample->count || r.timed == UINT64_MAX)
		r.timed = r.count = 0;
	return r;
}

/* As many times can they be halved. */
static unsigned slices_levels(const struct experiment *x)
{
	uint32_t all = 0;
	unsigned levels = 0;

	for (size_t i = 0; i < x->slices.count; i++)
		all |= experiment_slice_at(x, i)->key.slice;
	while (all >> levels)
		levels++;
	return levels;
}

/* Bits of a number from 0 to n. */
static unsigned slices_bits(uint64_t n)
{
	return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

/* Cells in the first half of a part that has 2^level slices; *sum: their samples. */
static size_t slices_half(
	const struct experiment_slice *cells, size_t count, unsigned level, uint64_t *sum)
{
	size_t n = 0;

	for (*sum = 0; n < count && !(cells[n].key.slice >> (level - 1) & 1); n++)
		*sum += cells[n].count;
	return n;
}

/* ---- their width ---- */

/* Adds to bits[level - 1] what halving at that level takes. */
static void slices_cost(const struct experiment_slice *cells, size_t count, uint64_t samples,
	unsigned level, uint64_t *bits)
{
	uint64_t sum;
	size_t half;

	if (!level || !samples)
		return;
	bits[level - 1] += slices_bits(samples);
	half = slices_half(cells, count, level, &sum);
	slices_cost(cells, half, sum, level - 1, bits);
	slices_cost(cells + half, count - half, samples - sum, level - 1, bits);
}

/*
 * Which width fits: the bits of all rows at each, less those that are free. A row has one or two
 * bytes in the section of samples, by which that may be increased. As rows grow in a sum, their
 * bits less what is free never decrease.
 */
static unsigned slices_fitting(const struct experiment *x, unsigned levels)
{
	uint64_t excess[EXPERIMENT_SLICE_LEVELS + 1] = {0};
	unsigned more = 0;

	for (size_t i = 0, at = 0; i < x->samples.count; i++) {
		const struct slices_row r = slices_row(x, i, &at);
		uint64_t bits[EXPERIMENT_SLICE_LEVELS] = {0}, sum = 0, free_of_cost = 16;

		if (r.timed <= 2) /* at most 8 and 16 bits, of which none are in excess */
			continue;
		slices_cost(r.cells, r.count, r.timed, levels, bits);
		for (unsigned k = levels; k-- > 0;) {
			sum += bits[k];
			excess[k] += sum > free_of_cost ? sum - free_of_cost : 0;
		}
	}
	while (more < levels && x->slicing.shift + more < SHIFT_MOST &&
		excess[more] > x->slicing.room)
		more++;
	return more;
}

int time_slices_fit(struct experiment *x, size_t bytes)
{
	enum { OWN = 40 /* bytes: what a section takes without rows */ };
	unsigned more;

	if (!x->slices.count)
		return 0;
	if (x->slicing.room == UINT64_MAX)
		x->slicing.room = bytes > OWN ? 8 * (bytes - OWN) : 0;
	more = slices_fitting(x, slices_levels(x));
	return more ? slices_widen(x, x->slicing.shift + more) : 0;
}

/* ---- writing ---- */

enum slices_mode { SLICES_NONE, SLICES_ALL, SLICES_SOME, SLICES_MODES };

/* Bits, the least first, into bytes. */
struct bit_writer {
	struct strbuf *to;
	unsigned held, count;
};

static void put_bits(struct bit_writer *w, uint64_t v, unsigned bits)
{
	while (bits) {
		unsigned n = bits < 8 - w->count ? bits : 8 - w->count;

		w->held |= (unsigned)(v & ((1u << n) - 1)) << w->count;
		w->count += n;
		v >>= n;
		bits -= n;
		if (w->count < 8)
			continue;
		strbuf_putc(w->to, (char)w->held);
		w->held = w->count = 0;
	}
}

static void put_halves(struct bit_writer *w, const struct experiment_slice *cells, size_t count,
	uint64_t samples, unsigned level)
{
	uint64_t sum;
	size_t half;

	if (!level || !samples)
		return;
	half = slices_half(cells, count, level, &sum);
	put_bits(w, sum, slices_bits(samples));
	put_halves(w, cells, half, sum, level - 1);
	put_halves(w, cells + half, count - half, samples - sum, level - 1);
}

/* By metric; NULL when memory is out. */
static uint8_t *slices_modes(const struct experiment *x)
{
	uint8_t *modes = calloc(x->metrics.count + 1, sizeof(*modes));
	bool *rest = calloc(x->metrics.count + 1, sizeof(*rest));

	for (size_t i = 0, at = 0; modes && rest && i < x->samples.count; i++) {
		const struct slices_row r = slices_row(x, i, &at);
		uint32_t metric = r.sample->key.metric;

		rest[metric] |= r.timed < r.sample->count;
		modes[metric] |= r.timed > 0;
	}
	for (size_t i = 0; modes && rest && i < x->metrics.count; i++)
		if (modes[i] && rest[i])
			modes[i] = SLICES_SOME;
	if (!rest) {
		free(modes);
		modes = NULL;
	}
	free(rest);
	return modes;
}

void time_slices_put(const struct experiment *x, struct strbuf *to)
{
	unsigned levels = slices_levels(x);
	struct bit_writer w = {.to = to};
	uint8_t *modes = slices_modes(x);

	if (!modes) {
		to->failed = true;
		return;
	}
	put_uint(to, x->slicing.shift);
	put_uint(to, levels);
	put_uint(to, x->slicing.room);
	for (size_t i = 0; i < x->metrics.count; i++)
		put_uint(to, modes[i]);
	for (size_t i = 0, at = 0; i < x->samples.count; i++) {
		const struct slices_row r = slices_row(x, i, &at);
		uint8_t mode = modes[r.sample->key.metric];

		if (mode == SLICES_SOME)
			put_bits(&w, r.timed, slices_bits(r.sample->count));
		if (mode != SLICES_NONE)
			put_halves(&w, r.cells, r.count, r.timed, levels);
	}
	if (w.count)
		put_bits(&w, 0, 8 - w.count);
	free(modes);
}

/* ---- reading ---- */

struct bit_reader {
	struct cursor *c;
	uint64_t held;
	unsigned count;
};

static void fill_bits(struct bit_reader *r)
{
	for (; r->count <= 56 && r->c->at < r->c->end; r->count += 8)
		r->held |= (uint64_t)*r->c->at++ << r->count;
}

/* At most 32. */
static inline uint64_t get_few_bits(struct bit_reader *r, unsigned bits)
{
	uint64_t v;

	if (r->count < bits)
		fill_bits(r);
	if (r->count < bits) {
		r->c->bad = true;
		return 0;
	}
	v = r->held & ((1ull << bits) - 1);
	r->held >>= bits;
	r->count -= bits;
	return v;
}

static uint64_t get_bits(struct bit_reader *r, unsigned bits)
{
	uint64_t low = get_few_bits(r, bits < 32 ? bits : 32);

	return bits > 32 ? low | get_few_bits(r, bits - 32) << 32 : low;
}

static void get_cell(struct bit_reader *r, struct table *to, const struct experiment_slice *cell)
{
	struct experiment_slice *row = table_append(to);

	if (row)
		*row = *cell;
	else
		r->c->bad = r->c->nomem = true;
}

static void get_halves(
	struct bit_reader *r, struct table *to, struct experiment_slice part, unsigned level)
{
	struct experiment_slice half = part;

	/* Most samples are alone in the end: a bit for each level says where. */
	for (; level && part.count == 1; level--)
		part.key.slice += get_few_bits(r, 1) ? 0 : 1u << (level - 1);
	if (!part.count || r->c->bad)
		return;
	if (!level) {
		get_cell(r, to, &part);
		return;
	}
	half.count = get_bits(r, slices_bits(part.count));
	if (half.count > part.count) {
		r->c->bad = true;
		return;
	}
	get_halves(r, to, half, level - 1);
	half.count = part.count - half.count;
	half.key.slice += 1u << (level - 1);
	get_halves(r, to, half, level - 1);
}

static void get_rows(struct experiment *x, struct cursor *c, const uint8_t *modes, unsigned levels)
{
	struct bit_reader r = {.c = c};

	for (size_t i = 0; i < x->samples.count && !c->bad; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);
		struct experiment_slice all = {.key = {.sample = (uint32_t)i}, .count = s->count};
		uint8_t mode = modes[s->key.metric];

		if (mode == SLICES_SOME)
			all.count = get_bits(&r, slices_bits(s->count));
		c->bad |= all.count > s->count;
		if (mode != SLICES_NONE)
			get_halves(&r, &x->slices, all, levels);
	}
	c->bad |= c->at != c->end || r.count >= 8 || r.held;
}

void time_slices_get(struct experiment *x, struct cursor *c)
{
	uint8_t *modes = calloc(x->metrics.count + 1, sizeof(*modes));
	unsigned levels;

	if (!modes) {
		c->bad = c->nomem = true;
		return;
	}
	c->bad |= x->slices.count > 0; /* there is one such section */
	x->slicing.shift = get_below(c, SHIFT_MOST + 1);
	levels = get_below(c, EXPERIMENT_SLICE_LEVELS + 1);
	x->slicing.room = get_uint(c);
	for (size_t i = 0; i < x->metrics.count; i++)
		modes[i] = (uint8_t)get_below(c, SLICES_MODES);
	if (!c->bad)
		get_rows(x, c, modes, levels);
	free(modes);
}
