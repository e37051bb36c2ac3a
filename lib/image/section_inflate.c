/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sections of ELF's zlib format. libdeflate takes a third of the time that libelf needs with zlib,
 * and opening debug information is mostly this. What it does not take is left to libelf: other
 * formats, and damaged sections.
 */
#include <libdeflate.h>
#include <stdlib.h>

#include "image/elf_file.h"

/* The most bytes that deflate makes of one. A larger size in a header is damage. */
enum { RATIO_MAX = 1032 };

static void *inflate_bytes(const uint8_t *from, size_t size, size_t wanted)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	void *to = d ? malloc(wanted) : NULL;

	if (to &&
		libdeflate_zlib_decompress(d, from, size, to, wanted, NULL) != LIBDEFLATE_SUCCESS) {
		free(to);
		to = NULL;
	}
	libdeflate_free_decompressor(d);
	return to;
}

static void replace_data(Elf_Data *data, void *bytes, const GElf_Chdr *c)
{
	data->d_buf = bytes;
	data->d_type = ELF_T_BYTE;
	data->d_size = c->ch_size;
	data->d_align = c->ch_addralign;
}

/* Both of libelf's data of the section become the inflated ones, as elf_compress does it: libdw
 * asks for them. */
bool section_inflate(struct elf_section *s, GElf_Shdr *h)
{
	size_t header = gelf_fsize(s->of, ELF_T_CHDR, 1, EV_CURRENT);
	Elf_Data *data = elf_rawdata(s->scn, NULL), *converted = elf_getdata(s->scn, NULL);
	GElf_Chdr c;

	if (s->inflated || !data || !converted || !data->d_buf || data->d_size <= header ||
		!gelf_getchdr(s->scn, &c) || c.ch_type != ELFCOMPRESS_ZLIB || c.ch_size == 0 ||
		c.ch_size / RATIO_MAX > data->d_size || (c.ch_addralign & (c.ch_addralign - 1)))
		return false;
	s->inflated = inflate_bytes(
		(const uint8_t *)data->d_buf + header, data->d_size - header, c.ch_size);
	if (!s->inflated)
		return false;
	h->sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	h->sh_size = c.ch_size;
	h->sh_addralign = c.ch_addralign;
	if (!gelf_update_shdr(s->scn, h))
		return false;
	replace_data(data, s->inflated, &c);
	replace_data(converted, s->inflated, &c);
	return true;
}
