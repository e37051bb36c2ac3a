/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads machine descriptions (perfex-machine(5)): lines of words below [section] headings.  Every
 * error names the line.  The text need not be NUL-terminated; nothing is allocated.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "machine/private.h"

enum { FIELDS_MAX = 64, WORD_MAX_LENGTH = 127 };

struct parser {
	const char *name;
	unsigned line;
	const char *at, *end;           /* of the line at hand, comment and blanks removed */
	char word[WORD_MAX_LENGTH + 1]; /* the last one taken */
	char section[32];
	unsigned seen[FIELDS_MAX]; /* line of each field, 0: not given */
	struct machine *m;
	struct error *e;
};

__attribute__((format(printf, 2, 3))) static int fail(struct parser *p, const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(p->e, ERR_PARSE, "%s:%u: %s", p->name, p->line, text);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* 1: p->word is the next word; 0: the line is at its end; -1: error. */
static int take_word(struct parser *p)
{
	const char *begin;

	while (p->at < p->end && blank(*p->at))
		p->at++;
	begin = p->at;
	while (p->at < p->end && !blank(*p->at))
		p->at++;
	if (p->at - begin > WORD_MAX_LENGTH)
		return fail(p, "a word of %zu characters; none here has more than %d",
			(size_t)(p->at - begin), WORD_MAX_LENGTH);
	memcpy(p->word, begin, (size_t)(p->at - begin));
	p->word[p->at - begin] = '\0';
	return p->word[0] != '\0';
}

/* Digits at *text, at most 15 of them; moves *text behind them. */
static bool digits(const char **text, uint64_t *value)
{
	int n = 0;

	*value = 0;
	for (; **text >= '0' && **text <= '9' && n < 16; (*text)++, n++)
		*value = *value * 10 + (uint64_t)(**text - '0');
	return n > 0 && n < 16;
}

static bool number_with(const char *word, const char *unit, const char *units, uint64_t *value)
{
	return digits(&word, value) && *word++ == '-' &&
	       (strcmp(word, unit) == 0 || strcmp(word, units) == 0);
}

/* 4096, 32K, 8M, 1G. */
static bool size_of(const char *word, uint64_t *value)
{
	static const char suffixes[] = "KMG";
	const char *suffix;

	if (!digits(&word, value))
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
		return fail(p, "%s %llu is out of its range, %llu to %llu", f->key,
			(unsigned long long)value, (unsigned long long)f->low,
			(unsigned long long)f->high);
	return 0;
}

static int read_text(struct parser *p, const struct field *f, void *target)
{
	while (p->at < p->end && blank(*p->at))
		p->at++;
	if ((size_t)(p->end - p->at) >= f->high)
		return fail(
			p, "%s is longer than %llu bytes", f->key, (unsigned long long)f->high - 1);
	memcpy(target, p->at, (size_t)(p->end - p->at));
	((char *)target)[p->end - p->at] = '\0';
	p->at = p->end;
	return 0;
}

static int read_word(struct parser *p, const struct field *f, void *target)
{
	static const char allowed[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+-";

	if (take_word(p) <= 0)
		return -1;
	if (strlen(p->word) >= f->high || p->word[strspn(p->word, allowed)])
		return fail(p,
			"%s '%s': a name is up to %llu letters, digits, '.', '_', '+' or '-'",
			f->key, p->word, (unsigned long long)f->high - 1);
	strcpy(target, p->word);
	return 0;
}

static int read_choice(struct parser *p, const struct field *f, void *target)
{
	struct nearest n;
	char near[200];

	if (take_word(p) <= 0)
		return -1;
	nearest_init(&n, p->word);
	for (uint32_t i = 0; f->choices[i]; i++) {
		if (strcmp(p->word, f->choices[i]) == 0) {
			*(uint32_t *)target = i;
			return 0;
		}
		nearest_offer(&n, f->choices[i]);
	}
	fail(p, "%s is '%s' or '%s', not '%s'", f->key, f->choices[0], f->choices[1], p->word);
	return error_hint(p->e, "%s", nearest_text(&n, near, sizeof(near)));
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

	if (take_word(p) <= 0)
		return -1;
	if (!digits(&s, &whole))
		return fail(p, "%s '%s' is not a frequency, such as 3.7GHz", f->key, p->word);
	if (*s == '.') {
		s++;
		for (; *s >= '0' && *s <= '9' && divisor < 1000000000; s++, divisor *= 10)
			part = part * 10 + (uint64_t)(*s - '0');
	}
	if (*s == '\0') {
		if (take_word(p) < 0)
			return -1;
		s = p->word;
	}
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(s, units[i].name) == 0)
			scale = units[i].scale;
	if (!scale || whole > f->high / scale)
		return fail(p, "%s is not a frequency, such as 3.7GHz or 195 MHz", f->key);
	hz = whole * scale + part * scale / divisor;
	if (in_range(p, f, hz))
		return -1;
	*(uint64_t *)target = hz;
	return 0;
}

static int read_size(struct parser *p, const struct field *f, void *target)
{
	uint64_t value;

	if (take_word(p) <= 0)
		return -1;
	if (!size_of(p->word, &value))
		return fail(p, "%s '%s' is not a size, such as 4096, 4K or 2M", f->key, p->word);
	if (in_range(p, f, value))
		return -1;
	*(uint32_t *)target = (uint32_t)value;
	return 0;
}

static int read_count(struct parser *p, const struct field *f, void *target)
{
	const char *s = p->word;
	uint64_t value;

	if (take_word(p) <= 0)
		return -1;
	if (!digits(&s, &value) || *s)
		return fail(p, "%s '%s' is not a whole number", f->key, p->word);
	if (in_range(p, f, value))
		return -1;
	*(uint32_t *)target = (uint32_t)value;
	return 0;
}

static int read_log2(struct parser *p, const struct field *f, void *target)
{
	uint32_t count;

	if (read_count(p, f, &count))
		return -1;
	if (count & (count - 1))
		return fail(p, "%s %u is not a power of two", f->key, count);
	*(uint32_t *)target = (uint32_t)__builtin_ctz(count);
	return 0;
}

static int read_cycles(struct parser *p, const struct field *f, void *target)
{
	uint64_t value;

	if (take_word(p) <= 0)
		return -1;
	if (!number_with(p->word, "cycle", "cycles", &value))
		return fail(
			p, "%s '%s' is not a number of cycles, such as 13-cycle", f->key, p->word);
	if (in_range(p, f, value))
		return -1;
	*(uint32_t *)target = (uint32_t)value;
	return 0;
}

/* Words that each say by their unit what they are, in any order. */
struct parts {
	bool has_size, has_ways, has_line, has_entries, has_latency, full, none;
	uint64_t size, ways, line, entries, latency;
};

static int take_part(struct parser *p, const struct field *f, struct parts *parts)
{
	uint64_t value = 0;
	bool *has, full = strcmp(p->word, "full") == 0;
	uint64_t *slot;

	if (full || number_with(p->word, "way", "ways", &value)) {
		has = &parts->has_ways, slot = &parts->ways;
		parts->full = full;
	} else if (f->kind == FIELD_CACHE && size_of(p->word, &value)) {
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
		fail(p, "%s: cannot make sense of '%s'", f->key, p->word);
		return error_hint(p->e, "write it as in '%s %s', or '%s none'", f->key,
			f->kind == FIELD_CACHE ? "32K 8-way 64-byte 4-cycle"
			: f->latency           ? "2048-entry 16-way 7-cycle"
					       : "64-entry full",
			f->key);
	}
	if (*has)
		return fail(
			p, "%s: '%s' says a second time what was already said", f->key, p->word);
	if (value > UINT32_MAX || (value == 0 && !full && slot != &parts->latency))
		return fail(p, "%s: %s is out of its range", f->key, p->word);
	*has = true;
	*slot = value;
	return 0;
}

/* All parts of the line; parts->none if it only says "none". */
static int take_parts(struct parser *p, const struct field *f, struct parts *parts)
{
	int got, words = 0;

	memset(parts, 0, sizeof(*parts));
	while ((got = take_word(p)) > 0) {
		if (parts->none)
			return fail(p, "%s: there is nothing to say after 'none'", f->key);
		if (words++ == 0 && strcmp(p->word, "none") == 0)
			parts->none = true;
		else if (take_part(p, f, parts))
			return -1;
	}
	return got;
}

static int read_cache(struct parser *p, const struct field *f, void *target)
{
	struct model_cache_config *c = target;
	struct parts parts;
	char why[200];

	if (take_parts(p, f, &parts))
		return -1;
	memset(c, 0, sizeof(*c));
	if (parts.none)
		return 0;
	if (!parts.has_size || !parts.has_ways || !parts.has_line || !parts.has_latency)
		return fail(p, "%s lacks its %s", f->key,
			!parts.has_size   ? "size, such as 32K"
			: !parts.has_ways ? "associativity, such as 8-way or full"
			: !parts.has_line ? "line size, such as 64-byte"
					  : "latency, such as 4-cycle");
	if (parts.full)
		parts.ways = parts.size / parts.line;
	*c = (struct model_cache_config){(uint32_t)parts.size, (uint32_t)parts.ways,
		(uint32_t)parts.line, (uint32_t)parts.latency};
	if (machine_check_cache(c, MODEL_NATIVE, why, sizeof(why)))
		return fail(p, "%s cannot be: %s", f->key, why);
	return 0;
}

static int read_tlb(struct parser *p, const struct field *f, void *target)
{
	struct model_tlb_config *t = target;
	struct parts parts;
	char why[200];

	if (take_parts(p, f, &parts))
		return -1;
	if (!parts.none &&
		(!parts.has_entries || !parts.has_ways || (f->latency && !parts.has_latency)))
		return fail(p, "%s lacks its %s", f->key,
			!parts.has_entries ? "number of entries, such as 64-entry"
			: !parts.has_ways  ? "associativity, such as 4-way or full"
					   : "latency, such as 7-cycle");
	if (parts.full)
		parts.ways = parts.entries;
	*t = (struct model_tlb_config){(uint32_t)parts.entries, (uint32_t)parts.ways};
	if (f->latency)
		*(uint32_t *)((char *)p->m + f->latency) = (uint32_t)parts.latency;
	if (machine_check_tlb(t, why, sizeof(why)))
		return fail(p, "%s cannot be: %s", f->key, why);
	return 0;
}

typedef int reader(struct parser *p, const struct field *f, void *target);
static reader *const readers[] = {
	[FIELD_TEXT] = read_text,
	[FIELD_WORD] = read_word,
	[FIELD_CHOICE] = read_choice,
	[FIELD_HZ] = read_hz,
	[FIELD_SIZE] = read_size,
	[FIELD_COUNT] = read_count,
	[FIELD_LOG2] = read_log2,
	[FIELD_CYCLES] = read_cycles,
	[FIELD_CACHE] = read_cache,
	[FIELD_TLB] = read_tlb,
};

static int unknown(struct parser *p, const char *what, const char *word)
{
	bool heading = strcmp(what, "section") == 0;
	struct nearest n;
	char near[200];

	nearest_init(&n, word);
	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];

		if (!heading && strcmp(f->key, word) == 0) {
			fail(p, "'%s' belongs into the section [%s]", word, f->section);
			return error_hint(p->e, "put it below a line '[%s]'", f->section);
		}
		nearest_offer(&n, heading ? f->section : f->key);
	}
	fail(p, "unknown %s '%s'", what, word);
	nearest_text(&n, near, sizeof(near));
	return error_hint(p->e, "%s%sperfex-machine(5) lists them all", near, near[0] ? " " : "");
}

static int read_heading(struct parser *p)
{
	size_t length = strlen(p->word);

	if (length < 3 || p->word[length - 1] != ']')
		return fail(p, "'%s' is not a heading such as [caches]", p->word);
	p->word[length - 1] = '\0';
	for (size_t i = 0; i < machine_field_count; i++) {
		if (strcmp(machine_fields[i].section, p->word + 1))
			continue;
		snprintf(p->section, sizeof(p->section), "%s", machine_fields[i].section);
		return 0;
	}
	return unknown(p, "section", p->word + 1);
}

static int read_field(struct parser *p)
{
	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];

		if (strcmp(f->section, p->section) || strcmp(f->key, p->word))
			continue;
		if (p->seen[i])
			return fail(p, "%s was already given in line %u", f->key, p->seen[i]);
		p->seen[i] = p->line;
		while (p->at < p->end && blank(*p->at))
			p->at++;
		if (p->at == p->end)
			return fail(p, "%s lacks its value", f->key);
		return readers[f->kind](p, f, (char *)p->m + f->offset);
	}
	if (!p->section[0]) {
		fail(p, "'%s' stands before any section", p->word);
		return error_hint(p->e, "begin with a line '[machine]'");
	}
	return unknown(p, "keyword", p->word);
}

static int read_line(struct parser *p)
{
	const char *comment = memchr(p->at, '#', (size_t)(p->end - p->at));
	int got;

	if (comment)
		p->end = comment;
	while (p->end > p->at && blank(p->end[-1]))
		p->end--;
	for (const char *c = p->at; c < p->end; c++)
		if (((unsigned char)*c < 0x20 && !blank(*c)) || *c == 0x7f)
			return fail(p,
				"a control character (0x%02x): this is not a machine description",
				(unsigned char)*c);
	got = take_word(p);
	if (got <= 0)
		return got;
	if ((p->word[0] == '[' ? read_heading(p) : read_field(p)))
		return -1;
	got = take_word(p);
	return got > 0 ? fail(p, "'%s' is more than belongs here", p->word) : got;
}

/* The checks that take the whole description; blamed on the last line that matters. */
static int check(struct parser *p)
{
	struct machine *m = p->m;
	const char *why;
	char text[200];
	bool any = false;

	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];

		any |= p->seen[i] != 0;
		if (f->kind != FIELD_CACHE || !p->seen[i])
			continue;
		p->line = p->seen[i];
		if (machine_check_cache(
			    (void *)((char *)m + f->offset), m->model.flavour, text, sizeof(text)))
			return fail(p, "%s cannot be: %s", f->key, text);
	}
	if (!any) {
		error_set(p->e, ERR_PARSE, "%s: describes no machine: it is empty", p->name);
		return error_hint(p->e, "perfex-machine(5) has an example");
	}
	why = machine_check_whole(m);
	return why ? error_set(p->e, ERR_PARSE, "%s: this machine cannot be: %s", p->name, why) : 0;
}

int machine_parse(
	const char *text, size_t length, const char *name, struct machine *m, struct error *e)
{
	const char *end = text + length, *newline;
	struct parser p = {.name = name, .m = m, .e = e};

	_Static_assert(sizeof(m->model.l1i) == 16, "offsets in machine_fields assume plain data");
	if (machine_field_count > FIELDS_MAX)
		return error_set(
			e, ERR_UNSUPPORTED, "%s: the format has outgrown its parser", name);
	machine_defaults(m);
	snprintf(m->origin, sizeof(m->origin), "%s", name);
	for (const char *at = text; at < end; at = newline < end ? newline + 1 : end) {
		newline = memchr(at, '\n', (size_t)(end - at));
		if (!newline)
			newline = end;
		p.line++;
		p.at = at;
		p.end = newline;
		if (read_line(&p))
			return -1;
	}
	return check(&p);
}

int machine_load(const char *path, struct machine *m, struct error *e)
{
	size_t length;
	char *text = file_read(path, 1 << 20, &length, e);
	int status;

	if (!text)
		return -1;
	status = machine_parse(text, length, path, m, e);
	free(text);
	return status;
}
