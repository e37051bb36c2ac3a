/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The maker of the processor that the program sees. VEX's is one of Intel's; libraries choose
 * routines and limits by the maker, beside what the processor can do. So that a model of this host
 * executes what the host does, an AMD one says that it is one: maker, family, name, sizes of
 * caches. What it can do stays what VEX can run.
 *
 * Of other makers, and for models of other processors, the answers are VEX's: the same on all
 * hosts.
 */
#include "valgrind/core.h"

#include <cpuid.h>

#include "libvex_guest_amd64.h"
#include "pub_tool_basics.h"
#include "valgrind/tool.h"

void __real_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State *st);
void __wrap_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State *st);

Bool identity_of_host;

static Bool identity_is_amd(UInt ebx, UInt edx, UInt ecx)
{
	return ebx == signature_AMD_ebx && edx == signature_AMD_edx && ecx == signature_AMD_ecx;
}

void __wrap_amd64g_dirtyhelper_CPUID_avx2(VexGuestAMD64State *st)
{
	UInt leaf = (UInt)st->guest_RAX, a, b, c, d;

	__real_amd64g_dirtyhelper_CPUID_avx2(st);
	if (!identity_of_host)
		return;
	__cpuid(0, a, b, c, d);
	if (!identity_is_amd(b, d, c))
		return;
	__cpuid(0x80000000, a, b, c, d);
	if (leaf > a)
		return;
	__cpuid_count(leaf, 0, a, b, c, d);
	switch (leaf) {
	case 0x80000002:
	case 0x80000003:
	case 0x80000004: /* its name */
	case 0x80000005:
	case 0x80000006: /* caches */
		st->guest_RAX = a;
		/* fall through */
	case 0:
	case 0x80000000: /* the maker; how many there are is VEX's */
		st->guest_RBX = b;
		st->guest_RCX = c;
		st->guest_RDX = d;
		break;
	case 1:
	case 0x80000001: /* family and model */
		st->guest_RAX = a;
		break;
	case 0x80000008: /* processors that share the last level */
		st->guest_RCX = c;
		break;
	default:
		break;
	}
}
