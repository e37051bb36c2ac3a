/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The names of our own data files of a kind: share/perfex/DIRECTORY/NAME.SUFFIX.
 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/error.h"
#include "base/vec.h"

typedef VEC(char *) name_list;

/* Sorted; suffix with its dot.  On failure, with *e set, names is empty. */
int names_list(name_list *names, const char *directory, const char *suffix, struct error *e);
void names_fini(name_list *names);
/* Calls each with every name, in order. */
int names_walk(const char *directory, const char *suffix,
	void (*each)(const char *name, void *context), void *context, struct error *e);

#endif
