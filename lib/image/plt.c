/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of the stubs that call other images. A stub is recognised by its code: it jumps through a
 * slot, and the relocation of that slot names the function. So layouts of all linkers work (.plt,
 * .plt.sec, .plt.got; with and without endbr64, bti).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "base/sort.h"
#include "image/private.h"

struct slot {
	uint64_t address, addend;
	uint32_t section; /* of the relocation */
	uint32_t symbol;  /* 0: known by addend only */
};

struct slots {
	VEC(struct slot) all;
	size_t functions; /* the image's own symbols, in order of address; followed by stubs */
};

static int plt_by_address(const void *a, const void *b)
{
	const struct slot *x = a, *y = b;

	return sort_rising(x->address, y->address);
}

/* Most relocations are of data: pointers that are added to, and those that are only moved. */
static bool is_of_data(uint64_t type)
{
	return type == R_X86_64_RELATIVE || type == R_X86_64_64 || type == R_AARCH64_RELATIVE ||
	       type == R_AARCH64_ABS64;
}

/* Relocations of the supported 64-bit machines all have addends. */
static int read_relocations(struct slots *slots, struct elf_file *f, size_t index)
{
	struct elf_section *section = &f->sections.data[index];
	struct span s;

	if (section->header.sh_type != SHT_RELA || !(section->header.sh_flags & SHF_ALLOC) ||
		section->header.sh_link >= f->sections.count)
		return 0;
	s = elf_file_contents(section);
	for (size_t i = 0; i < s.size / sizeof(Elf64_Rela); i++) {
		Elf64_Rela r;

		memcpy(&r, s.data + i * sizeof(r), sizeof(r));
		elf_file_passed(f, sizeof(r));
		if (!is_of_data(ELF64_R_TYPE(r.r_info)) &&
			vec_add(&slots->all,
				((struct slot){r.r_offset, (uint64_t)r.r_addend, (uint32_t)index,
					(uint32_t)ELF64_R_SYM(r.r_info)})))
			return -1;
	}
	return 0;
}

/* NULL: it has none. */
static const char *slot_name(struct elf_file *f, const struct slot *slot)
{
	const struct elf_section *relocations = &f->sections.data[slot->section];
	struct elf_section *symtab = &f->sections.data[relocations->header.sh_link];
	GElf_Sym symbol;

	elf_file_passed(f, ELF_FILE_ANYWHERE);
	if (!slot->symbol || symtab->header.sh_link >= f->sections.count ||
		!symbols_elf(f, elf_file_contents(symtab), slot->symbol, &symbol))
		return NULL;
	return elf_file_span_string(
		elf_file_contents(&f->sections.data[symtab->header.sh_link]), symbol.st_name);
}

/* The slot that an x86-64 stub jumps through: [endbr64] [bnd] jmp *disp(%rip) */
static bool jump_x86_64(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot)
{
	for (size_t i = 0; i + 6 <= size; i++) {
		int32_t displacement;

		if (code[i] != 0xff || code[i + 1] != 0x25)
			continue;
		memcpy(&displacement, code + i + 2, sizeof(displacement));
		*slot = address + i + 6 + (uint64_t)(int64_t)displacement;
		return true;
	}
	return false;
}

/* [bti c] adrp x16, page; ldr x17, [x16, #offset] */
static bool jump_aarch64(const uint8_t *code, size_t size, uint64_t address, uint64_t *slot)
{
	for (size_t i = 0; i + 8 <= size; i += 4) {
		uint32_t adrp, ldr;
		int64_t pages;

		memcpy(&adrp, code + i, 4);
		memcpy(&ldr, code + i + 4, 4);
		if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400211)
			continue;
		pages = (int64_t)(((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3))
				  << 43) >>
			43;
		*slot = ((address + i) & ~UINT64_C(0xfff)) + ((uint64_t)pages << 12) +
			((uint64_t)(ldr >> 10 & 0xfff) << 3);
		return true;
	}
	return false;
}

/* Sections of stubs, with the size of one if the section does not give it (lld, mold). */
static const struct {
	const char *name;
	unsigned size[3]; /* bytes, by enum image_machine */
} stubs[] = {
	{".plt", {0, 16, 16}},
	{".plt.sec", {0, 16, 16}},
	{".plt.got", {0, 8, 16}},
	{".iplt", {0, 16, 16}},
};

/* The function whose resolver an indirect relocation names. */
static const char *resolver_at(const struct image *image, size_t count, uint64_t address)
{
	const struct image_symbol *all = image->symbols.all.data;
	size_t low = vec_search(i, count, all[i].address < address);

	return low < count && all[low].address == address ? all[low].name : NULL;
}

static int name_stub(struct image *image, const struct slots *slots, uint64_t address,
	unsigned size, uint64_t got)
{
	struct slot key = {.address = got};
	const struct slot *slot = slots->all.count
					  ? bsearch(&key, slots->all.data, slots->all.count,
						    sizeof(key), plt_by_address)
					  : NULL;
	const char *name;
	char text[1024];

	if (!slot)
		return 0;
	name = slot_name(image->elf, slot);
	if (!name || !*name)
		name = resolver_at(image, slots->functions, slot->addend);
	if (name)
		snprintf(text, sizeof(text), "%.1000s@plt", name);
	else
		snprintf(text, sizeof(text), "*0x%llx@plt", (unsigned long long)slot->addend);
	return symbols_add_named(image, address, size, text);
}

static int read_stubs(struct image *image, const struct slots *slots, size_t which)
{
	struct elf_section *section = elf_file_section(image->elf, stubs[which].name);
	unsigned size = stubs[which].size[image->machine], at = 0;
	struct span s;
	uint64_t got;

	if (!section)
		return 0;
	s = elf_file_contents(section);
	if (section->header.sh_entsize >= 8 && section->header.sh_entsize <= 32)
		size = (unsigned)section->header.sh_entsize;
	for (; at + size <= s.size; at += size) {
		uint64_t address = section->header.sh_addr + at;
		bool found = symbols_wanted(image, address, size) &&
			     (image->machine == IMAGE_X86_64
					     ? jump_x86_64(s.data + at, size, address, &got)
					     : jump_aarch64(s.data + at, size, address, &got));

		if (found && name_stub(image, slots, address, size, got))
			return -1;
	}
	return 0;
}

static bool stubs_wanted(struct image *image)
{
	for (size_t i = 0; i < sizeof(stubs) / sizeof(*stubs); i++) {
		const struct elf_section *s = elf_file_section(image->elf, stubs[i].name);

		if (s && symbols_wanted(image, s->header.sh_addr, s->header.sh_size))
			return true;
	}
	return false;
}

static int read_slots(struct image *image, struct slots *slots)
{
	struct elf_file *f = image->elf;
	int failed = 0;

	if (image->machine == IMAGE_OTHER || f->header.e_ident[EI_CLASS] != ELFCLASS64 ||
		!stubs_wanted(image))
		return 0;
	for (size_t i = 0; !failed && i < f->sections.count; i++)
		failed = read_relocations(slots, f, i);
	return failed;
}

int plt_want(struct image *image)
{
	struct slots slots = {0};
	int failed = image->wanted.count ? read_slots(image, &slots) : 0;
	size_t before = image->wanted.count;

	for (size_t i = 0; !failed && i < slots.all.count; i++)
		if (!slots.all.data[i].symbol)
			failed = vec_add(&image->wanted, slots.all.data[i].addend);
	vec_fini(&slots.all);
	if (image->wanted.count != before)
		qsort(image->wanted.data, image->wanted.count, sizeof(uint64_t), order_u64);
	return failed;
}

int plt_symbols(struct image *image)
{
	struct slots slots = {.functions = image->symbols.all.count};
	int failed = read_slots(image, &slots);

	if (slots.all.count)
		qsort(slots.all.data, slots.all.count, sizeof(*slots.all.data), plt_by_address);
	for (size_t i = 0; !failed && slots.all.count && i < sizeof(stubs) / sizeof(*stubs); i++)
		failed = read_stubs(image, &slots, i);
	vec_fini(&slots.all);
	return failed;
}
