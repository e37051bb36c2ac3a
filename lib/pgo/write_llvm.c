/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * LLVM's sample profile as text, for clang -fprofile-sample-use and llvm-profdata (the grammar is
 * in llvm/ProfileData/SampleProfReader.h). One space of indentation a level.
 */
#include <inttypes.h>

#include "pgo/private.h"

static void llvm_place(FILE *out, unsigned depth, uint32_t offset, uint32_t discriminator)
{
	fprintf(out, "%*s%" PRIu32, (int)depth, "", offset);
	if (discriminator)
		fprintf(out, ".%" PRIu32, discriminator);
	fputs(": ", out);
}

static void llvm_line(
	FILE *out, const struct pgo_tree *t, const struct pgo_line *l, unsigned depth, bool lined)
{
	struct pgo_span calls = pgo_calls_of(t, l);
	uint64_t called = 0;

	/* Several calls of one line may take turns: a line has no fewer than they, where nothing is
	 * inlined, as llvm-profgen has it. */
	for (size_t i = calls.first; lined && depth == 1 && i < calls.first + calls.count; i++)
		called += pgo_call_at(t, i)->count;
	llvm_place(out, depth, l->key.offset, l->key.discriminator);
	fprintf(out, "%" PRIu64, l->count > called ? l->count : called);
	for (size_t i = calls.first; i < calls.first + calls.count; i++)
		fprintf(out, " %s:%" PRIu64,
			profile_string_at(t->data, pgo_call_at(t, i)->key.name),
			pgo_call_at(t, i)->count);
	fputc('\n', out);
}

/* What is inlined in a scope is nested as deep as the debug information: at most DEEPEST. */
static void llvm_body(FILE *out, const struct pgo_tree *t, uint32_t scope, unsigned depth)
{
	struct pgo_span lines = pgo_lines_of(t, scope), inner = pgo_scopes_of(t, scope);
	uint64_t checksum = pgo_scope_at(t, scope)->checksum;

	for (size_t i = lines.first; i < lines.first + lines.count; i++)
		llvm_line(out, t, pgo_line_at(t, i), depth, !checksum);
	for (size_t i = inner.first; i < inner.first + inner.count; i++) {
		const struct pgo_scope *s = pgo_scope_at(t, t->order[i]);

		llvm_place(out, depth, s->key.offset, s->key.discriminator);
		fprintf(out, "%s:%" PRIu64 "\n", profile_string_at(t->data, s->key.name), s->total);
		llvm_body(out, t, t->order[i], depth + 1);
	}
	if (checksum)
		fprintf(out, "%*s!CFGChecksum: %" PRIu64 "\n", (int)depth, "", checksum);
}

int pgo_write_llvm(struct pgo *p, FILE *out, struct error *e)
{
	struct pgo_span functions = {0};
	struct pgo_tree t;
	int rc = pgo_tree_init(&t, p, false, e);

	if (rc == 0)
		functions = pgo_scopes_of(&t, 0);
	for (size_t i = functions.first; i < functions.first + functions.count; i++) {
		const struct pgo_scope *s = pgo_scope_at(&t, t.order[i]);

		if (!s->total && !s->checksum)
			continue;
		fprintf(out, "%s:%" PRIu64 ":%" PRIu64 "\n", profile_string_at(t.data, s->key.name),
			s->total, s->head);
		llvm_body(out, &t, t.order[i], 1);
	}
	pgo_tree_fini(&t);
	return rc;
}
