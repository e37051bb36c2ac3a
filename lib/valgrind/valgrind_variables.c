/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "valgrind/valgrind_variables.h"

#include <elf.h>

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_mallocfree.h"
#include "pub_tool_vki.h"
#include "pub_tool_xarray.h"

#include "valgrind/images.h"

#define TABLE_MAX   (1ul << 30) /* bytes of a table: a larger one is damaged */
#define ENTRIES_MAX 64          /* allocators of a file */

static XArray *modules; /* of struct module */
static UInt last;       /* index + 1 of the one found last */

/* Functions, or beginnings of their names. */
static const struct {
	const HChar *name;
	Bool prefix;
	enum allocator kind;
} allocators[] = {
	{"malloc", False, ALLOCATES},
	{"valloc", False, ALLOCATES},
	{"pvalloc", False, ALLOCATES},
	{"calloc", False, ALLOCATES_MANY},
	{"realloc", False, REALLOCATES},
	{"reallocarray", False, REALLOCATES_MANY},
	{"memalign", False, ALIGNS},
	{"aligned_alloc", False, ALIGNS},
	{"posix_memalign", False, ALIGNS_AT},
	{"free", False, FREES},
	{"cfree", False, FREES},
	{"_Znwm", True, ALLOCATES}, /* operator new, new[] of C++ */
	{"_Znam", True, ALLOCATES},
	{"_ZdlPv", True, FREES}, /* operator delete, delete[] */
	{"_ZdaPv", True, FREES},
};

#define ALLOCATORS (sizeof(allocators) / sizeof(allocators[0]))

/* ---- the file ---- */

struct file {
	Int fd;
	Elf64_Ehdr header;
	Elf64_Shdr *sections;
};

static Bool read_at(Int fd, void *to, ULong at, SizeT size)
{
	SizeT done = 0;

	if (VG_(lseek)(fd, (Off64T)at, VKI_SEEK_SET) < 0)
		return False;
	while (done < size) {
		SizeT left = size - done;
		Int n = VG_(read)(fd, (UChar *)to + done, left < (1u << 30) ? (Int)left : 1 << 30);

		if (n <= 0)
			return False;
		done += (SizeT)n;
	}
	return True;
}

static void *read_part(const struct file *f, ULong at, SizeT size)
{
	void *data;

	if (!size || size > TABLE_MAX)
		return NULL;
	data = VG_(malloc)("elf", size + 1);
	((UChar *)data)[size] = 0;
	if (read_at(f->fd, data, at, size))
		return data;
	VG_(free)(data);
	return NULL;
}

static Bool open_file(struct file *f, const HChar *path)
{
	SizeT size;

	f->sections = NULL;
	f->fd = VG_(fd_open)(path, VKI_O_RDONLY, 0);
	if (f->fd < 0)
		return False;
	if (!read_at(f->fd, &f->header, 0, sizeof(f->header)) ||
		VG_(memcmp)(f->header.e_ident, ELFMAG, SELFMAG) != 0 ||
		f->header.e_ident[EI_CLASS] != ELFCLASS64 ||
		f->header.e_shentsize != sizeof(Elf64_Shdr))
		return True;
	size = f->header.e_shnum * sizeof(Elf64_Shdr);
	f->sections = read_part(f, f->header.e_shoff, size);
	return True;
}

static const Elf64_Shdr *section_of(const struct file *f, UInt type)
{
	for (UInt i = 0; f->sections && i < f->header.e_shnum; i++)
		if (f->sections[i].sh_type == type)
			return &f->sections[i];
	return NULL;
}

/* ---- symbols ---- */

static enum allocator allocator_of(const HChar *name)
{
	for (UInt i = 0; i < ALLOCATORS; i++) {
		SizeT n = VG_(strlen)(allocators[i].name);

		if (VG_(strncmp)(name, allocators[i].name, n) == 0 &&
			(allocators[i].prefix || !name[n]))
			return allocators[i].kind;
	}
	return NO_ALLOCATOR;
}

static void see_symbol(struct module *m, const Elf64_Sym *s, const HChar *name)
{
	UInt type = ELF64_ST_TYPE(s->st_info);
	enum allocator kind;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS)
		return;
	if (type == STT_OBJECT && s->st_size && m->bias + s->st_value >= m->low &&
		m->bias + s->st_value < m->high)
		m->variables[m->count++] = (struct variable){s->st_value, s->st_size};
	if (type != STT_FUNC || m->entry_count >= ENTRIES_MAX)
		return;
	kind = allocator_of(name);
	if (kind)
		m->entries[m->entry_count++] = (struct entry_point){m->bias + s->st_value, kind};
}

static Int by_start(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->size > y->size ? -1 : x->size < y->size;
}

/* Aliases, and parts of others, go; how many stay. */
static UInt variables_settle(struct variable *all, UInt count)
{
	UInt kept = 0;

	VG_(ssort)(all, count, sizeof(*all), by_start);
	for (UInt i = 0; i < count; i++) {
		if (kept && all[i].start - all[kept - 1].start < all[kept - 1].size)
			continue;
		all[kept++] = all[i];
	}
	return kept;
}

static void variables_read_symbols(struct module *m, const struct file *f, const Elf64_Shdr *table)
{
	const Elf64_Shdr *strings;
	Elf64_Sym *symbols;
	HChar *names = NULL;
	SizeT n;

	if (table->sh_link >= f->header.e_shnum)
		return;
	strings = &f->sections[table->sh_link];
	symbols = read_part(f, table->sh_offset, table->sh_size);
	if (symbols)
		names = read_part(f, strings->sh_offset, strings->sh_size);
	if (names) {
		n = table->sh_size / sizeof(*symbols);
		m->variables = VG_(realloc)(
			"variables", m->variables, (m->count + n) * sizeof(*m->variables));
		for (SizeT i = 1; i < n; i++)
			if (symbols[i].st_name < strings->sh_size)
				see_symbol(m, &symbols[i], names + symbols[i].st_name);
	}
	VG_(free)(names);
	VG_(free)(symbols);
}

/* What has no symbol is at least of a section. */
static void variables_read_sections(struct module *m, const struct file *f)
{
	m->sections = VG_(malloc)("sections", (f->header.e_shnum + 1u) * sizeof(*m->sections));
	for (UInt i = 0; i < f->header.e_shnum; i++) {
		const Elf64_Shdr *s = &f->sections[i];

		if ((s->sh_flags & SHF_ALLOC) && !(s->sh_flags & SHF_TLS) && s->sh_size)
			m->sections[m->section_count++] = (struct variable){s->sh_addr, s->sh_size};
	}
	m->section_count = variables_settle(m->sections, m->section_count);
}

static void read_module(struct module *m, const struct image *im)
{
	struct file f;
	const Elf64_Shdr *table;

	if (im->kind != IMAGE_FILE || !open_file(&f, im->path))
		return;
	if (f.sections) {
		m->low = im->low;
		m->high = im->high;
		m->entries = VG_(malloc)("entries", ENTRIES_MAX * sizeof(*m->entries));
		table = section_of(&f, SHT_SYMTAB);
		if (table)
			variables_read_symbols(m, &f, table);
		/* Stripped files still have the symbols that they export. */
		table = section_of(&f, SHT_DYNSYM);
		if (table && !m->count)
			variables_read_symbols(m, &f, table);
		m->count = variables_settle(m->variables, m->count);
		variables_read_sections(m, &f);
	}
	VG_(free)(f.sections);
	VG_(close)(f.fd);
}

/* ---- modules ---- */

static struct module *variables_get(UInt i)
{
	return VG_(indexXA)(modules, (Word)i);
}

static UInt variables_count(void)
{
	return modules ? (UInt)VG_(sizeXA)(modules) : 0;
}

void variables_see(Addr code)
{
	struct module m = {.image = images_at(code)};

	if (!m.image)
		return;
	for (UInt i = 0; i < variables_count(); i++)
		if (variables_get(i)->image == m.image && !variables_get(i)->gone)
			return;
	if (!modules)
		modules = VG_(newXA)(VG_(malloc), "modules", VG_(free), sizeof(m));
	m.bias = images_get(m.image)->bias;
	read_module(&m, images_get(m.image));
	VG_(addToXA)(modules, &m);
}

const struct module *variables_module(Addr address)
{
	const struct module *m = last ? variables_get(last - 1) : NULL;

	if (m && address >= m->low && address < m->high && !m->gone)
		return m;
	for (UInt i = 0; i < variables_count(); i++) {
		m = variables_get(i);
		if (address >= m->low && address < m->high && !m->gone) {
			last = i + 1;
			return m;
		}
	}
	return NULL;
}

static const struct variable *variables_find_in(const struct variable *all, UInt count, Addr at)
{
	UInt low = 0, high = count;

	while (low < high) {
		UInt middle = low + (high - low) / 2;

		if (all[middle].start <= at)
			low = middle + 1;
		else
			high = middle;
	}
	return low && at - all[low - 1].start < all[low - 1].size ? &all[low - 1] : NULL;
}

const struct variable *variables_find(const struct module *m, Addr address)
{
	return variables_find_in(m->variables, m->count, address - m->bias);
}

const struct variable *variables_section(const struct module *m, Addr address)
{
	return variables_find_in(m->sections, m->section_count, address - m->bias);
}

enum allocator variables_allocator(Addr code)
{
	const struct module *m = variables_module(code);

	for (UInt i = 0; m && i < m->entry_count; i++)
		if (m->entries[i].address == code)
			return m->entries[i].kind;
	return NO_ALLOCATOR;
}

void variables_unmapped(Addr a, SizeT length)
{
	for (UInt i = 0; i < variables_count(); i++) {
		struct module *m = variables_get(i);

		if (m->gone || !m->high || a + length <= m->low || a >= m->high)
			continue;
		/* The loader maps a file's parts over the whole of it: only what takes its code
		 * away takes the file away. */
		if (a <= m->low && a + length >= m->high) {
			m->gone = True;
			VG_(free)(m->variables);
			VG_(free)(m->sections);
			VG_(free)(m->entries);
			m->variables = m->sections = NULL;
			m->entries = NULL;
			m->count = m->section_count = m->entry_count = 0;
		}
	}
}
