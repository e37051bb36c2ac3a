/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/private.h"

int image_segment_at(const struct image *image, uint64_t address, struct image_segment *segment)
{
	const struct elf_file *f = image->elf;

	for (size_t i = 0; f && i < f->segments.count; i++) {
		const GElf_Phdr *p = &f->segments.data[i];

		if (p->p_type != PT_LOAD || address < p->p_vaddr ||
			address - p->p_vaddr >= p->p_memsz)
			continue;
		*segment = (struct image_segment){p->p_vaddr, p->p_memsz, p->p_offset};
		return 0;
	}
	return -1;
}
