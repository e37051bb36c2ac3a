/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contents of sections, compressed ones too: SHF_COMPRESSED (gABI) and the older .zdebug_*. */
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "image/elf_file.h"

/* deflate cannot do better than this: who promises more has a damaged header */
#define BEST_RATIO 1032

struct packed {
	const uint8_t *data;
	size_t size;
	uint64_t unpacked; /* bytes */
};

static bool packed_gabi(const struct elf_file *f, struct span s, struct packed *p)
{
	size_t header =
		f->header.e_ident[EI_CLASS] == ELFCLASS32 ? sizeof(Elf32_Chdr) : sizeof(Elf64_Chdr);
	uint32_t type;

	if (s.size < header)
		return false;
	memcpy(&type, s.data, sizeof(type));
	if (type != ELFCOMPRESS_ZLIB)
		return false;
	if (header == sizeof(Elf32_Chdr)) {
		Elf32_Chdr c;

		memcpy(&c, s.data, sizeof(c));
		p->unpacked = c.ch_size;
	} else {
		Elf64_Chdr c;

		memcpy(&c, s.data, sizeof(c));
		p->unpacked = c.ch_size;
	}
	p->data = s.data + header;
	p->size = s.size - header;
	return true;
}

static bool packed_gnu(struct span s, struct packed *p)
{
	uint64_t size;

	if (s.size < 12 || memcmp(s.data, "ZLIB", 4) != 0)
		return false;
	memcpy(&size, s.data + 4, sizeof(size));
	p->unpacked = be64toh(size);
	p->data = s.data + 12;
	p->size = s.size - 12;
	return true;
}

static bool inflate_section(struct elf_section *s, const struct packed *p)
{
	uLongf got = p->unpacked;

	if (p->unpacked == 0 || p->unpacked / BEST_RATIO > p->size)
		return false;
	s->inflated = malloc(p->unpacked);
	if (!s->inflated)
		return false;
	if (uncompress(s->inflated, &got, p->data, p->size) != Z_OK || got != p->unpacked) {
		free(s->inflated);
		s->inflated = NULL;
		return false;
	}
	s->inflated_size = got;
	return true;
}

struct span elf_file_contents(struct elf_file *f, struct elf_section *s)
{
	const GElf_Shdr *h = &s->header;
	struct span found = {0};
	struct packed p;
	bool old;

	if (s->refused || h->sh_type == SHT_NOBITS || h->sh_type == SHT_NULL || h->sh_size == 0 ||
		h->sh_offset >= f->raw.size || h->sh_size > f->raw.size - h->sh_offset)
		return found;
	if (s->inflated)
		return (struct span){s->inflated, s->inflated_size};
	found.data = f->raw.data + h->sh_offset;
	found.size = h->sh_size;
	old = strncmp(s->name, ".zdebug_", 8) == 0;
	if (!old && !(h->sh_flags & SHF_COMPRESSED))
		return found;
	if ((old ? packed_gnu(found, &p) : packed_gabi(f, found, &p)) && inflate_section(s, &p))
		return (struct span){s->inflated, s->inflated_size};
	s->refused = true;
	return (struct span){0};
}

struct elf_section *elf_file_section(struct elf_file *f, const char *name)
{
	for (size_t i = 0; i < f->sections.count; i++)
		if (strcmp(f->sections.data[i].name, name) == 0)
			return &f->sections.data[i];
	if (strncmp(name, ".debug_", 7) == 0)
		for (size_t i = 0; i < f->sections.count; i++)
			if (strncmp(f->sections.data[i].name, ".zdebug_", 8) == 0 &&
				strcmp(f->sections.data[i].name + 8, name + 7) == 0)
				return &f->sections.data[i];
	return NULL;
}

struct span elf_file_find(struct elf_file *f, const char *name)
{
	struct elf_section *s = elf_file_section(f, name);

	return s ? elf_file_contents(f, s) : (struct span){0};
}
