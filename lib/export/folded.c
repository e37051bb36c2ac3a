/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks, as Brendan Gregg's flamegraph.pl reads them: functions, outermost first, joined
 * by ';', a space, the number of samples (for exact metrics: the count).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/shown.h"
#include "export/private.h"

/* Names must not break a line or a frame. */
static void add_plain(struct strbuf *s, const char *text)
{
	size_t from = s->length;

	shown_puts(s, text);
	for (; from < s->length; from++)
		if (s->data[from] == ';')
			s->data[from] = ':';
}

static int write_branches(
	const struct export_branches *b, const struct export_profile *x, FILE *out)
{
	size_t *length = calloc(b->all.count + 1, sizeof(*length)); /* of the path to a branch */
	struct strbuf line = {0}, name = {0};
	int rc = length ? 0 : -1;

	for (size_t i = 1; i < b->all.count && rc == 0; i++) {
		uint32_t at = b->order[i], parent = export_branch_at(b, at)->key.parent;
		uint64_t samples = b->samples.data[at * x->metrics.count];

		line.length = length[parent];
		name.length = 0;
		if (!parent && x->data->request->threads)
			export_thread_name(&name, x, export_branch_at(b, at)->key.group);
		if (name.length) {
			add_plain(&line, strbuf_text(&name));
			strbuf_putc(&line, ';');
			name.length = 0;
		}
		if (parent)
			strbuf_putc(&line, ';');
		rc = export_full_name(&name, x, b->function[at]);
		add_plain(&line, strbuf_text(&name));
		length[at] = line.length;
		if (samples && !line.failed)
			fprintf(out, "%s %" PRIu64 "\n", strbuf_text(&line), samples);
		progress_step(x->request->progress, (double)i / (double)b->all.count, "writing");
	}
	rc = line.failed ? -1 : rc;
	strbuf_fini(&line);
	strbuf_fini(&name);
	free(length);
	return rc;
}

int export_folded(const struct export_profile *x, FILE *out, struct error *e)
{
	uint32_t *key = calloc(x->functions.count + 1, sizeof(*key));
	struct export_branches b = {0};
	int rc = key ? export_name_keys(x, key) : -1;

	if (rc == 0)
		rc = export_branches(&b, x, key);
	if (rc == 0)
		rc = write_branches(&b, x, out);
	export_branches_fini(&b);
	free(key);
	return rc ? error_nomem(e) : 0;
}
