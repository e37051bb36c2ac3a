/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this module share. */
#ifndef STORE_PRIVATE_H
#define STORE_PRIVATE_H

#include "base/strbuf.h"
#include "store/store.h"

/* DIR/A/B; to be freed by the caller, NULL with *e set. b may be NULL. */
char *store_path(const struct store *s, const char *a, const char *b, struct error *e);
/* Writes text privately: another name, sync, rename. */
int store_write(const char *path, const struct strbuf *text, struct error *e);
/* The name of a file of experiments; false: it is none. */
bool store_file_name(const char *name, unsigned *day, bool *week);
/* The directory of what was removed unread. */
#define STORE_REMOVED "removed"
/* The samples of all of these images; part is not initialised. 1: there are none, and part is not
 * either. */
int store_part_removed(struct experiment *part, const struct experiment *x, struct error *e);
/* The name of an image's directory; to be freed by the caller, NULL when memory is out. */
char *store_image_id(const struct experiment_image *image);

#endif
