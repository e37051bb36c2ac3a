/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tui/keys.h"

#include <stdio.h>
#include <string.h>

static const char *const names[] = {
	[TUI_KEY_UP - TUI_KEY_FIRST] = "Up",
	[TUI_KEY_DOWN - TUI_KEY_FIRST] = "Down",
	[TUI_KEY_LEFT - TUI_KEY_FIRST] = "Left",
	[TUI_KEY_RIGHT - TUI_KEY_FIRST] = "Right",
	[TUI_KEY_SHIFT_LEFT - TUI_KEY_FIRST] = "S-Left",
	[TUI_KEY_SHIFT_RIGHT - TUI_KEY_FIRST] = "S-Right",
	[TUI_KEY_PAGE_UP - TUI_KEY_FIRST] = "PgUp",
	[TUI_KEY_PAGE_DOWN - TUI_KEY_FIRST] = "PgDn",
	[TUI_KEY_HOME - TUI_KEY_FIRST] = "Home",
	[TUI_KEY_END - TUI_KEY_FIRST] = "End",
	[TUI_KEY_ENTER - TUI_KEY_FIRST] = "Enter",
	[TUI_KEY_BACKSPACE - TUI_KEY_FIRST] = "BackSp",
	[TUI_KEY_DELETE - TUI_KEY_FIRST] = "Del",
	[TUI_KEY_ESCAPE - TUI_KEY_FIRST] = "Esc",
	[TUI_KEY_TAB - TUI_KEY_FIRST] = "Tab",
	[TUI_KEY_BACKTAB - TUI_KEY_FIRST] = "S-Tab",
	[TUI_KEY_F1 - TUI_KEY_FIRST] = "F1",
	[TUI_KEY_F10 - TUI_KEY_FIRST] = "F10",
};

const char *tui_key_name(int key, char room[8])
{
	if (key >= TUI_KEY_FIRST && key < TUI_KEY_END_OF_KEYS)
		return names[key - TUI_KEY_FIRST];
	if (key == ' ')
		return "Space";
	if (key > 0 && key < 32)
		snprintf(room, 8, "^%c", key + 64);
	else if (key > 32 && key < 127)
		snprintf(room, 8, "%c", key);
	else
		snprintf(room, 8, "?");
	return room;
}
