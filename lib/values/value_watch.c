/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/value_watch.h"

#include <string.h>

#include "experiment/values.h"
#include "isa/isa.h"

#define KERNEL (1ull << 63) /* addresses from there on */

/* ---- which access ---- */

static bool watchable(const struct value_touch *t, bool store)
{
	return t->writes == store && t->size <= 8 && (t->size & (t->size - 1)) == 0 &&
	       t->address % t->size == 0;
}

/* The thread comes to the first of several executions with the same address. */
static const struct value_touch *first_alike(
	const struct value_window *w, const struct value_touch *chosen)
{
	const struct value_touch *t = w->touches.data;

	while (t->pc != chosen->pc || t->address != chosen->address)
		t++;
	return t;
}

const struct value_touch *value_watch_choose(
	const struct value_window *window, bool store, double chance)
{
	size_t count = 0, number;

	for (size_t i = 0; i < window->touches.count; i++)
		count += !window->touches.data[i].left_out &&
			 watchable(&window->touches.data[i], store);
	number = (size_t)(chance * (double)count);
	for (size_t i = 0, k = 0; i < window->touches.count; i++) {
		const struct value_touch *t = &window->touches.data[i];

		if (t->left_out || !watchable(t, store))
			continue;
		if (k++ == (number < count ? number : count - 1))
			return first_alike(window, t);
	}
	return NULL;
}

/* ---- which instruction ---- */

/* 1: it overlaps what is watched; 0: not; -1: its registers have changed. */
static int operand_overlaps(const struct value_touch *t, const struct watch_hit *hit,
	const struct insn *insn, const struct insn_memory *m)
{
	uint64_t address = m->absolute ? m->address : (uint64_t)m->displacement;

	if (m->segment || insn->classes & (INSN_STACK | INSN_REP))
		return -1;
	if (!m->absolute && m->base != REG_NONE) {
		if (m->base >= 16 || insn_registers_have(&insn->writes, m->base))
			return -1;
		address += hit->general[m->base];
	}
	if (!m->absolute && m->index != REG_NONE) {
		if (m->index >= 16 || insn_registers_have(&insn->writes, m->index))
			return -1;
		address += hit->general[m->index] * m->scale;
	}
	return address < t->address + t->size && t->address < address + m->size;
}

/* How well an instruction explains the stop: 0 not, 1 perhaps, 2 by its address. */
static int explains(const struct value_touch *t, const struct watch_hit *hit,
	const struct insn *insn, struct insn_memory *operand)
{
	int best = 0;

	for (unsigned k = 0; k < insn->memories; k++) {
		const struct insn_memory *m = &insn->memory[k];
		int overlaps;

		if (hit->writes ? !m->writes : !m->reads || m->writes)
			continue;
		overlaps = operand_overlaps(t, hit, insn, m);
		if (overlaps && best < 2) {
			best = overlaps < 0 ? 1 : 2;
			*operand = *m;
		}
	}
	return best;
}

#define LONGEST 15 /* bytes of an instruction */

static size_t decode_before(const struct watch_hit *hit, size_t before, struct insn *insn)
{
	return isa_decode(ISA_X86_64, hit->code + sizeof(hit->code) - before, before,
		hit->next - before, insn);
}

/* From how many of the known bytes decoding comes to an instruction of each length that ends at
 * hit->next. Where it begins hardly matters: after a few instructions it is in step with the
 * program, so a prefix that is really the end of the instruction before gets few votes. */
static void vote(const struct watch_hit *hit, unsigned votes[LONGEST + 1])
{
	uint8_t last[WATCH_CODE + 1] = {0}; /* from so far before the end: the length, 0: none */

	for (size_t before = 1; before <= hit->known; before++) {
		struct insn insn;
		size_t length = decode_before(hit, before, &insn);

		if (!length || length > before || insn.classes & INSN_BAD)
			continue;
		last[before] = length == before ? (uint8_t)length : last[before - length];
		votes[last[before]] += last[before] > 0;
	}
}

/* The instruction before hit->next that has accessed these bytes; false: none is known. */
static bool find_instruction(const struct value_touch *touch, const struct watch_hit *hit,
	struct insn *insn, struct insn_memory *operand)
{
	unsigned votes[LONGEST + 1] = {0}, most = 0;
	int best = 0;

	vote(hit, votes);
	/* The longest of equals. */
	for (size_t length = hit->known < LONGEST ? hit->known : LONGEST; length > 0; length--) {
		struct insn_memory memory;
		struct insn one;
		int how;

		if (decode_before(hit, length, &one) != length ||
			one.classes & (INSN_BAD | INSN_PRIVILEGED) || !one.operands_known)
			continue;
		how = explains(touch, hit, &one, &memory);
		if (how < best || !how || (how == best && votes[length] <= most))
			continue;
		best = how;
		most = votes[length];
		*insn = one;
		*operand = memory;
	}
	return best > 0;
}

/* ---- what became of it ---- */

static void watch_see(
	struct value_window *w, uint64_t pc, unsigned kind, unsigned operand, uint64_t value)
{
	struct value_seen *to = vec_push(&w->seen);

	if (to)
		*to = (struct value_seen){.pc = pc,
			.value = value,
			.kind = (uint8_t)kind,
			.operand = (uint8_t)operand,
			.bits = kind == VALUE_WATCH ? VALUE_WATCHES : 64,
			.class = kind == VALUE_WATCH  ? VALUE_BITS
				 : kind == VALUE_NEXT ? VALUE_PLACE
						      : VALUE_INTEGER};
}

static bool replaces_all(const struct value_touch *t, uint64_t address, uint64_t size)
{
	return address <= t->address && t->address + t->size <= address + size;
}

/* Of a second access; 0: unknown. */
static unsigned watch_outcome(const struct value_touch *t, const struct watch_hit *hit, bool found,
	const struct insn *insn, const struct insn_memory *m)
{
	bool reads = !hit->writes || (found && m->reads);

	if (reads)
		return t->writes ? VALUE_WATCH_USED : VALUE_WATCH_RELOADED;
	if (!t->writes)
		return VALUE_WATCH_REPLACED;
	if (!found)
		return 0;
	/* The stack and repeated stores: whole words, from where the stop was. */
	if (insn->classes & INSN_STACK)
		return VALUE_WATCH_DEAD;
	if (insn->classes & INSN_REP)
		return m->size >= t->size ? VALUE_WATCH_DEAD : 0;
	if (m->base != REG_NONE && m->base < 16 && !m->absolute && !m->segment) {
		uint64_t address = hit->general[m->base] + (uint64_t)m->displacement;

		if (m->index != REG_NONE)
			address += hit->general[m->index & 15] * m->scale;
		return replaces_all(t, address, m->size) ? VALUE_WATCH_DEAD : 0;
	}
	return m->absolute && replaces_all(t, m->address, m->size) ? VALUE_WATCH_DEAD : 0;
}

static unsigned watched_bits(const struct value_touch *t)
{
	if (!t->writes)
		return VALUE_WATCH_LOAD;
	return VALUE_WATCH_STORE | (t->silent ? VALUE_WATCH_SILENT : 0);
}

static uint64_t reuse_bin(double ns)
{
	uint64_t whole = ns >= 1 ? (uint64_t)ns : 1;

	return 1ull << (63 - __builtin_clzll(whole));
}

static enum watch_fate tell_second(const struct value_touch *t, const struct watch_hit *hits,
	double ns_of_hit, struct value_window *w)
{
	const struct watch_hit *second = &hits[1];
	struct insn insn = {0};
	struct insn_memory memory = {0};
	bool found = second->next < KERNEL && find_instruction(t, second, &insn, &memory);
	unsigned outcome = watch_outcome(t, second, found, &insn, &memory);

	if (!outcome)
		return WATCH_UNKNOWN;
	watch_see(w, t->pc, VALUE_WATCH, 0, watched_bits(t) | outcome);
	watch_see(
		w, t->pc, VALUE_REUSE, 0, reuse_bin((double)(second->ns - hits[0].ns) - ns_of_hit));
	if (found)
		watch_see(w, t->pc, VALUE_NEXT, (unsigned)__builtin_ctz(outcome), insn.address);
	return WATCH_TOLD;
}

enum watch_fate value_watch_tell(const struct value_touch *touch, const struct watch_hit *hits,
	size_t count, size_t most, bool over, double ns_of_hit, struct value_window *window)
{
	size_t first = 0;

	while (first < count &&
		(hits[first].next != touch->next || hits[first].writes != touch->writes))
		first++;
	if (first + 1 < count)
		return tell_second(touch, &hits[first], ns_of_hit, window);
	if (first == count)
		return over || count >= most - 1 ? WATCH_MISSED : WATCH_WAITS;
	if (!over)
		return WATCH_WAITS;
	watch_see(window, touch->pc, VALUE_WATCH, 0, watched_bits(touch) | VALUE_WATCH_OPEN);
	return WATCH_TOLD;
}
