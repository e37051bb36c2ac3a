/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Keys: characters as themselves (with Control, below 32), others as numbers beyond Unicode. */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stddef.h>

enum tui_key {
	TUI_KEY_NONE = 0,
	TUI_KEY_FIRST = 0x110000,
	TUI_KEY_UP = TUI_KEY_FIRST,
	TUI_KEY_DOWN,
	TUI_KEY_LEFT,
	TUI_KEY_RIGHT,
	TUI_KEY_SHIFT_LEFT,
	TUI_KEY_SHIFT_RIGHT,
	TUI_KEY_PAGE_UP,
	TUI_KEY_PAGE_DOWN,
	TUI_KEY_HOME,
	TUI_KEY_END,
	TUI_KEY_ENTER,
	TUI_KEY_BACKSPACE,
	TUI_KEY_DELETE,
	TUI_KEY_ESCAPE,
	TUI_KEY_TAB,
	TUI_KEY_BACKTAB,
	TUI_KEY_F1,
	TUI_KEY_F10,
	TUI_KEY_END_OF_KEYS
};

#define TUI_CONTROL(c) ((c)&0x1f)

/* "Up", "^L", "Space", "q". In a buffer of 8 bytes. */
const char *tui_key_name(int key, char room[8]);

#endif
