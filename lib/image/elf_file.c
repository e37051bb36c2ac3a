/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char what_is_read[] = "only regular files with ELF headers are read";

static int not_regular(const char *path, struct error *e)
{
	error_set(e, ERR_PARSE, "%s is not a regular file", path);
	return error_hint(e, what_is_read);
}

static int map_descriptor(int fd, const char *path, struct span *raw, struct error *e)
{
	struct stat st;
	void *map;

	if (fstat(fd, &st) != 0)
		return error_sys(e, errno, "cannot stat %s", path);
	if (!S_ISREG(st.st_mode))
		return not_regular(path, e);
	if (st.st_size == 0)
		return 0;
	map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map == MAP_FAILED)
		return error_sys(e, errno, "cannot map %s", path);
	raw->data = map;
	raw->size = (size_t)st.st_size;
	return 0;
}

int elf_map(const char *path, struct span *raw, struct error *e)
{
	struct stat st;
	int fd, failed;

	*raw = (struct span){0};
	/* to open a device may do something already */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return not_regular(path, e);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return error_sys(e, errno, "cannot open %s", path);
	failed = map_descriptor(fd, path, raw, e);
	close(fd);
	return failed;
}

void elf_unmap(struct span *raw)
{
	if (raw->data)
		munmap((void *)raw->data, raw->size);
	*raw = (struct span){0};
}

static struct span part(struct span s, uint64_t offset, uint64_t size)
{
	if (offset > s.size || size > s.size - offset)
		return (struct span){0};
	return (struct span){s.data + offset, (size_t)size};
}

const char *span_string(struct span s, uint64_t offset)
{
	if (offset >= s.size || !memchr(s.data + offset, '\0', s.size - offset))
		return NULL;
	return (const char *)s.data + offset;
}

static int read_sections(struct elf_file *f, struct error *e)
{
	struct span names = {0};
	Elf_Scn *scn = NULL;
	size_t strndx;
	GElf_Shdr h;

	if (elf_getshdrstrndx(f->elf, &strndx) == 0 && (scn = elf_getscn(f->elf, strndx)) &&
		gelf_getshdr(scn, &h) && h.sh_type != SHT_NOBITS)
		names = part(f->raw, h.sh_offset, h.sh_size);
	scn = elf_getscn(f->elf, 0);
	for (; scn; scn = elf_nextscn(f->elf, scn)) {
		struct elf_section *s;
		const char *name;

		if (!gelf_getshdr(scn, &h))
			break;
		s = vec_push(&f->sections);
		if (!s)
			return error_nomem(e);
		name = span_string(names, h.sh_name);
		s->name = name ? name : "";
		s->header = h;
		if (h.sh_size > UINT64_MAX - h.sh_addr) /* no address space is like this */
			s->header.sh_size = 0;
	}
	return 0;
}

static int read_segments(struct elf_file *f, struct error *e)
{
	size_t count;

	if (elf_getphdrnum(f->elf, &count) != 0)
		return 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr h, *slot;

		if (!gelf_getphdr(f->elf, (int)i, &h))
			break;
		slot = vec_push(&f->segments);
		if (!slot)
			return error_nomem(e);
		*slot = h;
		if (h.p_memsz > UINT64_MAX - h.p_vaddr || h.p_filesz > UINT64_MAX - h.p_vaddr)
			slot->p_memsz = slot->p_filesz = 0;
	}
	return 0;
}

/* Notes are name and contents, each padded to 4 bytes (8 where the segment says so). */
static bool read_notes(struct elf_file *f, struct span s, uint64_t align)
{
	uint64_t mask = align == 8 ? 7 : 3;

	while (s.size >= 12) {
		uint32_t h[3];
		uint64_t name, contents;

		memcpy(h, s.data, sizeof(h));
		name = 12;
		contents = (name + h[0] + mask) & ~mask;
		if (contents > s.size || h[1] > s.size - contents)
			return false;
		if (h[2] == NT_GNU_BUILD_ID && h[0] == 4 && memcmp(s.data + name, "GNU", 4) == 0 &&
			h[1] > 0 && h[1] <= BUILD_ID_MAX) {
			memcpy(f->build_id, s.data + contents, h[1]);
			f->build_id_length = h[1];
			return true;
		}
		contents = (contents + h[1] + mask) & ~mask;
		if (contents > s.size)
			return false;
		s = part(s, contents, s.size - contents);
	}
	return false;
}

/* Sections first: in a debug file the segments' offsets mean the file that it came from. */
static void read_build_id(struct elf_file *f)
{
	for (size_t i = 0; i < f->sections.count; i++) {
		const GElf_Shdr *h = &f->sections.data[i].header;

		if (h->sh_type == SHT_NOTE &&
			read_notes(f, part(f->raw, h->sh_offset, h->sh_size), h->sh_addralign))
			return;
	}
	for (size_t i = 0; i < f->segments.count; i++) {
		const GElf_Phdr *h = &f->segments.data[i];

		if (h->p_type == PT_NOTE &&
			read_notes(f, part(f->raw, h->p_offset, h->p_filesz), h->p_align))
			return;
	}
}

static int read_headers(struct elf_file *f, struct error *e)
{
	const uint8_t *ident = f->raw.data;

	if (f->raw.size < EI_NIDENT || memcmp(ident, ELFMAG, SELFMAG) != 0) {
		error_set(e, ERR_PARSE, "%s is not an ELF file", f->path);
		return error_hint(e, what_is_read);
	}
	if (ident[EI_DATA] == ELFDATA2MSB) {
		error_set(e, ERR_UNSUPPORTED, "%s is a big-endian ELF file", f->path);
		return error_hint(e, "this toolkit reads little-endian ones");
	}
	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_set(e, ERR_UNSUPPORTED, "libelf is too old");
	/* libelf does not write to memory that it was given to read */
	f->elf = elf_memory((char *)(uintptr_t)f->raw.data, f->raw.size);
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		error_set(e, ERR_PARSE, "the ELF header of %s is damaged", f->path);
		return error_hint(e, "build or copy the file again");
	}
	if (read_sections(f, e) || read_segments(f, e))
		return -1;
	read_build_id(f);
	return 0;
}

static struct elf_file *from(struct span raw, bool mapped, const char *path, struct error *e)
{
	struct elf_file *f = calloc(1, sizeof(*f));

	if (!f || !(f->path = strdup(path))) {
		if (mapped)
			elf_unmap(&raw);
		free(f);
		error_nomem(e);
		return NULL;
	}
	f->raw = raw;
	f->mapped = mapped;
	if (read_headers(f, e)) {
		elf_file_close(f);
		return NULL;
	}
	return f;
}

struct elf_file *elf_file_open(const char *path, struct error *e)
{
	struct span raw;

	return elf_map(path, &raw, e) ? NULL : from(raw, true, path, e);
}

struct elf_file *elf_file_memory(const void *bytes, size_t size, const char *path, struct error *e)
{
	return from((struct span){bytes, size}, false, path, e);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	if (f->elf)
		elf_end(f->elf);
	for (size_t i = 0; i < f->sections.count; i++)
		free(f->sections.data[i].inflated);
	vec_fini(&f->sections);
	vec_fini(&f->segments);
	if (f->mapped)
		elf_unmap(&f->raw);
	free(f->path);
	free(f);
}

struct span elf_file_at(struct elf_file *f, uint64_t address)
{
	for (size_t i = 0; i < f->segments.count; i++) {
		const GElf_Phdr *h = &f->segments.data[i];
		uint64_t into = address - h->p_vaddr;

		if (h->p_type != PT_LOAD || address < h->p_vaddr || into >= h->p_filesz)
			continue;
		if (h->p_offset >= f->raw.size || into >= f->raw.size - h->p_offset)
			return (struct span){0};
		into += h->p_offset;
		return part(f->raw, into,
			h->p_offset + h->p_filesz < f->raw.size ? h->p_offset + h->p_filesz - into
								: f->raw.size - into);
	}
	return (struct span){0};
}

const struct elf_section *elf_file_section_at(const struct elf_file *f, uint64_t address)
{
	for (size_t i = 0; i < f->sections.count; i++) {
		const GElf_Shdr *h = &f->sections.data[i].header;

		if (h->sh_type != SHT_NULL && (h->sh_flags & SHF_ALLOC) &&
			!(h->sh_flags & SHF_TLS) && address >= h->sh_addr &&
			address - h->sh_addr < h->sh_size)
			return &f->sections.data[i];
	}
	return NULL;
}

bool elf_file_has_id(const struct elf_file *f, const uint8_t *build_id, size_t length)
{
	return f->build_id_length == length && memcmp(f->build_id, build_id, length) == 0;
}
