/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names for code without symbols: section and offset, split into functions at the addresses in
 * .eh_frame_hdr or, without that, .eh_frame. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/order.h"
#include "image/private.h"

struct guess {
	struct {
		uint64_t low, high;
	} key;
	struct image_symbol *symbol; /* ours */
};

#define TABLE_ENTRY  8    /* bytes */
#define SDATA4       0x1b /* DW_EH_PE_sdata4 | DW_EH_PE_pcrel */
#define UDATA4       0x03
#define TABLE_SDATA4 0x3b /* DW_EH_PE_sdata4 | DW_EH_PE_datarel: all linkers' */

static uint64_t start_at(const uint8_t *table, size_t i, uint64_t base)
{
	int32_t offset;

	memcpy(&offset, table + i * TABLE_ENTRY, sizeof(offset));
	return base + (uint64_t)(int64_t)offset;
}

static int all_starts(struct symbols *s, const uint8_t *table, size_t count, uint64_t base)
{
	for (size_t i = 0; i < count; i++)
		if (vec_add(&s->starts, start_at(table, i, base)))
			return -1;
	return 0;
}

/* Those around each wanted address. The table is sorted. */
static int wanted_starts(struct image *image, const uint8_t *table, size_t count, uint64_t base)
{
	for (size_t i = 0; i < image->wanted.count; i++) {
		size_t n = vec_search(k, count, start_at(table, k, base) <= image->wanted.data[i]);

		for (size_t k = n ? n - 1 : 0; k < count && k <= n; k++)
			if (vec_add(&image->symbols.starts, start_at(table, k, base)))
				return -1;
	}
	return 0;
}

/* The header of the binary search table: version, three encodings, address of .eh_frame, count. */
static int read_table(struct image *image)
{
	struct elf_section *section = elf_file_section(image->elf, ".eh_frame_hdr");
	struct span table;
	uint64_t base = section ? section->header.sh_addr : 0;
	uint32_t count;

	for (size_t i = 0; !section && i < image->elf->segments.count; i++)
		if (image->elf->segments.data[i].p_type == PT_GNU_EH_FRAME)
			base = image->elf->segments.data[i].p_vaddr;
	table = elf_file_at(image->elf, base);
	if (!base || table.size < 12 || table.data[0] != 1 || table.data[1] != SDATA4 ||
		table.data[2] != UDATA4 || table.data[3] != TABLE_SDATA4)
		return guess_frames(image);
	memcpy(&count, table.data + 8, sizeof(count));
	if (count > (table.size - 12) / TABLE_ENTRY)
		count = (uint32_t)((table.size - 12) / TABLE_ENTRY);
	return image->wanted.count ? wanted_starts(image, table.data + 12, count, base)
				   : all_starts(&image->symbols, table.data + 12, count, base);
}

static void read_starts(struct image *image)
{
	struct symbols *s = &image->symbols;

	(void)read_table(image); /* without memory, those so far */
	order_sort(s->starts.data, s->starts.count, sizeof(*s->starts.data), order_u64);
}

/* Narrows [*low, *high) to the table's function around address. */
static void narrow_by_starts(
	const struct symbols *s, uint64_t address, uint64_t *low, uint64_t *high)
{
	size_t a = vec_search(i, s->starts.count, s->starts.data[i] <= address);

	if (a && s->starts.data[a - 1] > *low)
		*low = s->starts.data[a - 1];
	if (a < s->starts.count && s->starts.data[a] < *high)
		*high = s->starts.data[a];
}

/* Between the last end before address and the next beginning after it. */
static void narrow_by_symbols(
	const struct symbols *s, uint64_t address, uint64_t *low, uint64_t *high)
{
	size_t n = intervals_before(&s->ranges, address);

	for (size_t i = n; i-- > 0 && n - i <= 8;)
		if (s->ranges.all.data[i].high > *low)
			*low = s->ranges.all.data[i].high;
	if (n < s->ranges.all.count && s->ranges.all.data[n].low < *high)
		*high = s->ranges.all.data[n].low;
}

/* The section with code at address, or the segment in a file without sections. */
static const char *guess_place(
	const struct elf_file *f, uint64_t address, uint64_t *low, uint64_t *high)
{
	const struct elf_section *section = elf_file_section_at(f, address);

	if (section) {
		if (!(section->header.sh_flags & SHF_EXECINSTR))
			return NULL;
		*low = section->header.sh_addr;
		*high = *low + section->header.sh_size;
		return section->name;
	}
	for (size_t i = 0; i < f->segments.count; i++) {
		const GElf_Phdr *h = &f->segments.data[i];

		if (h->p_type != PT_LOAD || !(h->p_flags & PF_X) || address < h->p_vaddr ||
			address - h->p_vaddr >= h->p_memsz)
			continue;
		*low = h->p_vaddr;
		*high = *low + h->p_memsz;
		return "code";
	}
	return NULL;
}

static struct image_symbol *guess_make(
	struct symbols *s, const char *where, uint64_t offset, uint64_t low, uint64_t high)
{
	struct guess key = {.key = {low, high}}, *g = table_add(&s->guesses, &key.key);
	char **name = vec_push(&s->names);
	char text[256];

	if (!g || !name)
		return NULL;
	snprintf(text, sizeof(text), "%.200s+0x%llx", where, (unsigned long long)offset);
	*name = strdup(text);
	g->symbol = *name ? calloc(1, sizeof(*g->symbol)) : NULL;
	if (!g->symbol)
		error_nomem(NULL);
	else
		*g->symbol = (struct image_symbol){low, high - low, *name, *name, true};
	return g->symbol;
}

const struct image_symbol *guess_symbols(struct image *image, uint64_t address)
{
	struct symbols *s = &image->symbols;
	uint64_t low, high, begin;
	const struct guess *known;
	struct guess key = {0};
	const char *where;

	if (image->elf->header.e_type == ET_REL ||
		!(where = guess_place(image->elf, address, &low, &high)))
		return NULL;
	if (!s->guesses.entry_size) {
		s->guesses.entry_size = sizeof(struct guess);
		s->guesses.key_size = sizeof(key.key);
		read_starts(image);
	}
	begin = low;
	narrow_by_symbols(s, address, &low, &high);
	narrow_by_starts(s, address, &low, &high);
	if (low > address || high <= address)
		return NULL;
	key.key.low = low;
	key.key.high = high;
	known = table_find(&s->guesses, &key.key);
	return known ? known->symbol : guess_make(s, where, low - begin, low, high);
}

void guess_fini(struct symbols *s)
{
	for (size_t i = 0; i < s->guesses.count; i++)
		free(((struct guess *)table_at(&s->guesses, i))->symbol);
	table_fini(&s->guesses);
	vec_fini(&s->starts);
}
