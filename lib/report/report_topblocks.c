/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a program with the most cycles. */
#include <math.h>
#include <stdlib.h>

#include "base/sort.h"
#include "report/report_blocks.h"
#include "report/report_views.h"

enum { USUAL_ROWS = 20 };

struct top {
	struct report_waits *w;
	VEC(struct report_block_row) list;
};

static int topblocks_take_procedure(void *to, struct explain_result *p, struct error *e)
{
	struct top *l = to;

	for (uint32_t i = 0; p->told && i < p->code.flow->blocks.count; i++) {
		if (report_block_cycles(p, i) > 0 &&
			vec_add(&l->list, report_block_make(l->w->t, p, i)))
			return error_nomem(e);
	}
	return 0;
}

static int topblocks_by_cycles(const void *a, const void *b)
{
	const struct report_block_row *x = a, *y = b;

	return sort_falling_number(x->cycles, y->cycles) ?: sort_rising(x->image, y->image)
		       ?: sort_rising(x->from, y->from);
}

static int topblocks_make(struct report_waits *w, struct error *e)
{
	struct report_cut cut = report_cut_of(w->d, (struct prof_quit){.rows = USUAL_ROWS});
	struct top l = {.w = w};
	int rc = explain_each(&w->x, topblocks_take_procedure, &l, e);

	report_culprits_describe(w->t, &w->x);
	report_block_columns(w, false);
	if (l.list.count)
		qsort(l.list.data, l.list.count, sizeof(*l.list.data), topblocks_by_cycles);
	for (size_t i = 0; rc == 0 && !w->t->failed && i < l.list.count; i++) {
		const struct report_block_row *r = &l.list.data[i];
		size_t at;

		if (report_cuts(
			    &cut, 100 * r->cycles / fmax(w->x.total * w->x.analysis.cycles, 1))) {
			report_left_out(w->t, l.list.count - i, "block", report_cut_why(&cut));
			break;
		}
		at = report_block_add(w, r, NULL);
		report_cells(w->t, at)[REPORT_BLOCK_CYCLES].cumulative = fmin(cut.cumulative, 100);
	}
	vec_fini(&l.list);
	return rc;
}

int report_topblocks(struct prof_data *d, struct report_table *t, struct error *e)
{
	t->report = "topblocks";
	t->title = "Blocks, most cycles first";
	t->layout = REPORT_LIST;
	return report_waits_report(d, t, topblocks_make, e);
}
