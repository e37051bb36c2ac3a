/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Page faults of the program: which pages of its memory the kernel has provided. It provides the
 * same pages here as without Valgrind, so they are looked up in /proc/self/pagemap, when memory is
 * given back, and when the program executes another one or ends.
 *
 * - Memory of no file: a fault a page; an aligned 2 MiB, wholly there, is one where the kernel
 *   uses large pages everywhere.
 * - Of a file: a fault for any part of an aligned 64 KiB, since the kernel maps what is around. A
 *   page that was written, of a private mapping, is one more.
 *
 * Not known: the second fault of a page that was read before it was written, and faults of a forked
 * process on pages that it shared with its parent.
 */
#include "valgrind/tool.h"

#include "pub_tool_aspacehl.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "valgrind/core.h"

#define PAGE_BITS    12
#define AROUND_BITS  16 /* fault_around_bytes of the kernel */
#define LARGE_PAGES  512
#define ENTRIES      LARGE_PAGES /* that are read at once: they begin at a multiple of their number */
#define MAP_IS_FIXED 0x10
#define DONTNEED     4
#define FREE         8

/* Bits of an entry: see proc(5). */
#define PRESENT ((ULong)1 << 63)
#define SWAPPED ((ULong)1 << 62)
#define OF_FILE ((ULong)1 << 61)

static Bool large_everywhere;
static uint64_t gone;    /* faults on pages that are no longer there */
static uint64_t before;  /* and on those that were there when the process was forked */
static uint64_t counted; /* faults that touched_count returned */
static Addr heap_end;

/* Of up to ENTRIES pages, of which the first has this number. */
static uint64_t faults_of(const ULong *entry, UWord page, UInt count, Bool file)
{
	UWord around = ~(UWord)0, there = 0;
	uint64_t faults = 0;

	for (UInt i = 0; i < count; i++) {
		UWord now = (page + i) >> (AROUND_BITS - PAGE_BITS);

		if (!(entry[i] & (PRESENT | SWAPPED)))
			continue;
		there++;
		faults += !file || !(entry[i] & OF_FILE) || now != around;
		if (file && (entry[i] & OF_FILE))
			around = now;
	}
	return there == LARGE_PAGES && !file && large_everywhere ? 1 : faults;
}

static uint64_t faults_between(Int pagemap, const NSegment *s, Addr from, Addr end)
{
	static ULong entry[ENTRIES];
	UWord page = from >> PAGE_BITS, last = end >> PAGE_BITS;
	uint64_t faults = 0;

	if (!s->hasR && !s->hasW && !s->hasX)
		return 0; /* reserved */
	while (page < last) {
		UWord count = ENTRIES - page % ENTRIES;
		Int bytes;

		count = count < last - page ? count : last - page;
		VG_(lseek)(pagemap, (Off64T)(page * sizeof(*entry)), VKI_SEEK_SET);
		bytes = VG_(read)(pagemap, entry, (Int)(count * sizeof(*entry)));
		if (bytes <= 0)
			break;
		faults += faults_of(
			entry, page, (UInt)((UWord)bytes / sizeof(*entry)), s->kind == SkFileC);
		page += count;
	}
	return faults;
}

static Bool of_program(const NSegment *s)
{
	return s && (s->kind == SkAnonC || s->kind == SkFileC || s->kind == SkShmC);
}

static Int pagemap_open(void)
{
	return VG_(fd_open)("/proc/self/pagemap", VKI_O_RDONLY, 0);
}

/* Of all memory of the program. */
static uint64_t faults_of_all(void)
{
	Int count, pagemap = pagemap_open();
	uint64_t faults = 0;
	Addr *starts;

	if (pagemap < 0)
		return 0;
	starts = VG_(get_segment_starts)(SkAnonC | SkFileC | SkShmC, &count);
	for (Int i = 0; i < count; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);

		if (of_program(s))
			faults += faults_between(pagemap, s, s->start, s->end + 1);
	}
	VG_(free)(starts);
	VG_(close)(pagemap);
	return faults;
}

/* Pages of the range will no longer be there. */
static void touched_leave(Addr from, SizeT size)
{
	Addr end = VG_PGROUNDUP(from + size);
	Int pagemap;

	if (!size || from & (VKI_PAGE_SIZE - 1) || end < from || (pagemap = pagemap_open()) < 0)
		return;
	while (from < end) {
		const NSegment *s = VG_(am_find_nsegment)(from);
		Addr to;

		if (!s)
			break;
		to = s->end + 1 && s->end + 1 < end ? s->end + 1 : end;
		if (of_program(s)) {
			gone += faults_between(pagemap, s, from, to);
			model_unmap(model, from, to - from);
		}
		from = to;
	}
	VG_(close)(pagemap);
}

void touched_before(UInt number, const UWord *a)
{
	switch (number) {
	case __NR_munmap:
		touched_leave(a[0], a[1]);
		break;
	case __NR_mmap:
		if (a[3] & MAP_IS_FIXED)
			touched_leave(a[0], a[1]);
		break;
	case __NR_madvise:
		if (a[2] == DONTNEED || a[2] == FREE)
			touched_leave(a[0], a[1]);
		break;
	case __NR_mremap:
		if (a[2] < a[1])
			touched_leave(a[0] + VG_PGROUNDUP(a[2]), a[1] - VG_PGROUNDUP(a[2]));
		break;
	case __NR_brk:
		if (a[0] && a[0] < heap_end)
			touched_leave(VG_PGROUNDUP(a[0]), heap_end - a[0]);
		break;
	}
}

/* Valgrind keeps the pages that the heap gave back, and clears them. */
void touched_after(UInt number, SysRes result)
{
	Addr end = sr_Res(result);

	if (number != __NR_brk || sr_isError(result))
		return;
	if (VG_PGROUNDUP(end) < VG_PGROUNDDN(heap_end))
		VG_(do_syscall)
	(__NR_madvise, VG_PGROUNDUP(end), VG_PGROUNDDN(heap_end) - VG_PGROUNDUP(end), DONTNEED, 0,
		0, 0, 0, 0);
	heap_end = end;
}

uint64_t touched_count(void)
{
	uint64_t now = gone + faults_of_all(), more;

	more = now > before + counted ? now - before - counted : 0;
	counted += more;
	return more;
}

void touched_forked(void)
{
	gone = counted = 0;
	before = faults_of_all();
}

void touched_begin(void)
{
	HChar text[64];
	Int length =
		tool_read("/sys/kernel/mm/transparent_hugepage/enabled", text, sizeof(text) - 1);

	text[length > 0 ? length : 0] = '\0';
	large_everywhere = VG_(strstr)(text, "[always]") != NULL;
}
