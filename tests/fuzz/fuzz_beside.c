/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Debug information beside an image: a package (.dwp), a split unit (.dwo), or symbols that are
 * compressed in it (.gnu_debugdata). The input is a kind, the size of the image in four bytes, the
 * image, and what is beside it. Of the third kind it is what is compressed here: chance does not
 * get past the sums of xz. */
#include <elf.h>
#include <lzma.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum kind { PACKAGE, UNIT, MINI, KINDS };

static int look_at_name(void *context, const struct image_symbol *s)
{
	int *left = context;

	if (s->size == 0 || !*s->name || !s->demangled)
		abort();
	return --*left == 0;
}

static void ask_image(const char *path)
{
	const struct image_identity id = {.path = path};
	const struct image_search where = {0};
	struct error e = {0};
	struct image *image = image_open(&id, &where, &e);
	int left = 100;

	if (!image) {
		if (!*e.message)
			abort();
		return;
	}
	image_symbols(image, look_at_name, &left);
	for (uint64_t address = 0x1000; address < 0x1100; address += 5) {
		struct image_frame frames[4];
		struct image_source sources[4];
		size_t n = image_inlines_at(image, address, frames, 4);

		for (size_t i = 0; i < n && i < 4; i++)
			if (!frames[i].name)
				abort();
		(void)image_sources_at(image, address, sources, 4);
	}
	(void)image_complaint(image);
	image_close(image);
}

static int put_file(const char *path, const uint8_t *data, size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -1;
	fwrite(data, 1, size, f);
	return fclose(f);
}

/* An image of nothing but the section, and a segment for its code. */
static int put_mini(const char *path, const uint8_t *data, size_t size)
{
	static const char names[] = "\0.gnu_debugdata\0.names";
	struct {
		Elf64_Ehdr file;
		Elf64_Phdr segment;
		Elf64_Shdr sections[3];
		char names[sizeof(names)];
	} head = {.file = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
				   EV_CURRENT},
			  .e_type = ET_EXEC,
			  .e_machine = EM_X86_64,
			  .e_version = EV_CURRENT,
			  .e_phoff = sizeof(Elf64_Ehdr),
			  .e_shoff = sizeof(Elf64_Ehdr) + sizeof(Elf64_Phdr),
			  .e_ehsize = sizeof(Elf64_Ehdr),
			  .e_phentsize = sizeof(Elf64_Phdr),
			  .e_phnum = 1,
			  .e_shentsize = sizeof(Elf64_Shdr),
			  .e_shnum = 3,
			  .e_shstrndx = 2}};
	size_t room = sizeof(head) + lzma_stream_buffer_bound(size), at = sizeof(head);
	uint8_t *file = malloc(room);
	int r = -1;

	head.segment = (Elf64_Phdr){.p_type = PT_LOAD,
		.p_flags = PF_R | PF_X,
		.p_vaddr = 0x1000,
		.p_memsz = 0x100,
		.p_align = 1};
	head.sections[2] = (Elf64_Shdr){.sh_name = 16,
		.sh_type = SHT_STRTAB,
		.sh_offset = (uint64_t)((char *)head.names - (char *)&head),
		.sh_size = sizeof(names)};
	memcpy(head.names, names, sizeof(names));
	if (file && lzma_easy_buffer_encode(
			    0, LZMA_CHECK_CRC32, NULL, data, size, file, &at, room) == LZMA_OK) {
		head.sections[1] = (Elf64_Shdr){.sh_name = 1,
			.sh_type = SHT_PROGBITS,
			.sh_offset = sizeof(head),
			.sh_size = at - sizeof(head)};
		memcpy(file, &head, sizeof(head));
		r = put_file(path, file, at);
	}
	free(file);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const suffixes[] = {[PACKAGE] = ".dwp", [UNIT] = ".dwo"};
	char directory[] = "/tmp/fuzz-beside.XXXXXX", image[64], beside[64] = "";
	enum kind kind;
	uint32_t length;
	int r;

	if (size < 5)
		return 0;
	kind = data[0] % KINDS;
	memcpy(&length, data + 1, 4);
	data += 5;
	size -= 5;
	if ((kind != MINI && length > size) || !mkdtemp(directory))
		return 0;
	snprintf(image, sizeof(image), "%s/image", directory);
	if (kind == MINI) {
		r = put_mini(image, data, size);
	} else {
		snprintf(beside, sizeof(beside), "%s%s", image, suffixes[kind]);
		r = put_file(image, data, length) || put_file(beside, data + length, size - length);
	}
	if (r == 0)
		ask_image(image);
	unlink(image);
	unlink(beside);
	rmdir(directory);
	return 0;
}
