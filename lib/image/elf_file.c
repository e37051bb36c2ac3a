/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "image/elf_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mapping.h"

#define PASSED_MOST ((size_t)512 << 10)

static const char what_is_read[] = "only regular files with ELF headers are read";

static int not_regular(const char *path, struct error *e)
{
	error_set(e, ERR_PARSE, "%s is not a regular file", path);
	return error_hint(e, what_is_read);
}

/* libelf copies the section headers of what it maps itself, so that it can inflate sections without
 * writing to the file's bytes. */
static int map_descriptor(struct elf_file *f, int fd, struct error *e)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return error_sys(e, errno, "cannot stat %s", f->path);
	if (!S_ISREG(st.st_mode))
		return not_regular(f->path, e);
	if (st.st_size == 0)
		return 0;
	if (elf_version(EV_CURRENT) == EV_NONE)
		return error_set(e, ERR_UNSUPPORTED, "libelf is too old");
	mapping_guard();
	f->elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	f->raw.data = f->elf ? (uint8_t *)elf_rawfile(f->elf, &f->raw.size) : NULL;
	if (!f->raw.data)
		return error_sys(e, errno, "cannot map %s", f->path);
	elf_cntl(f->elf, ELF_C_FDDONE);
	f->mapping = mapping_watch(f->raw.data, f->raw.size, f->path, e);
	return f->mapping ? 0 : -1;
}

static struct elf_file *new_file(const char *path, struct error *e)
{
	struct elf_file *f = calloc(1, sizeof(*f));

	if (f && (f->path = strdup(path)))
		return f;
	free(f);
	error_nomem(e);
	return NULL;
}

struct elf_file *elf_file_map(const char *path, struct error *e)
{
	struct elf_file *f;
	struct stat st;
	int fd, failed;

	/* opening a device may have side effects */
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		not_regular(path, e);
		return NULL;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0) {
		error_sys(e, errno, "cannot open %s", path);
		return NULL;
	}
	f = new_file(path, e);
	failed = f ? map_descriptor(f, fd, e) : -1;
	close(fd);
	if (!failed)
		return f;
	elf_file_close(f);
	return NULL;
}

const char *elf_file_span_string(struct span s, uint64_t offset)
{
	if (offset >= s.size)
		return NULL;
	/* A table of strings ends with one, so that none has to be looked through. */
	if (s.data[s.size - 1] && !memchr(s.data + offset, '\0', s.size - offset))
		return NULL;
	return (const char *)s.data + offset;
}

static int elf_file_read_sections(struct elf_file *f, struct error *e)
{
	Elf_Scn *scn = elf_getscn(f->elf, 0);
	size_t names;
	GElf_Shdr h;

	if (elf_getshdrstrndx(f->elf, &names) != 0)
		names = SHN_UNDEF;
	for (; scn && gelf_getshdr(scn, &h); scn = elf_nextscn(f->elf, scn)) {
		const char *name = elf_strptr(f->elf, names, h.sh_name);
		struct elf_section *s = vec_push(&f->sections);

		if (!s)
			return error_nomem(e);
		s->name = name ? name : "";
		s->scn = scn;
		s->of = f->elf;
		s->header = h;
		if (h.sh_size > UINT64_MAX - h.sh_addr) /* no address space is that large */
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

static void read_build_id(struct elf_file *f)
{
	const void *id;
	ssize_t length = dwelf_elf_gnu_build_id(f->elf, &id);

	if (length <= 0 || length > BUILD_ID_MAX)
		return;
	memcpy(f->build_id, id, (size_t)length);
	f->build_id_length = (size_t)length;
}

int elf_file_read(struct elf_file *f, struct error *e)
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
	if (!f->elf || elf_kind(f->elf) != ELF_K_ELF || !gelf_getehdr(f->elf, &f->header)) {
		error_set(e, ERR_PARSE, "the ELF header of %s is damaged", f->path);
		return error_hint(e, "build or copy the file again");
	}
	if (elf_file_read_sections(f, e) || read_segments(f, e))
		return -1;
	read_build_id(f);
	return 0;
}

static struct elf_file *read_or_close(struct elf_file *f, struct error *e)
{
	if (!f || elf_file_read(f, e) == 0)
		return f;
	elf_file_close(f);
	return NULL;
}

struct elf_file *elf_file_open(const char *path, struct error *e)
{
	return read_or_close(elf_file_map(path, e), e);
}

struct elf_file *elf_file_memory(const void *bytes, size_t size, const char *path, struct error *e)
{
	struct elf_file *f = new_file(path, e);

	if (!f)
		return NULL;
	f->copy = malloc(size + 1);
	if (!f->copy) {
		elf_file_close(f);
		error_nomem(e);
		return NULL;
	}
	if (size)
		memcpy(f->copy, bytes, size);
	f->raw = (struct span){f->copy, size};
	if (elf_version(EV_CURRENT) != EV_NONE)
		f->elf = elf_memory((char *)f->copy, size);
	return read_or_close(f, e);
}

void elf_file_unload(struct elf_file *f)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	/* memory that libelf allocated where it cannot map begins at no page */
	if (f && !f->copy && f->raw.size && (uintptr_t)f->raw.data % page == 0)
		madvise((void *)(uintptr_t)f->raw.data, f->raw.size, MADV_DONTNEED);
}

void elf_file_passed(struct elf_file *f, size_t bytes)
{
	if (!f || !f->sparing || (f->passed += bytes) < PASSED_MOST)
		return;
	f->passed = 0;
	elf_file_unload(f);
}

void elf_file_close(struct elf_file *f)
{
	if (!f)
		return;
	mapping_close(f->mapping);
	if (f->elf)
		elf_end(f->elf);
	for (size_t i = 0; i < f->sections.count; i++)
		free(f->sections.data[i].inflated);
	vec_fini(&f->sections);
	vec_fini(&f->segments);
	free(f->copy);
	free(f->path);
	free(f);
}

struct span elf_file_contents(struct elf_section *s)
{
	GElf_Shdr now; /* without the flag once it is inflated */
	Elf_Data *data;

	if (!gelf_getshdr(s->scn, &now) || now.sh_type == SHT_NOBITS || now.sh_type == SHT_NULL ||
		now.sh_size == 0)
		return (struct span){0};
	if ((now.sh_flags & SHF_COMPRESSED) && !section_inflate(s, &now) &&
		elf_compress(s->scn, 0, 0) < 0)
		return (struct span){0};
	/* it fails if that was done before */
	if (strncmp(s->name, ".zdebug_", 8) == 0)
		(void)elf_compress_gnu(s->scn, 0, 0);
	data = elf_rawdata(s->scn, NULL);
	return data && data->d_buf ? (struct span){data->d_buf, data->d_size} : (struct span){0};
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

	return s ? elf_file_contents(s) : (struct span){0};
}

struct span elf_file_at(struct elf_file *f, uint64_t address)
{
	for (size_t i = 0; i < f->segments.count; i++) {
		const GElf_Phdr *h = &f->segments.data[i];
		uint64_t into = address - h->p_vaddr, left, in_file;

		if (h->p_type != PT_LOAD || address < h->p_vaddr || into >= h->p_filesz)
			continue;
		if (h->p_offset >= f->raw.size || into >= f->raw.size - h->p_offset)
			return (struct span){0};
		left = h->p_filesz - into;
		in_file = f->raw.size - h->p_offset - into;
		return (struct span){
			f->raw.data + h->p_offset + into, left < in_file ? left : in_file};
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
