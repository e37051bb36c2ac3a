/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a program in which most cycles went by. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "report/prof_blocks.h"
#include "report/prof_views.h"

enum { USUAL_ROWS = 20 };

struct top {
	struct prof_waits *w;
	VEC(struct prof_block_row) list;
};

static int take_procedure(void *to, struct prof_explained *p, struct error *e)
{
	struct top *l = to;

	for (uint32_t i = 0; p->told && i < p->code.flow->blocks.count; i++) {
		if (prof_block_cycles(p, i) > 0 &&
			vec_add(&l->list, prof_block_make(l->w->t, p, i)))
			return error_nomem(e);
	}
	return 0;
}

static int by_cycles(const void *a, const void *b)
{
	const struct prof_block_row *x = a, *y = b;

	return sort_falling_number(x->cycles, y->cycles) ?: sort_rising(x->image, y->image)
		       ?: sort_rising(x->from, y->from);
}

static int make(struct prof_waits *w, struct error *e)
{
	struct prof_cut cut = prof_cut_of(w->d, (struct prof_quit){.rows = USUAL_ROWS});
	struct top l = {.w = w};
	int rc = prof_explain_each(&w->x, take_procedure, &l, e);

	prof_culprits_describe(w->t, &w->x);
	prof_block_columns(w, false);
	if (l.list.count)
		qsort(l.list.data, l.list.count, sizeof(*l.list.data), by_cycles);
	for (size_t i = 0; rc == 0 && !w->t->failed && i < l.list.count; i++) {
		const struct prof_block_row *r = &l.list.data[i];
		size_t at;

		if (prof_cuts(&cut, 100 * r->cycles / fmax(w->x.total * w->x.analysis.cycles, 1))) {
			prof_left_out(w->t, l.list.count - i, "block", "-q");
			break;
		}
		at = prof_block_add(w, r, NULL);
		prof_cells(w->t, at)[BLOCK_CYCLES].cumulative = fmin(cut.cumulative, 100);
	}
	vec_fini(&l.list);
	return rc;
}

int prof_topblocks(struct prof_data *d, struct prof_table *t, struct error *e)
{
	t->report = "topblocks";
	t->title = "Blocks, most cycles first";
	t->layout = PROF_LIST;
	return prof_waits_report(d, t, make, e);
}
