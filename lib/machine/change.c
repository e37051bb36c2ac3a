/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes to single fields of a machine, as one line: "L2=512K,LL=none,mispredict=20-cycle". */
#include <stdio.h>
#include <string.h>

#include "machine/values.h"

static void change_add_mark(char *name, size_t size)
{
	size_t length = strlen(name);

	if (length && length + 1 < size)
		snprintf(name + length, size - length, "+");
}

static const struct field *field_of(const char *key)
{
	for (size_t i = 0; i < machine_field_count; i++)
		if (strcmp(machine_fields[i].key, key) == 0)
			return &machine_fields[i];
	return NULL;
}

/* KEY=VALUE, from begin to p->end. */
static int change_one(struct parser *p, const char *begin)
{
	const char *equals = memchr(begin, '=', (size_t)(p->end - begin));
	const struct field *f;
	int got;

	p->at = begin;
	if (!equals) {
		machine_parser_fail(p, "'%.*s' is not KEY=VALUE", (int)(p->end - begin), begin);
		return error_hint(p->e, "write KEY=VALUE, as in %s:L2=512K", p->name);
	}
	snprintf(p->word, sizeof(p->word), "%.*s", (int)(equals - begin), begin);
	f = field_of(p->word);
	if (!f)
		return machine_parser_unknown(p, "keyword", p->word);
	if (p->seen[f - machine_fields]++)
		return machine_parser_fail(p, "%s is given twice", f->key);
	p->at = equals + 1;
	while (p->at < p->end && parser_blank(*p->at))
		p->at++;
	if (p->at == p->end)
		return machine_parser_fail(p, "%s has no value", f->key);
	if (value_read(p, f))
		return -1;
	if (strcmp(f->key, "clock") == 0)
		p->m->clock_from = MACHINE_CLOCK_GIVEN;
	got = machine_parser_word(p);
	return got > 0 ? machine_parser_fail(p, "unexpected '%s' after %s", p->word, f->key) : got;
}

int machine_change(struct machine *m, const char *changes, struct error *e)
{
	struct parser p = {.name = m->name, .m = m, .e = e, .changing = true};
	char name[sizeof(m->name)];
	size_t length = strlen(m->description);
	struct model_config before = m->model;

	/* The parser's name must outlive a change of the machine's. */
	snprintf(name, sizeof(name), "%s", m->name);
	p.name = name;
	if (strchr(changes, '#')) {
		machine_parser_fail(&p, "a '#' in a change: a description would end there");
		return error_hint(e, "leave it out: in machine descriptions it begins a comment");
	}
	for (const char *c = changes; *c; c++)
		if (((unsigned char)*c < 0x20 && !parser_blank(*c)) || *c == 0x7f)
			return machine_parser_fail(
				&p, "a control character (0x%02x) in a change", (unsigned char)*c);
	for (const char *begin = changes;; begin = p.end + 1) {
		p.end = begin + strcspn(begin, ",");
		if (change_one(&p, begin))
			return -1;
		if (!*p.end)
			break;
	}
	if (machine_parser_check(&p))
		return -1;
	machine_change_constants(m, &before);
	if (strcmp(name, m->name) == 0) {
		change_add_mark(m->name, sizeof(m->name));
		change_add_mark(m->family, sizeof(m->family));
		if (length + strlen(changes) + 7 < sizeof(m->description))
			snprintf(m->description + length, sizeof(m->description) - length,
				"%swith %s", length ? ", " : "", changes);
	}
	return 0;
}
