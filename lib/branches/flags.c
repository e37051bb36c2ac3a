/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flags that an instruction reads, and flags that it always overwrites. A flag is not counted as
 * overwritten if the instruction may leave it alone (a shift by 0, a repetition of none) or is not
 * documented to write it.
 */
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

bool flags_dead_at(struct cache *c, uint64_t address)
{
	struct flags_at *f = table_find(&c->flags, &address);
	uint8_t bytes[FLAG_INSNS * INSN_LENGTH_MAX] = {0}, live = FLAGS_ALL;
	const struct area *area = process_area(c->process, address);
	struct insn_flags flags;
	struct insn insn;
	size_t have, at = 0;

	if (f)
		return f->dead;
	f = table_add(&c->flags, &address);
	if (!f || !area)
		return false;
	have = area->end - address < sizeof(bytes) ? area->end - address : sizeof(bytes);
	have = copy_read(c, address, bytes, have);
	for (int i = 0; i < FLAG_INSNS && live && at < have; i++, at += insn.length) {
		const uint8_t *here = bytes + at;

		if (!isa_brief(here, have - at, address + at, &insn, &flags)) {
			if (!isa_decode(ISA_X86_64, here, have - at, address + at, &insn) ||
				insn.classes & (INSN_BAD | INSN_STOPS | INSN_SYSCALL))
				return false;
			flags = flags_of(here, &insn);
		}
		if (insn.classes & INSN_BRANCH || flags.reads & live)
			return false;
		live &= (uint8_t)~flags.kills;
	}
	f->dead = !live;
	return f->dead;
}
