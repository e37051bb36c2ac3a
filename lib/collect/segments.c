/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/segments.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

/* Program headers stand behind the file's, in all files that linkers make. */
#define HEAD      8192
#define PAGE_MASK 0xfffu

static int segment_add(struct segments *s, uint64_t offset, uint64_t size, uint64_t address)
{
	struct segment *new = vec_push(&s->list);

	if (!new)
		return -1;
	*new = (struct segment){offset, size, address};
	return 0;
}

static int parse_64(struct segments *s, const char *data, size_t size)
{
	Elf64_Ehdr h;
	Elf64_Phdr p;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	s->elf = true;
	for (unsigned i = 0; i < h.e_phnum && h.e_phentsize >= sizeof(p); i++) {
		uint64_t at = h.e_phoff + (uint64_t)i * h.e_phentsize;

		if (at > size || size - at < sizeof(p))
			break;
		memcpy(&p, data + at, sizeof(p));
		if (p.p_type == PT_LOAD && segment_add(s, p.p_offset, p.p_filesz, p.p_vaddr))
			return -1;
	}
	return 0;
}

static int parse_32(struct segments *s, const char *data, size_t size)
{
	Elf32_Ehdr h;
	Elf32_Phdr p;

	if (size < sizeof(h))
		return 0;
	memcpy(&h, data, sizeof(h));
	s->elf = true;
	for (unsigned i = 0; i < h.e_phnum && h.e_phentsize >= sizeof(p); i++) {
		uint64_t at = h.e_phoff + (uint64_t)i * h.e_phentsize;

		if (at > size || size - at < sizeof(p))
			break;
		memcpy(&p, data + at, sizeof(p));
		if (p.p_type == PT_LOAD && segment_add(s, p.p_offset, p.p_filesz, p.p_vaddr))
			return -1;
	}
	return 0;
}

int segments_parse(struct segments *s, const void *data, size_t size)
{
	const unsigned char *ident = data;

	if (size < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return 0;
	return ident[EI_CLASS] == ELFCLASS64 ? parse_64(s, data, size) : parse_32(s, data, size);
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
