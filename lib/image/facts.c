/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What one build of an image has in common with another: libraries, dynamic symbols, entry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "image/private.h"

typedef VEC(char *) text_list;

static int list_add(text_list *list, const char *prefix, const char *text)
{
	char *copy;

	if (!text)
		return 0;
	if (asprintf(&copy, "%s%s", prefix, text) < 0)
		return -1;
	if (vec_add(list, copy) == 0)
		return 0;
	free(copy);
	return -1;
}

/* NULL-terminated, in order, each once; the list is empty afterwards. */
static char **list_finish(text_list *list)
{
	size_t kept = 0;

	if (list->count)
		qsort(list->data, list->count, sizeof(*list->data), order_strings);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && strcmp(list->data[kept - 1], list->data[i]) == 0)
			free(list->data[i]);
		else
			list->data[kept++] = list->data[i];
	}
	list->count = kept;
	if (vec_add(list, (char *)NULL) == 0)
		return list->data;
	for (size_t i = 0; i < kept; i++)
		free(list->data[i]);
	vec_fini(list);
	return NULL;
}

static void list_free(char **list)
{
	for (size_t i = 0; list && list[i]; i++)
		free(list[i]);
	free(list);
}

static int defined_symbol(void *context, struct elf_file *f, const GElf_Sym *s, struct span strings)
{
	unsigned binding = GELF_ST_BIND(s->st_info), visible = GELF_ST_VISIBILITY(s->st_other);

	(void)f;
	if (s->st_shndx == SHN_UNDEF || binding == STB_LOCAL || visible == STV_HIDDEN ||
		visible == STV_INTERNAL)
		return 0;
	return list_add(context, "", elf_file_span_string(strings, s->st_name));
}

/* Entries of .dynamic, of 64 bits; those of 32 bits are not read. */
static int read_dynamic(struct elf_file *f, text_list *libraries)
{
	struct elf_section *s = elf_file_section(f, ".dynamic");
	struct span table, strings = {0};
	GElf_Dyn d;

	if (!s || f->header.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	table = elf_file_contents(s);
	if (s->header.sh_link < f->sections.count)
		strings = elf_file_contents(&f->sections.data[s->header.sh_link]);
	for (size_t i = 0; i < table.size / sizeof(d); i++) {
		const char *prefix;

		memcpy(&d, table.data + i * sizeof(d), sizeof(d));
		if (d.d_tag == DT_NULL)
			break;
		prefix = d.d_tag == DT_NEEDED ? "" : d.d_tag == DT_SONAME ? "name: " : NULL;
		if (prefix &&
			list_add(libraries, prefix, elf_file_span_string(strings, d.d_un.d_val)))
			return -1;
	}
	return 0;
}

/* Or never had any. */
static bool has_sections(const struct elf_file *f)
{
	const uint64_t size = (uint64_t)f->header.e_shnum * f->header.e_shentsize;

	return f->header.e_shoff <= f->raw.size && size <= f->raw.size - f->header.e_shoff;
}

bool image_is_whole(const struct image *image)
{
	return has_sections(image->elf);
}

static int read_segment_facts(const struct elf_file *f, struct image_facts *facts)
{
	facts->entry = f->header.e_entry == 0;
	facts->whole = f->segments.count > 0 && has_sections(f);
	for (size_t i = 0; i < f->segments.count; i++) {
		const GElf_Phdr *p = &f->segments.data[i];
		struct span bytes;

		if (p->p_offset > f->raw.size || p->p_filesz > f->raw.size - p->p_offset) {
			facts->whole = false;
			continue;
		}
		if (p->p_type == PT_LOAD && (p->p_flags & PF_X) &&
			f->header.e_entry - p->p_vaddr < p->p_filesz)
			facts->entry = true;
		bytes = (struct span){f->raw.data + p->p_offset, p->p_filesz};
		if (p->p_type == PT_INTERP && elf_file_span_string(bytes, 0) &&
			!facts->interpreter &&
			!(facts->interpreter = strdup(elf_file_span_string(bytes, 0))))
			return -1;
	}
	return 0;
}

int image_facts_read(const char *path, struct image_facts *facts, struct error *e)
{
	struct elf_file *f = elf_file_open(path, e);
	text_list libraries = {0}, symbols = {0};
	struct span comment;
	int rc;

	memset(facts, 0, sizeof(*facts));
	if (!f)
		return -1;
	facts->machine = f->header.e_machine;
	facts->type = f->header.e_type;
	facts->class = f->header.e_ident[EI_CLASS];
	facts->relocations = elf_file_section(f, ".rela.text") != NULL;
	facts->lines = elf_file_section(f, ".debug_line") || elf_file_section(f, ".zdebug_line");
	comment = elf_file_find(f, ".comment");
	facts->clang = comment.data && memmem(comment.data, comment.size, "clang", 5);
	rc = read_segment_facts(f, facts) || read_dynamic(f, &libraries) ||
	     symbols_walk(f, ".dynsym", defined_symbol, &symbols);
	facts->libraries = list_finish(&libraries);
	facts->symbols = list_finish(&symbols);
	rc = rc || !facts->libraries || !facts->symbols ? error_nomem(e) : 0;
	if (rc == 0 && facts->type != ET_EXEC && facts->type != ET_DYN)
		rc = error_set(e, ERR_PARSE, "%s is neither a program nor a library", path);
	elf_file_close(f);
	if (rc)
		image_facts_fini(facts);
	return rc;
}

void image_facts_fini(struct image_facts *facts)
{
	free(facts->interpreter);
	list_free(facts->libraries);
	list_free(facts->symbols);
	memset(facts, 0, sizeof(*facts));
}
