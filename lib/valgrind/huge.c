/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Huge pages of the host for large memory that is used in no order: then its TLB misses less. The
 * core's own large allocations (translations, the table of them, the heap with the descriptors of
 * segments) come from a function that this one replaces (--wrap of the linker). Of these only what
 * is used becomes memory, in pieces of 2 MiB.
 */
#include "valgrind/core.h"

#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "valgrind/tool.h"

#define HUGE_PAGES       14 /* MADV_HUGEPAGE of madvise(2) */
#define SMALL_PAGE_BYTES 4096
#define HUGE_PAGE_BYTES  ((SizeT)2 << 20)

SysRes __real_vgPlain_am_mmap_anon_float_valgrind(SizeT size);
SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT size);

void huge_request(Addr begin, SizeT bytes)
{
	Addr end = (begin + bytes) & ~(Addr)(SMALL_PAGE_BYTES - 1);

	begin = (begin + SMALL_PAGE_BYTES - 1) & ~(Addr)(SMALL_PAGE_BYTES - 1);
	if (begin < end)
		VG_(do_syscall)(__NR_madvise, begin, end - begin, HUGE_PAGES, 0, 0, 0, 0, 0);
}

__attribute__((used)) SysRes __wrap_vgPlain_am_mmap_anon_float_valgrind(SizeT size)
{
	SysRes r = __real_vgPlain_am_mmap_anon_float_valgrind(size);

	if (!sr_isError(r) && size >= HUGE_PAGE_BYTES)
		huge_request(sr_Res(r), size);
	return r;
}
