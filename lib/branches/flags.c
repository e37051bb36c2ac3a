/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flags that an instruction reads, and flags that it always overwrites. A flag is not counted as
 * overwritten if the instruction may leave it alone (a shift by 0, a repetition of none) or is not
 * documented to write it.
 */
#include <string.h>

#include "branches/cache.h"
#include "isa/brief.h"

#define FLAG_INSNS 12 /* examined to find out whether flags are live */

static uint8_t mask_of(const struct insn_registers *set)
{
	uint8_t mask = 0;

	for (unsigned i = 0; i < 6; i++)
		if (insn_registers_have(set, REG_CARRY + i))
			mask |= (uint8_t)(1u << i);
	return mask;
}

/* Instructions with an opcode of one byte that write all flags they are documented to write. */
static bool sure_plain(uint8_t op, uint8_t modrm)
{
	unsigned reg = modrm >> 3 & 7;

	if (op < 0x40)
		return (op & 7) < 6; /* add or adc sbb and sub xor cmp */
	switch (op) {
	case 0x80:
	case 0x81:
	case 0x83:
	case 0x84:
	case 0x85:
	case 0xa8:
	case 0xa9:
		return true;
	case 0xf6:
	case 0xf7:
		return reg == 0 || reg == 3; /* test, neg */
	case 0xfe:
	case 0xff:
		return reg < 2; /* inc, dec */
	default:
		return false;
	}
}

static bool sure_long(uint8_t op)
{
	/* ucomis, comis; cmpxchg; xadd */
	return op == 0x2e || op == 0x2f || op == 0xb0 || op == 0xb1 || op == 0xc0 || op == 0xc1;
}

static const uint8_t *behind_prefixes(const uint8_t *at)
{
	while (branches_is_prefix(*at))
		at++;
	return at;
}

struct insn_flags flags_of(const uint8_t *bytes, const struct insn *insn)
{
	const uint8_t *at = behind_prefixes(bytes);
	struct insn_flags flags = {.reads = mask_of(&insn->reads)};

	if (insn->classes & INSN_REP || insn->encoding != ENCODING_PLAIN)
		return flags;
	if (*at == 0x0f ? sure_long(at[1]) : sure_plain(at[0], at[1]))
		flags.kills = mask_of(&insn->writes) & (uint8_t)~mask_of(&insn->merges);
	return flags;
}

/* The bytes there; as many as are in the same area and could be examined. */
static size_t flags_read(
	struct cache *c, uint64_t address, uint8_t bytes[FLAG_INSNS * INSN_LENGTH_MAX])
{
	const struct area *area = process_area(c->process, address);
	size_t most = FLAG_INSNS * INSN_LENGTH_MAX;

	memset(bytes, 0, most);
	if (!area)
		return 0;
	return copy_read(
		c, address, bytes, area->end - address < most ? area->end - address : most);
}

/* Direct jumps and calls are followed. */
static bool flags_examine(struct cache *c, uint64_t address)
{
	uint8_t bytes[FLAG_INSNS * INSN_LENGTH_MAX], live = FLAGS_ALL;
	size_t at = 0, have = flags_read(c, address, bytes);
	struct insn_flags flags;
	struct insn insn;

	for (int i = 0; i < FLAG_INSNS && live && at < have; i++) {
		const uint8_t *here = bytes + at;

		if (!isa_brief(here, have - at, address + at, &insn, &flags)) {
			if (!isa_decode(ISA_X86_64, here, have - at, address + at, &insn) ||
				insn.classes & (INSN_BAD | INSN_STOPS | INSN_SYSCALL))
				return false;
			flags = flags_of(here, &insn);
		}
		if (flags.reads & live)
			return false;
		live &= (uint8_t)~flags.kills;
		at += insn.length;
		if (!(insn.classes & INSN_BRANCH))
			continue;
		if (!insn.has_target || insn.classes & INSN_CONDITIONAL)
			return false;
		address = insn.target;
		at = 0;
		have = flags_read(c, address, bytes);
	}
	return !live;
}

bool flags_dead_at(struct cache *c, uint64_t address)
{
	struct flags_at *f = table_find(&c->flags, &address);
	bool dead;

	if (f)
		return f->dead;
	dead = flags_examine(c, address);
	f = table_add(&c->flags, &address);
	if (f)
		f->dead = dead;
	return dead;
}

int flags_count_by(struct cache *c, uint64_t address)
{
	uint8_t bytes[INSN_LENGTH_MAX];
	int by;

	if (flags_dead_at(c, address))
		return BY_FLAGS;
	by = isa_brief_overwritten(bytes, copy_read(c, address, bytes, sizeof(bytes)));
	return by < 0 ? BY_DETOUR : by;
}
