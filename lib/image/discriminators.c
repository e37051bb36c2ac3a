/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Discriminators in .debug_line that are too large for libdw, which refuses the whole table of a
 * unit for one of more than 24 bits. clang -fpseudo-probe-for-profiling writes such: they hold the
 * number of a call's probe, and are no discriminators of the source. A copy of the section, in
 * which they are 0, takes the place of the file's own.
 */
#include <stdlib.h>
#include <string.h>

#include "image/debug.h"
#include "image/private.h"

enum { LARGEST = (1 << 24) - 1, STANDARD_MOST = 256 };

struct program {
	uint8_t *at, *end;
};

static uint64_t cut_bytes(struct program *p, size_t size)
{
	uint64_t value = 0;

	if ((size_t)(p->end - p->at) < size) {
		p->at = p->end;
		return 0;
	}
	memcpy(&value, p->at, size);
	p->at += size;
	return value;
}

static uint64_t cut_number(struct program *p)
{
	uint64_t value = 0;

	for (unsigned shift = 0; p->at < p->end; shift += 7) {
		uint8_t byte = *p->at++;

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

/* As many bytes as before. */
static void put_zero(uint8_t *at, const uint8_t *end)
{
	for (; at + 1 < end; at++)
		*at = 0x80;
	*at = 0;
}

/* What follows a zero. Whether something was changed. */
static bool cut_extended(struct program *p)
{
	uint64_t length = cut_number(p);
	struct program operation = *p;
	uint8_t *number;

	if (length > (size_t)(p->end - p->at))
		length = (size_t)(p->end - p->at);
	operation.end = p->at += length;
	if (cut_bytes(&operation, 1) != DW_LNE_set_discriminator || operation.at == operation.end)
		return false;
	number = operation.at;
	if (cut_number(&operation) <= LARGEST)
		return false;
	put_zero(number, operation.at);
	return true;
}

static bool cut_unit(struct program p, size_t offset_size)
{
	uint8_t operands[STANDARD_MOST] = {0};
	uint64_t version = cut_bytes(&p, 2), length, base;
	struct program header;
	bool changed = false;

	if (version < 2 || version > 5)
		return false;
	if (version == 5)
		(void)cut_bytes(&p, 2); /* sizes of addresses and segments */
	length = cut_bytes(&p, offset_size);
	if (length > (size_t)(p.end - p.at))
		return false;
	header = (struct program){p.at, p.at + length};
	p.at += length;
	(void)cut_bytes(&header, version >= 4 ? 5 : 4);
	base = cut_bytes(&header, 1);
	for (uint64_t i = 1; i < base; i++)
		operands[i] = (uint8_t)cut_bytes(&header, 1);
	while (p.at < p.end) {
		uint64_t operation = cut_bytes(&p, 1);

		if (operation == 0)
			changed = cut_extended(&p) || changed;
		else if (operation >= base)
			continue;
		else if (operation == DW_LNS_fixed_advance_pc)
			(void)cut_bytes(&p, 2);
		else
			for (unsigned i = 0; i < operands[operation]; i++)
				(void)cut_number(&p);
	}
	return changed;
}

static bool cut_all(struct program p)
{
	bool changed = false;

	while (p.at < p.end) {
		size_t offset_size = 4;
		uint64_t length = cut_bytes(&p, 4);

		if (length == UINT32_MAX) {
			offset_size = 8;
			length = cut_bytes(&p, 8);
		}
		if (length > (size_t)(p.end - p.at))
			break;
		changed = cut_unit((struct program){p.at, p.at + length}, offset_size) || changed;
		p.at += length;
	}
	return changed;
}

void *discriminators_cut(struct elf_file *f)
{
	struct elf_section *s = elf_file_section(f, ".debug_line");
	struct span all = s ? elf_file_contents(s) : (struct span){0};
	Elf_Data *data[] = {
		s ? elf_rawdata(s->scn, NULL) : NULL, s ? elf_getdata(s->scn, NULL) : NULL};
	uint8_t *copy;

	if (!all.size || !data[0] || !data[1] || data[0]->d_size != all.size ||
		data[1]->d_size != all.size)
		return NULL;
	copy = malloc(all.size);
	if (!copy)
		return NULL;
	memcpy(copy, all.data, all.size);
	if (!cut_all((struct program){copy, copy + all.size})) {
		free(copy);
		return NULL;
	}
	data[0]->d_buf = data[1]->d_buf = copy;
	return copy;
}
