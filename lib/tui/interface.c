/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each key does, an answer to the question in the last line or an action; and the beginning.
 */
#include <stdio.h>
#include <string.h>

#include "tui/actions.h"

/* Bytes of the last character. */
static size_t last_character(const struct tui_prompt *p)
{
	size_t n = 1;

	while (n < p->length && (p->text[p->length - n] & 0xc0) == 0x80)
		n++;
	return n;
}

static void type_character(struct tui_prompt *p, int key)
{
	char bytes[8];
	int n = 1;

	bytes[0] = (char)key;
	if (key >= 0x80) {
		n = key < 0x800 ? 2 : key < 0x10000 ? 3 : 4;
		for (int i = n - 1; i > 0; i--, key >>= 6)
			bytes[i] = (char)(0x80 | (key & 0x3f));
		bytes[0] = (char)((0xf00 >> n) | key);
	}
	if (p->length + (size_t)n >= sizeof(p->text))
		return;
	memcpy(p->text + p->length, bytes, (size_t)n);
	p->length += (size_t)n;
	p->text[p->length] = '\0';
}

static bool is_character(int key)
{
	return (key >= ' ' && key < 0x7f) || (key >= 0xa0 && key < TUI_KEY_FIRST);
}

static void prompt_key(struct tui *t, int key)
{
	struct tui_prompt *p = &t->prompt;
	char text[TUI_PROMPT_SIZE];

	if (p->offered && is_character(key)) {
		p->length = 0;
		p->text[0] = '\0';
	}
	p->offered = false;
	switch (key) {
	case TUI_KEY_ENTER:
		memcpy(text, p->text, sizeof(text));
		p->label = NULL;
		p->done(t, text);
		return;
	case TUI_KEY_ESCAPE:
	case TUI_CONTROL('g'):
		p->label = NULL;
		return;
	case TUI_KEY_BACKSPACE:
	case TUI_KEY_DELETE:
		if (!p->length) {
			p->label = NULL;
			return;
		}
		p->length -= last_character(p);
		p->text[p->length] = '\0';
		return;
	case TUI_CONTROL('u'):
		p->length = 0;
		p->text[0] = '\0';
		return;
	default:
		if (is_character(key))
			type_character(p, key);
	}
}

static void press(struct tui *t, int key)
{
	const struct tui_action *a;

	t->message[0] = '\0';
	t->wrong = false;
	if (t->prompt.label) {
		prompt_key(t, key);
	} else if (t->search.active && key == TUI_KEY_ESCAPE) {
		t->search.active = false;
	} else if (!tui_menu_key(t, key)) {
		a = tui_action_of(t, key);
		if (a) {
			t->action = a;
			t->key = key;
			a->run(t);
		}
	}
	if (!t->quit)
		tui_settle(t);
}

/* Is the view still without rows, or a reason why there are none? */
static bool is_awaited(const struct tui_page *p)
{
	return p->kind == TUI_PAGE_REPORT && p->waiting && !p->table && !p->failed;
}

/* Does the key ask for something of the rows? */
static bool needs_rows(const struct tui *t, const struct tui_action *a)
{
	return a->group == TUI_GROUP_MOVE || a->group == TUI_GROUP_FIND ||
	       strcmp(a->name, "enter") == 0 || strcmp(a->name, "menu") == 0 ||
	       strcmp(a->name, "export") == 0 || (a->fits && !a->fits(t));
}

/* Leaving a view is never late. */
static bool leaves(const struct tui_action *a)
{
	return strcmp(a->name, "back") == 0 || strcmp(a->name, "quit") == 0;
}

void tui_key(struct tui *t, int key)
{
	enum { HELD_MAX = 64 };
	const struct tui_action *a = t->prompt.label ? NULL : tui_action_of(t, key);

	if (a && leaves(a))
		t->held.count = 0;
	else if (a && strcmp(a->name, "help") == 0)
		; /* needs nothing */
	else if (t->held.count || (a && is_awaited(tui_top(t)) && needs_rows(t, a))) {
		if (t->held.count < HELD_MAX && vec_add(&t->held, key))
			tui_say(t, "out of memory");
		return;
	}
	press(t, key);
}

static void release_keys(struct tui *t)
{
	while (t->held.count && !t->quit && !is_awaited(tui_top(t)) &&
		!tui_rows_busy(&tui_top(t)->rows)) {
		int key = t->held.data[0];

		t->held.count--;
		memmove(t->held.data, t->held.data + 1, t->held.count * sizeof(key));
		press(t, key);
	}
}

int tui_init(struct tui *t, const struct tui_source *source, size_t report, uint32_t switches,
	int rows, int columns, bool unicode)
{
	memset(t, 0, sizeof(*t));
	t->source = *source;
	t->actions = tui_actions;
	t->release = release_keys;
	t->follow = tui_follow;
	t->switches = switches;
	t->unicode = t->screen.unicode = unicode;
	if (tui_screen_resize(&t->screen, rows, columns) || !tui_open(t, report, NULL)) {
		tui_fini(t);
		return -1;
	}
	return 0;
}
