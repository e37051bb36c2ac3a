/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The beginning, and what each key does: an answer to the question in the last line, or an action.
 */
#include <stdio.h>
#include <string.h>

#include "tui/actions.h"

int tui_init(struct tui *t, const struct tui_source *source, size_t report, uint32_t switches,
	int rows, int columns, bool unicode)
{
	memset(t, 0, sizeof(*t));
	t->source = *source;
	t->actions = tui_actions;
	t->switches = switches;
	t->unicode = t->screen.unicode = unicode;
	if (tui_screen_resize(&t->screen, rows, columns) || !tui_open(t, report, NULL)) {
		tui_fini(t);
		return -1;
	}
	return 0;
}

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

static void prompt_key(struct tui *t, int key)
{
	struct tui_prompt *p = &t->prompt;
	char text[TUI_PROMPT_SIZE];

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
		if ((key >= ' ' && key < 0x7f) || (key >= 0xa0 && key < TUI_KEY_FIRST))
			type_character(p, key);
	}
}

void tui_key(struct tui *t, int key)
{
	const struct tui_action *a;

	t->message[0] = '\0';
	t->wrong = false;
	if (t->prompt.label) {
		prompt_key(t, key);
	} else if (t->search.active && key == TUI_KEY_ESCAPE) {
		t->search.active = false;
	} else {
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
