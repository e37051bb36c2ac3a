/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Structures and their members, by entries of debug information. */
#ifndef IMAGE_TYPES_H
#define IMAGE_TYPES_H

#include "image/debug.h"

/* The name of a structure, class or union with members; NULL: it is none. */
const char *types_structure(Dwarf_Die *type);
/* The member of elements of this structure at an offset from the first; -1: none. */
int types_member(Dwarf_Die *structure, uint64_t offset, struct image_member *member);

#endif
