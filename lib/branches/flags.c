/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Flags that an instruction reads, and flags that it always overwrites. A flag is not counted as
 * overwritten if the instruction may leave it alone (a shift by 0, a repetition of none) or is not
 * documented to write it.
 */
#include "branches/cache.h"
#include "isa/isa.h"

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

enum flags_effect flags_at_once(const uint8_t *bytes)
{
	const uint8_t *at = bytes;
	uint8_t op;

	if ((*at & 0xf0) == 0x40)
		at++;
	op = at[0];
	/* add or and sub xor cmp, of registers and memory or with a constant; test */
	if ((op < 0x40 && (op & 7) < 6 && op >> 3 != 2 && op >> 3 != 3) || op == 0x84 || op == 0x85)
		return FLAGS_WRITTEN;
	if ((op == 0x80 || op == 0x81 || op == 0x83) && (at[1] >> 3 & 7) != 2 &&
		(at[1] >> 3 & 7) != 3)
		return FLAGS_WRITTEN;
	/* mov, lea, movsxd; push and pop of registers; movzx, movsx and long nops */
	if ((op >= 0x88 && op <= 0x8b) || op == 0x8d || op == 0x63 || op == 0xc6 || op == 0xc7 ||
		(op >= 0xb0 && op <= 0xbf) || (op >= 0x50 && op <= 0x5f) ||
		(op == 0x0f && (at[1] == 0xb6 || at[1] == 0xb7 || at[1] == 0xbe || at[1] == 0xbf ||
				       at[1] == 0x1f)))
		return at[0] == 0xc7 && at[1] == 0xf8 ? FLAGS_UNSURE : FLAGS_ALONE;
	return FLAGS_UNSURE;
}

void flags_of(const uint8_t *bytes, const struct insn *insn, uint8_t *reads, uint8_t *kills)
{
	const uint8_t *at = behind_prefixes(bytes);

	*reads = mask_of(&insn->reads);
	*kills = 0;
	if (insn->classes & INSN_REP || insn->encoding != ENCODING_PLAIN)
		return;
	if (*at == 0x0f ? sure_long(at[1]) : sure_plain(at[0], at[1]))
		*kills = mask_of(&insn->writes) & (uint8_t)~mask_of(&insn->merges);
}

bool flags_dead_at(struct cache *c, uint64_t address)
{
	struct flags_at *f = table_find(&c->flags, &address);
	uint8_t bytes[FLAG_INSNS * INSN_LENGTH_MAX] = {0}, live = FLAGS_ALL, reads, kills;
	const struct area *area = process_area(c->process, address);
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
		enum flags_effect effect = flags_at_once(bytes + at);
		bool bad;

		if (effect == FLAGS_WRITTEN) {
			live = 0;
			break;
		}
		if (effect == FLAGS_ALONE) {
			insn.length = (uint8_t)isa_length(ISA_X86_64, bytes + at, have - at, &bad);
			if (bad)
				return false;
			continue;
		}
		if (!isa_decode(ISA_X86_64, bytes + at, have - at, address + at, &insn) ||
			insn.classes & (INSN_BAD | INSN_BRANCH | INSN_STOPS | INSN_SYSCALL))
			return false;
		flags_of(bytes + at, &insn, &reads, &kills);
		if (reads & live)
			return false;
		live &= (uint8_t)~kills;
	}
	f->dead = !live;
	return f->dead;
}
