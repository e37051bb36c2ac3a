/* SPDX-License-Identifier: GPL-2.0-or-later */
/* See images.h. An ELF file's headers are read from memory, where all loaders in use map its first
 * page: the file may have been replaced since. */
#include "valgrind/images.h"

#include <elf.h>

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "valgrind/tool.h"

#define HEADERS_MAX  64   /* program headers looked at */
#define NOTES_MAX    4096 /* bytes of notes looked at */
#define SEGMENTS_MAX 100000

static XArray *images; /* of struct image; the first is number 1 */
static UInt last;      /* found last, most often the next as well */

static struct image *images_entry(UInt number)
{
	return VG_(indexXA)(images, (Word)number - 1);
}

const struct image *images_get(UInt number)
{
	return images_entry(number);
}

UInt images_count(void)
{
	return images ? (UInt)VG_(sizeXA)(images) : 0;
}

/* Where the file's offset 0 is mapped, at or below the segment; 0: nowhere. */
static Addr first_page(const NSegment *of)
{
	ULong dev = of->dev, ino = of->ino;
	Addr found = of->offset == 0 ? of->start : 0, below = of->start, *starts = NULL;
	Int size = 256, n = -1;

	while (!found && n < 0 && size < SEGMENTS_MAX) {
		starts = VG_(realloc)("starts", starts, (SizeT)size * sizeof(*starts));
		n = VG_(am_get_segment_starts)(SkFileC | SkFileV, starts, size);
		size *= 2;
	}
	for (Int i = 0; i < n && starts[i] < below; i++) {
		const NSegment *s = VG_(am_find_nsegment)(starts[i]);

		if (s && s->dev == dev && s->ino == ino && s->offset == 0)
			found = s->start;
	}
	VG_(free)(starts);
	return found;
}

static void find_build_id(struct image *im, Addr at, SizeT size)
{
	Addr end;

	if (size > NOTES_MAX || !tool_readable(at, size))
		return;
	for (end = at + size; at + sizeof(Elf64_Nhdr) <= end;) {
		const Elf64_Nhdr *note = (const Elf64_Nhdr *)at;
		Addr name = at + sizeof(*note), content = name + VG_ROUNDUP(note->n_namesz, 4);

		at = content + VG_ROUNDUP(note->n_descsz, 4);
		if (note->n_namesz > NOTES_MAX || note->n_descsz > NOTES_MAX || at > end)
			return;
		if (note->n_type != NT_GNU_BUILD_ID || note->n_namesz != 4 ||
			VG_(memcmp)((const void *)name, "GNU", 4) != 0 ||
			note->n_descsz > IMAGE_BUILD_ID_MAX)
			continue;
		im->build_id_length = note->n_descsz;
		VG_(memcpy)(im->build_id, (const void *)content, note->n_descsz);
	}
}

/* Bias and build-id, if this is an ELF image. */
static void read_elf(struct image *im, Addr base)
{
	const Elf64_Ehdr *header = (const Elf64_Ehdr *)base;
	const Elf64_Phdr *p;

	if (!base || !tool_readable(base, sizeof(*header)) ||
		VG_(memcmp)(header->e_ident, ELFMAG, SELFMAG) != 0 ||
		header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_phentsize != sizeof(*p) ||
		header->e_phnum > HEADERS_MAX ||
		!tool_readable(base + header->e_phoff, header->e_phnum * sizeof(*p)))
		return;
	p = (const Elf64_Phdr *)(base + header->e_phoff);
	for (UInt i = 0; i < header->e_phnum; i++)
		if (p[i].p_type == PT_LOAD && im->file_offset + VKI_PAGE_SIZE > p[i].p_offset &&
			im->file_offset < p[i].p_offset + p[i].p_filesz) {
			im->kind = IMAGE_FILE;
			im->bias = im->start - im->file_offset - (p[i].p_vaddr - p[i].p_offset);
			/* Adjacent mappings share pages of the file; code is in the executable one.
			 */
			if (p[i].p_flags & PF_X)
				break;
		}
	for (UInt i = 0; im->kind == IMAGE_FILE && i < header->e_phnum; i++) {
		Addr from = im->bias + p[i].p_vaddr, to = from + p[i].p_memsz;

		if (p[i].p_type == PT_NOTE && !im->build_id_length)
			find_build_id(im, from, p[i].p_memsz);
		if (p[i].p_type != PT_LOAD)
			continue;
		if (!im->high || from < im->low)
			im->low = VG_PGROUNDDN(from);
		if (to > im->high)
			im->high = VG_PGROUNDUP(to);
	}
}

static void images_look_at(struct image *im, const NSegment *s)
{
	const HChar *path = VG_(am_get_filename)(s);

	VG_(memset)(im, 0, sizeof(*im));
	im->kind = IMAGE_ANONYMOUS;
	im->start = s->start;
	im->end = s->end + 1;
	im->path = "";
	if (s->kind != SkFileC && s->kind != SkFileV)
		return;
	im->kind = IMAGE_OTHER_FILE;
	im->file_offset = (ULong)s->offset;
	im->bias = im->start - im->file_offset;
	im->dev = s->dev;
	im->ino = s->ino;
	im->path = path ? path : "";
	read_elf(im, first_page(s));
}

static Bool images_same(const struct image *a, const struct image *b)
{
	return a->kind == b->kind && a->bias == b->bias && a->dev == b->dev && a->ino == b->ino &&
	       a->start - a->file_offset == b->start - b->file_offset &&
	       a->build_id_length == b->build_id_length &&
	       VG_(memcmp)(a->build_id, b->build_id, a->build_id_length) == 0 &&
	       VG_(strcmp)(a->path, b->path) == 0;
}

/* The number of the same image, mapped before; 0: none. */
static UInt find_same(const struct image *now)
{
	for (UInt i = images_count(); i > 0; i--)
		if (images_same(images_entry(i), now))
			return i;
	return 0;
}

/* All generated code is one image: its addresses are unambiguous. */
static void images_join(struct image *known, const struct image *now)
{
	if (now->start < known->start || known->gone) {
		known->start = now->start;
		known->file_offset = now->file_offset;
	}
	if (now->end > known->end || known->gone)
		known->end = now->end;
	known->gone = False;
}

static Bool images_holds(UInt number, Addr address)
{
	const struct image *im = images_entry(number);

	return im->kind != IMAGE_ANONYMOUS && !im->gone && address >= im->start &&
	       address < im->end;
}

UInt images_at(Addr address)
{
	const NSegment *s;
	struct image now;
	UInt i;

	if (last && images_holds(last, address))
		return last;
	for (i = images_count(); i > 0; i--)
		if (images_holds(i, address))
			return last = i;
	s = VG_(am_find_nsegment)(address);
	if (!s || (s->kind != SkFileC && s->kind != SkFileV && s->kind != SkAnonC &&
			  s->kind != SkAnonV && s->kind != SkShmC))
		return 0;
	if (!images)
		images = VG_(newXA)(VG_(malloc), "images", VG_(free), sizeof(struct image));
	images_look_at(&now, s);
	i = find_same(&now);
	if (i) {
		images_join(images_entry(i), &now);
		return i;
	}
	now.path = VG_(strdup)("image", now.path);
	VG_(addToXA)(images, &now);
	return last = images_count();
}

static Bool overlaps(const struct image *im, Addr a, SizeT length)
{
	return !im->gone && a < im->end && im->start < a + length;
}

Bool images_overlap(Addr a, SizeT length)
{
	for (UInt i = 1; i <= images_count(); i++)
		if (overlaps(images_entry(i), a, length))
			return True;
	return False;
}

void images_unmapped(Addr a, SizeT length)
{
	for (UInt i = 1; i <= images_count(); i++)
		if (overlaps(images_entry(i), a, length))
			images_entry(i)->gone = True;
}
