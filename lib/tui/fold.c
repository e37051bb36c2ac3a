/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Trees begin with their branches closed. */
#include <string.h>

#include "tui/page.h"

enum { TRUNK = 90 /* percent of the row above: there is nothing to choose yet */ };

/* In the first column that has shares. */
static double fold_share(const struct tui_page *p, size_t row)
{
	for (size_t i = 0; i < p->strips.count; i++)
		if (p->strips.data[i].part == PROF_PART_PERCENT)
			return report_cells(p->table, row)[p->strips.data[i].column].percent;
	return 0;
}

/* The first row at `row` or later that is at this depth, before one that is higher; SIZE_MAX. */
static size_t fold_sibling(const struct report_table *t, size_t row, unsigned depth)
{
	for (; row < t->rows.count; row++) {
		const struct report_row *r = &t->rows.data[row];

		if (r->role != REPORT_ROW || r->depth < depth)
			break;
		if (r->depth == depth)
			return row;
	}
	return SIZE_MAX;
}

void tui_page_open_trunk(struct tui_page *p, size_t row, double above)
{
	const struct report_table *t = p->table;

	while (row < t->rows.count && tui_row_has_children(t, row)) {
		bool alone = fold_sibling(t, row + 1, t->rows.data[row].depth) == SIZE_MAX;

		if (!alone && fold_share(p, row) * 100 < above * TRUNK)
			break;
		p->rows.collapsed[row] = 0;
		above = fold_share(p, row);
		row++;
	}
}

static void fold_open_above(const struct report_table *t, uint8_t *collapsed, size_t row)
{
	unsigned depth = t->rows.data[row].depth;

	while (row-- > 0 && depth > 0)
		if (t->rows.data[row].depth < depth) {
			depth = t->rows.data[row].depth;
			collapsed[row] = 0;
		}
}

int tui_page_fold(struct tui_page *p)
{
	const struct report_table *t = p->table;
	uint8_t *collapsed = tui_rows_collapsed(&p->rows);
	int best = 0;
	size_t at = 0;

	if (!collapsed)
		return -1;
	for (size_t i = 0; i < t->rows.count; i++) {
		int score = p->focus.set ? tui_page_fits(p, i) : 0;

		collapsed[i] = tui_row_has_children(t, i);
		if (score > best) {
			best = score;
			at = i;
		}
	}
	tui_page_open_trunk(p, 0, 100);
	if (best)
		fold_open_above(t, collapsed, at);
	return tui_page_arrange(p);
}

bool tui_page_unfold_match(struct tui_page *p, const char *text)
{
	const struct report_table *t = p->table;
	long row = tui_page_row(p, p->cursor);
	size_t begin = row < 0 ? 0 : (size_t)row, at;

	if (!t || !p->rows.collapsed || p->sort >= 0 || p->filter)
		return false;
	for (size_t i = 1; i <= t->rows.count; i++) {
		at = (begin + i) % t->rows.count;
		if (!tui_row_matches(t, at, text))
			continue;
		fold_open_above(t, p->rows.collapsed, at);
		if (tui_page_arrange(p) || tui_rows_work(&p->rows, UINT64_MAX) < 0)
			return false;
		tui_focus_clear(&p->focus);
		for (size_t k = 0; k < p->rows.count; k++)
			if (tui_rows_at(&p->rows, k) == at)
				p->cursor = k;
		p->centred = true;
		return true;
	}
	return false;
}
