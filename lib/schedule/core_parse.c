/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads core descriptions, perfex-core(5).  Three kinds of lines, by section:
 *
 *   [core], [memory], [front]  KEY VALUE ...
 *   [ports]                    NAME PORT ...
 *   [instructions]             MNEMONIC ... : OPERANDS : MICRO-OPERATIONS : LATENCY (core_rules.c)
 *
 * Every error names the line.  Keys are rows of one shape: a table of what is read and where to.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "schedule/core_private.h"

#define LINE_MAX_LENGTH 1000

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

static int set_key(
	struct core_reader *r, const struct key *k, char **words, size_t count, char *rest)
{
	char *at = (char *)r->core + k->offset;
	const struct core_group *group;

	switch (k->kind) {
	case KEY_NUMBER:
		if (count != 1)
			return core_fail(r, "'%s' needs one number", k->name);
		return core_read_number(r, words[0], (unsigned)k->limit, (unsigned *)(void *)at);
	case KEY_FLAG:
		if (count != 1 || (strcmp(words[0], "yes") && strcmp(words[0], "no")))
			return core_fail(r, "'%s' needs yes or no", k->name);
		*(bool *)at = words[0][0] == 'y';
		return 0;
	case KEY_PORTS:
		group = count == 1 ? core_find_group(r->core, words[0]) : NULL;
		if (!group)
			return count == 1
				       ? core_unknown_group(r, words[0])
				       : core_fail(r, "'%s' needs one name from [ports]", k->name);
		*(uint32_t *)(void *)at = group->ports;
		return 0;
	case KEY_TEXT:
		if (strlen(rest) >= k->limit)
			return core_fail(
				r, "'%s' takes at most %zu characters", k->name, k->limit - 1);
		memcpy(at, rest, strlen(rest) + 1);
		return 0;
	}
	return -1;
}

static int read_key(struct core_reader *r, char *line)
{
	char *words[WORDS_MAX], *rest, *name = line + strspn(line, " \t");
	struct nearest n;
	char copy[LINE_MAX_LENGTH + 1];
	size_t count;

	rest = name + strcspn(name, " \t");
	if (*rest)
		*rest++ = '\0';
	rest += strspn(rest, " \t");
	memcpy(copy, rest, strlen(rest) + 1);
	count = core_split(rest, words, WORDS_MAX);
	nearest_init(&n, name);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i].name, name) == 0 && strcmp(keys[i].section, r->section) == 0)
			return set_key(r, &keys[i], words, count, copy);
		nearest_offer(&n, keys[i].name);
	}
	core_fail(r, "unknown key '%s' in [%s]", name, r->section);
	return nearest_hint(&n, r->e, "perfex-core(5) lists them all");
}

/* ---- [ports] ---- */

static int port_number(struct core_reader *r, const char *word)
{
	struct core *c = r->core;

	for (unsigned i = 0; i < c->ports; i++)
		if (strcmp(c->port_names[i], word) == 0)
			return (int)i;
	if (strlen(word) >= sizeof(c->port_names[0]))
		return core_fail(r, "'%s' is too long for the name of a port", word);
	if (c->ports == CORE_PORTS_MAX)
		return core_fail(r, "more than %d ports", CORE_PORTS_MAX);
	memcpy(c->port_names[c->ports], word, strlen(word) + 1);
	return (int)c->ports++;
}

static int read_ports(struct core_reader *r, char *line)
{
	struct core *c = r->core;
	struct core_group *g;
	char *words[WORDS_MAX];
	size_t count = core_split(line, words, WORDS_MAX);

	if (count < 2)
		return core_fail(r, "expected a name and its ports");
	if (core_find_group(c, words[0]))
		return core_fail(r, "'%s' is already defined", words[0]);
	if (c->group_count == CORE_GROUPS_MAX || strlen(words[0]) >= sizeof(g->name))
		return core_fail(r, "'%s': at most %d names of up to %zu characters", words[0],
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

/* ---- the file ---- */

static int read_heading(struct core_reader *r, const char *line)
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
	core_fail(r, "unknown heading '%s'", line);
	return error_hint(r->e, "[core] [front] [ports] [memory] [instructions]");
}

static int parse_lines(struct core_reader *r, const char *text, size_t length);

/* "base NAME": includes another description, which later lines correct. */
static int read_base(struct core_reader *r, const char *name)
{
	struct core_reader base = {.core = r->core, .name = name, .e = r->e, .depth = r->depth + 1};
	char file[80], *path, *text;
	size_t length;
	int rc;

	if (r->depth == 4)
		return core_fail(
			r, "descriptions are based on each other more than four levels deep");
	if (name[0] == '/') {
		path = strdup(name);
	} else if (strlen(name) > 40 || strchr(name, '/')) {
		return core_fail(
			r, "'%s' is neither the name of a description nor an absolute path", name);
	} else {
		snprintf(file, sizeof(file), "cores/%s.core", name);
		path = file_data_path(file, r->e);
	}
	if (!path)
		return core_fail(r, "no description '%s'", name);
	text = file_read(path, 0, &length, r->e);
	free(path);
	if (!text)
		return -1;
	rc = parse_lines(&base, text, length);
	free(text);
	return rc;
}

static int read_line(struct core_reader *r, char *line)
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
		return core_fail(r, "'%s' is before the first heading", line);
	if (strcmp(r->section, "ports") == 0)
		return read_ports(r, line);
	if (strcmp(r->section, "instructions") == 0)
		return core_read_instruction(r, line);
	return read_key(r, line);
}

static int check_whole(struct core_reader *r)
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

static int parse_lines(struct core_reader *r, const char *text, size_t length)
{
	char line[LINE_MAX_LENGTH + 1];

	for (const char *at = text, *end = text + length; at < end;) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		size_t n = (size_t)((stop ? stop : end) - at);

		r->line++;
		if (n > LINE_MAX_LENGTH)
			return core_fail(r, "a line of more than %d characters", LINE_MAX_LENGTH);
		if (memchr(at, '\0', n))
			return core_fail(r, "this is not a text file");
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
	struct core_reader r = {.core = c, .name = name, .e = e};

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
