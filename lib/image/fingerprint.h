/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef IMAGE_FINGERPRINT_H
#define IMAGE_FINGERPRINT_H

#include <stddef.h>
#include <stdint.h>

/* A hash of the bytes, never 0; not cryptographic. */
uint64_t identify_fingerprint(const void *bytes, size_t size);
struct elf_file;
/* The same of a whole file, whose pages do not stay in memory. */
uint64_t identify_file(struct elf_file *f);

#endif
