/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much room the descriptors of a superblock take. */
#ifndef VALGRIND_EXTENT_H
#define VALGRIND_EXTENT_H

#include "valgrind/tool.h"

/* What a superblock can hold at most. */
struct extent {
	UInt insns, accesses, guards, fetches, exits, branches;
	Addr line; /* the last instruction's last one */
};
struct extent extent_of(const IRSB *in);

#endif
