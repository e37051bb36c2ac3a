/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/unwind_memo.h"

#include <string.h>

void unwind_trace_use_word(const struct unwind_state *s, uint16_t word)
{
	if (s->trace && word < s->trace->count)
		s->trace->used[word] = true;
}

void unwind_trace_use(const struct unwind_state *s, unsigned number)
{
	if (!s->trace)
		return;
	if (s->from[number] == FROM_START)
		s->trace->registers |= UINT64_C(1) << number;
	else
		unwind_trace_use_word(s, s->from[number]);
}

uint16_t unwind_trace_word(const struct unwind_state *s, uint64_t into, uint64_t value)
{
	struct unwind_trace *t = s->trace;

	if (!t)
		return FROM_USED;
	if (t->count == TRACE_WORDS) {
		t->lost = true;
		return FROM_USED;
	}
	t->words[t->count] = (struct unwind_word){into, value};
	t->used[t->count] = false;
	return (uint16_t)t->count++;
}

size_t unwind_memo_place(const struct unwind_state *state, unsigned pc, unsigned sp)
{
	uint64_t h = (state->registers[pc] + 3 * state->registers[sp]) * 0x9e3779b97f4a7c15u;

	return ((h >> 32) + state->space) % MEMO_PATHS;
}

bool unwind_memo_fits(const struct unwind_memo *m, const struct unwind_state *state, size_t depth)
{
	const struct unwind_state *then = &m->state;

	if (!m->count || m->count > depth || then->space != state->space ||
		then->machine != state->machine || then->known != state->known ||
		then->stack_address != state->stack_address ||
		then->stack_size != state->stack_size)
		return false;
	for (uint64_t left = m->registers; left; left &= left - 1) {
		int i = __builtin_ctzll(left);

		if (then->registers[i] != state->registers[i])
			return false;
	}
	for (size_t i = 0; i < m->words; i++)
		if (memcmp(state->stack + m->word[i].into, &m->word[i].value,
			    sizeof(m->word[i].value)) != 0)
			return false;
	return true;
}

void unwind_memo_keep(struct unwind_memo *m, const struct unwind_state *state,
	const struct unwind_trace *trace, const uint64_t *pcs, size_t count)
{
	m->count = 0;
	m->words = 0;
	if (trace->lost || count > MEMO_FRAMES)
		return;
	for (size_t i = 0; i < trace->count; i++) {
		if (!trace->used[i])
			continue;
		if (m->words == MEMO_WORDS)
			return;
		m->word[m->words++] = trace->words[i];
	}
	m->state = *state;
	m->state.stack = NULL;
	m->state.trace = NULL;
	m->registers = trace->registers;
	m->count = count;
	memcpy(m->pcs, pcs, count * sizeof(*pcs));
}
