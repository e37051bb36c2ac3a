/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/model_reading.h"

#include <stdio.h>
#include <string.h>

#include "sources/clock_sums.h"
#include "sources/windows.h"

struct filling {
	const struct model_sums *sums;
	const struct event_spec *specs;
	size_t count;
	const struct model_execution_config *machine;
};

/* What page faults take at user level is added to cycles, and what the hypervisor takes of all
 * others: no clock of the model sees it. Page faults were measured with what it takes of them. */
static void fill_unseen(const struct filling *f, double faults, struct count *counts)
{
	double cycles = faults * f->machine->page_fault, times = 1 / (1 - f->machine->steal / 1e3);

	for (size_t i = 0; i < f->count; i++) {
		struct quantity *q = &counts[i].quantity;
		unsigned event = (unsigned)f->specs[i].event->number;

		if ((event != EV_CYCLES && event != EV_CYCLES_16) || q->label == LABEL_NONE)
			continue;
		q->value = q->value * times + cycles;
		q->low = q->low * times + cycles;
		q->high = q->high * times + cycles;
	}
}

static void fill_run(const struct filling *f, struct reading *r)
{
	const struct model_sums *sums = f->sums;
	double faults = (double)sums->total[EV_PAGE_FAULTS], seen = 0;

	for (size_t i = 0; i < f->count; i++) {
		unsigned event = (unsigned)f->specs[i].event->number;
		struct count *c = &r->counts[i];

		if (clock_sums_event(&sums->clock, event, &c->quantity))
			continue;
		c->quantity = windows_estimate(
			&sums->windows, event, (double)sums->total[event], &c->short_run);
		if (c->quantity.label == LABEL_NONE)
			snprintf(c->why, sizeof(c->why),
				"the run is too short for -fast: no window of it was modelled");
	}
	fill_unseen(f, faults, r->counts);
	r->clocked = clock_sums_quantities(&sums->clock, r->causes);
	for (int i = 0; i < MODEL_CAUSES; i++)
		seen += r->causes[i].value;
	r->causes[MODEL_CAUSE_PAGE_FAULT] =
		quantity_exact(faults * f->machine->page_fault, LABEL_MODEL);
	r->causes[MODEL_CAUSE_STEAL] =
		quantity_exact(seen * f->machine->steal / (1e3 - f->machine->steal), LABEL_MODEL);
}

static void fill_thread(const struct filling *f, const uint64_t *counts, struct count *to)
{
	for (size_t i = 0; i < f->count; i++) {
		unsigned event = (unsigned)f->specs[i].event->number;

		to[i].quantity = quantity_exact((double)counts[event], LABEL_MODEL);
		clock_sums_thread(
			&f->sums->clock, event, (double)f->sums->total[event], &to[i].quantity);
	}
	fill_unseen(f, (double)counts[EV_PAGE_FAULTS], to);
}

int model_reading_fill(struct reading *r, const struct model_sums *sums,
	const struct event_spec *specs, size_t count, const struct model_execution_config *machine,
	struct error *e)
{
	const struct filling f = {sums, specs, count, machine};

	fill_run(&f, r);
	for (size_t i = 0; i < sums->rows.count; i++) {
		const struct model_row *row = &sums->rows.data[i];
		struct thread_reading *t = reading_add_thread(r);

		if (!t)
			return error_nomem(e);
		t->pid = row->pid;
		t->tid = row->tid;
		memcpy(t->command, row->command, sizeof(t->command));
		fill_thread(&f, row->counts, t->counts);
	}
	reading_sort_threads(r);
	return 0;
}
