/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "export/protobuf.h"

#include "base/shown.h"

enum { WIRE_VARINT = 0, WIRE_LENGTH = 2 };

static void varint(struct strbuf *s, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		strbuf_putc(s, (char)(value | 0x80));
	strbuf_putc(s, (char)value);
}

static size_t varint_size(uint64_t value)
{
	size_t size = 1;

	for (; value >= 0x80; value >>= 7)
		size++;
	return size;
}

static void key(struct strbuf *s, unsigned field, unsigned wire)
{
	varint(s, (uint64_t)field << 3 | wire);
}

void protobuf_integer(struct strbuf *s, unsigned field, uint64_t value)
{
	if (!value)
		return;
	key(s, field, WIRE_VARINT);
	varint(s, value);
}

void protobuf_string(struct strbuf *s, unsigned field, const char *text)
{
	struct strbuf clean = {0};

	shown_puts(&clean, text);
	protobuf_message(s, field, &clean);
	s->failed = s->failed || clean.failed;
	strbuf_fini(&clean);
}

void protobuf_message(struct strbuf *s, unsigned field, const struct strbuf *message)
{
	key(s, field, WIRE_LENGTH);
	varint(s, message->length);
	strbuf_add(s, strbuf_text(message), message->length);
}

void protobuf_packed(struct strbuf *s, unsigned field, const uint64_t *values, size_t count)
{
	size_t length = 0;

	if (!count)
		return;
	for (size_t i = 0; i < count; i++)
		length += varint_size(values[i]);
	key(s, field, WIRE_LENGTH);
	varint(s, length);
	for (size_t i = 0; i < count; i++)
		varint(s, values[i]);
}
