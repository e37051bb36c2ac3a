/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of lib/report/prof_*.c share among themselves. */
#ifndef REPORT_PROF_PRIVATE_H
#define REPORT_PROF_PRIVATE_H

#include "report/prof_data.h"

/* Step i of count of what the words say; cheap enough for any loop. */
static inline void prof_progress(
	const struct prof_data *d, size_t i, size_t count, const char *words)
{
	if (d->request->progress && d->request->progress->enabled)
		progress_step(d->request->progress, (double)i / (double)(count ? count : 1), words);
}

/* prof_strings.c */
struct table prof_strings_table(void);
void prof_strings_fini(struct table *strings);

/* prof_spans.c: -calipers, for each input. */
int prof_spans(struct prof_data *d, struct error *e);

/* prof_unskid.c: before names are asked for.  *moved: some samples may be elsewhere now. */
int prof_unskid(struct prof_data *d, bool *moved, struct error *e);
#define PROF_MOVED                                                                                 \
	"Samples taken by interrupts stand at the line that waited: that of the instruction "      \
	"executed before the address found (-raw: where they were found)"

/* prof_paths.c.  Samples of nodes and all below them, [node * metrics + metric]; yours to free. */
uint64_t *prof_subtrees(const struct prof_data *d);
/* Calls for each node that has no node of the same key (key[node] < keys; UINT32_MAX: none) above
 * it, so that what recurs is counted once.  -1 when memory is out. */
int prof_outermost(const struct prof_data *d, const uint32_t *key, size_t keys,
	void (*call)(void *context, size_t node), void *context);

#endif
