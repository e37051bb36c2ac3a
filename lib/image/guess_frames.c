/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where functions begin, by .eh_frame itself: static executables have no table of it. */
#include <elfutils/libdw.h>
#include <string.h>

#include "image/private.h"

enum { ABSOLUTE = 0x00, RELATIVE = 0x10, BASE_MASK = 0x70, FORM_MASK = 0x0f };

/* Bytes of a pointer of that form (DW_EH_PE_*); 0: another form. */
static size_t frames_pointer_size(unsigned encoding, bool wide)
{
	switch (encoding & FORM_MASK) {
	case 0x00:
		return wide ? 8 : 4;
	case 0x03:
	case 0x0b:
		return 4;
	case 0x04:
	case 0x0c:
		return 8;
	default:
		return 0;
	}
}

/* How a CIE's entries encode addresses: the letters of its augmentation have a byte, or a pointer,
 * each. */
static bool frames_encoding(const Dwarf_CIE *cie, bool wide, uint8_t *encoding)
{
	const char *letter = cie->augmentation;
	const uint8_t *data = cie->augmentation_data, *end;

	*encoding = ABSOLUTE;
	if (!letter || *letter != 'z' || !data)
		return letter && !*letter;
	end = data + cie->augmentation_data_size;
	while (*++letter) {
		size_t skipped = *letter == 'L' ? 1 : 0;

		if (*letter == 'S' || *letter == 'B')
			continue;
		if (data >= end || !strchr("LPR", *letter))
			return false;
		if (*letter == 'R') {
			*encoding = *data;
			return true;
		}
		if (*letter == 'P')
			skipped = 1 + frames_pointer_size(*data, wide);
		if (skipped > (size_t)(end - data))
			return false;
		data += skipped;
	}
	return true;
}

/* The address at which the code of an entry begins; false: in a form that no compiler uses. */
static bool frames_start(
	const Dwarf_FDE *fde, uint8_t encoding, bool wide, uint64_t at, uint64_t *start)
{
	size_t size = frames_pointer_size(encoding, wide);
	int32_t narrow;

	if (!size || (size_t)(fde->end - fde->start) < size)
		return false;
	*start = 0;
	memcpy(start, fde->start, size);
	if ((encoding & FORM_MASK) == 0x0b) {
		memcpy(&narrow, fde->start, sizeof(narrow));
		*start = (uint64_t)(int64_t)narrow;
	}
	if ((encoding & BASE_MASK) == RELATIVE)
		*start += at;
	return (encoding & BASE_MASK) <= RELATIVE && !(encoding & 0x80);
}

/* What entries have in common; linkers keep one of equal ones. */
struct common {
	Dwarf_Off at;
	uint8_t encoding;
};

typedef VEC(struct common) common_list;

enum { COMMON_MOST = 1024 }; /* more is damage */

static const struct common *frames_common(const common_list *list, Dwarf_Off at)
{
	for (size_t i = list->count; i-- > 0;)
		if (list->data[i].at == at)
			return &list->data[i];
	return NULL;
}

static int frames_take_common(common_list *list, const Dwarf_CIE *cie, Dwarf_Off at, bool wide)
{
	struct common c = {.at = at};

	if (list->count == COMMON_MOST || !frames_encoding(cie, wide, &c.encoding))
		return 0;
	return vec_add(list, c);
}

int guess_frames(struct image *image)
{
	struct elf_section *section = elf_file_section(image->elf, ".eh_frame");
	struct span frames = section ? elf_file_contents(section) : (struct span){NULL, 0};
	const unsigned char *ident = image->elf->header.e_ident;
	Elf_Data data = {.d_buf = (void *)frames.data,
		.d_type = ELF_T_BYTE,
		.d_version = EV_CURRENT,
		.d_size = frames.size};
	bool wide = ident[EI_CLASS] == ELFCLASS64;
	Dwarf_Off at = 0, next = 0;
	common_list all = {0};
	Dwarf_CFI_Entry entry;
	int rc = 0;

	for (; frames.data && rc == 0 &&
		dwarf_next_cfi(ident, &data, true, at, &next, &entry) == 0 && next > at;
		at = next) {
		const struct common *c;
		uint64_t start;

		if (dwarf_cfi_cie_p(&entry)) {
			rc = frames_take_common(&all, &entry.cie, at, wide);
			continue;
		}
		c = frames_common(&all, entry.fde.CIE_pointer);
		if (c &&
			frames_start(&entry.fde, c->encoding, wide,
				section->header.sh_addr + (uint64_t)(entry.fde.start - frames.data),
				&start))
			rc = vec_add(&image->symbols.starts, start);
	}
	vec_fini(&all);
	return rc;
}
