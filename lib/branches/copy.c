/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Translation: from a thread's next instruction on, blocks are copied in the order that needs no
 * jump, and then some targets of branches, places that calls will return to, and callers, as far
 * ahead as a stop is worth.
 *
 * Bursts that time loads count nothing. In others, a block is counted where flags or a register are
 * dead, or else by a detour over rax. Of the two edges of a conditional branch one is counted, the
 * one that is probably rare.
 */
#include <string.h>
#include <unistd.h>

#include "branches/translate.h"

/* Within this distance from the first byte of an arena's code, displacements reach all of it. */
#define COPY_REACH ((2ull << 30) - ARENA_CODE)

/* Targets that indirect transfers compare with by themselves. */
#define NEAR_MOST  3
#define NEAR_JUMPS 1

/* ---- reading ---- */

static bool is_transactional(const uint8_t *bytes)
{
	return bytes[0] == 0xc7 && bytes[1] == 0xf8;
}

bool copy_has_narrow_address(const uint8_t *bytes)
{
	for (; branches_is_prefix(*bytes); bytes++)
		if (*bytes == 0x67)
			return true;
	return false;
}

/* Critical sections of rseq begin by a store into thread-local memory; more is not known of its
 * place. */
static bool may_begin_section(const struct insn *insn)
{
	for (unsigned i = 0; i < insn->memories; i++) {
		const struct insn_memory *m = &insn->memory[i];

		if (m->segment && m->writes && m->size == 8 && m->base != REG_NONE)
			return true;
	}
	return false;
}

static bool can_copy(const struct arena *a, const uint8_t *bytes, const struct insn *insn)
{
	uint64_t target;
	int32_t word;

	if (insn->classes & (INSN_BAD | INSN_STOPS | INSN_PRIVILEGED | INSN_SYSCALL) ||
		!insn->operands_known || is_transactional(bytes) || may_begin_section(insn))
		return false;
	if (!insn->relative_at)
		return true;
	if (copy_has_narrow_address(bytes))
		return false;
	memcpy(&word, bytes + insn->relative_at, sizeof(word));
	target = insn->address + insn->length + (uint64_t)(int64_t)word;
	return target - (a->code - COPY_REACH) < 2 * COPY_REACH;
}

size_t copy_single(const struct cache *c, uint64_t address, bool *enters)
{
	uint8_t bytes[INSN_LENGTH_MAX] = {0};
	size_t have = branches_read_code(c->b, c->process, address, bytes, sizeof(bytes));
	struct insn insn;

	/* A program's own traps look like ours, and a trap aborts a transaction. */
	if (!have || bytes[0] == 0xcc || bytes[0] == 0xcd || bytes[0] == 0xf1 ||
		!isa_decode(ISA_X86_64, bytes, have, address, &insn) || is_transactional(bytes))
		return 0;
	*enters = (insn.classes & INSN_SYSCALL) != 0;
	return insn.length;
}

static const struct code_page *copy_page_of(struct cache *c, uint64_t address)
{
	uint64_t number = address / CODE_PAGE;
	struct code_page *page = table_find(&c->pages, &number);

	if (page)
		return page;
	if (vec_add(&c->page_numbers, number) == 0)
		page = table_add(&c->pages, &number);
	c->pages_sorted = false;
	if (page)
		page->have = (uint32_t)branches_read_code(
			c->b, c->process, number * CODE_PAGE, page->bytes, CODE_PAGE);
	return page;
}

/* Bytes read: each page only once. */
size_t copy_read(struct cache *c, uint64_t address, uint8_t *bytes, size_t size)
{
	size_t done = 0, at, part;

	while (done < size) {
		const struct code_page *page = copy_page_of(c, address + done);

		at = (address + done) % CODE_PAGE;
		if (!page || at >= page->have)
			break;
		part = page->have - at < size - done ? page->have - at : size - done;
		memcpy(bytes + done, page->bytes + at, part);
		done += part;
	}
	return done;
}

/* Where operands matter, as whole. 0: it is invalid. */
static size_t copy_decode(const struct cache *c, const uint8_t *bytes, size_t size,
	uint64_t address, struct insn *insn, struct insn_flags *flags)
{
	bool whole = c->logs || c->b->request.latency;

	if (!whole && isa_brief(bytes, size, address, insn, flags))
		return insn->length;
	if (!isa_decode(ISA_X86_64, bytes, size, address, insn))
		return 0;
	*flags = flags_of(bytes, insn);
	return insn->length;
}

void copy_block(struct cache *c, const struct arena *a, uint64_t address, struct code *code)
{
	const struct area *area = process_area(c->process, address);
	size_t size = 0, have;
	uint64_t at = address;

	code->count = 0;
	code->transfers = code->stops = code->calls = false;
	if (area)
		size = area->end - address < READ_BYTES ? area->end - address : READ_BYTES;
	have = size ? copy_read(c, address, code->bytes, size) : 0;
	memset(code->bytes + have, 0, INSN_LENGTH_MAX);
	for (;; at += code->insns[code->count++].length) {
		struct insn *insn = &code->insns[code->count];
		const uint8_t *bytes = code->bytes + (at - address);

		if (code->count == INSNS - 1 ||
			(at - address + INSN_LENGTH_MAX > have && have == READ_BYTES))
			break;
		if (at - address >= have ||
			!copy_decode(c, bytes, have - (at - address), at, insn,
				&code->flags[code->count]) ||
			(!(insn->classes & INSN_BRANCH) && !can_copy(a, bytes, insn))) {
			code->stops = true;
			code->calls = at - address < have && insn->length == CALL_SIZE &&
				      memcmp(bytes, CALL_BYTES, CALL_SIZE) == 0;
			break;
		}
		if (insn->classes & INSN_BRANCH) {
			code->transfer = branches_transfer(bytes, insn);
			code->last = *insn;
			code->last_at = bytes;
			code->transfers = code->transfer.kind != TRANSFER_NONE &&
					  (code->transfer.target == TARGET_DIRECT ||
						  can_copy(a, bytes, insn));
			code->stops = !code->transfers;
			break;
		}
		code->at[code->count] = bytes;
	}
	code->end = at;
}

/* Whether flags are dead before instruction i. */
static bool dead_at(const struct code *code, unsigned i)
{
	uint8_t live = FLAGS_ALL;

	for (; i < code->count && live; i++) {
		if (code->flags[i].reads & live)
			return false;
		live &= (uint8_t)~code->flags[i].kills;
	}
	return !live;
}

bool copy_find_long(struct cache *c, struct held *f, uint64_t address, unsigned least,
	struct insn *insn, uint8_t *bytes)
{
	const struct arena *a = arena_for(c, f, address);
	struct code *code = a ? malloc(sizeof(*code)) : NULL;
	bool found = false;

	if (code)
		copy_block(c, a, address, code);
	for (unsigned i = 0; code && i < code->count && !found; i++) {
		found = code->insns[i].length >= least && dead_at(code, i);
		if (!found)
			continue;
		*insn = code->insns[i];
		memcpy(bytes, code->at[i], insn->length);
	}
	free(code);
	return found;
}

/* ---- writing ---- */

struct copy *copy_find(struct cache *c, uint64_t address, uint64_t begin)
{
	const struct copy key = {.key = {address, begin}};

	return table_find(&c->copies, &key.key);
}

static void later(struct translation *t, uint32_t jump, uint32_t counter, uint64_t target)
{
	t->hops[t->hop_count++] = (struct hop){jump, counter, target};
	ahead_add(&t->ahead, target, false);
}

/* Exits to this copy's address lead to it from now on. */
static void copy_connect(struct cache *c, const struct copy *copy)
{
	const struct waiting key = {.key = {copy->key.address, copy->key.begin}};
	struct waiting *w = table_find(&c->waiting, &key.key);
	uint32_t left = 0;

	if (!w)
		return;
	for (uint32_t i = w->first, next; i; i = next) {
		struct exit *e = table_at(&c->exits, i - 1);
		struct arena *a = &c->arenas[e->arena];
		uint32_t at = (uint32_t)(e->key.place - a->code);

		next = e->next;
		if (e->arena != copy->arena) {
			e->next = left;
			left = i;
			continue;
		}
		emit_redirect(a, at, copy->at);
		if (e->jump)
			emit_patch(a, e->jump, copy->at);
	}
	w->first = left;
}

struct counted copy_place(struct translation *t, const struct copy *copy)
{
	const struct code *code = &t->code;
	int count = (int)code->count, by;
	int after = copy->kind == TRANSFER_JUMP || copy->kind == TRANSFER_CALL
			    ? flags_count_by(t->out.cache, copy->taken)
			    : BY_DETOUR;

	for (int i = 0; i < count; i++)
		if (dead_at(code, (unsigned)i))
			return (struct counted){i, BY_FLAGS};
	if (after == BY_FLAGS)
		return (struct counted){count, BY_FLAGS};
	for (int i = 0; i < count; i++) {
		by = isa_brief_overwritten(code->at[i], code->insns[i].length);
		if (by >= 0)
			return (struct counted){i, by};
	}
	return (struct counted){after == BY_DETOUR ? 0 : count, after};
}

static void emit_logged(struct out *o, const uint8_t *bytes, const struct insn *insn)
{
	value_log_before(o, bytes, insn);
	emit_copy(o, bytes, insn);
	o->address = insn->address + insn->length;
	value_log_after(o, insn);
}

void copy_straight(struct translation *t, uint32_t slot, struct counted counted)
{
	const struct code *code = &t->code;
	struct out *o = &t->out;

	for (int i = 0; i <= (int)code->count; i++) {
		o->address = i < (int)code->count ? code->insns[i].address : code->end;
		if (i == counted.place) {
			emit_count(o, slot, counted.by);
			o->undo = COUNTED;
		}
		if (i >= (int)code->count)
			break;
		if (timing_wants(o->cache, &code->insns[i]))
			timing_emit(o, code->at[i], &code->insns[i]);
		else if (o->cache->logs)
			emit_logged(o, code->at[i], &code->insns[i]);
		else
			emit_copy(o, code->at[i], &code->insns[i]);
	}
}

static void emit_straight(struct translation *t, struct copy *copy, bool counts)
{
	struct counted counted = counts ? copy_place(t, copy) : (struct counted){.place = NOWHERE};

	if (counts)
		copy->head = arena_slot(t->out.arena, 0);
	copy->head_by = (uint8_t)counted.by;
	copy_straight(t, copy->head, counted);
}

int copy_way(struct translation *t, const struct hop *hop)
{
	struct out *o = &t->out;
	const struct copy *to = copy_find(o->cache, hop->target, hop->target);

	o->address = hop->target;
	o->undo = 0;
	if (to && to->arena != o->arena_index)
		to = NULL;
	if (hop->jump)
		emit_patch(o->arena, hop->jump, to && !hop->counter ? to->at : o->arena->used);
	if (to && !hop->counter && hop->jump)
		return 0;
	if (hop->counter)
		emit_count(o, hop->counter, flags_count_by(t->out.cache, hop->target));
	if (to) {
		emit_jump(o, "\xe9", to->at);
		return 0;
	}
	return emit_exit(o, EXIT_GO, hop->target, hop->target, hop->counter ? 0 : hop->jump);
}

static uint64_t emit_condition(struct translation *t, struct copy *copy)
{
	const struct transfer *x = &t->code.transfer;
	struct out *o = &t->out;
	char opcode[3] = {0x0f, (char)(0x80 | x->condition), 0};
	uint32_t jump;

	/* Back edges of loops are more frequent than exits. */
	copy->side_taken = x->to > copy->end;
	if (!flags_dead_at(t->out.cache, copy->side_taken ? x->to : x->next) &&
		flags_dead_at(t->out.cache, copy->side_taken ? x->next : x->to))
		copy->side_taken = !copy->side_taken;
	if (!o->cache->b->request.latency)
		copy->side = arena_slot(o->arena, 0);
	copy->side_by = (uint8_t)flags_count_by(t->out.cache, copy->side_taken ? x->to : x->next);
	jump = emit_jump(o, opcode, o->arena->used);
	later(t, jump, copy->side_taken ? copy->side : 0, x->to);
	o->address = x->next;
	o->undo = 0;
	if (!copy->side_taken && copy->side)
		emit_count(o, copy->side, copy->side_by);
	return x->next;
}

/* loop, jrcxz and similar jumps reach 127 bytes only. */
static uint64_t emit_counting(struct translation *t, struct copy *copy)
{
	const struct transfer *x = &t->code.transfer;
	struct out *o = &t->out;
	char code[3];
	size_t n = 0;
	uint32_t jump;

	copy->side_taken = true;
	if (!o->cache->b->request.latency)
		copy->side = arena_slot(o->arena, 0);
	if (!x->wide)
		code[n++] = 0x67;
	code[n++] = (char)(0xe0 | x->condition);
	code[n++] = 5;
	emit(o, code, n);
	o->address = x->next;
	o->undo = 0;
	jump = emit_jump(o, "\xe9", o->arena->used);
	later(t, jump, 0, x->next);
	o->address = x->to;
	copy->side_by = (uint8_t)flags_count_by(t->out.cache, x->to);
	if (copy->side)
		emit_count(o, copy->side, copy->side_by);
	return x->to;
}

/* The transfer after the block; returns where the copy of its successor begins, 0: none. */
static uint64_t emit_transfer(struct translation *t, struct copy *copy)
{
	const struct transfer *x = &t->code.transfer;
	struct out *o = &t->out;

	if (x->kind == TRANSFER_CONDITION)
		return emit_condition(t, copy);
	if (x->kind == TRANSFER_COUNT)
		return emit_counting(t, copy);
	if (x->kind == TRANSFER_CALL)
		ahead_add(&t->ahead, x->next, true);
	if (x->kind == TRANSFER_RETURN || x->target != TARGET_DIRECT) {
		ahead_add_target(&t->ahead, t->out.cache, x);
		if (emit_indirect(o, x, t->code.last_at, &t->code.last))
			o->cache->full = true;
		return 0;
	}
	if (x->kind == TRANSFER_CALL && o->cache->logs)
		value_log_call(o, x->to);
	if (x->kind == TRANSFER_CALL)
		emit_slot(o, "\xff\x35", arena_slot(o->arena, x->next)); /* push */
	o->address = x->to;
	o->undo = 0;
	return x->to;
}

/* Copies one block after the last. Returns its successor: 0, or *begin is its run's. */
static uint64_t emit_block(struct translation *t, uint64_t address, uint64_t *begin)
{
	struct out *o = &t->out;
	struct cache *c = o->cache;
	const struct copy key = {.key = {address, *begin}};
	struct copy *copy = table_add(&c->copies, &key.key);
	const struct code *code = &t->code;
	bool indirect;

	if (!copy) {
		c->full = true;
		return 0;
	}
	copy_block(c, o->arena, address, &t->code);
	o->copy = (uint32_t)c->copies.count - 1;
	o->address = address;
	o->undo = 0;
	copy->at = o->arena->used;
	copy->arena = (uint8_t)o->arena_index;
	copy->end = code->end;
	if (code->transfers) {
		copy->kind = code->transfer.kind;
		copy->taken = code->transfer.to;
		copy->next = code->transfer.next;
	}
	indirect = copy->kind == TRANSFER_RETURN ||
		   (code->transfers && code->transfer.target != TARGET_DIRECT);
	emit_straight(t, copy, code->transfers && !indirect && !c->b->request.latency);
	copy_connect(c, copy);
	t->left--;
	if (code->transfers) {
		address = emit_transfer(t, copy);
		*begin = address;
		return address;
	}
	if (code->calls && flags_dead_at(c, code->end + CALL_SIZE)) {
		if (calls_emit(o, code->end, *begin))
			c->full = true;
		return code->end + CALL_SIZE;
	}
	if (code->stops) {
		if (emit_exit(o, EXIT_STEP, code->end, *begin, 0))
			c->full = true;
		return 0;
	}
	return code->end;
}

static void emit_chain(struct translation *t, uint64_t address, uint64_t begin)
{
	struct out *o = &t->out;
	struct cache *c = o->cache;

	t->hop_count = 0;
	while (address && !c->full) {
		const struct copy *to = copy_find(c, address, begin);
		const struct area *area = process_area(c->process, address);

		if (to && to->arena == o->arena_index) {
			emit_jump(o, "\xe9", to->at);
			break;
		}
		if (to || !area || !t->left || !arena_room(o->arena) ||
			arena_for(c, t->held, address) != o->arena) {
			if (emit_exit(o, EXIT_GO, address, begin, 0))
				c->full = true;
			break;
		}
		address = emit_block(t, address, &begin);
	}
	for (unsigned i = 0; i < t->hop_count; i++)
		if (copy_way(t, &t->hops[i]))
			c->full = true;
}

static bool copy_begin(struct translation *t, uint64_t address)
{
	struct cache *c = t->out.cache;
	struct arena *a = arena_for(c, t->held, address);

	if (!a)
		return false;
	if (!arena_room(a) || c->sites.count + AHEAD > SITES_MAX)
		c->full = true;
	t->out.arena = a;
	t->out.arena_index = (unsigned)(a - c->arenas);
	if (!a->miss && !c->full)
		doors_emit_way(&t->out);
	return !c->full;
}

struct copy *copy_get(struct cache *c, struct held *f, uint64_t address, uint64_t run)
{
	struct copy *copy = copy_find(c, address, run);
	struct translation *t;

	if (copy)
		return copy;
	t = c->translation;
	if (!t)
		t = c->translation = calloc(1, sizeof(*t));
	if (!t)
		return NULL;
	t->out = (struct out){.cache = c};
	t->held = f;
	t->ahead.count = t->ahead.taken = 0;
	t->left = AHEAD;
	if (!c->callers)
		ahead_add_callers(&t->ahead, c, f);
	c->callers = true;
	if (copy_begin(t, address))
		emit_chain(t, address, run);
	while (t->ahead.taken < t->ahead.count && t->left && !c->full) {
		struct ahead next = t->ahead.list[t->ahead.taken++];

		if (!copy_find(c, next.address, next.address) && copy_begin(t, next.address))
			emit_chain(t, next.address, next.address);
		if (next.door)
			doors_add(c, next.address);
	}
	return copy_find(c, address, run);
}

struct site_key *copy_site(const struct cache *c, uint64_t sum)
{
	uint64_t number = sum >> 48;

	return number && number <= c->sites.count ? &c->sites.data[number - 1] : NULL;
}

void copy_meet(struct cache *c, uint64_t sum, uint64_t to)
{
	const struct site_key *site = copy_site(c, sum);
	const struct copy *copy = site ? table_at(&c->copies, site->copy) : NULL;

	if (copy && copy->key.begin && !c->b->request.latency)
		cache_met(c, copy->key.begin, copy->end, to, 1);
}

int copy_pair(struct cache *c, uint64_t sum, uint64_t to, const struct copy *copy)
{
	struct site_key *site = copy_site(c, sum);
	const struct chain key = {.key = {(uint32_t)(sum % ARENA_HEADS), 0}};
	const struct copy *from;
	struct arena *a;
	struct out o;
	struct chain *chain;
	struct pair *p;
	uint64_t entry;

	if (!site)
		return -1;
	from = table_at(&c->copies, site->copy);
	a = &c->arenas[from->arena];
	o = (struct out){.cache = c, .arena = a, .arena_index = from->arena, .copy = site->copy};
	if (!arena_room(a)) {
		c->full = true;
		return -1;
	}
	p = table_add(&c->pairs, &sum);
	chain = table_add(&a->chains, &key.key);
	if (!p || !chain)
		return -1;
	p->to = to;
	p->copy = site->copy;
	p->counter = arena_slot(a, 0);
	emit_pair(&o, p, site->key, copy);
	if (site->near < (from->kind == TRANSFER_JUMP ? NEAR_JUMPS : NEAR_MOST))
		emit_near(&o, p, site, from, copy);
	if (chain->last) {
		const struct pair *last = table_at(&c->pairs, chain->last - 1);

		emit_patch(a, last->miss, p->at);
	} else {
		entry = a->code + p->at;
		if (arena_head(a, a->table + key.key.hash * (uint64_t)8, entry))
			return -1;
	}
	chain->last = (uint32_t)c->pairs.count;
	return 0;
}
