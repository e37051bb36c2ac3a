/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a program in which most cycles went by. */
#include <math.h>
#include <stdlib.h>

#include "base/plural.h"
#include "report/prof_blocks.h"
#include "report/prof_columns.h"
#include "report/prof_views.h"

enum { USUAL_ROWS = 20 };

struct top {
	struct prof_data *d;
	struct prof_table *t;
	struct prof_explain x;
	VEC(struct prof_block_row) list;
};

static int take_procedure(void *to, struct prof_explained *p, struct error *e)
{
	struct top *l = to;
	int rc = 0;

	for (uint32_t i = 0; rc == 0 && p->told && i < p->code.flow->blocks.count; i++) {
		const struct flow_block *b = &p->code.flow->blocks.data[i];
		struct prof_block_row *r;
		double cycles = 0;

		for (uint32_t k = b->first; k < b->first + b->count; k++)
			cycles += p->input.cycles[k];
		if (!(cycles > 0))
			continue;
		r = vec_push(&l->list);
		if (!r || prof_block_make(r, l->t, p, i))
			rc = error_nomem(e);
	}
	return rc;
}

static int by_cycles(const void *a, const void *b)
{
	const struct prof_block_row *x = a, *y = b;

	if (x->cycles != y->cycles)
		return x->cycles > y->cycles ? -1 : 1;
	if (x->image != y->image)
		return x->image < y->image ? -1 : 1;
	return x->from < y->from ? -1 : x->from > y->from;
}

static int rows(struct top *l)
{
	struct prof_quit quit = l->d->request->quit;
	struct prof_block_columns columns;
	double cumulative = 0;

	if (!quit.rows && !(quit.percent > 0) && !(quit.cumulative > 0))
		quit.rows = USUAL_ROWS;
	if (prof_culprits_describe(l->t, &l->x) || prof_block_columns(&columns, l->t, &l->x, false))
		return -1;
	if (l->list.count)
		qsort(l->list.data, l->list.count, sizeof(*l->list.data), by_cycles);
	for (size_t i = 0; i < l->list.count; i++) {
		const struct prof_block_row *r = &l->list.data[i];
		double percent = 100 * r->cycles / fmax(l->x.total * l->x.analysis.cycles, 1);
		long at;

		if (prof_quits(&quit, i, percent, cumulative))
			return prof_note(l->t, "%zu more block%s %s left out (-q)",
				l->list.count - i, plural(l->list.count - i),
				plural_is(l->list.count - i));
		cumulative += percent;
		at = prof_block_add(&columns, l->t, &l->x, r);
		if (at < 0)
			return -1;
		prof_cells(l->t, (size_t)at)[columns.cycles].cumulative = fmin(cumulative, 100);
	}
	return 0;
}

int prof_topblocks(struct prof_data *d, struct prof_table *t, struct error *e)
{
	struct top l = {.d = d, .t = t};
	int rc = -1;

	t->report = "topblocks";
	t->title = "Blocks, most cycles first";
	t->layout = PROF_LIST;
	if (prof_data_name(d, false, e) || prof_describe(t, d, e) || prof_explain_init(&l.x, d, e))
		goto out;
	rc = prof_explain_each(&l.x, take_procedure, &l, e);
	if (rc == 0 && rows(&l))
		rc = error_nomem(e);
	if (rc == 0)
		rc = prof_coverage(t, d, e);
out:
	vec_fini(&l.list);
	prof_explain_fini(&l.x);
	return rc;
}
