/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The function that an address is in. Sorted once per image; names are demangled one by one. */
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "image/private.h"

/* A symbol before it is in the table. */
struct candidate {
	uint64_t address, size, limit; /* limit: end of its section */
	const char *name;
	uint32_t rank; /* of aliases the lowest is taken */
	bool label;    /* without size: ignored inside of a sized one */
};

struct candidates {
	VEC(struct candidate) all;
	const struct image *image;
	bool passed_over; /* sized symbols that are not wanted */
};

bool symbols_wanted(const struct image *image, uint64_t address, uint64_t size)
{
	size_t n = image->wanted.count;
	size_t i = vec_search(k, n, image->wanted.data[k] < address);

	return !n || (i < n && image->wanted.data[i] - address < size);
}

int image_want_symbols(struct image *image, const uint64_t *addresses, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (vec_add(&image->wanted, addresses[i]))
			return -1;
	image->elf->sparing = image->wanted.count > 0;
	return 0;
}

bool symbols_elf(const struct elf_file *f, struct span table, size_t i, GElf_Sym *symbol)
{
	if (f->header.e_ident[EI_CLASS] == ELFCLASS32) {
		Elf32_Sym s;

		if (i >= table.size / sizeof(s))
			return false;
		memcpy(&s, table.data + i * sizeof(s), sizeof(s));
		*symbol = (GElf_Sym){.st_name = s.st_name,
			.st_info = s.st_info,
			.st_other = s.st_other,
			.st_shndx = s.st_shndx,
			.st_value = s.st_value,
			.st_size = s.st_size};
		return true;
	}
	if (i >= table.size / sizeof(*symbol))
		return false;
	memcpy(symbol, table.data + i * sizeof(*symbol), sizeof(*symbol));
	return true;
}

int symbols_walk(struct elf_file *f, const char *section, elf_symbol_call *call, void *context)
{
	struct elf_section *s = f ? elf_file_section(f, section) : NULL;
	struct span table, strings = {0};
	GElf_Sym symbol;

	if (!s)
		return 0;
	table = elf_file_contents(s);
	if (s->header.sh_link < f->sections.count)
		strings = elf_file_contents(&f->sections.data[s->header.sh_link]);
	for (size_t i = 1; symbols_elf(f, table, i, &symbol); i++) {
		if (call(context, f, &symbol, strings))
			return -1;
		elf_file_passed(f, sizeof(symbol));
	}
	return 0;
}

static uint32_t symbols_rank_of(const GElf_Sym *s)
{
	uint32_t binding = GELF_ST_BIND(s->st_info);
	uint32_t typed = GELF_ST_TYPE(s->st_info) == STT_NOTYPE ? 4 : 0;

	return typed + (binding == STB_LOCAL ? 2 : binding == STB_WEAK ? 1 : 0);
}

/* The section that a symbol is in, if it holds code. */
static const GElf_Shdr *code_section(const struct elf_file *f, const GElf_Sym *s)
{
	const GElf_Shdr *h;

	if (s->st_shndx == SHN_UNDEF || s->st_shndx >= SHN_LORESERVE) {
		const struct elf_section *at =
			s->st_shndx == SHN_XINDEX ? elf_file_section_at(f, s->st_value) : NULL;

		return at && (at->header.sh_flags & SHF_EXECINSTR) ? &at->header : NULL;
	}
	if (s->st_shndx >= f->sections.count)
		return NULL;
	h = &f->sections.data[s->st_shndx].header;
	return h->sh_flags & SHF_EXECINSTR ? h : NULL;
}

/* The section that a function or label is in; NULL: it is neither. */
static const GElf_Shdr *symbol_section(const struct elf_file *f, const GElf_Sym *s)
{
	unsigned type = GELF_ST_TYPE(s->st_info);
	const GElf_Shdr *h = type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE
				     ? code_section(f, s)
				     : NULL;

	return h && s->st_value >= h->sh_addr && s->st_value - h->sh_addr < h->sh_size ? h : NULL;
}

/* NULL: it has none, or is a mapping symbol ($x, $d) or an assembler's label (.L). */
static const char *symbols_name(struct elf_file *f, const GElf_Sym *s, struct span strings)
{
	const char *name;

	elf_file_passed(f, ELF_FILE_ANYWHERE);
	name = elf_file_span_string(strings, s->st_name);
	if (!name || !*name)
		return NULL;
	if (GELF_ST_TYPE(s->st_info) == STT_NOTYPE && (*name == '$' || strncmp(name, ".L", 2) == 0))
		return NULL;
	return name;
}

/* A label ends where a symbol begins that is not wanted itself. Those below it end at the label,
 * and of those at its address the first is taken: many labels below many symbols take no time for
 * each pair. */
static int symbols_limit(void *context, struct elf_file *f, const GElf_Sym *s, struct span strings)
{
	struct candidates *c = context;
	struct candidate *label;
	uint64_t address;
	size_t low;

	if (!s->st_size || !symbol_section(f, s))
		return 0;
	low = vec_search(i, c->all.count, c->all.data[i].address < s->st_value);
	if (!low)
		return 0;
	address = c->all.data[low - 1].address;
	label = &c->all.data[vec_search(i, low, c->all.data[i].address < address)];
	if (label->label && label->limit > s->st_value && symbols_name(f, s, strings))
		label->limit = s->st_value;
	return 0;
}

static int symbols_consider(
	void *context, struct elf_file *f, const GElf_Sym *s, struct span strings)
{
	struct candidates *c = context;
	const GElf_Shdr *h = symbol_section(f, s);
	const char *name;
	struct candidate *slot;

	if (!h)
		return 0;
	if (s->st_size && !symbols_wanted(c->image, s->st_value, s->st_size)) {
		c->passed_over = true;
		return 0;
	}
	name = symbols_name(f, s, strings);
	if (!name)
		return 0;
	slot = vec_push(&c->all);
	if (!slot)
		return -1;
	slot->address = s->st_value;
	slot->limit = h->sh_addr + h->sh_size;
	slot->size =
		s->st_size > slot->limit - s->st_value ? slot->limit - s->st_value : s->st_size;
	slot->name = name;
	slot->rank = symbols_rank_of(s);
	slot->label = s->st_size == 0;
	return 0;
}

/* Of one address: the symbol that it is shown by comes first. */
static int symbols_compare(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;
	size_t m, n;

	if (x->label != y->label)
		return x->label ? 1 : -1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	m = strlen(x->name);
	n = strlen(y->name);
	return m != n ? (m < n ? -1 : 1) : strcmp(x->name, y->name);
}

static uint64_t candidate_address(const void *c)
{
	return ((const struct candidate *)c)->address;
}

/* The first after i of another address. */
static size_t candidates_next(const struct candidates *c, size_t i)
{
	size_t next = i + 1;

	while (next < c->all.count && c->all.data[next].address == c->all.data[i].address)
		next++;
	return next;
}

static int symbols_sort(struct candidates *c)
{
	struct candidate *all = c->all.data;

	if (order_by_number(all, c->all.count, sizeof(*all), candidate_address))
		return -1;
	for (size_t i = 0, next; i < c->all.count; i = next) {
		next = candidates_next(c, i);
		if (next > i + 1)
			qsort(all + i, next - i, sizeof(*all), symbols_compare);
	}
	return 0;
}

/* One symbol per address, with sizes filled in, and without labels inside of functions. */
static int settle(struct symbols *s, struct candidates *c)
{
	uint64_t covered = 0;

	for (size_t i = 0, next; i < c->all.count; i = next) {
		struct candidate *x = &c->all.data[i];
		struct image_symbol *symbol;

		next = candidates_next(c, i);
		if (x->label && x->address < covered)
			continue;
		if (x->label)
			x->size = next < c->all.count && c->all.data[next].address < x->limit
					  ? c->all.data[next].address - x->address
					  : x->limit - x->address;
		if (x->address + x->size > covered)
			covered = x->address + x->size;
		symbol = vec_push(&s->all);
		if (!symbol)
			return -1;
		*symbol = (struct image_symbol){x->address, x->size, x->name, NULL, false};
	}
	return 0;
}

int symbols_add_named(struct image *image, uint64_t address, uint64_t size, const char *name)
{
	struct symbols *s = &image->symbols;
	char **slot = vec_push(&s->names);
	struct image_symbol *symbol;

	if (!slot || !(*slot = strdup(name)))
		return error_nomem(NULL);
	symbol = vec_push(&s->all);
	if (!symbol)
		return -1;
	*symbol = (struct image_symbol){address, size, *slot, NULL, false};
	return 0;
}

/* Names of our own: those of the file keep its pages in memory. */
static int keep_names(struct image *image)
{
	struct symbols *s = &image->symbols;

	for (size_t i = 0; i < s->all.count; i++) {
		char **name = vec_push(&s->names);

		if (!name || !(*name = strdup(s->all.data[i].name)))
			return -1;
		elf_file_passed(image->elf, ELF_FILE_ANYWHERE);
		elf_file_passed(image->separate, ELF_FILE_ANYWHERE);
		s->all.data[i].name = *name;
	}
	return 0;
}

static uint64_t symbol_address(const void *s)
{
	return ((const struct image_symbol *)s)->address;
}

/* The tables, the most complete first; -1 when memory is out. */
static int read_tables(struct image *image, struct candidates *c)
{
	size_t own;

	if (symbols_walk(image->elf, ".symtab", symbols_consider, c))
		return -1;
	if (!c->all.count && image_separate(image)) {
		image->separate->sparing = image->elf->sparing;
		if (symbols_walk(image->separate, ".symtab", symbols_consider, c))
			return -1;
	}
	if (c->all.count)
		return 0;
	if (symbols_walk(image_mini(image), ".symtab", symbols_consider, c))
		return -1;
	own = c->all.count;
	if (symbols_walk(image->elf, ".dynsym", symbols_consider, c))
		return -1;
	if (own == 0)
		image_complain(image, c->all.count ? "it has no symbols but those for the dynamic "
						     "linker"
						   : "it has no symbols");
	return 0;
}

/* The same tables again. */
static int limit_labels(struct image *image, struct candidates *c)
{
	return symbols_walk(image->elf, ".symtab", symbols_limit, c) ||
			       symbols_walk(image->separate, ".symtab", symbols_limit, c) ||
			       symbols_walk(image->mini, ".symtab", symbols_limit, c) ||
			       symbols_walk(image->elf, ".dynsym", symbols_limit, c)
		       ? -1
		       : 0;
}

static void load_of_symbols(struct image *image, struct candidates *c)
{
	struct symbols *s = &image->symbols;
	size_t before;

	if (plt_want(image) || read_tables(image, c))
		return;
	if (symbols_sort(c) || (c->passed_over && limit_labels(image, c)) || settle(s, c) ||
		(image->wanted.count && keep_names(image)))
		return;
	before = s->all.count;
	plt_symbols(image);
	if (s->all.count != before &&
		order_by_number(s->all.data, s->all.count, sizeof(*s->all.data), symbol_address))
		return;
	for (size_t i = 0; i < s->all.count; i++)
		if (intervals_add(&s->ranges, s->all.data[i].address,
			    s->all.data[i].address + s->all.data[i].size, (uint32_t)i))
			return;
	intervals_settle(&s->ranges);
}

void symbols_load(struct image *image)
{
	struct candidates c = {.image = image};

	if (image->symbols.ready)
		return;
	image->symbols.ready = true;
	if (image->elf->header.e_type != ET_REL)
		load_of_symbols(image, &c);
	vec_fini(&c.all);
	if (image->wanted.count) {
		elf_file_unload(image->elf);
		elf_file_unload(image->separate);
	}
}

void symbols_fini(struct symbols *s)
{
	for (size_t i = 0; i < s->all.count; i++)
		if (s->all.data[i].demangled != s->all.data[i].name)
			free((char *)(uintptr_t)s->all.data[i].demangled);
	vec_fini(&s->all);
	intervals_fini(&s->ranges);
	guess_fini(s);
	for (size_t i = 0; i < s->names.count; i++)
		free(s->names.data[i]);
	vec_fini(&s->names);
}

/* clang mangles names of static functions to make them unique, in C too. */
static bool of_c_only(struct symbols *s)
{
	if (s->mixed == MIXED_UNKNOWN) {
		s->mixed = MIXED_NO;
		for (size_t i = 0; i < s->all.count && s->mixed == MIXED_NO; i++)
			if ((strncmp(s->all.data[i].name, "_Z", 2) == 0 ||
				    strncmp(s->all.data[i].name, "_R", 2) == 0) &&
				!image_is_unique(s->all.data[i].name))
				s->mixed = MIXED_YES;
	}
	return s->mixed == MIXED_NO;
}

static const struct image_symbol *finished(struct symbols *s, struct image_symbol *symbol)
{
	if (!symbol->demangled) {
		if (image_is_unique(symbol->name) && of_c_only(s))
			symbol->demangled = image_unique_bare(symbol->name);
		if (!symbol->demangled)
			symbol->demangled = image_demangle(symbol->name);
		if (!symbol->demangled)
			symbol->demangled = symbol->name;
	}
	return symbol;
}

const struct image_symbol *image_symbol_at(struct image *image, uint64_t address)
{
	const struct interval *i;

	symbols_load(image);
	i = intervals_find(&image->symbols.ranges, address);
	return i ? finished(&image->symbols, &image->symbols.all.data[i->value])
		 : guess_symbols(image, address);
}

int image_symbols(struct image *image,
	int (*call)(void *context, const struct image_symbol *symbol), void *context)
{
	int stop = 0;

	symbols_load(image);
	for (size_t i = 0; !stop && i < image->symbols.all.count; i++)
		stop = call(context, finished(&image->symbols, &image->symbols.all.data[i]));
	return stop;
}

const struct image_symbol *image_symbol_find(struct image *image, const char *name)
{
	struct symbols *s = &image->symbols;

	symbols_load(image);
	for (size_t i = 0; i < s->all.count; i++)
		if (strcmp(s->all.data[i].name, name) == 0)
			return finished(s, &s->all.data[i]);
	for (size_t i = 0; i < s->all.count; i++)
		if (strcmp(finished(s, &s->all.data[i])->demangled, name) == 0)
			return &s->all.data[i];
	return NULL;
}
