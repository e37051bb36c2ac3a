/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/utf8.h"

#include <stddef.h>

int utf8_length(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	int n = s[0] < 0x80                   ? 1
		: s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		: s[0] >= 0xe0 && s[0] < 0xf0 ? 3
		: s[0] >= 0xf0 && s[0] < 0xf5 ? 4
					      : 0;

	for (int i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
		(s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

uint32_t utf8_number(const char *text, int bytes)
{
	const unsigned char *s = (const unsigned char *)text;
	uint32_t c = bytes == 1 ? s[0] : s[0] & (0x7fu >> bytes);

	for (int i = 1; i < bytes; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

int utf8_plain(const char *text)
{
	/* Controls; what has no form, so that two names look the same; what turns the direction of
	 * text, so that a name looks like another. U+200C and U+200D are parts of words. */
	static const struct {
		uint32_t first, last;
	} others[] = {
		{0, 0x1f},
		{0x7f, 0x9f},
		{0xad, 0xad},
		{0x61c, 0x61c},
		{0x115f, 0x1160},
		{0x180e, 0x180e},
		{0x200b, 0x200b},
		{0x200e, 0x200f},
		{0x2028, 0x202e},
		{0x2060, 0x206f},
		{0x3164, 0x3164},
		{0xfeff, 0xfeff},
		{0xffa0, 0xffa0},
		{0xfff9, 0xfffb},
		{0x1d173, 0x1d17a},
		{0xe0000, 0xe0fff},
	};
	uint32_t c;
	int n;

	if (*text >= ' ' && *text < 0x7f)
		return 1;
	n = utf8_length(text);
	c = utf8_number(text, n ? n : 1);
	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && c >= others[i].first; i++)
		if (c <= others[i].last)
			return 0;
	return n;
}
