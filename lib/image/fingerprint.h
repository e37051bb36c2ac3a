/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef IMAGE_FINGERPRINT_H
#define IMAGE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* A hash of the bytes, never 0; not cryptographic. */
uint64_t identify_fingerprint(const void *bytes, size_t size);

#endif
