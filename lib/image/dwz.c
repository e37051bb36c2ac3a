/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What dwz moved out of several files into one that they share: .gnu_debugaltlink. */
#include <stdlib.h>

#include "image/dwarf.h"
#include "image/private.h"

void dwarf_find_alt(struct dwarf_file *f, struct image *image)
{
	struct span link = elf_file_find(f->elf, ".gnu_debugaltlink");
	const char *name = span_string(link, 0);
	struct elf_file *elf;
	size_t length;

	if (!name)
		return;
	length = strlen(name) + 1;
	elf = debug_file_linked(image, f->elf->path, name, link.data + length, link.size - length);
	if (!elf) {
		image_complain(image,
			"some names are not known: %s, which it shares with others, is "
			"missing",
			name);
		return;
	}
	f->alt = calloc(1, sizeof(*f->alt));
	if (!f->alt) {
		elf_file_close(elf);
		return;
	}
	f->alt->elf = elf;
	f->alt->owned = true;
	(void)dwarf_read_units(f->alt);
}
