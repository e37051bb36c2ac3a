/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code of tests, written in hexadecimal. */
#ifndef TESTS_UNHEX_H
#define TESTS_UNHEX_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Returns the number of bytes, room at most. */
static size_t unhex(const char *hex, uint8_t *bytes, size_t room)
{
	size_t n = 0;
	unsigned byte;

	for (; n < room && sscanf(hex, "%2x", &byte) == 1; hex += 2)
		bytes[n++] = (uint8_t)byte;
	return n;
}

#endif
