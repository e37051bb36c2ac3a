/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * VEX has no expression for a prefetch's address, so it is computed from the registers
 * (instrument.c). VEX's optimiser drops an update of a register that a later one in the same
 * superblock hides. Superblocks with a prefetch are therefore translated with every update kept.
 * VEX requests that in a callback; Valgrind passes its own, and this one replaces it (--wrap of the
 * linker) and calls it first.
 *
 * Superblocks that only count (modes.h) leave no record that a fault could cut short. They keep no
 * more than the stack pointer up to date at each memory access while the program handles no faults:
 * interpreters take 5% less time.
 */
#include "valgrind/tool.h"

#include "libvex.h"
#include "valgrind/faults.h"
#include "valgrind/modes.h"

Bool precise_prefetches;

VexTranslateResult __real_LibVEX_Translate(VexTranslateArgs *arguments);
VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments);

static UInt (*valgrinds_own)(void *, VexRegisterUpdates *, const VexGuestExtents *);

/* 0F 18 or 0F 0D anywhere: a superblock too many costs a little speed. */
static Bool may_prefetch(const VexGuestExtents *extents)
{
	for (Int i = 0; i < extents->n_used; i++) {
		const UChar *at = (const UChar *)extents->base[i];
		const UChar *end = at + extents->len[i];

		for (; at + 1 < end; at++)
			if (at[0] == 0x0f && (at[1] == 0x18 || at[1] == 0x0d))
				return True;
	}
	return False;
}

static UInt choose_precision(
	void *opaque, VexRegisterUpdates *precision, const VexGuestExtents *extents)
{
	UInt checks = valgrinds_own(opaque, precision, extents);

	if (modes_counting) {
		if (*precision == VexRegUpdUnwindregsAtMemAccess && !resume_handles)
			*precision = VexRegUpdSpAtMemAccess;
	} else if (precise_prefetches && may_prefetch(extents)) {
		*precision = VexRegUpdAllregsAtEachInsn;
	}
	resume_precision(precision);
	return checks | changing_code(extents);
}

__attribute__((used)) VexTranslateResult __wrap_LibVEX_Translate(VexTranslateArgs *arguments)
{
	valgrinds_own = arguments->needs_self_check;
	arguments->needs_self_check = choose_precision;
	faults_translate();
	return __real_LibVEX_Translate(arguments);
}
