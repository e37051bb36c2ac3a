/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From an address to the next transfer of control. */
#include <string.h>
#include <unistd.h>

#include "branches/private.h"
#include "isa/isa.h"

#define BLOCK_BYTES 4096 /* longer blocks are not followed */
#define READ_BYTES  512  /* bytes per read */

bool branches_is_prefix(uint8_t byte)
{
	return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e ||
	       (byte >= 0x64 && byte <= 0x67) || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xf0) == 0x40;
}

static void take_memory(struct transfer *t, const struct insn *insn)
{
	const struct insn_memory *m = &insn->memory[0];

	t->target = TARGET_MEMORY;
	t->base = m->absolute ? REG_NONE : m->base;
	t->index = m->absolute ? REG_NONE : m->index;
	t->scale = m->scale;
	t->displacement = m->absolute ? (int64_t)m->address : m->displacement;
}

static void take_indirect(struct transfer *t, const struct insn *insn)
{
	const struct insn_operand *o = &insn->operand[0];
	bool prefixed = t->kind == TRANSFER_NONE;

	if (prefixed || !insn->operands_known || !insn->operands) {
		t->kind = TRANSFER_NONE;
		return;
	}
	if (o->kind == OPERAND_GENERAL && o->bits == 64) {
		t->target = TARGET_REGISTER;
		t->reg = o->reg;
	} else if (o->kind == OPERAND_MEMORY && insn->memories >= 1 && insn->memory[0].size == 8) {
		take_memory(t, insn);
		if (insn->memory[0].segment && !t->segment)
			t->kind = TRANSFER_NONE;
	} else {
		t->kind = TRANSFER_NONE;
	}
}

struct transfer branches_transfer(const uint8_t *bytes, const struct insn *insn)
{
	struct transfer t = {.first = bytes[0],
		.next = insn->address + insn->length,
		.to = insn->target,
		.base = REG_NONE,
		.index = REG_NONE,
		.wide = true};
	bool narrow = false;
	uint8_t op;

	for (; branches_is_prefix(*bytes); bytes++) {
		if (*bytes == 0x64 || *bytes == 0x65)
			t.segment = *bytes;
		if (*bytes == 0x66)
			narrow = true;
		if (*bytes == 0x67)
			t.wide = false;
	}
	op = bytes[0];
	if (narrow)
		return t;
	if ((op & 0xf0) == 0x70 || (op == 0x0f && (bytes[1] & 0xf0) == 0x80)) {
		t.kind = TRANSFER_CONDITION;
		t.condition = (op == 0x0f ? bytes[1] : op) & 0xf;
	} else if (op >= 0xe0 && op <= 0xe3) {
		t.kind = TRANSFER_COUNT;
		t.condition = op & 3;
	} else if (op == 0xe9 || op == 0xeb) {
		t.kind = TRANSFER_JUMP;
	} else if (op == 0xe8) {
		t.kind = TRANSFER_CALL;
	} else if (op == 0xc3 || op == 0xc2) {
		t.kind = TRANSFER_RETURN;
		if (op == 0xc2)
			t.drop = (uint16_t)(bytes[1] | bytes[2] << 8);
	} else if (op == 0xff && ((bytes[1] >> 3 & 7) == 2 || (bytes[1] >> 3 & 7) == 4)) {
		t.kind = (bytes[1] >> 3 & 7) == 2 ? TRANSFER_CALL : TRANSFER_JUMP;
		if (!t.wide)
			t.kind = TRANSFER_NONE;
		take_indirect(&t, insn);
		return t;
	}
	if (t.kind != TRANSFER_RETURN && !insn->has_target)
		t.kind = TRANSFER_NONE;
	return t;
}

size_t branches_read_code(
	struct branches *b, struct followed *p, uint64_t at, uint8_t *bytes, size_t size)
{
	ssize_t n = pread(p->memory, bytes, size, (off_t)at);

	if (n <= 0)
		return 0;
	for (size_t i = 0; b->sited == p && i < b->sites.count; i++) {
		const struct site *s = table_at(&b->sites, i);
		uint64_t distance = s->key.address - at;

		if (distance < (uint64_t)n)
			bytes[distance] = s->transfer.first;
	}
	if (p->cache)
		anchors_mask(p->cache, at, bytes, (size_t)n);
	return (size_t)n;
}

static void block_decode(struct branches *b, struct followed *p, struct block *block)
{
	const struct area *area = process_area(p, block->key.begin);
	uint8_t bytes[READ_BYTES + INSN_LENGTH_MAX] = {0};
	uint64_t at = block->key.begin, begin = at;
	size_t have = 0;
	struct insn insn;

	block->idle = true;
	for (; area && at - block->key.begin < BLOCK_BYTES && at < area->end; at += insn.length) {
		if (at + INSN_LENGTH_MAX > begin + have) {
			size_t size = area->end - at < READ_BYTES ? area->end - at : READ_BYTES;

			begin = at;
			have = branches_read_code(b, p, at, bytes, size);
			if (have < size)
				memset(bytes + have, 0, sizeof(bytes) - have);
		}
		if (at >= begin + have ||
			!isa_decode(
				ISA_X86_64, bytes + (at - begin), begin + have - at, at, &insn) ||
			insn.classes & (INSN_BAD | INSN_STOPS | INSN_PRIVILEGED))
			return;
		if (insn.classes & INSN_BRANCH) {
			block->end = at;
			block->transfer = branches_transfer(bytes + (at - begin), &insn);
			return;
		}
		block->idle &= (insn.classes & INSN_NOP) != 0;
		block->enters |= (insn.classes & INSN_SYSCALL) != 0;
	}
}

const struct block *branches_block(struct branches *b, struct followed *p, uint64_t begin)
{
	struct block *block = table_find(&p->blocks, &begin);

	if (!block) {
		block = table_add(&p->blocks, &begin);
		if (!block)
			return NULL;
		block_decode(b, p, block);
	}
	return block->transfer.kind == TRANSFER_NONE ? NULL : block;
}
