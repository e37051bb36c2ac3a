/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Code that changes where Valgrind does not check. Valgrind compares the code of a superblock with
 * the translated one each time only if it is not in a file, as is usual for code generated at run
 * time. Some generators, though, write code through another mapping of the same memory, which is a
 * file in memory; and some programs make their own text writable to patch it. Both are also checked
 * here; the code of ordinary files costs nothing.
 */
#include "valgrind/tool.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "valgrind/core.h"

static Bool in_memory(const HChar *name)
{
	static const HChar *const where[] = {"/memfd:", "/dev/shm/", "/SYSV"};

	for (UInt i = 0; name && i < sizeof(where) / sizeof(where[0]); i++)
		if (VG_(strncmp)(name, where[i], VG_(strlen)(where[i])) == 0)
			return True;
	return name && VG_(strstr)(name, " (deleted)") != NULL;
}

Bool changing_may(Addr code)
{
	const NSegment *s = VG_(am_find_nsegment)(code);

	return s && s->kind == SkFileC && (s->hasW || in_memory(VG_(am_get_filename)(s)));
}

UInt changing_code(const VexGuestExtents *extents)
{
	UInt check = 0;

	for (Int i = 0; i < extents->n_used; i++)
		if (changing_may(extents->base[i]))
			check |= 1u << i;
	return check;
}

static void translate_anew(Addr code)
{
	const NSegment *s = VG_(am_find_nsegment)(code);

	if (s && s->kind == SkFileC && s->hasT)
		VG_(discard_translations)(s->start, s->end - s->start + 1, "perfexmodel");
}

void changing_beside(Addr from, SizeT size)
{
	translate_anew(from - 1);
	translate_anew(from + size);
}

void changing_protection(Addr from, SizeT size, Bool readable, Bool writable, Bool executable)
{
	(void)readable, (void)executable;
	for (Addr at = from; writable && at < from + size;) {
		const NSegment *s = VG_(am_find_nsegment)(at);

		if (!s || s->end >= from + size - 1) {
			at = from + size;
		} else {
			at = s->end + 1;
		}
		if (s && s->kind == SkFileC && s->hasT) {
			/* The code translated from here is not checked. We are in a system call, as
			 * when the core itself discards for munmap. */
			VG_(discard_translations)(from, size, "perfexmodel");
			changing_beside(from, size);
			return;
		}
	}
}
