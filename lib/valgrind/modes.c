/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/modes.h"

#include "libvex.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "valgrind/faults.h"

#define COUNTS ((Addr)1 << 62)
/* The cache of indirect jumps (pub_core_transtab_asm.h of Valgrind 3.16 to 3.22): sets of four
 * pairs, the last used first. */
#define SET_BITS      13
#define SETS          (1u << SET_BITS)
#define PAIRS         4
#define NO_GUEST      1 /* TRANSTAB_BOGUS_GUEST_ADDR */
#define PROOFS_WANTED 32

struct pair {
	Addr guest, host;
};

extern struct pair VG_(tt_fast)[SETS][PAIRS];

Bool modes_counting;
static Bool wanted, refuted;
static UInt proofs;
/* Sets that may have something in them. */
static UShort used[SETS];
static UInt used_count;
static UChar is_used[SETS];
/* What the other mode had in them, unless code was discarded since: as pairs of sets. */
static struct {
	struct pair pairs[SETS][PAIRS];
	UShort used[SETS];
	UInt used_count;
} kept[2];

void modes_begin(void)
{
	wanted = True;
}

Bool modes_proven(void)
{
	return proofs >= PROOFS_WANTED && !refuted;
}

Bool modes_refuted(void)
{
	return refuted;
}

Addr modes_key(Addr address)
{
	return modes_counting ? address | COUNTS : address;
}

Bool modes_counts(Addr key)
{
	return (key & COUNTS) != 0;
}

Addr modes_other(Addr key)
{
	return key ^ COUNTS;
}

static UInt set_of(Addr guest)
{
	return (UInt)((guest ^ guest >> SET_BITS) & (SETS - 1));
}

static struct pair *use_set(Addr guest)
{
	UInt set = set_of(guest);

	if (!is_used[set]) {
		is_used[set] = 1;
		used[used_count++] = (UShort)set;
	}
	return VG_(tt_fast)[set];
}

static void keep_sets(void)
{
	kept[modes_counting].used_count = used_count;
	for (UInt i = 0; i < used_count; i++) {
		struct pair *set = VG_(tt_fast)[used[i]];

		kept[modes_counting].used[i] = used[i];
		for (UInt k = 0; k < PAIRS; k++) {
			kept[modes_counting].pairs[i][k] = set[k];
			set[k].guest = NO_GUEST;
		}
		is_used[used[i]] = 0;
	}
	used_count = 0;
}

static void restore_sets(void)
{
	used_count = kept[modes_counting].used_count;
	for (UInt i = 0; i < used_count; i++) {
		UShort set = kept[modes_counting].used[i];

		used[i] = set;
		is_used[set] = 1;
		for (UInt k = 0; k < PAIRS; k++)
			VG_(tt_fast)[set][k] = kept[modes_counting].pairs[i][k];
	}
}

void modes_set(Bool to_counting)
{
	tl_assert(modes_proven());
	keep_sets();
	modes_counting = to_counting;
	restore_sets();
}

void modes_discarded(void)
{
	kept[0].used_count = kept[1].used_count = 0;
}

/* ---- in front of the core's table of translations ---- */

Bool __wrap_vgPlain_search_transtab(Addr *code, void *section, void *entry, Addr guest, Bool cache);
Bool __real_vgPlain_search_transtab(Addr *code, void *section, void *entry, Addr guest, Bool cache);
void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr guest, Addr code,
	UInt length, Bool checks_itself, Int profiled, UInt insns);
void __real_vgPlain_add_to_transtab(const VexGuestExtents *extents, Addr guest, Addr code,
	UInt length, Bool checks_itself, Int profiled, UInt insns);

/* The core has just found code for guest and put it into the cache: as we would have done it? And
 * does our key lead elsewhere? */
static void prove(Addr guest, Addr code)
{
	const struct pair *first = VG_(tt_fast)[set_of(guest)];

	if (first->guest != guest || first->host != code ||
		__real_vgPlain_search_transtab(NULL, NULL, NULL, guest | COUNTS, False))
		refuted = True;
	proofs++;
}

__attribute__((used)) Bool __wrap_vgPlain_search_transtab(
	Addr *code, void *section, void *entry, Addr guest, Bool cache)
{
	Addr at = 0;
	Bool found;

	if (!wanted)
		return __real_vgPlain_search_transtab(code, section, entry, guest, cache);
	if (guest & COUNTS) /* a jump to nowhere */
		return False;
	found = __real_vgPlain_search_transtab(
		&at, section, entry, modes_key(guest), cache && !modes_counting);
	if (found && code)
		*code = at;
	if (!found || !cache)
		return found;
	if (modes_counting) {
		struct pair *set = use_set(guest);

		for (UInt i = PAIRS - 1; i > 0; i--)
			set[i] = set[i - 1];
		set[0] = (struct pair){guest, at};
	} else {
		use_set(guest);
		if (UNLIKELY(proofs < PROOFS_WANTED))
			prove(guest, at);
	}
	return found;
}

__attribute__((used)) void __wrap_vgPlain_add_to_transtab(const VexGuestExtents *extents,
	Addr guest, Addr code, UInt length, Bool checks_itself, Int profiled, UInt insns)
{
	Addr key = wanted ? modes_key(guest) : guest;

	__real_vgPlain_add_to_transtab(extents, key, code, length, checks_itself, profiled, insns);
	faults_keep(key);
	if (!wanted)
		return;
	/* The core has put the key into its cache for indirect jumps, which must contain only
	 * addresses.
	 */
	if (modes_counting)
		VG_(tt_fast)[set_of(key)][0].guest = NO_GUEST;
	else
		use_set(guest);
}
