/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A directory with copies of images, by build-id (or fingerprint), as ssrun -archive fills it:
 * DIR/xx/yyyy.../elf, and .../debug for a separate debug file.
 */
#ifndef IMAGE_ARCHIVE_H
#define IMAGE_ARCHIVE_H

#include "image/image.h"

/* Makes the directory if it is missing, and checks that it can be written. */
int archive_create(const char *directory, struct error *e);
/* Copies the file (and its separate debug file) into directory, unless it is already there;
 * written under another name first. path: where to read it from (perhaps /proc/PID/root/...). */
int archive_add(
	const char *directory, const struct image_identity *id, const char *path, struct error *e);
/* The path of the copy, to be freed by the caller; NULL with *e set: ERR_NOT_FOUND. */
char *archive_find(const char *directory, const struct image_identity *id, struct error *e);

/* The separate debug file beside it; NULL: none. */
char *archive_find_debug(const char *directory, const struct image_identity *id);

#endif
