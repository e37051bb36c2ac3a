/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads core descriptions, perfex-core(5).  Three kinds of lines, by section:
 *
 *   [core], [memory], [front]  KEY VALUE ...
 *   [ports]                    NAME PORT ...
 *   [instructions]             MNEMONIC ... : OPERANDS : MICRO-OPERATIONS : LATENCY
 *
 * Every error names the line.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "isa/isa.h"
#include "schedule/core.h"

#define LINE_MAX_LENGTH 1000
#define WORDS_MAX       64

struct reader {
	struct core *core;
	const char *name;
	unsigned line;
	char section[24];
	unsigned depth;
	struct error *e;
};

static int fail(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct reader *r, const char *format, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return error_set(r->e, ERR_PARSE, "%s:%u: %s", r->name, r->line, text);
}

/* Splits at blanks, in place. */
static size_t split(char *text, char **words, size_t room)
{
	size_t n = 0;

	for (char *save, *w = strtok_r(text, " \t", &save); w && n < room;
		w = strtok_r(NULL, " \t", &save))
		words[n++] = w;
	return n;
}

static int read_number(struct reader *r, const char *word, unsigned limit, unsigned *to)
{
	char *end;
	unsigned long value = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || value > limit)
		return fail(r, "'%s' is not a whole number from 0 to %u", word, limit);
	*to = (unsigned)value;
	return 0;
}

static const struct core_group *find_group(const struct core *c, const char *name)
{
	for (unsigned i = 0; i < c->group_count; i++)
		if (strcmp(c->groups[i].name, name) == 0)
			return &c->groups[i];
	return NULL;
}

static int unknown_group(struct reader *r, const char *name)
{
	struct nearest n;
	char near[200];

	nearest_init(&n, name);
	for (unsigned i = 0; i < r->core->group_count; i++)
		nearest_offer(&n, r->core->groups[i].name);
	fail(r, "'%s' is no name from the section [ports]", name);
	nearest_text(&n, near, sizeof(near));
	return near[0] ? error_hint(r->e, "%s", near) : -1;
}

/* ---- [core] ---- */

enum key_kind { KEY_NUMBER, KEY_FLAG, KEY_PORTS, KEY_TEXT };

struct key {
	const char *section, *name;
	enum key_kind kind;
	size_t offset, limit; /* limit of a number, size of a text */
};

#define NUMBER(section, key, field, limit)                                                         \
	{                                                                                          \
		section, key, KEY_NUMBER, offsetof(struct core, field), limit                      \
	}
#define FLAG(section, key, field)                                                                  \
	{                                                                                          \
		section, key, KEY_FLAG, offsetof(struct core, field), 0                            \
	}
#define TEXT(section, key, field)                                                                  \
	{                                                                                          \
		section, key, KEY_TEXT, offsetof(struct core, field),                              \
			sizeof(((struct core *)0)->field)                                          \
	}
#define PORTS(section, key, field)                                                                 \
	{                                                                                          \
		section, key, KEY_PORTS, offsetof(struct core, field), 0                           \
	}

static const struct key keys[] = {
	TEXT("core", "name", name),
	TEXT("core", "description", description),
	TEXT("core", "method", method),
	FLAG("core", "in-order", in_order),
	FLAG("core", "x86", x86),
	NUMBER("core", "rename", rename, 64),
	NUMBER("core", "retire", retire, 64),
	NUMBER("core", "window", window, 4096),
	NUMBER("core", "scheduler", scheduler, 4096),
	FLAG("core", "eliminates-moves", move_general),
	FLAG("core", "eliminates-vector-moves", move_vector),
	NUMBER("core", "eliminates-add-bits", add_bits, 32),
	FLAG("core", "zero-idioms", zero_idioms),
	FLAG("core", "ones-idioms", ones_idioms),
	FLAG("core", "stack-engine", stack_engine),
	FLAG("core", "stack-sync", stack_sync),
	FLAG("core", "unlaminates", unlaminate),
	NUMBER("core", "nop-half-slots", nop_slots_x2, 4),
	NUMBER("front", "decode", decode, 64),
	NUMBER("front", "fetch", fetch, 256),
	NUMBER("front", "taken", taken, 16),
	FLAG("front", "fuses-compare", fuse_compare),
	FLAG("front", "fuses-arithmetic", fuse_arithmetic),
	PORTS("memory", "load", load),
	PORTS("memory", "vector-load", vector_load),
	PORTS("memory", "store-address", store_address),
	PORTS("memory", "store-data", store_data),
	PORTS("memory", "vector-store-data", vector_store_data),
	NUMBER("memory", "loads", loads, 16),
	NUMBER("memory", "locked", locked, 255),
	NUMBER("memory", "bank-loads", bank_loads, 15),
	NUMBER("memory", "stores", stores, 16),
	NUMBER("memory", "vector-stores", vector_stores, 16),
	NUMBER("memory", "load-latency", load_latency, 100),
	NUMBER("memory", "vector-load-latency", vector_load_latency, 100),
	NUMBER("memory", "indexed-load", indexed_load, 100),
	NUMBER("memory", "forward", forward, 100),
	NUMBER("memory", "vector-forward", vector_forward, 100),
	FLAG("memory", "renames-memory", rename_memory),
	NUMBER("memory", "forward-renamed", forward_renamed, 100),
	NUMBER("memory", "store-lines", store_lines, 16),
};

static int set_key(struct reader *r, const struct key *k, char **words, size_t count, char *rest)
{
	char *at = (char *)r->core + k->offset;
	const struct core_group *group;

	switch (k->kind) {
	case KEY_NUMBER:
		if (count != 1)
			return fail(r, "'%s' wants one number", k->name);
		return read_number(r, words[0], (unsigned)k->limit, (unsigned *)(void *)at);
	case KEY_FLAG:
		if (count != 1 || (strcmp(words[0], "yes") && strcmp(words[0], "no")))
			return fail(r, "'%s' wants yes or no", k->name);
		*(bool *)at = words[0][0] == 'y';
		return 0;
	case KEY_PORTS:
		group = count == 1 ? find_group(r->core, words[0]) : NULL;
		if (!group)
			return count == 1 ? unknown_group(r, words[0])
					  : fail(r, "'%s' wants one name from [ports]", k->name);
		*(uint32_t *)(void *)at = group->ports;
		return 0;
	case KEY_TEXT:
		if (strlen(rest) >= k->limit)
			return fail(r, "'%s' has room for %zu characters", k->name, k->limit - 1);
		memcpy(at, rest, strlen(rest) + 1);
		return 0;
	}
	return -1;
}

static int read_key(struct reader *r, char *line)
{
	char *words[WORDS_MAX], *rest, *name = line + strspn(line, " \t");
	struct nearest n;
	char near[200], copy[LINE_MAX_LENGTH + 1];
	size_t count;

	rest = name + strcspn(name, " \t");
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	memcpy(copy, rest, strlen(rest) + 1);
	count = split(rest, words, WORDS_MAX);
	nearest_init(&n, name);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, name) == 0 && strcmp(keys[i].section, r->section) == 0)
			return set_key(r, &keys[i], words, count, copy);
		nearest_offer(&n, keys[i].name);
	}
	fail(r, "unknown key '%s' in [%s]", name, r->section);
	return error_hint(
		r->e, "%s perfex-core(5) lists them all", nearest_text(&n, near, sizeof(near)));
}

/* ---- [ports] ---- */

static int port_number(struct reader *r, const char *word)
{
	struct core *c = r->core;

	for (unsigned i = 0; i < c->ports; i++)
		if (strcmp(c->port_names[i], word) == 0)
			return (int)i;
	if (strlen(word) >= sizeof(c->port_names[0]))
		return fail(r, "'%s' is too long for the name of a port", word);
	if (c->ports == CORE_PORTS_MAX)
		return fail(r, "more than %d ports", CORE_PORTS_MAX);
	memcpy(c->port_names[c->ports], word, strlen(word) + 1);
	return (int)c->ports++;
}

static int read_ports(struct reader *r, char *line)
{
	struct core *c = r->core;
	struct core_group *g;
	char *words[WORDS_MAX];
	size_t count = split(line, words, WORDS_MAX);

	if (count < 2)
		return fail(r, "a line of [ports] is a name and its ports");
	if (find_group(c, words[0]))
		return fail(r, "'%s' is there already", words[0]);
	if (c->group_count == CORE_GROUPS_MAX || strlen(words[0]) >= sizeof(g->name))
		return fail(r, "'%s': at most %d names of %zu characters", words[0],
			CORE_GROUPS_MAX, sizeof(g->name) - 1);
	g = &c->groups[c->group_count];
	g->ports = 0;
	for (size_t i = 1; i < count; i++) {
		int port = port_number(r, words[i]);

		if (port < 0)
			return -1;
		g->ports |= 1u << port;
	}
	memcpy(g->name, words[0], strlen(words[0]) + 1);
	c->group_count++;
	return 0;
}

/* ---- [instructions] ---- */

static int read_operand(struct reader *r, const char *word, struct core_signature *s)
{
	static const struct {
		const char *word;
		uint8_t kind;
		uint16_t bits;
	} table[] = {
		{"*", CORE_ANY, 0},
		{"r", CORE_GENERAL, 0},
		{"r8", CORE_GENERAL, 8},
		{"r8h", CORE_HIGH, 8},
		{"r16", CORE_GENERAL, 16},
		{"r32", CORE_GENERAL, 32},
		{"r64", CORE_GENERAL, 64},
		{"v", CORE_VECTOR, 0},
		{"x", CORE_VECTOR, 128},
		{"y", CORE_VECTOR, 256},
		{"z", CORE_VECTOR, 512},
		{"k", CORE_MASK, 0},
		{"mm", CORE_MMX, 0},
		{"st", CORE_X87, 0},
		{"ms", CORE_SCALED, 0},
		{"m3", CORE_THREE, 0},
		{"m", CORE_MEMORY, 0},
		{"m8", CORE_MEMORY, 8},
		{"m16", CORE_MEMORY, 16},
		{"m32", CORE_MEMORY, 32},
		{"m64", CORE_MEMORY, 64},
		{"m80", CORE_MEMORY, 80},
		{"m128", CORE_MEMORY, 128},
		{"m256", CORE_MEMORY, 256},
		{"m512", CORE_MEMORY, 512},
		{"i", CORE_IMMEDIATE, 0},
		{"same", CORE_SAME, 0},
		{"none", CORE_NOTHING, 0},
	};

	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].word, word) == 0) {
			s->kind = table[i].kind;
			s->bits = table[i].bits;
			return 0;
		}
	}
	fail(r, "'%s' is no kind of operand", word);
	return error_hint(r->e, "r r8 r16 r32 r64 v x y z k mm st m m8..m512 i same none *");
}

static int read_signature(struct reader *r, char *text, struct core_rule *rule)
{
	for (char *save, *w = strtok_r(text, " \t,", &save); w; w = strtok_r(NULL, " \t,", &save)) {
		if (rule->operands == CORE_OPERANDS_MAX)
			return fail(r, "more than %d operands", CORE_OPERANDS_MAX);
		if (read_operand(r, w, &rule->signature[rule->operands]))
			return -1;
		rule->memory |= rule->signature[rule->operands].kind == CORE_MEMORY ||
				rule->signature[rule->operands].kind == CORE_SCALED ||
				rule->signature[rule->operands].kind == CORE_THREE;
		rule->operands++;
	}
	return 0;
}

/* [N*]GROUP[/BUSY], "slots=N", "whole", or "-" for none. */
static int read_uops(struct reader *r, char *word, struct core_rule *rule)
{
	struct core_uops *u = &rule->uops[rule->kinds];
	char *star = strchr(word, '*'), *slash = strchr(word, '/');
	const struct core_group *group;
	unsigned number = 1;

	if (strcmp(word, "-") == 0)
		return 0;
	if (strcmp(word, "reads-flags") == 0) {
		rule->reads_flags = true;
		return 0;
	}
	if (strcmp(word, "whole") == 0) {
		rule->whole = true;
		return 0;
	}
	if (strncmp(word, "slots=", 6) == 0) {
		if (read_number(r, word + 6, 255, &number))
			return -1;
		rule->slots = (uint8_t)number;
		return 0;
	}
	if (rule->kinds == CORE_UOPS_MAX)
		return fail(r, "more than %d kinds of micro-operations", CORE_UOPS_MAX);
	if (star) {
		*star = '\0';
		if (read_number(r, word, 255, &number) || !number)
			return number ? -1 : fail(r, "no micro-operation at all");
		word = star + 1;
	}
	u->count = (uint8_t)number;
	number = 1;
	if (slash) {
		*slash = '\0';
		if (read_number(r, slash + 1, 255, &number))
			return -1;
	}
	u->busy = (uint8_t)(number ? number : 1);
	group = find_group(r->core, word);
	if (!group)
		return unknown_group(r, word);
	u->ports = group->ports;
	rule->kinds++;
	return 0;
}

/* LATENCY, "flags=N", "N=LATENCY" from operand N (1 is the first). */
static int read_latency(struct reader *r, char *word, struct core_rule *rule)
{
	char *equal = strchr(word, '=');
	unsigned operand = 0, number;

	if (!equal) {
		if (read_number(r, word, 255, &number))
			return -1;
		rule->latency = (uint8_t)number;
		return 0;
	}
	*equal = '\0';
	if (read_number(r, equal + 1, 255, &number))
		return -1;
	if (strcmp(word, "flags") == 0) {
		rule->flags_latency = (uint8_t)number;
		return 0;
	}
	if (read_number(r, word, CORE_OPERANDS_MAX, &operand) || !operand)
		return fail(r, "'%s' is neither flags nor the number of an operand", word);
	rule->late[operand - 1] = (uint8_t)(number ? number : 1);
	return 0;
}

static int add_rule(struct reader *r, const struct core_rule *rule, int mnemonic)
{
	struct core *c = r->core;
	struct core_rule *own = vec_push(&c->rules);
	int32_t *first = mnemonic < 0 ? &c->fallback : &c->first[mnemonic];

	if (!own)
		return error_nomem(r->e);
	*own = *rule;
	own->mnemonic = (uint16_t)(mnemonic < 0 ? 0 : mnemonic);
	own->line = r->line;
	own->next = *first;
	*first = (int32_t)c->rules.count - 1;
	return 0;
}

/* NAME, PREFIX*, [v]NAME: calls add_rule for each that there is. */
static int add_rules(struct reader *r, const struct core_rule *rule, const char *pattern)
{
	struct core *c = r->core;
	size_t length = strlen(pattern);
	bool any = length && pattern[length - 1] == '*', found = false;
	int number;

	if (strcmp(pattern, "*") == 0)
		return add_rule(r, rule, -1);
	if (strncmp(pattern, "[v]", 3) == 0) {
		char with[64];

		snprintf(with, sizeof(with), "v%s", pattern + 3);
		return add_rules(r, rule, with) || add_rules(r, rule, pattern + 3) ? -1 : 0;
	}
	if (!any) {
		number = core_mnemonic(c, pattern);
		if (number < 0 && !c->x86) {
			char **own = vec_push(&c->own_mnemonics);

			if (!own || !(*own = strdup(pattern)))
				return error_nomem(r->e);
			number = (int)c->own_mnemonics.count - 1;
		}
		if (number < 0 || number >= CORE_MNEMONICS_MAX)
			return fail(r, "there is no instruction '%s'", pattern);
		return add_rule(r, rule, number);
	}
	for (unsigned i = 1; i < CORE_MNEMONICS_MAX && c->x86; i++) {
		const char *name = isa_mnemonic(ISA_X86_64, i);

		if (!name || strncmp(name, pattern, length - 1))
			continue;
		found = true;
		if (add_rule(r, rule, (int)i))
			return -1;
	}
	return found ? 0 : fail(r, "no instruction begins with '%.*s'", (int)length - 1, pattern);
}

static int read_instruction(struct reader *r, char *line)
{
	char *part[4], *words[WORDS_MAX], *at = line;
	struct core_rule rule = {0};
	size_t count;

	for (int i = 0; i < 4; i++) {
		part[i] = at;
		at = strchr(at, ':');
		if (!at != (i == 3))
			return fail(r, "a line of [instructions] is MNEMONICS : OPERANDS : "
				       "MICRO-OPERATIONS : LATENCY");
		if (at)
			*at++ = '\0';
	}
	if (read_signature(r, part[1], &rule))
		return -1;
	count = split(part[2], words, WORDS_MAX);
	for (size_t i = 0; i < count; i++)
		if (read_uops(r, words[i], &rule))
			return -1;
	count = split(part[3], words, WORDS_MAX);
	for (size_t i = 0; i < count; i++)
		if (read_latency(r, words[i], &rule))
			return -1;
	count = split(part[0], words, WORDS_MAX);
	if (!count)
		return fail(r, "no mnemonic");
	for (size_t i = 0; i < count; i++)
		if (add_rules(r, &rule, words[i]))
			return -1;
	return 0;
}

/* ---- the file ---- */

static int read_heading(struct reader *r, const char *line)
{
	static const char *const sections[] = {"core", "front", "memory", "ports", "instructions"};
	size_t length = strcspn(line, "]");

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		if (length == strlen(sections[i]) + 1 && line[length] == ']' &&
			strncmp(line + 1, sections[i], length - 1) == 0) {
			snprintf(r->section, sizeof(r->section), "%s", sections[i]);
			return 0;
		}
	}
	fail(r, "'%s' is no heading", line);
	return error_hint(r->e, "[core] [front] [ports] [memory] [instructions]");
}

static int parse_lines(struct reader *r, const char *text, size_t length);

/* "base NAME": all that another description says, to be corrected by what follows. */
static int read_base(struct reader *r, const char *name)
{
	struct reader base = {.core = r->core, .name = name, .e = r->e, .depth = r->depth + 1};
	char file[80], *path, *text;
	size_t length;
	int rc;

	if (r->depth == 4)
		return fail(r, "descriptions that are based on each other, more than four deep");
	if (name[0] == '/') {
		path = strdup(name);
	} else if (strlen(name) > 40 || strchr(name, '/')) {
		return fail(r, "'%s' is neither the name of a description nor a whole path", name);
	} else {
		snprintf(file, sizeof(file), "cores/%s.core", name);
		path = file_data_path(file, r->e);
	}
	if (!path)
		return fail(r, "there is no description '%s'", name);
	text = file_read(path, 0, &length, r->e);
	free(path);
	if (!text)
		return -1;
	rc = parse_lines(&base, text, length);
	free(text);
	return rc;
}

static int read_line(struct reader *r, char *line)
{
	size_t length;

	line[strcspn(line, "#")] = '\0';
	line += strspn(line, " \t");
	length = strlen(line);
	while (length &&
		(line[length - 1] == ' ' || line[length - 1] == '\t' || line[length - 1] == '\r'))
		line[--length] = '\0';
	if (!length)
		return 0;
	if (line[0] == '[' && strncmp(line, "[v]", 3))
		return read_heading(r, line);
	if (!r->section[0] && strncmp(line, "base ", 5) == 0)
		return read_base(r, line + 5 + strspn(line + 5, " \t"));
	if (!r->section[0])
		return fail(r, "'%s' stands before the first heading", line);
	if (strcmp(r->section, "ports") == 0)
		return read_ports(r, line);
	if (strcmp(r->section, "instructions") == 0)
		return read_instruction(r, line);
	return read_key(r, line);
}

static int check_whole(struct reader *r)
{
	const struct core *c = r->core;

	r->line = 0;
	if (!c->name[0] || !c->rename || !c->retire || !c->load_latency || !c->load ||
		!c->store_address || (!c->in_order && !c->window))
		return error_set(r->e, ERR_PARSE,
			"%s: name, rename, retire, window, load, load-latency and store-address "
			"must be given",
			r->name);
	if (c->fallback < 0)
		return error_set(r->e, ERR_PARSE,
			"%s: there is no rule '*' for instructions that have none of their own",
			r->name);
	return 0;
}

static void set_defaults(struct core *c)
{
	if (!c->vector_load)
		c->vector_load = c->load;
	if (!c->store_data)
		c->store_data = c->store_address;
	if (!c->vector_store_data)
		c->vector_store_data = c->store_data;
	if (!c->vector_load_latency)
		c->vector_load_latency = c->load_latency;
	if (!c->vector_forward)
		c->vector_forward = c->forward;
	if (!c->scheduler)
		c->scheduler = c->window;
}

static int parse_lines(struct reader *r, const char *text, size_t length)
{
	char line[LINE_MAX_LENGTH + 1];

	for (const char *at = text, *end = text + length; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);

		r->line++;
		if (n > LINE_MAX_LENGTH)
			return fail(r, "a line of more than %d characters", LINE_MAX_LENGTH);
		if (memchr(at, '\0', n))
			return fail(r, "this is no text");
		memcpy(line, at, n);
		line[n] = '\0';
		if (read_line(r, line))
			return -1;
		at += n + (stop != NULL);
	}
	return 0;
}

int core_parse(struct core *c, const char *text, size_t length, const char *name, struct error *e)
{
	struct reader r = {.core = c, .name = name, .e = e};

	memset(c, 0, sizeof(*c));
	memset(c->first, 0xff, sizeof(c->first));
	c->fallback = -1;
	c->x86 = true;
	c->nop_slots_x2 = 2;
	if (parse_lines(&r, text, length) == 0) {
		set_defaults(c);
		if (check_whole(&r) == 0)
			return 0;
	}
	core_fini(c);
	return -1;
}
