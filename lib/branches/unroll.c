/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops that are unrolled in copies. Counting each block takes between nothing (loops that wait for
 * themselves) and half of the time of a short loop. Its density does not say which. Anchors do not
 * help: nothing in such a loop is executed seldom enough. So where a burst has spent its time, the
 * way that it took most often round a loop is copied again, several turns in a row. Only what leads
 * from the last turn to the first is counted, and what leaves the loop. So a turn takes about as
 * long as natively.
 *
 * The copy of the first block leads to these turns from then on. Loops that call functions are left
 * as they are: calls and returns of copies are not those of the processor, and take another time.
 *
 * A short loop takes up to three times as long if a branch crosses a line of the cache, or the loop
 * has more lines than it needs. So turns are in lines as the original is: branches that are taken
 * stay taken and as long as they are, and what they lead to is as far from the begin of its line.
 */
#include <math.h>
#include <string.h>

#include "branches/translate.h"

#define BLOCKS   32u  /* of a turn */
#define BYTES    1024 /* of a turn: longer ones are not dense */
#define ENOUGH   220u /* instructions for one increment */
#define TURNS    32u
#define EXITS    160u
#define HOT      500  /* executions in a burst, */
#define HOT_PART 0.02 /* and part of all executions, */
#define HOT_TIME 0.05 /* and of the time of the burst, if an increment takes this: */
#define COUNT_NS 1.0
#define LIKELY   0.75 /* that a turn is completed */
#define AT_ONCE  8u
#define LINE     64u /* bytes, of the cache */

#define SHORT_BYTES 2u /* of a branch to what is near */

struct way_block {
	uint32_t copy;
	uint64_t to; /* the next */
};

/* A way through blocks, back to the first. */
struct way {
	struct way_block block[BLOCKS];
	unsigned count;
	double likely; /* that all of it is taken */
};

/* ---- finding ---- */

/* Where the way goes on after a block; 0: it cannot. */
static uint64_t way_next(struct way *w, const struct copy *copy)
{
	uint64_t taken;

	switch (copy->kind) {
	case TRANSFER_CONDITION:
		if (!copy->now)
			return 0;
		taken = copy->side_taken ? copy->now_side : copy->now - copy->now_side;
		w->likely *= fmax((double)taken, (double)(copy->now - taken)) / (double)copy->now;
		return 2 * taken >= copy->now ? copy->taken : copy->next;
	case TRANSFER_JUMP: /* a direct one is counted at its head */
		return copy->head ? copy->taken : 0;
	default:
		return 0;
	}
}

/* Only blocks from which the loop is entered are to be the first. */
static bool way_find(const struct cache *c, uint32_t first, struct way *w)
{
	const struct copy *start = table_at(&c->copies, first), *copy = start;
	uint64_t bytes = 0;

	*w = (struct way){.likely = 1};
	while (w->count < BLOCKS) {
		struct way_block *b = &w->block[w->count++];

		if (copy->key.begin != copy->key.address || copy->arena != start->arena)
			return false;
		bytes += copy->end - copy->key.address;
		b->copy = (uint32_t)table_number(&c->copies, copy);
		b->to = way_next(w, copy);
		if (!b->to || bytes > BYTES || w->likely < LIKELY)
			return false;
		if (b->to == start->key.address)
			return true;
		copy = table_find(&c->copies, &(struct copy){.key = {b->to, b->to}}.key);
		if (!copy)
			return false;
	}
	return false;
}

/* Begins it where a count takes one instruction. */
static void way_rotate(struct cache *c, struct way *w)
{
	struct way old = *w;

	for (unsigned i = 0; i < w->count; i++) {
		const struct copy *copy = table_at(&c->copies, w->block[i].copy);

		if (copy->head && flags_count_by(c, copy->key.address) == BY_FLAGS) {
			for (unsigned k = 0; k < w->count; k++)
				w->block[k] = old.block[(i + k) % w->count];
			return;
		}
	}
}

/* ---- copies ---- */

struct leave {         /* an exit of a loop */
	uint32_t jump; /* displacement of the branch to it */
	uint32_t turn;
};

struct unrolling {
	struct translation *t;
	struct cache *cache;
	struct leave leave[EXITS];
	unsigned leaves;
	uint32_t begin; /* in the code */
	uint32_t again; /* displacement of the branch at the end of the last turn */
};

static void may_leave(struct unrolling *u, uint32_t jump)
{
	struct turn *turn = &u->cache->turns.data[u->t->out.turn - 1];

	turn->side = arena_slot(u->t->out.arena, 0);
	u->leave[u->leaves++] = (struct leave){jump, u->t->out.turn - 1};
}

/* Where the copy of a block begins that follows the byte `used`: as far from the begin of its line
 * as the original. */
static uint32_t place_like(const struct arena *a, uint32_t used, uint64_t original)
{
	return used + (uint32_t)((original - (a->code + used)) % LINE);
}

/* The same, in another line if a short branch that ends at `after` reaches it: a line that is left
 * by a branch is not one that the branch leads to. */
static uint32_t place_onward(
	const struct arena *a, uint32_t after, uint32_t used, uint64_t original)
{
	uint32_t place = place_like(a, place_like(a, used, 0), original);

	return place - after <= INT8_MAX ? place : place_like(a, used, original);
}

/* Nothing gets there. */
static void fill_until(struct arena *a, uint32_t to)
{
	memset(a->mirror + a->used, 0xcc, to - a->used);
	a->used = to;
}

/* Of a copy of a branch, whose opcode for 32 bits is this. */
static uint32_t branch_size(const struct insn *original, const char *opcode)
{
	return original->length == SHORT_BYTES ? SHORT_BYTES : (uint32_t)strlen(opcode) + 4;
}

/* A branch on the way, as long as the original but for the last one, and what then follows. The
 * next copy of what it leads to is as far from the begin of its line as the original. */
static void emit_onward(struct unrolling *u, uint64_t to, const char *opcode, uint8_t short_opcode,
	bool leaves, bool last)
{
	const struct insn *original = &u->t->code.last;
	struct out *o = &u->t->out;
	uint32_t after = o->arena->used + branch_size(original, opcode);
	uint32_t next = place_onward(o->arena, after, after + (leaves ? JUMP_BYTES : 0), to);
	uint8_t bytes[SHORT_BYTES] = {short_opcode, (uint8_t)(next - after)};

	if (last)
		u->again = emit_jump(o, opcode, o->arena->used);
	else if (original->length == SHORT_BYTES)
		emit(o, bytes, sizeof(bytes));
	else
		emit_jump(o, opcode, next);
	if (leaves)
		may_leave(u, emit_jump(o, "\xe9", o->arena->used));
	if (!last)
		fill_until(o->arena, next);
}

/* The loop goes on at the next copy, or, if it is the last, at the first. A branch that is taken
 * stays one. */
static void unroll_condition(struct unrolling *u, uint64_t to, bool last)
{
	const struct transfer *x = &u->t->code.transfer;
	char opcode[3] = {0x0f, (char)(0x80 | x->condition), 0};
	struct out *o = &u->t->out;

	if (to == x->to) {
		emit_onward(u, to, opcode, (uint8_t)(0x70 | x->condition), true, last);
		return;
	}
	may_leave(u, emit_jump(o, opcode, o->arena->used));
	if (last)
		u->again = emit_jump(o, "\xe9", o->arena->used);
}

static void unroll_block(struct unrolling *u, const struct way_block *b, bool last)
{
	struct out *o = &u->t->out;

	o->address = u->t->code.end;
	if (u->t->code.transfer.kind == TRANSFER_CONDITION) {
		unroll_condition(u, b->to, last);
		return;
	}
	o->address = b->to;
	o->turn++; /* a thread that is left at the jump has begun the next one */
	emit_onward(u, b->to, "\xe9", 0xeb, false, last);
}

/* What leaves the loop is counted, and goes on in other copies. */
static int unroll_exit(struct unrolling *u, const struct leave *l)
{
	struct cache *c = u->cache;
	struct translation *t = u->t;
	struct turn *turn = &c->turns.data[l->turn];
	const struct copy *copy = table_at(&c->copies, turn->copy);
	struct hop hop = {l->jump, turn->side, turn->to == copy->taken ? copy->next : copy->taken};
	struct out *o = &t->out;

	o->copy = turn->copy;
	o->turn = 0;
	turn->by = (uint8_t)flags_count_by(c, hop.target);
	return copy_way(t, &hop);
}

/* The copy of the first block leads to the loop. */
static void lead_to(struct cache *c, const struct copy *copy, uint32_t begin)
{
	emit_redirect(&c->arenas[copy->arena], copy->at, begin);
}

/* From the last turn to the first: this is counted. A thread that is here has begun all turns. */
static void unroll_again(struct unrolling *u, struct loop *loop, const struct copy *first)
{
	struct out *o = &u->t->out;

	if (!vec_push(&u->cache->turns)) { /* of threads that are here */
		u->cache->full = true;
		return;
	}
	emit_patch(o->arena, u->again, o->arena->used);
	loop->by = (uint8_t)flags_count_by(u->cache, first->key.address);
	o->copy = (uint32_t)table_number(&u->cache->copies, first);
	o->address = first->key.address;
	o->undo = COUNTED;
	o->turn = loop->first + loop->count + 1;
	emit_count(o, loop->again, loop->by);
	o->turn = loop->first + 1;
	emit_jump(o, "\xe9", u->begin);
}

static bool unroll_turns(
	struct unrolling *u, const struct way *w, struct loop *loop, unsigned turns)
{
	struct cache *c = u->cache;
	struct translation *t = u->t;
	struct out *o = &t->out;

	for (unsigned i = 0; i < turns * w->count; i++) {
		const struct way_block *b = &w->block[i % w->count];
		const struct copy *copy = table_at(&c->copies, b->copy);
		struct turn *turn = vec_push(&c->turns);

		if (!turn)
			return false;
		*turn = (struct turn){.copy = b->copy, .to = b->to};
		loop->count++;
		copy_block(c, o->arena, copy->key.address, &t->code);
		if (!t->code.transfers || t->code.end != copy->end)
			return false;
		o->copy = b->copy;
		o->turn = (uint32_t)c->turns.count;
		o->undo = COUNTED;
		copy_straight(t, 0, (struct counted){.place = NOWHERE});
		unroll_block(u, b, i + 1 == turns * w->count);
	}
	return true;
}

/* Instructions and exits of a turn. */
static void way_measure(
	struct translation *t, const struct way *w, unsigned *insns, unsigned *exits)
{
	*insns = *exits = 0;
	for (unsigned i = 0; i < w->count; i++) {
		const struct copy *copy = table_at(&t->out.cache->copies, w->block[i].copy);

		copy_block(t->out.cache, t->out.arena, copy->key.address, &t->code);
		*insns += t->code.count + 1;
		*exits += copy->kind == TRANSFER_CONDITION;
	}
}

static unsigned turns_of(struct translation *t, const struct way *w)
{
	unsigned insns, exits, turns;

	way_measure(t, w, &insns, &exits);
	if (!exits) /* it never ends */
		return 0;
	turns = ENOUGH / insns + 1;
	turns = turns < TURNS ? turns : TURNS;
	return turns * exits > EXITS ? EXITS / exits : turns;
}

static bool unroll(struct cache *c, struct held *f, struct way *w)
{
	const struct copy *first;
	struct translation *t = c->translation;
	struct unrolling u = {.t = t, .cache = c};
	struct loop *loop;
	unsigned turns;

	way_rotate(c, w);
	first = table_at(&c->copies, w->block[0].copy);
	t->held = f;
	t->out = (struct out){
		.cache = c, .arena = &c->arenas[first->arena], .arena_index = first->arena};
	turns = arena_room(t->out.arena) && c->sites.count + EXITS < SITES_MAX ? turns_of(t, w) : 0;
	loop = turns ? vec_push(&c->loops) : NULL;
	if (!loop)
		return false;
	*loop = (struct loop){
		.again = arena_slot(t->out.arena, 0), .first = (uint32_t)c->turns.count};
	u.begin = place_like(t->out.arena, t->out.arena->used, first->key.address);
	fill_until(t->out.arena, u.begin);
	if (unroll_turns(&u, w, loop, turns))
		unroll_again(&u, loop, first);
	else
		c->full = true;
	for (unsigned i = 0; i < u.leaves && !c->full; i++)
		if (unroll_exit(&u, &u.leave[i]))
			c->full = true;
	if (!c->full)
		lead_to(c, first, u.begin);
	return !c->full;
}

/* In a loop that waits for memory, counting takes no time that matters. It is left as it is:
 * prefetchers distinguish loads by their addresses, and do better with several copies of one. */
static bool counting_matters(const struct way *w, const struct copy *first, double ns)
{
	return (double)first->now * w->count * COUNT_NS >= HOT_TIME * ns;
}

unsigned unroll_loops(struct cache *c, struct held *f, double ns)
{
	uint64_t all = 0;
	unsigned made = 0;
	struct way w;

	if (!c->translation || c->b->request.latency || c->logs)
		return 0;
	for (size_t i = 0; i < c->copies.count; i++)
		all += ((struct copy *)table_at(&c->copies, i))->now;
	for (size_t i = 0; i < c->copies.count && made < AT_ONCE && !c->full; i++) {
		struct copy *copy = table_at(&c->copies, i);

		if (copy->looped || copy->now < HOT || (double)copy->now < HOT_PART * (double)all)
			continue;
		if (!way_find(c, (uint32_t)i, &w)) {
			copy->looped = true;
			continue;
		}
		if (!counting_matters(&w, copy, ns))
			continue;
		for (unsigned k = 0; k < w.count; k++)
			((struct copy *)table_at(&c->copies, w.block[k].copy))->looped = true;
		made += unroll(c, f, &w);
	}
	return made;
}

/* ---- counts ---- */

static void turn_count(struct cache *c, const struct turn *turn, uint64_t on, uint64_t out)
{
	struct copy *copy = table_at(&c->copies, turn->copy);
	bool taken = turn->to == copy->taken;

	cache_add_run(c, &copy->run_taken, copy, copy->taken, taken ? on : out);
	if (copy->kind == TRANSFER_CONDITION)
		cache_add_run(c, &copy->run_next, copy, copy->next, taken ? out : on);
}

/* Times that a loop was left after a turn. */
static uint64_t turn_left(const struct turn *turn, const struct arena *a, const uint64_t *values)
{
	return turn->side ? values[turn->side] - a->values[turn->side] : 0;
}

/* The first turn was begun after the last one, and by what has left the loop, or is in it. */
static void loop_count(struct cache *c, const struct loop *l, uint64_t *const *values)
{
	const struct copy *first = table_at(&c->copies, c->turns.data[l->first].copy);
	const struct arena *a = &c->arenas[first->arena];
	const uint64_t *own = values[first->arena];
	uint64_t all = own[l->again] - a->values[l->again];

	c->plain += (double)all * cache_count_cost(l->by);
	all += c->unfinished_turn > l->first && c->unfinished_turn <= l->first + l->count + 1;
	for (uint32_t i = l->first; i < l->first + l->count; i++)
		all += turn_left(&c->turns.data[i], a, own);
	for (uint32_t i = l->first; i < l->first + l->count && all; i++) {
		struct turn *turn = &c->turns.data[i];
		uint64_t out = turn_left(turn, a, own);

		c->plain += (double)out * cache_count_cost(turn->by);
		all -= c->unfinished_turn == i + 1;
		out = out < all ? out : all;
		all -= out;
		turn_count(c, turn, all, out);
	}
}

void unroll_count(struct cache *c, uint64_t *const *values)
{
	for (size_t i = 0; i < c->loops.count; i++)
		loop_count(c, &c->loops.data[i], values);
}
