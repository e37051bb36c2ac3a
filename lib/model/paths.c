/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See paths.h. A call, and a return to its caller, cost some comparisons. All other cases are rare,
 * except jumps through registers, which mostly stay within their function. */
#include "model/paths.h"

#define WORD         8    /* of a return address */
#define SLACK        64   /* what threads and coroutines pop before their first call */
#define NEAR         2048 /* bytes: a jump does not go further but to another stack */
#define FAR          65536
#define FIRST_FRAMES 64

/* ---- nodes ---- */

static uint32_t bucket(const struct path_nodes *n, uint32_t parent, uint64_t address)
{
	uint64_t h = (address ^ (uint64_t)parent << 40) * 0x9e3779b97f4a7c15u + parent;

	return (uint32_t)((h ^ h >> 29) * 0xc2b2ae3d27d4eb4fu >> 32) & (n->limit - 1);
}

static uint32_t child(struct path_nodes *n, uint32_t parent, uint64_t address, unsigned length)
{
	uint32_t *head = &n->hash[bucket(n, parent, address)], i;

	if (parent == PATH_LOST)
		return PATH_LOST;
	for (i = *head; i; i = n->node[i].next)
		if (n->node[i].address == address && n->node[i].parent == parent &&
			n->node[i].length == length && !n->node[i].gone)
			return i;
	if (!n->count)
		n->count = 1;
	if (n->count == n->limit)
		return PATH_LOST;
	n->node[n->count] = (struct path_node){.address = address,
		.parent = parent,
		.image = n->place(address),
		.next = *head,
		.length = (uint16_t)length};
	return *head = n->count++;
}

void paths_gone(struct path_nodes *n, uint64_t from, uint64_t length)
{
	uint32_t i;

	for (i = 1; i < n->count; i++)
		if (n->node[i].address - from < length)
			n->node[i].gone = 1;
}

void path_nodes_reset(struct path_nodes *n)
{
	uint32_t i;

	for (i = 1; i < n->count; i++)
		n->hash[bucket(n, n->node[i].parent, n->node[i].address)] = 0;
	n->count = 0;
}

void paths_forget(struct paths *p)
{
	uint32_t i, k;

	for (i = 0; i < p->stack_count; i++) {
		p->stacks[i].node = 0;
		for (k = 0; k < p->stacks[i].count; k++)
			p->stacks[i].frames[k].node = 0;
	}
}

/* Of stack `number` less one, to its top. */
static uint32_t node_of(struct paths *p, uint32_t number)
{
	struct path_stack *s;
	uint32_t node = PATH_ROOT, i;

	if (!number)
		return PATH_ROOT;
	s = &p->stacks[number - 1];
	if (s->beyond)
		return PATH_LOST;
	for (i = s->count; i && !s->frames[i - 1].node; i--)
		;
	if (i) {
		node = s->frames[i - 1].node;
	} else {
		if (s->handler && !s->node)
			s->node = child(p->nodes, node_of(p, s->base), s->interrupted, 0);
		node = s->handler ? s->node : node_of(p, s->base);
	}
	for (; i < s->count; i++) {
		struct path_frame *f = &s->frames[i];

		f->node = node = child(p->nodes, node, f->caller, f->length);
	}
	return node;
}

uint32_t paths_node(struct paths *p)
{
	return node_of(p, p->current);
}

/* ---- stacks ---- */

static void release(struct paths *p, uint32_t number)
{
	struct path_stack *s = &p->stacks[number - 1];
	uint32_t i;

	s->used = 0;
	s->count = s->beyond = s->base = 0;
	s->handler = 0;
	for (i = 0; i < p->stack_count; i++)
		if (p->stacks[i].base == number)
			p->stacks[i].base = 0;
}

static int is_base(const struct paths *p, uint32_t number)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		if (p->stacks[i].used && p->stacks[i].base == number)
			return 1;
	return 0;
}

/* A free stack, or the one not used for longest; 0: all are in use. */
static uint32_t find_free(const struct paths *p)
{
	uint32_t i, oldest = 0;

	for (i = 0; i < p->stack_count; i++)
		if (!p->stacks[i].used)
			return i + 1;
	if (p->stack_count < PATH_STACKS_MAX)
		return 0;
	for (i = 0; i < p->stack_count; i++)
		if (i + 1 != p->current &&
			(!oldest || p->stacks[i].used < p->stacks[oldest - 1].used) &&
			!is_base(p, i + 1))
			oldest = i + 1;
	return oldest;
}

/* Makes a new stack the current one. If there is no room, the current one continues. */
static struct path_stack *begin_stack(struct paths *p, uint64_t high)
{
	uint32_t number = find_free(p);
	struct path_stack *s;

	if (!number && p->stack_count < PATH_STACKS_MAX) {
		p->stacks = p->memory(p->stacks, (p->stack_count + 1) * sizeof(*p->stacks));
		p->stacks[p->stack_count++] = (struct path_stack){0};
		number = p->stack_count;
	}
	if (number)
		p->current = number;
	s = &p->stacks[p->current - 1];
	if (number)
		release(p, number);
	s->node = 0;
	s->high = high;
	s->used = ++p->time;
	return s;
}

/* Continues with stack `number`. Handlers that interrupted it are over. */
static struct path_stack *go_to(struct paths *p, uint32_t number)
{
	uint32_t i = p->current, above;

	while (i && i != number)
		i = p->stacks[i - 1].handler ? p->stacks[i - 1].base : 0;
	for (above = p->current; i && above != number; above = i) {
		i = p->stacks[above - 1].base;
		release(p, above);
	}
	p->current = number;
	p->stacks[number - 1].used = ++p->time;
	return &p->stacks[number - 1];
}

static uint64_t top_of(const struct path_stack *s)
{
	return s->count ? s->frames[s->count - 1].stack_pointer : s->high;
}

/* Ends the frames whose return addresses are below sp. */
static void pop_below(struct path_stack *s, uint64_t sp)
{
	while (s->count && s->frames[s->count - 1].stack_pointer < sp)
		s->count--;
	if (s->beyond && s->missing < sp)
		s->beyond = 0;
}

/* The stack that waits for a return to `target` (0: to any address), with the stack pointer sp
 * after it; 0: none. */
static uint32_t find_waiting(const struct paths *p, uint64_t sp, uint64_t target)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++) {
		const struct path_stack *s = &p->stacks[i];
		const struct path_frame *f = s->count ? &s->frames[s->count - 1] : 0;

		if (i + 1 != p->current && s->used && f && f->stack_pointer + WORD == sp &&
			(!target || f->caller + f->length == target))
			return i + 1;
	}
	return 0;
}

/* The stack that contains sp; of several (a handler's is part of another) the narrowest; 0: none.
 */
static uint32_t find_around(const struct paths *p, uint64_t sp)
{
	uint32_t i, found = 0;

	for (i = 0; i < p->stack_count; i++) {
		const struct path_stack *s = &p->stacks[i];

		if (i + 1 != p->current && s->used && s->high >= sp &&
			top_of(s) - (s->count ? 0 : NEAR) < sp &&
			(!found || s->high < p->stacks[found - 1].high))
			found = i + 1;
	}
	return found;
}

/* By a return or a jump. */
static struct path_stack *change_stack(struct paths *p, uint64_t sp, uint64_t target)
{
	uint32_t number = find_waiting(p, sp, target);

	if (!number)
		number = find_around(p, sp);
	return number ? go_to(p, number) : begin_stack(p, sp + SLACK);
}

/* ---- what happens ---- */

void paths_enter(struct paths *p, uint64_t sp)
{
	if (!p->current)
		begin_stack(p, sp + SLACK);
	else if (!p->stacks[p->current - 1].high)
		p->stacks[p->current - 1].high = sp + SLACK;
}

void paths_signal(struct paths *p, uint64_t address)
{
	uint32_t base = p->current, number = find_free(p);
	struct path_stack *s;

	if (!number && p->stack_count == PATH_STACKS_MAX)
		return;
	s = begin_stack(p, 0);
	s->handler = 1;
	s->base = base;
	s->interrupted = address;
}

void paths_signal_end(struct paths *p)
{
	uint32_t i = p->current;

	while (i && !p->stacks[i - 1].handler)
		i = p->stacks[i - 1].base;
	if (i && p->stacks[i - 1].base)
		go_to(p, p->stacks[i - 1].base);
}

static void paths_push(
	struct paths *p, struct path_stack *s, uint64_t sp, uint64_t caller, unsigned length)
{
	if (s->count == s->room && s->room < PATH_FRAMES_MAX) {
		s->room = s->room ? 2 * s->room : FIRST_FRAMES;
		s->frames = p->memory(s->frames, s->room * sizeof(*s->frames));
	}
	if (s->count == s->room) {
		if (!s->beyond++)
			s->missing = sp;
		return;
	}
	s->frames[s->count++] = (struct path_frame){
		.stack_pointer = sp, .caller = caller, .length = (uint16_t)length};
}

/* A call whose stack pointer is above all frames of its stack. */
static struct path_stack *call_elsewhere(struct paths *p, uint64_t sp)
{
	uint32_t from = p->current, number = find_around(p, sp);
	struct path_stack *s = number ? go_to(p, number) : begin_stack(p, sp + SLACK);

	if (!s->handler && from != p->current && !is_base(p, p->current))
		s->base = from;
	return s;
}

static void call(struct paths *p, uint64_t sp, const struct model_insn *by)
{
	struct path_stack *s = &p->stacks[p->current - 1];

	if (s->high && sp > s->high)
		s = call_elsewhere(p, sp);
	pop_below(s, sp + 1);
	paths_push(p, s, sp, by->address, by->length);
}

static void give_back(struct paths *p, uint64_t sp, uint64_t target)
{
	struct path_stack *s = &p->stacks[p->current - 1];
	uint64_t top = top_of(s);
	uint32_t number;

	if (s->high && sp > s->high) {
		s = change_stack(p, sp, target);
	} else if (top && top >= sp) {
		/* Nothing of this stack is over: it is a jump of sorts, or to another one. */
		number = find_waiting(p, sp, target);
		if (number)
			s = go_to(p, number);
		else if (top - sp > FAR && p->apart(sp, top))
			s = change_stack(p, sp, target);
	}
	pop_below(s, sp);
}

static void paths_jump(struct paths *p, uint64_t sp)
{
	struct path_stack *s = &p->stacks[p->current - 1];
	uint64_t top = top_of(s);
	uint32_t number = 0;

	if (s->high && sp > s->high) {
		s = change_stack(p, sp, 0);
	} else if (top && top > sp + NEAR) {
		if (p->stack_count > 1)
			number = find_waiting(p, sp, 0);
		if (number)
			s = go_to(p, number);
		else if (top - sp > FAR && p->apart(sp, top))
			s = change_stack(p, sp, 0);
	}
	pop_below(s, sp);
}

void paths_record(struct paths *p, const struct model_segment *segment, const uint64_t *record)
{
	const struct model_block *b = segment->block;
	unsigned last = b->words - 1u;
	uint64_t sp = record[last - b->indirect];

	/* One that was left before its end leaves the stack to those that follow. */
	if (segment != &b->segments[b->segment_count - 1])
		return;
	if (!p->current)
		begin_stack(p, sp + SLACK);
	switch (b->stack - 1) {
	case MODEL_CALL:
	case MODEL_INDIRECT_CALL:
		call(p, sp, &b->insns[b->insn_count - 1]);
		break;
	case MODEL_RETURN:
		give_back(p, sp, b->indirect ? record[last] : segment->next);
		break;
	case MODEL_INDIRECT_JUMP:
		paths_jump(p, sp);
		break;
	default:
		break;
	}
}

void paths_fini(struct paths *p)
{
	uint32_t i;

	for (i = 0; i < p->stack_count; i++)
		p->memory(p->stacks[i].frames, 0);
	if (p->stacks)
		p->memory(p->stacks, 0);
	p->stacks = 0;
	p->stack_count = p->current = 0;
}
