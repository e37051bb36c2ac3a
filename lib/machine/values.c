/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the values of a machine description: one function for each kind of field. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/nearest.h"
#include "machine/values.h"

/* Digits at *text, at most 15 of them; moves *text past them. */
static bool value_digits(const char **text, uint64_t *value)
{
	int n = 0;

	*value = 0;
	for (; **text >= '0' && **text <= '9' && n < 16; (*text)++, n++)
		*value = *value * 10 + (uint64_t)(**text - '0');
	return n > 0 && n < 16;
}

static bool number_with(const char *word, const char *unit, const char *units, uint64_t *value)
{
	return value_digits(&word, value) && *word++ == '-' &&
	       (strcmp(word, unit) == 0 || strcmp(word, units) == 0);
}

/* 4096, 32K, 8M, 1G. */
static bool value_size_of(const char *word, uint64_t *value)
{
	static const char suffixes[] = "KMG";
	const char *suffix;

	if (!value_digits(&word, value))
		return false;
	if (*word == '\0')
		return true;
	suffix = strchr(suffixes, *word);
	if (!suffix || word[1])
		return false;
	*value <<= 10 * (suffix - suffixes + 1);
	return *value >> 50 == 0;
}

static int in_range(struct parser *p, const struct field *f, uint64_t value)
{
	if (value < f->low || value > f->high)
		return machine_parser_fail(p, "%s %llu is out of range, %llu to %llu", f->key,
			(unsigned long long)value, (unsigned long long)f->low,
			(unsigned long long)f->high);
	return 0;
}

static int value_read_text(struct parser *p, const struct field *f, void *target)
{
	while (p->at < p->end && parser_blank(*p->at))
		p->at++;
	if ((size_t)(p->end - p->at) >= f->high)
		return machine_parser_fail(
			p, "%s is longer than %llu bytes", f->key, (unsigned long long)f->high - 1);
	memcpy(target, p->at, (size_t)(p->end - p->at));
	((char *)target)[p->end - p->at] = '\0';
	p->at = p->end;
	return 0;
}

static int value_read_word(struct parser *p, const struct field *f, void *target)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

	if (machine_parser_word(p) <= 0)
		return -1;
	if (strlen(p->word) >= f->high || p->word[strspn(p->word, allowed)])
		return machine_parser_fail(p,
			"%s '%s': use up to %llu letters, digits, '.', '_', '+' or '-'", f->key,
			p->word, (unsigned long long)f->high - 1);
	strcpy(target, p->word);
	return 0;
}

/* 'a', 'b' or 'c' */
static void list_choices(const struct field *f, char *text, size_t size)
{
	size_t used = 0;

	for (int i = 0; f->choices[i] && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s'%s'",
			i == 0              ? ""
			: f->choices[i + 1] ? ", "
					    : " or ",
			f->choices[i]);
}

static int read_choice(struct parser *p, const struct field *f, void *target)
{
	struct nearest n;
	char all[200];

	if (machine_parser_word(p) <= 0)
		return -1;
	nearest_init(&n, p->word);
	for (uint32_t i = 0; f->choices[i]; i++) {
		if (strcmp(p->word, f->choices[i]) == 0) {
			*(uint32_t *)target = i;
			return 0;
		}
		nearest_offer(&n, f->choices[i]);
	}
	list_choices(f, all, sizeof(all));
	machine_parser_fail(p, "%s is %s, not '%s'", f->key, all, p->word);
	return nearest_hint(&n, p->e, "%s", "");
}

/* 3.7GHz or 3.7 GHz: exact, and the same in every locale. */
static int read_hz(struct parser *p, const struct field *f, void *target)
{
	static const struct {
		const char *name;
		uint64_t scale;
	} units[] = {{"Hz", 1}, {"kHz", 1000}, {"MHz", 1000000}, {"GHz", 1000000000}};
	uint64_t whole, part = 0, scale = 0, divisor = 1, hz;
	const char *s = p->word;

	if (machine_parser_word(p) <= 0)
		return -1;
	if (!value_digits(&s, &whole))
		return machine_parser_fail(
			p, "%s '%s' is not a frequency, such as 3.7GHz", f->key, p->word);
	if (*s == '.') {
		s++;
		for (; *s >= '0' && *s <= '9' && divisor < 1000000000; s++, divisor *= 10)
			part = part * 10 + (uint64_t)(*s - '0');
	}
	if (*s == '\0') {
		if (machine_parser_word(p) < 0)
			return -1;
		s = p->word;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(s, units[i].name) == 0)
			scale = units[i].scale;
	if (!scale || whole > f->high / scale)
		return machine_parser_fail(
			p, "%s is not a frequency, such as 3.7GHz or 195 MHz", f->key);
	hz = whole * scale + part * scale / divisor;
	if (in_range(p, f, hz))
		return -1;
	*(uint64_t *)target = hz;
	return 0;
}

/* A word that parse understands, within the field's range; what: "a whole number". */
static int read_u32(struct parser *p, const struct field *f, uint32_t *target,
	bool (*parse)(const char *word, uint64_t *value), const char *what)
{
	uint64_t value;

	if (machine_parser_word(p) <= 0)
		return -1;
	if (!parse(p->word, &value))
		return machine_parser_fail(p, "%s '%s' is not %s", f->key, p->word, what);
	if (in_range(p, f, value))
		return -1;
	*target = (uint32_t)value;
	return 0;
}

static int read_size(struct parser *p, const struct field *f, void *target)
{
	return read_u32(p, f, target, value_size_of, "a size, such as 4096, 4K or 2M");
}

static bool value_count_of(const char *word, uint64_t *value)
{
	return value_digits(&word, value) && !*word;
}

static int read_count(struct parser *p, const struct field *f, void *target)
{
	return read_u32(p, f, target, value_count_of, "a whole number");
}

static int read_log2(struct parser *p, const struct field *f, void *target)
{
	uint32_t count;

	if (read_count(p, f, &count))
		return -1;
	if (count & (count - 1))
		return machine_parser_fail(p, "%s %u is not a power of two", f->key, count);
	*(uint32_t *)target = (uint32_t)__builtin_ctz(count);
	return 0;
}

static bool value_cycles_of(const char *word, uint64_t *value)
{
	return number_with(word, "cycle", "cycles", value);
}

static int read_cycles(struct parser *p, const struct field *f, void *target)
{
	return read_u32(p, f, target, value_cycles_of, "a number of cycles, such as 13-cycle");
}

/* Words in any order, each identified by its unit. */
struct parts {
	bool has_size, has_ways, has_line, has_entries, has_latency, full, none;
	uint64_t size, ways, line, entries, latency;
};

static int value_take_part(struct parser *p, const struct field *f, struct parts *parts)
{
	uint64_t value = 0;
	bool *has, full = strcmp(p->word, "full") == 0;
	uint64_t *slot;

	if (full || number_with(p->word, "way", "ways", &value)) {
		has = &parts->has_ways, slot = &parts->ways;
		parts->full = full;
	} else if (f->kind == FIELD_CACHE && value_size_of(p->word, &value)) {
		has = &parts->has_size, slot = &parts->size;
	} else if (f->kind == FIELD_CACHE && number_with(p->word, "byte", "bytes", &value)) {
		has = &parts->has_line, slot = &parts->line;
	} else if (f->kind == FIELD_TLB && number_with(p->word, "entry", "entries", &value)) {
		has = &parts->has_entries, slot = &parts->entries;
	} else if ((f->kind == FIELD_CACHE || f->latency) &&
		   number_with(p->word, "cycle", "cycles", &value)) {
		has = &parts->has_latency, slot = &parts->latency;
		if (in_range(p, f, value))
			return -1;
	} else {
		machine_parser_fail(p, "%s: invalid '%s'", f->key, p->word);
		return error_hint(p->e, "write it as in '%s %s', or '%s none'", f->key,
			f->kind == FIELD_CACHE ? "32K 8-way 64-byte 4-cycle"
			: f->latency           ? "2048-entry 16-way 7-cycle"
					       : "64-entry full",
			f->key);
	}
	if (*has)
		return machine_parser_fail(p, "%s: '%s' repeats a part", f->key, p->word);
	if (value > UINT32_MAX || (value == 0 && !full && slot != &parts->latency))
		return machine_parser_fail(p, "%s: %s is out of range", f->key, p->word);
	*has = true;
	*slot = value;
	return 0;
}

/* All parts of the line; parts->none if it is only "none". */
static int take_parts(struct parser *p, const struct field *f, struct parts *parts)
{
	int got, words = 0;

	memset(parts, 0, sizeof(*parts));
	while ((got = machine_parser_word(p)) > 0) {
		if (parts->none)
			return machine_parser_fail(p, "%s: unexpected text after 'none'", f->key);
		if (words++ == 0 && strcmp(p->word, "none") == 0)
			parts->none = true;
		else if (value_take_part(p, f, parts))
			return -1;
	}
	return got;
}

/* Fills in the parts that a change leaves out. */
static void keep_cache(struct parts *parts, const struct model_cache_config *c)
{
	parts->size = parts->has_size ? parts->size : c->size;
	parts->ways = parts->has_ways ? parts->ways : c->ways;
	parts->line = parts->has_line ? parts->line : c->line;
	parts->latency = parts->has_latency ? parts->latency : c->latency;
	parts->has_size = parts->has_ways = parts->has_line = parts->has_latency = true;
}

static void keep_tlb(struct parts *parts, const struct model_tlb_config *t, const uint32_t *latency)
{
	bool full = t->ways == t->entries && !parts->has_ways;

	parts->full |= full;
	parts->entries = parts->has_entries ? parts->entries : t->entries;
	parts->ways = parts->has_ways ? parts->ways : t->ways;
	if (latency)
		parts->latency = parts->has_latency ? parts->latency : *latency;
	parts->has_entries = parts->has_ways = parts->has_latency = true;
}

static int read_cache(struct parser *p, const struct field *f, void *target)
{
	struct model_cache_config *c = target;
	struct parts parts;
	char why[200], hint[100];

	if (take_parts(p, f, &parts))
		return -1;
	if (p->changing && c->size && !parts.none)
		keep_cache(&parts, c);
	memset(c, 0, sizeof(*c));
	if (parts.none)
		return 0;
	if (!parts.has_size || !parts.has_ways || !parts.has_line || !parts.has_latency)
		return machine_parser_fail(p, "%s lacks its %s", f->key,
			!parts.has_size   ? "size, such as 32K"
			: !parts.has_ways ? "associativity, such as 8-way or full"
			: !parts.has_line ? "line size, such as 64-byte"
					  : "latency, such as 4-cycle");
	if (parts.full)
		parts.ways = parts.size / parts.line;
	*c = (struct model_cache_config){(uint32_t)parts.size, (uint32_t)parts.ways,
		(uint32_t)parts.line, (uint32_t)parts.latency};
	if (!machine_check_cache(c, MODEL_NATIVE, why, sizeof(why)))
		return 0;
	machine_parser_fail(p, "%s cannot be: %s", f->key, why);
	return error_hint(p->e, "%s", machine_hint_cache(c, MODEL_NATIVE, hint, sizeof(hint)));
}

static int read_tlb(struct parser *p, const struct field *f, void *target)
{
	struct model_tlb_config *t = target;
	struct parts parts;
	char why[200], hint[100];

	if (take_parts(p, f, &parts))
		return -1;
	if (p->changing && t->entries && !parts.none)
		keep_tlb(&parts, t, f->latency ? (uint32_t *)((char *)p->m + f->latency) : NULL);
	if (!parts.none &&
		(!parts.has_entries || !parts.has_ways || (f->latency && !parts.has_latency)))
		return machine_parser_fail(p, "%s lacks its %s", f->key,
			!parts.has_entries ? "number of entries, such as 64-entry"
			: !parts.has_ways  ? "associativity, such as 4-way or full"
					   : "latency, such as 7-cycle");
	if (parts.full)
		parts.ways = parts.entries;
	*t = (struct model_tlb_config){(uint32_t)parts.entries, (uint32_t)parts.ways};
	if (f->latency)
		*(uint32_t *)((char *)p->m + f->latency) = (uint32_t)parts.latency;
	if (!machine_check_tlb(t, why, sizeof(why)))
		return 0;
	machine_parser_fail(p, "%s cannot be: %s", f->key, why);
	return error_hint(p->e, "%s", machine_hint_tlb(t, hint, sizeof(hint)));
}

/* A TLB's entries of 2 MiB pages. */
static int read_large(struct parser *p, const struct field *f, void *target)
{
	static const char *const words[] = {
		[MODEL_LARGE_SHARED] = "shared", [MODEL_LARGE_SPLIT] = "split"};
	struct field as_tlb = *f;
	const char *begin = p->at;

	if (machine_parser_word(p) < 0)
		return -1;
	for (uint32_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(p->word, words[i]) == 0) {
			*(struct model_tlb_config *)target = (struct model_tlb_config){0, i};
			return 0;
		}
	p->at = begin;
	if (strcmp(p->word, "none") == 0) {
		machine_parser_fail(p, "%s cannot be none", f->key);
		return error_hint(p->e, "write 'split' for a TLB that keeps large pages in pieces");
	}
	as_tlb.kind = FIELD_TLB;
	return read_tlb(p, &as_tlb, target);
}

static int read_prefetcher(struct parser *p, const struct field *f, void *target)
{
	static const struct {
		const char *unit, *units, *example;
		uint64_t most;
	} parts[] = {{"entry", "entries", "64-entry", PREFETCH_ENTRIES_MAX},
		{"ahead", "ahead", "4-ahead", PREFETCH_AHEAD_MAX},
		{"line", "lines", "2-line", PREFETCH_LINES_MAX}};
	uint32_t value[3] = {0};
	uint64_t number;
	int got, words = 0;

	while ((got = machine_parser_word(p)) > 0) {
		unsigned i = 0;

		if (words++ == 0 && strcmp(p->word, "off") == 0)
			break;
		while (i < 3 && !number_with(p->word, parts[i].unit, parts[i].units, &number))
			i++;
		if (i == 3 || !(f->low >> i & 1)) {
			machine_parser_fail(p, "%s: invalid '%s'", f->key, p->word);
			return error_hint(p->e, "write it as in '%s%s%s%s%s%s', or '%s off'",
				f->key, f->low & PREFETCH_ENTRIES ? " " : "",
				f->low & PREFETCH_ENTRIES ? parts[0].example : "",
				f->low & PREFETCH_AHEAD ? " 4-ahead" : "",
				f->low & PREFETCH_LINES ? " " : "",
				f->low & PREFETCH_LINES ? parts[2].example : "", f->key);
		}
		if (value[i])
			return machine_parser_fail(p, "%s: '%s' repeats a part", f->key, p->word);
		if (number < 1 || number > parts[i].most)
			return machine_parser_fail(p, "%s: %s is out of range, 1 to %llu", f->key,
				p->word, (unsigned long long)parts[i].most);
		value[i] = (uint32_t)number;
	}
	if (got < 0)
		return -1;
	for (unsigned i = 0; i < 3 && !got; i++)
		if ((f->low >> i & 1) && !value[i])
			return machine_parser_fail(
				p, "%s: missing part, such as %s", f->key, parts[i].example);
	*(struct model_prefetcher *)target =
		(struct model_prefetcher){value[0], value[1], value[2]};
	return 0;
}

typedef int reader(struct parser *p, const struct field *f, void *target);
static reader *const readers[] = {
	[FIELD_TEXT] = value_read_text,
	[FIELD_WORD] = value_read_word,
	[FIELD_CHOICE] = read_choice,
	[FIELD_HZ] = read_hz,
	[FIELD_SIZE] = read_size,
	[FIELD_COUNT] = read_count,
	[FIELD_LOG2] = read_log2,
	[FIELD_CYCLES] = read_cycles,
	[FIELD_CACHE] = read_cache,
	[FIELD_TLB] = read_tlb,
	[FIELD_LARGE] = read_large,
	[FIELD_PREFETCH] = read_prefetcher,
};

int value_read(struct parser *p, const struct field *f)
{
	return readers[f->kind](p, f, (char *)p->m + f->offset);
}

int machine_parser_fail(struct parser *p, const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (!p->line)
		return error_set(p->e, ERR_PARSE, "%s: %s", p->name, text);
	return error_set(p->e, ERR_PARSE, "%s:%u: %s", p->name, p->line, text);
}

int machine_parser_word(struct parser *p)
{
	const char *begin;

	while (p->at < p->end && parser_blank(*p->at))
		p->at++;
	begin = p->at;
	while (p->at < p->end && !parser_blank(*p->at))
		p->at++;
	if (p->at - begin > WORD_MAX_LENGTH)
		return machine_parser_fail(p, "a word of %zu characters: the maximum is %d",
			(size_t)(p->at - begin), WORD_MAX_LENGTH);
	memcpy(p->word, begin, (size_t)(p->at - begin));
	p->word[p->at - begin] = '\0';
	return p->word[0] != '\0';
}
