/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files from debuginfod servers. The library is loaded when first needed, because it depends on
 * many others. */
#ifndef IMAGE_DEBUGINFOD_H
#define IMAGE_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE };

/* The path of a copy in the library's cache, to be freed by the caller; NULL with the reason in
 * `why`, one line. DEBUGINFOD_URLS has the servers. */
char *debuginfod_fetch(
	const uint8_t *build_id, size_t length, enum debuginfod_kind kind, char *why, size_t room);

#endif
