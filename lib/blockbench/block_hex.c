/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "blockbench/blockbench.h"
#include "blockbench/channel.h"

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool hex_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

enum block_class block_parse_hex(
	const char *text, size_t length, uint8_t *bytes, size_t room, size_t *count)
{
	*count = 0;
	for (size_t i = 0; i < length;) {
		int high, low;

		if (hex_blank(text[i])) {
			i++;
			continue;
		}
		high = digit(text[i]);
		low = i + 1 < length ? digit(text[i + 1]) : -1;
		if (high < 0 || low < 0)
			return BLOCK_NOT_HEX;
		if (*count == room)
			return BLOCK_TOO_LONG;
		bytes[(*count)++] = (uint8_t)(high << 4 | low);
		i += 2;
	}
	return *count ? BLOCK_OK : BLOCK_EMPTY;
}
