/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes a machine in the format that machine_parse reads, for tests that read it again. */
#ifndef TESTS_MACHINE_PRINT_H
#define TESTS_MACHINE_PRINT_H

#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "machine/private.h"

static void print_size(struct strbuf *out, uint32_t size)
{
	if (size && size % (1 << 20) == 0)
		strbuf_printf(out, "%uM", size >> 20);
	else if (size && size % (1 << 10) == 0)
		strbuf_printf(out, "%uK", size >> 10);
	else
		strbuf_printf(out, "%u", size);
}

static void print_hz(struct strbuf *out, uint64_t hz)
{
	uint64_t unit = hz >= 1000000000 ? 1000000000 : 1000000;
	char part[24];
	int n = snprintf(part, sizeof(part), ".%0*llu", unit == 1000000 ? 6 : 9,
		(unsigned long long)(hz % unit));

	while (n > 1 && part[n - 1] == '0')
		part[--n] = '\0';
	strbuf_printf(out, "%llu%s %s", (unsigned long long)(hz / unit), n > 1 ? part : "",
		unit == 1000000 ? "MHz" : "GHz");
}

static void print_ways(struct strbuf *out, uint32_t ways, uint32_t all)
{
	if (ways == all)
		strbuf_puts(out, " full");
	else
		strbuf_printf(out, " %u-way", ways);
}

/* Text from elsewhere (processor names): nothing in it may end the line early. */
static void machine_print_text(struct strbuf *out, const char *text)
{
	for (; *text; text++)
		strbuf_putc(out,
			*text == '#' || (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : *text);
}

static void print_prefetcher(struct strbuf *out, const struct model_prefetcher *p)
{
	const char *blank = "";

	if (!p->entries && !p->ahead && !p->lines)
		strbuf_puts(out, "off");
	if (p->entries) {
		strbuf_printf(out, "%u-entry", p->entries);
		blank = " ";
	}
	if (p->ahead) {
		strbuf_printf(out, "%s%u-ahead", blank, p->ahead);
		blank = " ";
	}
	if (p->lines)
		strbuf_printf(out, "%s%u-line", blank, p->lines);
}

static void print_value(const struct field *f, const struct machine *m, struct strbuf *out)
{
	const void *at = (const char *)m + f->offset;
	const struct model_cache_config *cache = at;
	const struct model_tlb_config *tlb = at;
	const uint32_t *number = at;

	switch (f->kind) {
	case FIELD_TEXT:
	case FIELD_WORD:
		machine_print_text(out, at);
		break;
	case FIELD_CHOICE:
		strbuf_puts(out, f->choices[*number]);
		break;
	case FIELD_HZ:
		print_hz(out, *(const uint64_t *)at);
		break;
	case FIELD_SIZE:
		print_size(out, *number);
		break;
	case FIELD_COUNT:
		strbuf_printf(out, "%u", *number);
		break;
	case FIELD_LOG2:
		strbuf_printf(out, "%u", 1u << *number);
		break;
	case FIELD_CYCLES:
		strbuf_printf(out, "%u-cycle", *number);
		break;
	case FIELD_CACHE:
		if (cache->size == 0) {
			strbuf_puts(out, "none");
			break;
		}
		print_size(out, cache->size);
		print_ways(out, cache->ways, cache->line ? cache->size / cache->line : 0);
		strbuf_printf(out, " %u-byte %u-cycle", cache->line, cache->latency);
		break;
	case FIELD_LARGE:
		if (tlb->entries == 0) {
			strbuf_puts(out, tlb->ways == MODEL_LARGE_SPLIT ? "split" : "shared");
			break;
		}
		strbuf_printf(out, "%u-entry", tlb->entries);
		print_ways(out, tlb->ways, tlb->entries);
		break;
	case FIELD_PREFETCH:
		print_prefetcher(out, at);
		break;
	case FIELD_TLB:
		if (tlb->entries == 0) {
			strbuf_puts(out, "none");
			break;
		}
		strbuf_printf(out, "%u-entry", tlb->entries);
		print_ways(out, tlb->ways, tlb->entries);
		if (f->latency)
			strbuf_printf(out, " %u-cycle",
				*(const uint32_t *)((const char *)m + f->latency));
		break;
	}
}

static void machine_print(const struct machine *m, struct strbuf *out)
{
	const char *section = "";

	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];
		const char *text = (const char *)m + f->offset;

		if (strcmp(section, f->section)) {
			strbuf_printf(out, "%s[%s]\n", *section ? "\n" : "", f->section);
			section = f->section;
		}
		if ((f->kind == FIELD_TEXT || f->kind == FIELD_WORD) && !*text)
			continue;
		strbuf_printf(out, "%-15s ", f->key);
		print_value(f, m, out);
		strbuf_putc(out, '\n');
	}
}

#endif
