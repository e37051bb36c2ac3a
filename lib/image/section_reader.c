/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/section_reader.h"

#include <string.h>

uint64_t section_reader_bytes(struct section_reader *r, size_t size)
{
	uint64_t value = 0;

	if (r->bad || r->left.size < size) {
		r->bad = true;
		return 0;
	}
	memcpy(&value, r->left.data, size);
	r->left.data += size;
	r->left.size -= size;
	return value;
}

/* *width: the bits that were there. */
static uint64_t read_leb(struct section_reader *r, unsigned *width, bool *negative)
{
	uint64_t value = 0;

	for (*width = 0; *width < 64;) {
		uint64_t byte = section_reader_bytes(r, 1);

		value |= (byte & 0x7f) << *width;
		*width += 7;
		*negative = byte & 0x40;
		if (!(byte & 0x80))
			return r->bad ? 0 : value;
	}
	r->bad = true;
	return 0;
}

uint64_t section_reader_uleb(struct section_reader *r)
{
	unsigned width;
	bool negative;

	return read_leb(r, &width, &negative);
}

uint64_t section_reader_sleb(struct section_reader *r)
{
	unsigned width;
	bool negative;
	uint64_t value = read_leb(r, &width, &negative);

	return !r->bad && negative && width < 64 ? value | ~UINT64_C(0) << width : value;
}
