/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Blocks are decoded before they run. A block is refused if it could reach the kernel, leave the
 * block, or change state that the worker cannot restore. */
#include <string.h>

#include "blockbench/block_accept.h"
#include "isa/isa.h"

/* In order: the first that applies. */
static const struct {
	uint32_t classes;
	enum block_class class;
} refused[] = {
	{INSN_BAD, BLOCK_UNDECODABLE},
	{INSN_SYSCALL, BLOCK_SYSTEM_CALL},
	{INSN_STOPS, BLOCK_STOPS},
	{INSN_PRIVILEGED, BLOCK_PRIVILEGED},
};

static const struct {
	const char *name;
	enum block_class class;
} refused_names[] = {
	{"int1", BLOCK_STOPS},
	{"vmcall", BLOCK_SYSTEM_CALL},
	{"vmmcall", BLOCK_SYSTEM_CALL},
	{"vmfunc", BLOCK_SYSTEM_CALL},
	{"enclu", BLOCK_SYSTEM_CALL},
	{"wrpkru", BLOCK_PRIVILEGED},
	{"xrstor", BLOCK_PRIVILEGED},
	{"xrstor64", BLOCK_PRIVILEGED},
	{"cli", BLOCK_PRIVILEGED},
	{"sti", BLOCK_PRIVILEGED},
	{"in", BLOCK_PRIVILEGED},
	{"out", BLOCK_PRIVILEGED},
	{"insb", BLOCK_PRIVILEGED},
	{"insw", BLOCK_PRIVILEGED},
	{"insd", BLOCK_PRIVILEGED},
	{"outsb", BLOCK_PRIVILEGED},
	{"outsw", BLOCK_PRIVILEGED},
	{"outsd", BLOCK_PRIVILEGED},
	{"senduipi", BLOCK_PRIVILEGED},
	{"stui", BLOCK_PRIVILEGED},
	{"clui", BLOCK_PRIVILEGED},
};

static enum block_class accept_refuse(const struct insn *insn)
{
	const char *name = isa_mnemonic(ISA_X86_64, insn->mnemonic);

	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		if (insn->classes & refused[i].classes)
			return refused[i].class;
	for (size_t i = 0; i < sizeof(refused_names) / sizeof(*refused_names); i++)
		if (strcmp(name, refused_names[i].name) == 0)
			return refused_names[i].class;
	if (insn->classes & INSN_SEGMENT && !(insn->classes & INSN_BRANCH))
		return BLOCK_SEGMENT;
	return BLOCK_OK;
}

struct facts {
	uint32_t flags;
	struct insn_registers used, written;
	uint16_t bases, indexes; /* general registers */
	uint16_t placed;         /* those with a place in low[] */
	uint8_t low[16];
};

static bool masks(const struct insn *insn)
{
	for (unsigned reg = REG_MASK; reg < REG_MASK + 8; reg++)
		if (insn_registers_have(&insn->reads, reg) ||
			insn_registers_have(&insn->writes, reg))
			return true;
	return false;
}

/* Programs align their wide data: so registers that point to such data are aligned. */
static void note_memory(struct facts *f, const struct insn_memory *m)
{
	if (m->index < 16)
		f->indexes |= (uint16_t)(1 << m->index);
	if (m->base >= 16)
		return;
	f->bases |= (uint16_t)(1 << m->base);
	if (m->size < 16 || m->size > 64 || m->size & (m->size - 1) || f->placed >> m->base & 1)
		return;
	f->placed |= (uint16_t)(1 << m->base);
	f->low[m->base] = (uint8_t)(-m->displacement & (m->size - 1));
}

/* Except the stack pointer. */
static uint16_t written_registers(const struct facts *f)
{
	uint16_t set = 0;

	for (unsigned reg = 0; reg < 16; reg++)
		if (reg != REG_RSP && insn_registers_have(&f->written, REG_GENERAL + reg))
			set |= (uint16_t)(1 << reg);
	return set;
}

static void accept_note(struct facts *f, const struct insn *insn, struct block_result *r)
{
	static const struct {
		uint32_t classes, flag;
	} rows[] = {
		{INSN_X87, JOB_X87},
		{INSN_REP, JOB_REPEATS},
		{INSN_STORE, JOB_STORES},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (insn->classes & rows[i].classes)
			f->flags |= rows[i].flag;
	if (insn->classes & INSN_DIVIDE && !(insn->classes & (INSN_FP | INSN_X87 | INSN_VECTOR)))
		f->flags |= JOB_DIVIDES;
	if (insn->more_memory)
		f->flags |= JOB_STORES;
	if (insn->encoding == ENCODING_EVEX || masks(insn))
		f->flags |= JOB_AVX512;
	else if (insn->encoding == ENCODING_VEX && insn->classes & INSN_VECTOR)
		f->flags |= JOB_WIDE;
	if (insn->classes & INSN_SERIALISING)
		r->warnings |= BLOCK_WARN_SERIALISING;
	for (unsigned i = 0; i < insn->memories; i++)
		note_memory(f, &insn->memory[i]);
	for (int i = 0; i < 2; i++) {
		f->used.word[i] |= insn->reads.word[i] | insn->writes.word[i];
		f->written.word[i] |= insn->writes.word[i];
	}
}

/* All addresses relative to the program counter are moved by the same distance, from near the
 * block to near RELATIVE_ADDRESS; those too far away are moved back by whole gigabytes, so that
 * copies reach them. */
static void accept_relocate(struct relocation *r, const struct insn *insn, size_t at,
	uint64_t in_page, const uint8_t *bytes)
{
	const int64_t giga = 1 << 30;
	int32_t displacement;
	int64_t target;

	memcpy(&displacement, bytes + at + insn->relative_at, 4);
	r->at = (uint16_t)(at + insn->relative_at);
	r->end = (uint16_t)(at + insn->length);
	target = (int64_t)(in_page + r->end) + displacement;
	while (target > giga)
		target -= giga;
	while (target < -(giga / 4))
		target += giga;
	r->target = (int32_t)target;
}

static uint8_t free_register(const struct facts *f)
{
	/* Without implicit operands and the stack pointer. */
	static const uint8_t order[] = {15, 14, 13, 12, 11, 10, 9, 8, 3, 5, 7, 6, 1, 2, 0};

	for (size_t i = 0; i < sizeof(order); i++)
		if (!insn_registers_have(&f->used, REG_GENERAL + order[i]))
			return order[i];
	return NO_REGISTER;
}

/* Length without a branch at the end, which is dropped with a warning. */
static enum block_class end_at_branch(const struct insn *insn, size_t at, size_t length,
	const struct block_options *options, struct block_result *r)
{
	bool loops = options->mode == BLOCK_LOOPED && insn_jumps(insn) && insn->has_target;

	if (at + insn->length != length)
		return BLOCK_BRANCH;
	r->warnings |= loops ? BLOCK_WARN_BRANCH_LOOPED : BLOCK_WARN_BRANCH_DROPPED;
	return BLOCK_OK;
}

static void apply_options(struct job *j, const struct block_options *options, const struct facts *f,
	struct block_result *r)
{
	if (options->quick)
		j->flags |= JOB_QUICK;
	if (options->mode != BLOCK_LOOPED)
		return;
	j->flags |= JOB_LOOP;
	j->counter = free_register(f);
	if (j->counter == NO_REGISTER)
		r->warnings |= BLOCK_WARN_COUNTER;
}

enum block_class block_accept(struct channel *c, uint32_t *bytes_used, uint32_t *relocations_used,
	const struct block *block, const struct block_options *options, struct block_result *r,
	bool *full)
{
	struct job *j = &c->job[c->jobs];
	struct facts f = {0};
	uint32_t relocations = 0;
	size_t at = 0, end = block->length;

	*full = false;
	if (!block->length)
		return BLOCK_EMPTY;
	if (block->length > BLOCK_BYTES_MAX)
		return BLOCK_TOO_LONG;
	if (c->jobs == JOBS_MAX || *bytes_used + block->length > JOB_BYTES) {
		*full = true;
		return BLOCK_OK;
	}
	while (at < end) {
		struct insn insn;
		enum block_class class;

		isa_decode(ISA_X86_64, block->bytes + at, end - at, block->address + at, &insn);
		class = accept_refuse(&insn);
		if (!class && insn.classes & INSN_BRANCH) {
			class = end_at_branch(&insn, at, end, options, r);
			end = at;
		}
		if (class)
			return class;
		if (at == end)
			break;
		accept_note(&f, &insn, r);
		if (insn.relative_at) {
			if (*relocations_used + relocations == JOB_RELOCATIONS) {
				*full = c->jobs > 0;
				return *full ? BLOCK_OK : BLOCK_TOO_LONG;
			}
			accept_relocate(&c->relocations[*relocations_used + relocations++], &insn,
				at, block->address % 4096, block->bytes);
		}
		r->instructions++;
		at += insn.length;
	}
	if (!end)
		return BLOCK_EMPTY;
	*j = (struct job){.code = *bytes_used,
		.length = (uint32_t)end,
		.instructions = r->instructions,
		.relocation = *relocations_used,
		.relocations = relocations,
		.flags = f.flags,
		.indexes = f.indexes & (uint16_t)~f.bases,
		.counter = NO_REGISTER};
	memcpy(j->low, f.low, sizeof(j->low));
	j->resets = (uint16_t)((f.bases | f.indexes) & written_registers(&f));
	memcpy(c->bytes + *bytes_used, block->bytes, end);
	*bytes_used += (uint32_t)end;
	*relocations_used += relocations;
	apply_options(j, options, &f, r);
	c->jobs++;
	return BLOCK_OK;
}
