/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Places that execution probably comes to, to be copied ahead. A wrong guess costs its copy only.
 */
#include "branches/cache.h"
#include "isa/isa.h"

#define STACK_WORDS 128 /* where callers are looked for; */
#define CALLERS     6u  /* their largest number */

void ahead_add(struct ahead_list *l, uint64_t address, bool door)
{
	if (l->count < AHEAD_MAX)
		l->list[l->count++] = (struct ahead){address, door};
}

void ahead_add_target(struct ahead_list *l, const struct cache *c, const struct transfer *x)
{
	uint64_t to;

	if (x->target == TARGET_MEMORY && x->base == REG_NONE && x->index == REG_NONE &&
		!x->segment &&
		process_read(c->process->memory, (uint64_t)x->displacement, &to, sizeof(to)) &&
		process_area(c->process, to))
		ahead_add(l, to, true);
}

/* Whether a call ends there. */
static bool follows_call(struct cache *c, uint64_t address)
{
	uint8_t bytes[7];

	if (!process_area(c->process, address - sizeof(bytes)) ||
		!process_area(c->process, address) ||
		copy_read(c, address - sizeof(bytes), bytes, sizeof(bytes)) < sizeof(bytes))
		return false;
	if (bytes[2] == 0xe8)
		return true;
	for (unsigned at = 0; at < sizeof(bytes) - 1; at++) /* by register or memory */
		if (bytes[at] == 0xff && (bytes[at + 1] >> 3 & 7) == 2)
			return true;
	return false;
}

void ahead_add_callers(struct ahead_list *l, struct cache *c, const struct held *f)
{
	uint64_t words[STACK_WORDS];
	unsigned found = 0;

	if (!process_read(c->process->memory, f->registers.rsp, words, sizeof(words)))
		return;
	for (unsigned i = 0; i < STACK_WORDS && found < CALLERS; i++) {
		if (!follows_call(c, words[i]))
			continue;
		ahead_add(l, words[i], true);
		found++;
	}
}
