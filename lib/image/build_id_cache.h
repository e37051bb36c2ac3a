/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory in which perf record keeps copies of what it has sampled, by build-id:
 * DIR/.build-id/xx/yyyy.../elf, kallsyms or vdso; of old versions .build-id/xx/yyyy... is the file.
 */
#ifndef IMAGE_BUILD_ID_CACHE_H
#define IMAGE_BUILD_ID_CACHE_H

#include "image/image.h"

/* The path of the copy ("elf", "kallsyms", "vdso"), yours to free; NULL: there is none.  directory
 * NULL: ~/.debug. */
char *build_id_cache_find(const char *directory, const struct image_identity *id, const char *name);

#endif
