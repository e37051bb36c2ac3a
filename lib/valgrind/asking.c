/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Does the program ask for counts itself? Then no event may be left out, because perfex does not
 * know which ones it will ask for. Such a program is linked with libperfex: the shared library by
 * name, or the archive, which has a note of ours (perfex/counter_figures.c). This looks at the file
 * and not at memory, because the program is not loaded yet. A program that loads the library later
 * can find out what the run counts (MODEL_REQUEST_COUNTS_EVENT).
 */
#include "valgrind/tool.h"

#include <elf.h>

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"

#include "model/wire/requests.h"
#include "valgrind/core.h"

#define HEADERS_MAX 64
#define PART_MAX    (1 << 20) /* bytes of a table */
#define LIBRARY     "libperfex.so"

/* Part of the executable, for VG_(free); NULL if it cannot be read. */
static void *asking_read(ULong offset, ULong size)
{
	UChar *part;
	Int n;

	if (!size || size > PART_MAX ||
		VG_(lseek)(VG_(cl_exec_fd), (Off64T)offset, VKI_SEEK_SET) < 0)
		return NULL;
	part = VG_(malloc)("part", size + 1);
	n = VG_(read)(VG_(cl_exec_fd), part, (Int)size);
	if (n == (Int)size) {
		part[size] = '\0';
		return part;
	}
	VG_(free)(part);
	return NULL;
}

static Bool has_note(const Elf64_Phdr *p)
{
	const UChar *notes = asking_read(p->p_offset, p->p_filesz);
	ULong at = 0;
	Bool found = False;

	while (notes && !found && at + sizeof(Elf64_Nhdr) <= p->p_filesz) {
		const Elf64_Nhdr *note = (const Elf64_Nhdr *)(notes + at);
		ULong name = at + sizeof(*note);

		at = name + VG_ROUNDUP((ULong)note->n_namesz, 4) +
		     VG_ROUNDUP((ULong)note->n_descsz, 4);
		found = note->n_namesz == sizeof(MODEL_NOTE) &&
			name + sizeof(MODEL_NOTE) <= p->p_filesz &&
			VG_(memcmp)(notes + name, MODEL_NOTE, sizeof(MODEL_NOTE)) == 0;
	}
	VG_(free)((void *)notes);
	return found;
}

/* Where in the file an address is; 0: nowhere. */
static ULong asking_offset(const Elf64_Phdr *p, UInt count, Addr address)
{
	for (UInt i = 0; i < count; i++)
		if (p[i].p_type == PT_LOAD && address >= p[i].p_vaddr &&
			address - p[i].p_vaddr < p[i].p_filesz)
			return address - p[i].p_vaddr + p[i].p_offset;
	return 0;
}

static Bool needs_library(const Elf64_Phdr *p, UInt count, const Elf64_Phdr *dynamic)
{
	const Elf64_Dyn *d = asking_read(dynamic->p_offset, dynamic->p_filesz);
	ULong n = dynamic->p_filesz / sizeof(*d), size = 0;
	Addr names_at = 0;
	HChar *names = NULL;
	Bool found = False;

	for (ULong i = 0; d && i < n; i++) {
		if (d[i].d_tag == DT_STRTAB)
			names_at = d[i].d_un.d_ptr;
		if (d[i].d_tag == DT_STRSZ)
			size = d[i].d_un.d_val;
	}
	if (names_at)
		names = asking_read(asking_offset(p, count, names_at), size);
	for (ULong i = 0; names && i < n && d[i].d_tag != DT_NULL; i++)
		found |= d[i].d_tag == DT_NEEDED && d[i].d_un.d_val < size &&
			 VG_(strncmp)(names + d[i].d_un.d_val, LIBRARY, sizeof(LIBRARY) - 1) == 0;
	VG_(free)(names);
	VG_(free)((void *)d);
	return found;
}

Bool asking_itself(void)
{
	Elf64_Ehdr *header = asking_read(0, sizeof(*header));
	Elf64_Phdr *p = NULL;
	Bool found = False;

	if (header && VG_(memcmp)(header->e_ident, ELFMAG, SELFMAG) == 0 &&
		header->e_phentsize == sizeof(*p) && header->e_phnum <= HEADERS_MAX)
		p = asking_read(header->e_phoff, header->e_phnum * sizeof(*p));
	for (UInt i = 0; p && !found && i < header->e_phnum; i++) {
		if (p[i].p_type == PT_NOTE)
			found = has_note(&p[i]);
		if (p[i].p_type == PT_DYNAMIC)
			found = needs_library(p, header->e_phnum, &p[i]);
	}
	VG_(free)(p);
	VG_(free)(header);
	return found;
}
