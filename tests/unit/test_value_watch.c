/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The instruction that ended a watch, found from the address after it: all of this program's own
 * that access memory by registers that they keep, each with bytes of the program before it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "../chance.h"
#include "../tap.h"
#include "experiment/values.h"
#include "isa/isa.h"
#include "values/value_watch.h"

static unsigned long asked, wrong, unknown;

/* The watched address, from registers of the hit; 0: the instruction is none of those. */
static uint64_t operand_address(const struct insn *i, const struct watch_hit *hit)
{
	const struct insn_memory *m = i->memory;

	if (!i->operands_known || i->memories != 1 || m->absolute || m->segment ||
		i->classes & (INSN_STACK | INSN_REP | INSN_BAD | INSN_PRIVILEGED) ||
		m->base >= 16 || (m->index != REG_NONE && m->index >= 16) ||
		!(m->reads || m->writes) || insn_registers_have(&i->writes, m->base) ||
		(m->index != REG_NONE && insn_registers_have(&i->writes, m->index)))
		return 0;
	return hit->general[m->base] + (uint64_t)m->displacement +
	       (m->index != REG_NONE ? hit->general[m->index] * m->scale : 0);
}

static void ask(const uint8_t *begin, const uint8_t *at, const struct insn *i)
{
	struct value_touch touch = {.pc = 1, .next = 2, .size = 1, .writes = true};
	struct watch_hit hits[2] = {{.next = 2, .writes = true}, {.ns = 1000}};
	struct value_window window = {0};
	struct watch_hit *hit = &hits[1];
	size_t known = (size_t)(at - begin) + i->length;
	uint64_t found = 0;

	for (unsigned k = 0; k < 16; k++)
		hit->general[k] = chance_mixed() >> 17;
	touch.address = operand_address(i, hit);
	if (!touch.address)
		return;
	hit->next = (uintptr_t)at + i->length;
	hit->writes = i->memory[0].writes;
	hit->known = known < WATCH_CODE ? (uint8_t)known : WATCH_CODE;
	memcpy(hit->code + WATCH_CODE - hit->known, at + i->length - hit->known, hit->known);
	value_watch_tell(&touch, hits, 2, 4, true, 0, &window);
	for (size_t k = 0; k < window.seen.count; k++)
		if (window.seen.data[k].kind == VALUE_NEXT)
			found = window.seen.data[k].value;
	asked++;
	unknown += !found;
	wrong += found && found != (uintptr_t)at;
	vec_fini(&window.seen);
}

static void sweep(const uint8_t *begin, const uint8_t *end)
{
	struct insn i;

	for (const uint8_t *at = begin; at + INSN_LENGTH_MAX < end; at += i.length ? i.length : 1) {
		isa_decode(ISA_X86_64, at, INSN_LENGTH_MAX, (uintptr_t)at, &i);
		ask(begin, at, &i);
	}
}

/* Where data are between functions, the sweep itself is out of step for a few instructions. */
static void own_code(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], mode[8];
	uint64_t begin, end;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &begin, &end, mode) == 3 &&
			strncmp(mode, "r-x", 3) == 0 && strstr(line, "test_value_watch"))
			sweep((const uint8_t *)(uintptr_t)begin, (const uint8_t *)(uintptr_t)end);
	if (maps)
		fclose(maps);
}

int main(void)
{
#ifdef __x86_64__
	own_code();
	printf("# %lu instructions, %lu of them wrong, %lu unknown\n", asked, wrong, unknown);
	ok(asked > 500, "instructions that access memory");
	is_int((long long)unknown, 0, "each is found");
	ok(wrong * 1000 < asked, "where it begins");
#else
	skip("code of x86-64 only");
#endif
	return done();
}
