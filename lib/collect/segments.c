/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/segments.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* Program headers follow the file header in all files that linkers make. */
#define HEAD      8192
#define PAGE_MASK 0xfffu

/* The i-th program header; false: it is beyond the part read. */
static bool segment_header(const char *data, size_t size, uint64_t first, uint64_t step, unsigned i,
	bool wide, Elf64_Phdr *p)
{
	size_t own = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	uint64_t at = first + i * step;
	Elf32_Phdr narrow;

	if (step < own || at > size || size - at < own)
		return false;
	if (wide) {
		memcpy(p, data + at, own);
	} else {
		memcpy(&narrow, data + at, own);
		*p = (Elf64_Phdr){.p_type = narrow.p_type,
			.p_offset = narrow.p_offset,
			.p_filesz = narrow.p_filesz,
			.p_vaddr = narrow.p_vaddr};
	}
	return true;
}

int segments_parse(struct segments *s, const void *data, size_t size)
{
	const unsigned char *ident = data;
	bool wide = size > EI_CLASS && ident[EI_CLASS] == ELFCLASS64;
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} h;
	size_t length = wide ? sizeof(h.wide) : sizeof(h.narrow);
	Elf64_Phdr p;

	if (size < length || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return 0;
	memcpy(&h, data, length);
	s->elf = true;
	for (unsigned i = 0; i < (wide ? h.wide.e_phnum : h.narrow.e_phnum); i++) {
		struct segment *new;

		if (!segment_header(data, size, wide ? h.wide.e_phoff : h.narrow.e_phoff,
			    wide ? h.wide.e_phentsize : h.narrow.e_phentsize, i, wide, &p))
			break;
		if (p.p_type != PT_LOAD)
			continue;
		new = vec_push(&s->list);
		if (!new)
			return -1;
		*new = (struct segment){p.p_offset, p.p_filesz, p.p_vaddr};
	}
	return 0;
}

int segments_read(struct segments *s, int fd)
{
	char head[HEAD];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	return n > 0 ? segments_parse(s, head, (size_t)n) : 0;
}

uint64_t segments_address(const struct segments *s, uint64_t offset)
{
	const struct segment *near = NULL;

	for (size_t i = 0; i < s->list.count; i++) {
		const struct segment *g = &s->list.data[i];
		uint64_t begin = g->offset & ~(uint64_t)PAGE_MASK;

		if (offset >= g->offset && offset - g->offset < g->size)
			return g->address + (offset - g->offset);
		/* Mappings are whole pages: a page's other bytes belong to the segment too. */
		if (offset >= begin && offset - begin < g->size + (g->offset - begin) + PAGE_MASK)
			near = g;
	}
	return near ? near->address + (offset - near->offset) : offset;
}

void segments_fini(struct segments *s)
{
	vec_fini(&s->list);
}
