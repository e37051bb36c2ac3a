/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/arrows.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"

struct bundle { /* all arrows to one row */
	uint32_t to, low, high;
	size_t first, count; /* in the sorted arrows */
	int lane;            /* 0: next to the text; -1: none was free */
};

static int by_target(const void *a, const void *b)
{
	const struct flow_arrow *x = a, *y = b;

	return sort_rising(x->to, y->to) ?: sort_rising(x->from, y->from);
}

static int by_length(const void *a, const void *b)
{
	const struct bundle *x = a, *y = b;
	uint32_t p = x->high - x->low, q = y->high - y->low;

	return sort_rising(p, q) ?: sort_rising(x->to, y->to);
}

static size_t make_bundles(const struct flow_arrow *arrows, size_t count, struct bundle *bundles)
{
	size_t n = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t from = arrows[i].from, to = arrows[i].to;
		struct bundle *b = n ? &bundles[n - 1] : NULL;

		if (!b || b->to != to) {
			b = &bundles[n++];
			*b = (struct bundle){.to = to, .low = to, .high = to, .first = i};
		}
		b->low = from < b->low ? from : b->low;
		b->high = from > b->high ? from : b->high;
		b->count++;
	}
	return n;
}

/* The lane nearest to the text that is free over all rows of b; busy: lanes taken, by row. */
static void choose_lane(struct bundle *b, uint8_t *busy)
{
	unsigned taken = 0;

	for (uint32_t r = b->low; r <= b->high && taken != (1u << FLOW_LANES_MAX) - 1; r++)
		taken |= busy[r];
	b->lane = -1;
	for (int lane = 0; lane < FLOW_LANES_MAX && b->lane < 0; lane++)
		if (!(taken >> lane & 1))
			b->lane = lane;
	for (uint32_t r = b->low; b->lane >= 0 && r <= b->high; r++)
		busy[r] |= (uint8_t)(1u << b->lane);
}

/* From the lane to the text, over free cells. */
static void draw_across(char *row, unsigned at, unsigned width)
{
	for (unsigned i = at + 1; i < width; i++)
		if (row[i] == ' ')
			row[i] = '-';
}

static void draw(struct flow_margin *m, const struct bundle *b, const struct flow_arrow *arrows)
{
	unsigned at = m->width - 2 - (unsigned)b->lane;

	for (uint32_t r = b->low; r <= b->high; r++) {
		m->cells[(size_t)r * m->width + at] = '|';
		if (r < b->high)
			m->below[r] |= (uint8_t)(1u << at);
	}
	for (size_t i = 0; i <= b->count; i++) {
		uint32_t r = i < b->count ? arrows[b->first + i].from : b->to;
		char *row = m->cells + (size_t)r * m->width;

		row[at] = b->low == b->high ? '-' : r == b->low ? ',' : r == b->high ? '`' : '+';
	}
}

/* After all lanes are set: the lines from lanes to the text. */
static void arrows_connect(
	struct flow_margin *m, const struct bundle *b, const struct flow_arrow *arrows)
{
	unsigned at = m->width - 2 - (unsigned)b->lane;

	for (size_t i = 0; i < b->count; i++)
		draw_across(m->cells + (size_t)arrows[b->first + i].from * m->width, at, m->width);
	draw_across(m->cells + (size_t)b->to * m->width, at, m->width);
	m->cells[(size_t)b->to * m->width + m->width - 1] = '>';
}

static int arrows_make(struct flow_margin *m, struct flow_arrow *arrows, size_t count)
{
	struct bundle *bundles = calloc(count, sizeof(*bundles));
	uint8_t *busy = calloc(m->rows, 1);
	int widest = -1;
	size_t n;

	if (!bundles || !busy) {
		free(bundles);
		free(busy);
		return -1;
	}
	qsort(arrows, count, sizeof(*arrows), by_target);
	n = make_bundles(arrows, count, bundles);
	qsort(bundles, n, sizeof(*bundles), by_length);
	for (size_t i = 0; i < n; i++) {
		choose_lane(&bundles[i], busy);
		widest = bundles[i].lane > widest ? bundles[i].lane : widest;
		m->hidden += bundles[i].lane < 0 ? (uint32_t)bundles[i].count : 0;
	}
	m->width = (unsigned)widest + 2;
	m->cells = malloc((size_t)m->rows * m->width);
	m->below = calloc(m->rows, sizeof(*m->below));
	if (m->cells && m->below) {
		memset(m->cells, ' ', (size_t)m->rows * m->width);
		for (size_t i = 0; i < n; i++)
			if (bundles[i].lane >= 0)
				draw(m, &bundles[i], arrows);
		for (size_t i = 0; i < n; i++)
			if (bundles[i].lane >= 0)
				arrows_connect(m, &bundles[i], arrows);
	}
	free(bundles);
	free(busy);
	return m->cells && m->below ? 0 : -1;
}

int flow_margin_make(
	struct flow_margin *m, const struct flow_arrow *arrows, size_t count, uint32_t rows)
{
	struct flow_arrow *copy;
	int rc;

	memset(m, 0, sizeof(*m));
	m->rows = rows;
	if (!count)
		return 0;
	copy = malloc(count * sizeof(*copy));
	if (!copy)
		return -1;
	memcpy(copy, arrows, count * sizeof(*copy));
	rc = arrows_make(m, copy, count);
	free(copy);
	return rc;
}

void flow_margin_fini(struct flow_margin *m)
{
	free(m->cells);
	free(m->below);
	memset(m, 0, sizeof(*m));
}

void flow_margin_between(const struct flow_margin *m, uint32_t row, char *text)
{
	for (unsigned i = 0; i < m->width; i++)
		text[i] = m->below[row] >> i & 1 ? '|' : ' ';
	text[m->width] = '\0';
}
