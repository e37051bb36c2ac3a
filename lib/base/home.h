/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the user's own files are (XDG Base Directory Specification).
 */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include "base/error.h"

enum home_kind {
	HOME_CONFIG, /* $XDG_CONFIG_HOME, else ~/.config: the user's settings */
	HOME_CACHE,  /* $XDG_CACHE_HOME, else ~/.cache: files that can be made again */
};

/* The path of perfex/NAME there; the file need not exist. To be freed by the caller. NULL with *e
 * set: ERR_NOT_FOUND if no variable gives the directory, or memory is out. */
char *home_path(enum home_kind kind, const char *name, struct error *e);
/* Likewise, and makes the directories that lead to it. */
char *home_path_make(enum home_kind kind, const char *name, struct error *e);

#endif
