/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the user's own files are (XDG Base Directory Specification).
 */
#ifndef BASE_HOME_H
#define BASE_HOME_H

#include "base/error.h"

enum home_kind {
	HOME_CONFIG, /* $XDG_CONFIG_HOME, else ~/.config: what the user wants kept */
	HOME_CACHE,  /* $XDG_CACHE_HOME, else ~/.cache: what can be found out again */
};

/* The path of perfex/NAME there; the file need not exist.  Yours to free.  NULL with *e set:
 * ERR_NOT_FOUND where no variable says where, or memory is out. */
char *home_path(enum home_kind kind, const char *name, struct error *e);
/* Likewise, and makes the directories that lead to it. */
char *home_path_make(enum home_kind kind, const char *name, struct error *e);

#endif
