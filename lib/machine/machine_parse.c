/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads machine descriptions (perfex-machine(5)): lines of words below [section] headings.  Every
 * error names the line.  The text need not be NUL-terminated; nothing is allocated.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/nearest.h"
#include "machine/values.h"

int machine_parser_unknown(struct parser *p, const char *what, const char *word)
{
	bool heading = strcmp(what, "section") == 0;
	struct nearest n;

	nearest_init(&n, word);
	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];

		if (!heading && strcmp(f->key, word) == 0) {
			machine_parser_fail(
				p, "'%s' belongs in the section [%s]", word, f->section);
			return error_hint(p->e, "write it below a line '[%s]'", f->section);
		}
		nearest_offer(&n, heading ? f->section : f->key);
	}
	machine_parser_fail(p, "unknown %s '%s'", what, word);
	return nearest_hint(&n, p->e, "perfex-machine(5) lists them all");
}

static int parse_read_heading(struct parser *p)
{
	size_t length = strlen(p->word);

	if (length < 3 || p->word[length - 1] != ']')
		return machine_parser_fail(
			p, "unknown heading '%s': write it as in [caches]", p->word);
	p->word[length - 1] = '\0';
	for (size_t i = 0; i < machine_field_count; i++) {
		if (strcmp(machine_fields[i].section, p->word + 1))
			continue;
		snprintf(p->section, sizeof(p->section), "%s", machine_fields[i].section);
		return 0;
	}
	return machine_parser_unknown(p, "section", p->word + 1);
}

static int read_field(struct parser *p)
{
	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];

		if (strcmp(f->section, p->section) || strcmp(f->key, p->word))
			continue;
		if (p->seen[i])
			return machine_parser_fail(
				p, "%s was already given in line %u", f->key, p->seen[i]);
		p->seen[i] = p->line;
		while (p->at < p->end && parser_blank(*p->at))
			p->at++;
		if (p->at == p->end)
			return machine_parser_fail(p, "%s has no value", f->key);
		return value_read(p, f);
	}
	if (!p->section[0]) {
		machine_parser_fail(p, "'%s' is before the first section", p->word);
		return error_hint(p->e, "begin with a line '[machine]'");
	}
	return machine_parser_unknown(p, "keyword", p->word);
}

static int parse_read_line(struct parser *p)
{
	const char *comment = memchr(p->at, '#', (size_t)(p->end - p->at));
	int got;

	if (comment)
		p->end = comment;
	while (p->end > p->at && parser_blank(p->end[-1]))
		p->end--;
	for (const char *c = p->at; c < p->end; c++)
		if (((unsigned char)*c < 0x20 && !parser_blank(*c)) || *c == 0x7f)
			return machine_parser_fail(p,
				"a control character (0x%02x): this is not a machine description",
				(unsigned char)*c);
	got = machine_parser_word(p);
	if (got <= 0)
		return got;
	if ((p->word[0] == '[' ? parse_read_heading(p) : read_field(p)))
		return -1;
	got = machine_parser_word(p);
	return got > 0 ? machine_parser_fail(p, "unexpected '%s'", p->word) : got;
}

/* The line of a keyword, 0: it was not given. */
static unsigned parse_line_of(const struct parser *p, const char *key)
{
	for (size_t i = 0; key && i < machine_field_count; i++)
		if (strcmp(machine_fields[i].key, key) == 0)
			return p->seen[i];
	return 0;
}

/* Reports the error of a keyword, or of the machine if the keyword was not given. */
static int parse_refuse(struct parser *p, const char *key, const char *why, const char *hint)
{
	p->line = p->changing ? 0 : parse_line_of(p, key);
	if (parse_line_of(p, key))
		machine_parser_fail(p, "%s cannot be: %s", key, why);
	else
		error_set(p->e, ERR_PARSE, "%s: invalid machine: %s%s%s", p->name, key ? key : "",
			key ? ": " : "", why);
	return hint[0] ? error_hint(p->e, "%s", hint) : -1;
}

int machine_parser_check(struct parser *p)
{
	struct machine *m = p->m;
	struct machine_fault fault;
	char text[200], hint[100];

	for (size_t i = 0; i < machine_field_count; i++) {
		const struct field *f = &machine_fields[i];
		const struct model_cache_config *c = (void *)((char *)m + f->offset);

		if (f->kind != FIELD_CACHE || (!p->seen[i] && !p->changing))
			continue;
		if (machine_check_cache(c, m->model.flavour, text, sizeof(text)))
			return parse_refuse(p, f->key, text,
				machine_hint_cache(c, m->model.flavour, hint, sizeof(hint)));
	}
	return machine_find_fault(m, &fault) ? parse_refuse(p, fault.key, fault.text, fault.hint)
					     : 0;
}

static bool anything_seen(const struct parser *p)
{
	for (size_t i = 0; i < machine_field_count; i++)
		if (p->seen[i])
			return true;
	return false;
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
		if (parse_read_line(&p))
			return -1;
	}
	if (!anything_seen(&p)) {
		error_set(e, ERR_PARSE, "%s: the file is empty: it describes no machine", name);
		return error_hint(e, "perfex-machine(5) has an example");
	}
	return machine_parser_check(&p);
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

void machine_ours_missing(const char *name, struct error *e)
{
	char file[80];

	snprintf(file, sizeof(file), "machines/%s%s", name, MACHINE_SUFFIX);
	free(file_data_path(file, e));
}

int machine_ours(const char *name, struct machine *m, struct error *e)
{
	char file[80], *path;
	int status;

	if (strchr(name, '/') || snprintf(file, sizeof(file), "machines/%s%s", name,
					 MACHINE_SUFFIX) >= (int)sizeof(file))
		return 1;
	path = file_data_path(file, NULL);
	if (!path)
		return 1;
	status = machine_load(path, m, e);
	free(path);
	return status;
}
