/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that grows, in the encodings of model/wire/profile.h. */
#ifndef VALGRIND_BYTES_H
#define VALGRIND_BYTES_H

#include "pub_tool_basics.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"

/* Zero-initialised is empty; data is for VG_(free). */
struct bytes {
	UChar *data;
	SizeT length, room;
};

static inline UChar *bytes_extend(struct bytes *b, SizeT n)
{
	if (b->length + n > b->room) {
		b->room = 2 * (b->length + n) + 64;
		b->data = VG_(realloc)("bytes", b->data, b->room);
	}
	b->length += n;
	return b->data + b->length - n;
}

static inline void bytes_raw(struct bytes *b, const void *data, SizeT n)
{
	if (n)
		VG_(memcpy)(bytes_extend(b, n), data, n);
}

static inline void bytes_byte(struct bytes *b, UInt value)
{
	*bytes_extend(b, 1) = (UChar)value;
}

static inline void bytes_v(struct bytes *b, ULong value)
{
	for (; value >= 0x80; value >>= 7)
		bytes_byte(b, (UInt)(value & 0x7f) | 0x80);
	bytes_byte(b, (UInt)value);
}

static inline void bytes_z(struct bytes *b, Long value)
{
	bytes_v(b, (ULong)value << 1 ^ (ULong)(value >> 63));
}

static inline void bytes_s(struct bytes *b, const HChar *text)
{
	SizeT n = VG_(strlen)(text);

	bytes_v(b, n);
	bytes_raw(b, text, n);
}

#endif
