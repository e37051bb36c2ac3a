/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of memory that do not overlap, by address, each with a number. */
#ifndef VALGRIND_SPANS_H
#define VALGRIND_SPANS_H

#include "pub_tool_basics.h"
#include "pub_tool_oset.h"

struct span {
	Addr start; /* the set's key */
	SizeT size;
	UInt object;
};

OSet *spans_new(void);
/* Where nothing is. */
void spans_add(OSet *spans, Addr start, SizeT size, UInt object);
/* The one that has the byte; NULL: none has. */
struct span *spans_at(const OSet *spans, Addr address);
/* One that has some of these bytes; NULL: none has. */
struct span *spans_over(const OSet *spans, Addr a, SizeT length);
void spans_remove(OSet *spans, struct span *s);

#endif
