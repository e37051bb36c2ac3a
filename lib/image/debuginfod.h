/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files from debuginfod servers.  The library is loaded when first wanted: it brings half a web
 * browser with it. */
#ifndef IMAGE_DEBUGINFOD_H
#define IMAGE_DEBUGINFOD_H

#include <stddef.h>
#include <stdint.h>

enum debuginfod_kind { DEBUGINFOD_DEBUG, DEBUGINFOD_EXECUTABLE };

/* The path of a copy in the library's cache, yours to free; NULL with the reason in `why`, one
 * line. Which servers, DEBUGINFOD_URLS says. */
char *debuginfod_fetch(
	const uint8_t *build_id, size_t length, enum debuginfod_kind kind, char *why, size_t room);

#endif
