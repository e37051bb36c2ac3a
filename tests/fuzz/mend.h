/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Checksums of an experiment's sections are put right, so that chance gets past them. */
#ifndef TESTS_FUZZ_MEND_H
#define TESTS_FUZZ_MEND_H

#include <stdint.h>
#include <zlib.h>

#include "experiment/private.h"

static void mend(uint8_t *data, size_t size)
{
	if (size < CODING_PREFIX)
		return;
	for (size_t at = CODING_PREFIX; size - at >= CODING_SECTION;) {
		size_t length = (size_t)get_fixed(data + at + 4, 4);
		uLong sum = crc32(crc32(0, NULL, 0), data + at, 8);

		if (length > size - at - CODING_SECTION)
			return;
		if (length)
			sum = crc32_z(sum, data + at + CODING_SECTION, length);
		put_fixed(data + at + 8, sum, 4);
		at += CODING_SECTION + length;
	}
}

#endif
