/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ELF files for libdw that are made here. */
#include <gelf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "image/debug.h"

/* Of all sections that are made. */
static const char names[] = "\0.debug_info\0.debug_abbrev\0.debug_addr\0.debug_ranges\0"
			    ".debug_info.dwo\0.debug_abbrev.dwo\0.debug_str_offsets.dwo\0"
			    ".debug_rnglists.dwo\0.debug_str.dwo";

static Elf64_Word name_at(const char *name)
{
	size_t at = 1;

	while (at < sizeof(names) && strcmp(names + at, name) != 0)
		at += strlen(names + at) + 1;
	return at < sizeof(names) ? (Elf64_Word)at : 0;
}

static int add_section(Elf *elf, const struct made_section *s, unsigned type)
{
	Elf_Scn *scn = elf_newscn(elf);
	Elf_Data *data = scn ? elf_newdata(scn) : NULL;
	GElf_Shdr h;

	if (!data || !gelf_getshdr(scn, &h))
		return -1;
	data->d_buf = (void *)(uintptr_t)s->bytes;
	data->d_size = s->size;
	data->d_align = 1;
	data->d_version = EV_CURRENT;
	h.sh_name = name_at(s->name);
	h.sh_type = type;
	h.sh_size = s->size;
	h.sh_addralign = 1;
	return gelf_update_shdr(scn, &h) ? 0 : -1;
}

static int made_add_all(Elf *elf, const struct made_section *sections, size_t count)
{
	static const struct made_section strings = {"", names, sizeof(names)};
	GElf_Ehdr h;

	if (!gelf_newehdr(elf, ELFCLASS64) || !gelf_getehdr(elf, &h))
		return -1;
	h.e_ident[EI_DATA] = ELFDATA2LSB;
	h.e_type = ET_DYN;
	h.e_machine = EM_X86_64;
	h.e_version = EV_CURRENT;
	h.e_shstrndx = (Elf64_Half)(count + 1);
	if (!gelf_update_ehdr(elf, &h))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (add_section(elf, &sections[i], SHT_PROGBITS))
			return -1;
	return add_section(elf, &strings, SHT_STRTAB);
}

static Elf *made_make(int fd, const struct made_section *sections, size_t count)
{
	Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_WRITE, NULL);

	if (!elf || made_add_all(elf, sections, count) == 0)
		return elf;
	elf_end(elf);
	return NULL;
}

Elf *made_memory(const struct made_section *sections, size_t count)
{
	int fd = memfd_create("debug", MFD_CLOEXEC);
	Elf *elf = made_make(fd, sections, count);

	if (fd >= 0)
		close(fd);
	return elf;
}

int made_file(const struct made_section *sections, size_t count)
{
	int fd = memfd_create("debug", MFD_CLOEXEC);
	Elf *elf = made_make(fd, sections, count);

	if (elf && elf_update(elf, ELF_C_WRITE) < 0) {
		elf_end(elf);
		elf = NULL;
	}
	if (!elf && fd >= 0) {
		close(fd);
		return -1;
	}
	elf_end(elf);
	return fd;
}
