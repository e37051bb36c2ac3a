/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/panes.h"

enum { BESIDE_COLUMNS = 120 /* from here on side by side */ };

/* Headings of a part of the screen. */
static void panes_head(struct tui_pane *p)
{
	p->title = p->rows > 1;
	p->headings = !p->page->rows.table ? 0 : p->rows >= 6 ? 2 : p->rows >= 4 ? 1 : 0;
}

static struct tui_pane panes_whole(const struct tui *t, struct tui_page *page)
{
	int rows = t->screen.rows;

	return (struct tui_pane){.page = page,
		.rows = rows - tui_has_last(t) - tui_has_status(t),
		.columns = t->screen.columns,
		.headings = !page->rows.table ? 0
			    : rows >= 7       ? 2
			    : rows >= 5       ? 1
					      : 0,
		.title = rows >= 3};
}

/* The report below a menu. */
static struct tui_page *panes_report(const struct tui *t)
{
	for (size_t i = t->pages.count; i-- > 0;)
		if (t->pages.data[i]->kind == TUI_PAGE_REPORT)
			return t->pages.data[i];
	return NULL;
}

int tui_panes(const struct tui *t, struct tui_pane panes[TUI_PANES])
{
	struct tui_page *top = tui_top(t), *report = panes_report(t);
	bool menu = top->kind == TUI_PAGE_ACTIONS && report;
	int rows, columns = t->screen.columns, first;

	panes[0] = panes_whole(t, top);
	rows = panes[0].rows;
	if (t->screen.rows < TUI_SPLIT_ROWS ||
		(!menu && (top->kind != TUI_PAGE_REPORT || !t->second)))
		return 1;
	panes[0].page = menu ? report : top;
	panes[1] = panes[0];
	panes[1].page = menu ? top : t->second;
	if (!menu && columns >= BESIDE_COLUMNS) {
		panes[0].columns = columns / 2 - 1;
		panes[1].column = columns / 2;
		panes[1].columns = columns - columns / 2;
	} else {
		int wanted = (int)tui_page_count(top) + 1;

		first = menu && wanted < rows - rows / 3 ? rows - wanted : rows * 2 / 5;
		panes[0].rows = panes[1].row = first;
		panes[1].rows = rows - first;
	}
	panes_head(&panes[0]);
	panes_head(&panes[1]);
	return 2;
}

struct tui_pane tui_pane_of(const struct tui *t, const struct tui_page *p)
{
	struct tui_pane panes[TUI_PANES];
	int count = tui_panes(t, panes);

	return panes[count > 1 && panes[1].page == p ? 1 : 0];
}

size_t tui_text_width(const struct tui *t, const struct tui_page *p)
{
	int columns = tui_pane_of(t, p).columns;

	return columns > 3 ? (size_t)columns - 3 : 1;
}

int tui_body_rows(const struct tui *t)
{
	struct tui_pane pane = tui_pane_of(t, tui_top(t));

	return tui_pane_body(&pane);
}

size_t tui_page_total(const struct tui *t)
{
	return t->pages.count + (t->second != NULL);
}

struct tui_page *tui_page_at(const struct tui *t, size_t i)
{
	return i < t->pages.count ? t->pages.data[i] : t->second;
}
