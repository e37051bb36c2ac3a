/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which memory the kernel maps with pages of 2 MiB, passed to the model (model_map).
 *
 * The rule is the same in every run on a host. An aligned 2 MiB is one page if, when it is mapped,
 * it is wholly in mapped memory, and that memory is
 * - a mapping of huge pages (MAP_HUGETLB), or
 * - private, anonymous and writable (mmap, brk, mremap, or the program's bss), if
 *   /sys/kernel/mm/transparent_hugepage/enabled is "always" and no other madvise was applied; or,
 *   if it is "madvise", once madvise requested it.
 *
 * It stops being one page when part of it is unmapped, mapped anew, moved or protected otherwise,
 * or once another madvise is applied.
 *
 * The kernel decides at the first touch, uses large pages only while it finds some, and collects
 * small pages into large ones later (khugepaged): none of that is modelled. Valgrind's mappings
 * also have other addresses than the kernel would choose. Stacks have small pages.
 */
#include "valgrind/tool.h"

#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"

#define SMALL_BITS      12
#define LARGE_BITS      21
#define LARGE_SIZE      (1UL << LARGE_BITS)
#define PROTECT_WRITE   0x2
#define MAP_IS_PRIVATE  0x02
#define MAP_IS_ANON     0x20
#define MAP_IS_HUGETLB  0x40000
#define REMAP_DONTUNMAP 0x4
#define ADVISE_HUGE     14
#define ADVISE_SMALL    15
#define DISABLE_HUGE    41 /* prctl(PR_SET_THP_DISABLE) */

static enum { NEVER_LARGE, WHERE_ADVISED, ALWAYS_LARGE } transparent;
static Bool disabled;
static Addr heap_end;

static void pages_map_in(Addr address, SizeT size, Bool large)
{
	model_map(model, address, size, large ? LARGE_BITS : SMALL_BITS);
}

static Bool by_itself(void)
{
	return transparent == ALWAYS_LARGE && !disabled;
}

/* The program's bss: writable, anonymous, and adjacent to the file. */
static void map_bss(void)
{
	Int count, i;
	Addr *starts = VG_(get_segment_starts)(SkAnonC, &count);

	for (i = 0; i < count; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);
		const NSegment *before = VG_(am_find_nsegment)(starts[i] - 1);

		if (s && s->hasW && before && before->kind == SkFileC)
			pages_map_in(s->start, s->end - s->start + 1, True);
	}
	VG_(free)(starts);
}

void pages_start(void)
{
	HChar text[64];
	Int length =
		tool_read("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	if (VG_(strstr)(text, "[always]"))
		transparent = ALWAYS_LARGE;
	else if (VG_(strstr)(text, "[madvise]"))
		transparent = WHERE_ADVISED;
	if (by_itself())
		map_bss();
}

static void pages_mapped(const UWord *a, Addr at)
{
	UWord protection = a[2], flags = a[3];
	Bool anonymous = (flags & MAP_IS_ANON) && (flags & MAP_IS_PRIVATE);

	pages_map_in(at, a[1], False);
	if ((flags & MAP_IS_HUGETLB) || (anonymous && (protection & PROTECT_WRITE) && by_itself()))
		pages_map_in(at, a[1], True);
}

/* The heap's end moves by less than a page, or up, or down. */
static void heap_moved(Addr end)
{
	if (heap_end && end > heap_end && by_itself())
		pages_map_in(heap_end, end - heap_end, True);
	if (heap_end && end < heap_end)
		pages_map_in(end, heap_end - end, False);
	heap_end = end;
}

static void moved(const UWord *a, Addr to)
{
	SizeT old_size = a[1], size = a[2];

	if (to != a[0] && !(a[3] & REMAP_DONTUNMAP))
		pages_map_in(a[0], old_size, False);
	if (to == a[0] && size < old_size)
		pages_map_in(a[0] + size, old_size - size, False);
	if (to == a[0] && size > old_size && by_itself())
		pages_map_in(a[0] + old_size, size - old_size, True);
	if (to != a[0])
		pages_map_in(to, size, by_itself());
}

static void advised(const UWord *a)
{
	const NSegment *s = VG_(am_find_nsegment)(a[0]);

	if (a[2] == ADVISE_SMALL)
		pages_map_in(a[0], a[1], False);
	if (a[2] == ADVISE_HUGE && transparent != NEVER_LARGE && !disabled && s &&
		s->kind == SkAnonC)
		pages_map_in(a[0], a[1], True);
}

/* Large pages with parts in the range, at its ends, become small. */
static void protected_otherwise(Addr from, SizeT size)
{
	Addr end = from + size;

	if (from & (LARGE_SIZE - 1))
		pages_map_in(from, 1, False);
	if (end & (LARGE_SIZE - 1))
		pages_map_in(end, 1, False);
}

void pages_system_call(UInt number, const UWord *a, SysRes result)
{
	if (number == __NR_brk && !sr_isError(result))
		heap_moved(sr_Res(result));
	if (sr_isError(result))
		return;
	switch (number) {
	case __NR_mmap:
		pages_mapped(a, sr_Res(result));
		break;
	case __NR_munmap:
		pages_map_in(a[0], a[1], False);
		break;
	case __NR_mremap:
		moved(a, sr_Res(result));
		break;
	case __NR_madvise:
		advised(a);
		break;
	case __NR_mprotect:
		protected_otherwise(a[0], a[1]);
		break;
	case __NR_prctl:
		disabled = a[0] == DISABLE_HUGE ? a[1] != 0 : disabled;
		break;
	}
}
