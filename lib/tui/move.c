/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Actions: moving the cursor. */
#include "tui/actions.h"

static void move_move(struct tui *t, bool down, size_t lines)
{
	struct tui_page *p = tui_top(t);
	size_t count = tui_page_count(p);

	if (!down)
		p->cursor -= p->cursor < lines ? p->cursor : lines;
	else if (count)
		p->cursor = count - p->cursor > lines ? p->cursor + lines : count - 1;
}

void tui_do_up(struct tui *t)
{
	move_move(t, false, 1);
}

void tui_do_down(struct tui *t)
{
	move_move(t, true, 1);
}

/* One line of the old screen stays. */
static size_t screenful(const struct tui *t)
{
	int rows = tui_body_rows(t);

	return rows > 1 ? (size_t)rows - 1 : 1;
}

void tui_do_page_up(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	size_t lines = screenful(t);

	p->top -= p->top < lines ? p->top : lines;
	move_move(t, false, lines);
}

void tui_do_page_down(struct tui *t)
{
	tui_top(t)->top += screenful(t);
	move_move(t, true, screenful(t));
	if (tui_top(t)->top > tui_top(t)->cursor)
		tui_top(t)->top = tui_top(t)->cursor;
}

void tui_do_first(struct tui *t)
{
	tui_top(t)->cursor = 0;
}

void tui_do_last(struct tui *t)
{
	move_move(t, true, tui_page_count(tui_top(t)));
}

enum { SCROLL = 8 };

void tui_do_left(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	p->skip -= p->skip < SCROLL ? p->skip : SCROLL;
}

void tui_do_right(struct tui *t)
{
	struct tui_page *p = tui_top(t);

	if (p->skip < 10000)
		p->skip += SCROLL;
}

/* Rows in order of their share: the one after the cursor's, or the first of all. */
void tui_do_hottest(struct tui *t)
{
	struct tui_page *p = tui_top(t);
	double now = t->hottest ? tui_page_share(p, p->cursor) : 0, best = 0;
	size_t at = p->cursor;
	bool found = false;

	for (size_t i = 0; i < p->rows.count; i++) {
		double s = tui_page_share(p, i);
		bool after = !t->hottest || s < now || (s == now && i > p->cursor);

		if (s > best && after && s > 0) {
			best = s;
			at = i;
			found = true;
		}
	}
	if (!found) {
		tui_say(t, t->hottest ? "no more rows" : "no row has a share");
		t->hottest = 0;
		return;
	}
	p->cursor = at;
	p->centred = true;
	t->hottest++;
	tui_say(t, "number %zu by share", t->hottest);
}
