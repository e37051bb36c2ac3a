/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * No debugging information: Valgrind's core would read that of every object as it is mapped, which
 * is two thirds of the time of a short program. This tool needs no names, nor do the parts of the
 * core that it uses (only other tools replace functions). By the linker's --wrap.
 */
#include "pub_tool_basics.h"

ULong __wrap_vgPlain_di_notify_mmap(Addr address, Bool allow_writable, Int descriptor);

/* 0: nothing was read. */
__attribute__((used)) ULong __wrap_vgPlain_di_notify_mmap(
	Addr address, Bool allow_writable, Int descriptor)
{
	(void)address, (void)allow_writable, (void)descriptor;
	return 0;
}
