/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * gcc's .afdo, version 2, for gcc -fauto-profile (gcc/auto-profile.cc, gcc/gcov-io.h): words of 4
 * bytes, counters of 8, least significant first. Lengths of names are in bytes, as gcc 12 reads
 * them. gcc 12 looks up lines without discriminators, so counts are the greatest of each line.
 */
#include <string.h>

#include "pgo/private.h"

enum {
	AFDO_MAGIC = 0x67636461, /* "gcda" */
	AFDO_VERSION = 2,
	AFDO_NAMES = (int)0xaa000000,
	AFDO_FUNCTIONS = (int)0xac000000,
	AFDO_MODULES = (int)0xae000000,
};

static void afdo_number(struct strbuf *s, uint64_t value, size_t size)
{
	char bytes[8];

	for (size_t i = 0; i < size; i++)
		bytes[i] = (char)(value >> (8 * i));
	strbuf_add(s, bytes, size);
}

static void afdo_word(struct strbuf *s, uint32_t value)
{
	afdo_number(s, value, 4);
}

/* Names get numbers in the order of their first use; 0 is not used. */
struct afdo {
	struct pgo_tree tree;
	uint32_t *number; /* [string of the data]; 0: none yet */
	uint32_t names;
	struct strbuf strings, body;
};

static uint32_t name_number(struct afdo *a, uint32_t string)
{
	const char *text = profile_string_at(a->tree.data, string);

	if (!a->number[string]) {
		a->number[string] = ++a->names;
		afdo_word(&a->strings, (uint32_t)strlen(text) + 1);
		strbuf_add(&a->strings, text, strlen(text) + 1);
	}
	return a->number[string];
}

static void instance(struct afdo *a, uint32_t scope)
{
	const struct pgo_tree *t = &a->tree;
	struct pgo_span lines = pgo_lines_of(t, scope), inner = pgo_scopes_of(t, scope);

	afdo_word(&a->body, name_number(a, pgo_scope_at(t, scope)->key.name));
	afdo_word(&a->body, (uint32_t)lines.count);
	afdo_word(&a->body, (uint32_t)inner.count);
	for (size_t i = lines.first; i < lines.first + lines.count; i++) {
		const struct pgo_line *l = pgo_line_at(t, i);

		afdo_word(&a->body, l->key.offset << 16 | (l->key.discriminator & 0xffff));
		afdo_word(&a->body, 0); /* targets of indirect calls */
		afdo_number(&a->body, l->count, 8);
	}
	for (size_t i = inner.first; i < inner.first + inner.count; i++) {
		const struct pgo_scope *s = pgo_scope_at(t, t->order[i]);

		afdo_word(&a->body, s->key.offset << 16 | (s->key.discriminator & 0xffff));
		instance(a, t->order[i]);
	}
}

static int afdo_make(struct afdo *a)
{
	struct pgo_span all = pgo_scopes_of(&a->tree, 0);
	struct strbuf functions = {0};
	uint32_t count = 0;

	a->number = calloc(a->tree.data->strings.count + 1, sizeof(*a->number));
	if (!a->number)
		return -1;
	/* name 0 */
	afdo_word(&a->strings, 1);
	strbuf_putc(&a->strings, '\0');
	for (size_t i = all.first; i < all.first + all.count; i++) {
		const struct pgo_scope *s = pgo_scope_at(&a->tree, a->tree.order[i]);

		if (!s->total)
			continue;
		count++;
		afdo_number(&a->body, s->head, 8);
		instance(a, a->tree.order[i]);
	}
	functions = a->body;
	a->body = (struct strbuf){0};
	afdo_word(&a->body, AFDO_MAGIC);
	afdo_word(&a->body, AFDO_VERSION);
	afdo_word(&a->body, 0);
	afdo_word(&a->body, (uint32_t)AFDO_NAMES);
	afdo_word(&a->body, 0);
	afdo_word(&a->body, a->names + 1);
	strbuf_add(&a->body, a->strings.data, a->strings.length);
	afdo_word(&a->body, (uint32_t)AFDO_FUNCTIONS);
	afdo_word(&a->body, 0);
	afdo_word(&a->body, count);
	if (functions.length)
		strbuf_add(&a->body, functions.data, functions.length);
	afdo_word(&a->body, (uint32_t)AFDO_MODULES);
	afdo_word(&a->body, 0);
	afdo_word(&a->body, 0);
	a->body.failed = a->body.failed || functions.failed || a->strings.failed;
	strbuf_fini(&functions);
	return a->body.failed ? -1 : 0;
}

int pgo_write_afdo(struct pgo *p, FILE *out, struct error *e)
{
	struct afdo a = {0};
	int rc = pgo_tree_init(&a.tree, p, true, e);

	if (rc == 0 && afdo_make(&a))
		rc = error_nomem(e);
	if (rc == 0)
		fwrite(a.body.data, 1, a.body.length, out);
	pgo_tree_fini(&a.tree);
	free(a.number);
	strbuf_fini(&a.strings);
	strbuf_fini(&a.body);
	return rc;
}
