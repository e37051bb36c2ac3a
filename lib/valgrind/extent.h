/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The size of the descriptors of a superblock. */
#ifndef VALGRIND_EXTENT_H
#define VALGRIND_EXTENT_H

#include "valgrind/tool.h"

/* The most that a superblock can contain. */
struct extent {
	UInt insns, accesses, guards, fetches, exits, branches;
	Addr line; /* the last instruction's last one */
};
struct extent extent_of(const IRSB *in);

#endif
