/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/spans.h"

#include "pub_tool_mallocfree.h"

OSet *spans_new(void)
{
	return VG_(OSetGen_Create)(0, NULL, VG_(malloc), "spans", VG_(free));
}

void spans_add(OSet *spans, Addr start, SizeT size, UInt object)
{
	struct span *s = VG_(OSetGen_AllocNode)(spans, sizeof(*s));

	*s = (struct span){start, size, object};
	VG_(OSetGen_Insert)(spans, s);
}

static Word spans_overlap(const void *key, const void *element)
{
	const struct span *range = key, *s = element;

	return range->start + range->size <= s->start ? -1 : range->start >= s->start + s->size;
}

struct span *spans_over(const OSet *spans, Addr a, SizeT length)
{
	const struct span range = {a, length, 0};

	return VG_(OSetGen_LookupWithCmp)((OSet *)spans, &range, spans_overlap);
}

struct span *spans_at(const OSet *spans, Addr address)
{
	return spans_over(spans, address, 1);
}

void spans_remove(OSet *spans, struct span *s)
{
	VG_(OSetGen_Remove)(spans, &s->start);
	VG_(OSetGen_FreeNode)(spans, s);
}
