/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Passes of VEX over the superblocks that instrument.c has written (--wrap of the linker). VEX
 * checks each superblock four times, and simplifies what tools add. Our statements are simple
 * already, so both only take time: a fifth of a translation. --model-passes=yes keeps them, which
 * tests use.
 *
 * VEX calls these functions from the file that is wrapped only for tools; its own optimiser calls
 * the real ones.
 */
#include "valgrind/tool.h"

#include "libvex_ir.h"

Bool all_passes;

void __real_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word);
void __wrap_sanityCheckIRSB(const IRSB *block, const HChar *caller, Bool flat, IRType guest_word);
IRSB *__real_cprop_BB(IRSB *block);
IRSB *__wrap_cprop_BB(IRSB *block);
void __real_do_deadcode_BB(IRSB *block);
void __wrap_do_deadcode_BB(IRSB *block);

__attribute__((used)) void __wrap_sanityCheckIRSB(
	const IRSB *block, const HChar *caller, Bool flat, IRType guest_word)
{
	if (all_passes)
		__real_sanityCheckIRSB(block, caller, flat, guest_word);
}

__attribute__((used)) IRSB *__wrap_cprop_BB(IRSB *block)
{
	return all_passes ? __real_cprop_BB(block) : block;
}

__attribute__((used)) void __wrap_do_deadcode_BB(IRSB *block)
{
	if (all_passes)
		__real_do_deadcode_BB(block);
}
