/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The directory of perf record's copies of sampled files, by build-id:
 * DIR/.build-id/xx/yyyy.../elf, kallsyms or vdso; in old versions .build-id/xx/yyyy... is the
 * file.
 */
#ifndef IMAGE_BUILD_ID_CACHE_H
#define IMAGE_BUILD_ID_CACHE_H

#include "image/image.h"

/* The path of the copy ("elf", "kallsyms", "vdso"), to be freed by the caller; NULL: there is
 * none. directory NULL: ~/.debug. */
char *build_id_cache_find(const char *directory, const struct image_identity *id, const char *name);

#endif
