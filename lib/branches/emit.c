/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bytes of copies. */
#include <string.h>

#include "branches/cache.h"
#include "isa/isa.h"

#define INC       "\x48\xff\x05"
#define PUSH      "\xff\x35"
#define JUMP_SLOT "\xff\x25"
#define NOP       "\x0f\x1f\x44\x00\x00" /* as long as a jump */

static void emit_mark(struct out *o)
{
	struct place p = {o->arena->used, o->copy, o->address, o->undo, o->turn};

	if (vec_add(&o->arena->places, p))
		o->cache->full = true;
}

static void emit_put(struct arena *a, const void *bytes, size_t size)
{
	memcpy(a->mirror + a->used, bytes, size);
	a->used += (uint32_t)size;
}

static void emit_put_word(struct arena *a, uint32_t word)
{
	emit_put(a, &word, sizeof(word));
}

void emit(struct out *o, const void *bytes, size_t size)
{
	emit_mark(o);
	emit_put(o->arena, bytes, size);
}

static uint32_t displacement(const struct arena *a, uint64_t to)
{
	return (uint32_t)(to - (a->code + a->used + 4));
}

void emit_address(struct out *o, const char *bytes, uint64_t to)
{
	emit(o, bytes, strlen(bytes));
	emit_put_word(o->arena, displacement(o->arena, to));
}

void emit_slot(struct out *o, const char *bytes, uint32_t slot)
{
	emit_address(o, bytes, arena_slot_address(o->arena, slot));
}

void emit_word(struct out *o, const char *bytes, uint32_t word)
{
	emit(o, bytes, strlen(bytes));
	emit_put_word(o->arena, word);
}

void emit_wide(struct out *o, const char *bytes, uint64_t immediate)
{
	emit(o, bytes, strlen(bytes));
	emit_put(o->arena, &immediate, sizeof(immediate));
}

void emit_copy(struct out *o, const uint8_t *bytes, const struct insn *insn)
{
	uint32_t begin = o->arena->used, word;

	emit(o, bytes, insn->length);
	if (!insn->relative_at)
		return;
	memcpy(&word, bytes + insn->relative_at, sizeof(word));
	word += (uint32_t)(insn->address - (o->arena->code + begin));
	memcpy(o->arena->mirror + begin + insn->relative_at, &word, sizeof(word));
}

/* Through a register, without flags. */
static void emit_count_through(struct out *o, uint32_t slot, unsigned reg)
{
	uint8_t low = reg & 7, rex = 0x48 | (reg > 7 ? 4 : 0);
	char load[] = {(char)rex, (char)0x8b, (char)(low << 3 | 5), 0};
	char store[] = {(char)rex, (char)0x89, load[2], 0};
	uint8_t lea[5] = {rex | (reg > 7 ? 1 : 0), 0x8d, 0x40 | low << 3 | low};
	size_t n = 3;

	emit_slot(o, load, slot);
	if (low == 4)
		lea[n++] = 0x24; /* as a base, it needs SIB */
	lea[n++] = 1;
	emit(o, lea, n); /* lea 1(reg), reg */
	emit_slot(o, store, slot);
}

void emit_count(struct out *o, uint32_t slot, int by)
{
	if (by == BY_FLAGS) {
		emit_slot(o, INC, slot);
		return;
	}
	if (by != BY_DETOUR) {
		emit_count_through(o, slot, (unsigned)by);
		return;
	}
	emit_slot(o, MOV_FROM_RAX, SLOT_RAX);
	o->undo |= UNDO_RAX;
	emit_count_through(o, slot, BY_RAX);
	emit_slot(o, MOV_TO_RAX, SLOT_RAX);
	o->undo &= (uint8_t)~UNDO_RAX;
}

uint32_t emit_jump(struct out *o, const char *opcode, uint32_t to)
{
	struct arena *a = o->arena;

	emit(o, opcode, strlen(opcode));
	emit_put_word(a, to - (a->used + 4));
	return a->used - 4;
}

void emit_patch(struct arena *a, uint32_t at, uint32_t to)
{
	uint32_t word = to - (at + 4);

	memcpy(a->mirror + at, &word, sizeof(word));
	if (at < a->sent)
		(void)vec_add(&a->patches, ((struct patch){at, sizeof(word)}));
}

int emit_exit(struct out *o, enum exit_kind kind, uint64_t address, uint64_t begin, uint32_t jump)
{
	struct cache *c = o->cache;
	uint64_t place = o->arena->code + o->arena->used;
	struct exit *e = table_add(&c->exits, &place);
	struct waiting *w;

	o->address = address;
	emit(o, "\xcc\xcc\xcc\xcc\xcc", 5);
	if (!e)
		return -1;
	e->kind = kind;
	e->arena = (uint8_t)o->arena_index;
	e->address = address;
	e->begin = begin;
	e->jump = jump;
	if (kind != EXIT_GO)
		return 0;
	w = table_add(&c->waiting, &(struct waiting){.key = {address, begin}}.key);
	if (!w)
		return -1;
	e->next = w->first;
	w->first = (uint32_t)c->exits.count; /* it is the last */
	return 0;
}

/* ---- transfers whose target is in a register or memory ---- */

/* mov target, %rcx: of a jump or call by register or memory. */
static void emit_target(struct out *o, const uint8_t *bytes, const struct insn *insn)
{
	struct arena *a = o->arena;
	uint8_t code[INSN_LENGTH_MAX + 2], rex = 0x48;
	uint32_t begin = a->used, word;
	size_t n = 0, i = 0;

	for (; bytes[i] != 0xff; i++) {
		if ((bytes[i] & 0xf0) == 0x40)
			rex |= bytes[i] & 3;
		else if (bytes[i] == 0x64 || bytes[i] == 0x65)
			code[n++] = bytes[i];
	}
	code[n++] = rex;
	code[n++] = 0x8b;
	code[n++] = (uint8_t)((bytes[i + 1] & 0xc7) | 1 << 3);
	i += 2;
	memcpy(code + n, bytes + i, insn->length - i);
	n += insn->length - i;
	emit(o, code, n);
	if (insn->relative_at) {
		memcpy(&word, bytes + insn->relative_at, sizeof(word));
		word += (uint32_t)(insn->address + insn->length - (a->code + begin + n));
		memcpy(a->mirror + begin + n - sizeof(word), &word, sizeof(word));
	}
}

_Static_assert(ARENA_HEADS * 8 == 1 << 16, "16 bits select an entry");

void emit_look_up(struct out *o, uint64_t table)
{
	emit(o, "\x8d\x0c\xcd\0\0\0\0", 7);     /* lea (,%rcx,8), %ecx */
	emit(o, "\x0f\xb7\xc9", 3);             /* movzwl %cx, %ecx */
	emit_address(o, "\x48\x8d\x15", table); /* lea table(%rip), %rdx */
	emit(o, "\x48\x8b\x0c\x0a", 4);         /* mov (%rdx,%rcx), %rcx */
	emit(o, "\xe3\x02", 2);                 /* jrcxz */
	emit(o, "\xff\xe1", 2);                 /* jmp *%rcx */
}

static void emit_add(struct out *o, uint64_t to_rcx)
{
	emit_wide(o, WIDE_RDX, to_rcx);
	emit(o, "\x48\x8d\x0c\x11", 4); /* lea (%rcx,%rdx), %rcx */
}

/* What a call or a return does to the stack. */
static void emit_stack(struct out *o, enum transfer_kind kind, uint64_t next, uint16_t drop)
{
	if (kind == TRANSFER_CALL)
		emit_slot(o, PUSH, arena_slot(o->arena, next));
	if (kind == TRANSFER_RETURN) {
		emit(o, "\x48\x8d\xa4\x24", 4); /* lea 8 + drop(%rsp), %rsp */
		emit_put_word(o->arena, 8u + drop);
	}
}

static void emit_jump_to_copy(struct out *o, const struct copy *to)
{
	struct arena *a = o->arena;

	if (to->arena == o->arena_index)
		emit_jump(o, "\xe9", to->at);
	else
		emit_slot(o, JUMP_SLOT, arena_slot(a, o->cache->arenas[to->arena].code + to->at));
}

int emit_indirect(
	struct out *o, const struct transfer *t, const uint8_t *bytes, const struct insn *insn)
{
	struct cache *c = o->cache;
	struct site_key *site = vec_push(&c->sites);
	uint64_t number = c->sites.count;

	if (!site)
		return -1;
	site->copy = o->copy;
	site->key = number << 48 | (number * 0x9e3779b1u >> 8 & 0xffff);
	emit_slot(o, MOV_FROM_RCX, SLOT_RCX);
	emit_slot(o, MOV_FROM_RDX, SLOT_RDX);
	if (t->kind == TRANSFER_RETURN)
		emit(o, "\x48\x8b\x0c\x24", 4); /* mov (%rsp), %rcx */
	else
		emit_target(o, bytes, insn);
	o->undo = UNDO_RCX | UNDO_RDX;
	site->drop = t->drop;
	site->at = o->arena->used;
	emit(o, NOP, JUMP_BYTES);
	emit_slot(o, MOV_FROM_RCX, SLOT_TO);
	emit_add(o, site->key);
	emit_slot(o, MOV_FROM_RCX, SLOT_TARGET);
	emit_stack(o, t->kind, t->next, t->drop);
	o->undo = FORWARD;
	emit_look_up(o, o->arena->table);
	emit_jump(o, "\xe9", o->arena->miss);
	return 0;
}

void emit_go(struct out *o, uint64_t address, const struct copy *to)
{
	emit_slot(o, MOV_TO_RCX, SLOT_RCX);
	emit_slot(o, MOV_TO_RDX, SLOT_RDX);
	o->undo = 0;
	o->address = address;
	emit_jump_to_copy(o, to);
}

void emit_redirect(struct arena *a, uint32_t at, uint32_t to)
{
	a->mirror[at] = 0xe9;
	if (at < a->sent)
		(void)vec_add(&a->patches, ((struct patch){at, 1}));
	emit_patch(a, at + 1, to);
}

void emit_near(struct out *o, struct pair *p, struct site_key *site, const struct copy *from,
	const struct copy *to)
{
	struct arena *a = o->arena;

	if (site->near)
		emit_patch(a, site->leads, a->used);
	else
		emit_redirect(a, site->at, a->used);
	o->address = from->end;
	o->undo = UNDO_RCX | UNDO_RDX;
	emit_add(o, site->last - p->to);
	emit(o, "\xe3\x05", 2); /* jrcxz */
	site->leads = emit_jump(o, "\xe9", a->used);
	emit_stack(o, from->kind, from->next, site->drop);
	o->address = p->to;
	emit_count(o, p->counter, flags_dead_at(o->cache, p->to) ? BY_FLAGS : BY_RCX);
	emit_slot(o, MOV_TO_RCX, SLOT_RCX);
	o->undo = UNDO_RDX;
	emit_slot(o, MOV_TO_RDX, SLOT_RDX);
	o->undo = 0;
	emit_jump_to_copy(o, to);
	o->address = from->end;
	o->undo = UNDO_RCX | UNDO_RDX;
	emit_patch(a, site->leads, a->used);
	emit_add(o, p->to);
	emit_jump(o, "\xe9", site->at + JUMP_BYTES);
	site->last = p->to;
	site->near++;
	p->near = true;
}

void emit_pair(struct out *o, struct pair *p, uint64_t key, const struct copy *to)
{
	struct arena *a = o->arena;

	p->at = a->used;
	o->undo = FORWARD;
	emit_slot(o, MOV_TO_RCX, SLOT_TARGET);
	emit_add(o, -(p->to + key));
	emit(o, "\xe3\x05", 2); /* jrcxz */
	p->miss = emit_jump(o, "\xe9", a->miss);
	emit_count(o, p->counter, BY_RCX);
	emit_go(o, p->to, to);
}
