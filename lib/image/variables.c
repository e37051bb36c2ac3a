/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables, from the symbols of type OBJECT of the most complete tables. */
#include <stdlib.h>
#include <string.h>

#include "image/private.h"

/* Of aliases, the one that other images see, then the shortest name. */
static int variables_better(
	const GElf_Sym *a, const char *name_a, unsigned bind_b, const char *name_b)
{
	bool local_a = GELF_ST_BIND(a->st_info) == STB_LOCAL, local_b = bind_b == STB_LOCAL;
	size_t m = strlen(name_a), n = strlen(name_b);

	if (local_a != local_b)
		return local_b;
	return m != n ? m < n : strcmp(name_a, name_b) < 0;
}

struct found {
	uint64_t address, size;
	const char *name;
	unsigned bind;
};

struct finding {
	VEC(struct found) all;
};

static int variables_consider(
	void *context, struct elf_file *elf, const GElf_Sym *s, struct span strings)
{
	const char *name = elf_file_span_string(strings, s->st_name);
	struct finding *f = context;
	struct found *slot;

	if (GELF_ST_TYPE(s->st_info) != STT_OBJECT || !s->st_size || !name || !*name ||
		s->st_shndx == SHN_UNDEF || s->st_shndx == SHN_ABS || s->st_shndx == SHN_COMMON ||
		s->st_value + s->st_size < s->st_value)
		return 0;
	if (s->st_shndx < elf->sections.count &&
		!(elf->sections.data[s->st_shndx].header.sh_flags & SHF_ALLOC))
		return 0;
	slot = vec_push(&f->all);
	if (!slot)
		return -1;
	*slot = (struct found){s->st_value, s->st_size, name, GELF_ST_BIND(s->st_info)};
	return 0;
}

static int variables_compare(const void *pa, const void *pb)
{
	const struct found *a = pa, *b = pb;
	GElf_Sym s = {.st_info = GELF_ST_INFO(a->bind, STT_OBJECT)};

	if (a->address != b->address)
		return a->address < b->address ? -1 : 1;
	if (a->size != b->size)
		return a->size > b->size ? -1 : 1;
	if (a->bind == b->bind && strcmp(a->name, b->name) == 0)
		return 0;
	return variables_better(&s, a->name, b->bind, b->name) ? -1 : 1;
}

static void variables_load(struct image *image, struct finding *found)
{
	struct variables *v = &image->variables;

	if (symbols_walk(image->elf, ".symtab", variables_consider, found))
		return;
	if (!found->all.count &&
		symbols_walk(image_separate(image), ".symtab", variables_consider, found))
		return;
	if (!found->all.count && symbols_walk(image->elf, ".dynsym", variables_consider, found))
		return;
	if (found->all.count)
		qsort(found->all.data, found->all.count, sizeof(*found->all.data),
			variables_compare);
	for (size_t i = 0; i < found->all.count; i++) {
		const struct found *one = &found->all.data[i];
		struct own_variable *slot;

		if (i && one->address == one[-1].address && one->size == one[-1].size)
			continue;
		slot = vec_push(&v->all);
		if (!slot || intervals_add(&v->ranges, one->address, one->address + one->size,
				     (uint32_t)(v->all.count - 1)))
			return;
		slot->is = (struct image_variable){one->address, one->size, one->name};
	}
	intervals_settle(&v->ranges);
}

/* Demangled, without a version; none is empty. */
static char *plain_name(const char *name)
{
	const char *version = strchr(name, '@');
	char *plain = image_demangle(name);

	if (!plain && version && version > name)
		plain = strndup(name, (size_t)(version - name));
	return plain;
}

static void variables_need(struct image *image)
{
	struct finding found = {0};

	if (image->variables.ready)
		return;
	image->variables.ready = true;
	if (image->elf->header.e_type != ET_REL)
		variables_load(image, &found);
	vec_fini(&found.all);
}

int image_variable_find(struct image *image, const char *name, struct image_variable *variable)
{
	const struct variables *v = &image->variables;

	variables_need(image);
	for (size_t i = 0; i < v->all.count; i++)
		if (v->all.data[i].is.name && strcmp(v->all.data[i].is.name, name) == 0) {
			*variable = v->all.data[i].is;
			return 0;
		}
	return -1;
}

int image_variable_at(struct image *image, uint64_t address, struct image_variable *variable)
{
	struct variables *v = &image->variables;
	const struct interval *i;
	struct own_variable *own;

	variables_need(image);
	i = intervals_find(&v->ranges, address);
	if (!i)
		return -1;
	own = &v->all.data[i->value];
	if (!own->named) {
		own->named = true;
		own->name = plain_name(own->is.name);
		if (own->name)
			own->is.name = own->name;
	}
	*variable = own->is;
	return 0;
}

int image_section_at(struct image *image, uint64_t address, struct image_variable *section)
{
	const struct elf_section *s = elf_file_section_at(image->elf, address);

	if (!s)
		return -1;
	*section = (struct image_variable){s->header.sh_addr, s->header.sh_size, s->name};
	return 0;
}

void variables_fini(struct variables *v)
{
	for (size_t i = 0; i < v->all.count; i++)
		free(v->all.data[i].name);
	vec_fini(&v->all);
	intervals_fini(&v->ranges);
}
