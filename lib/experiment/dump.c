/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/dump.h"

#include <inttypes.h>
#include <string.h>

#include "experiment/private.h"

struct dump {
	const struct experiment *x;
	FILE *out;
	bool quiet;
};

const char *const experiment_image_kinds[EXPERIMENT_IMAGE_KINDS] = {
	[EXPERIMENT_IMAGE_UNKNOWN] = "unknown",
	[EXPERIMENT_IMAGE_ELF] = "elf",
	[EXPERIMENT_IMAGE_FILE] = "file",
	[EXPERIMENT_IMAGE_ANONYMOUS] = "anonymous",
	[EXPERIMENT_IMAGE_KERNEL] = "kernel",
	[EXPERIMENT_IMAGE_VDSO] = "vdso",
};

static const struct {
	uint32_t flag;
	const char *name;
} metric_flags[] = {
	{METRIC_STACKS, "stacks"},
	{METRIC_EXACT, "exact"},
	{METRIC_SKID, "skid"},
	{METRIC_CLOCK, "clock"},
	{METRIC_WALL, "wall"},
	{METRIC_KERNEL, "kernel"},
	{METRIC_BOTH, "both"},
	{METRIC_DATA, "data"},
	{METRIC_BRANCHES, "branches"},
	{METRIC_VALUES, "values"},
};

static const char *const reasons[EXPERIMENT_REASONS] = {
	[EXPERIMENT_NO_MAPPING] = "no-mapping",
	[EXPERIMENT_NO_STACK] = "no-stack",
	[EXPERIMENT_NO_ROOM] = "no-room",
};

/* Facts on where a run was, not on what it did. */
static const char *const facts_of_place[] = {"host", "cpu", "kernel"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

static void put_named(struct dump *d, const char *name, const char *text)
{
	fprintf(d->out, " %s ", name);
	row_quote(text, d->out);
}

static void dump_run(struct dump *d)
{
	const struct experiment *x = d->x;
	const struct experiment_folded *f = &x->folded;

	fputs("run", d->out);
	put_named(d, "type", x->type);
	fprintf(d->out, " runs %" PRIu32 " complete %d", x->runs, x->complete);
	if (!d->quiet)
		fprintf(d->out, " began %" PRIu64 " elapsed %" PRIu64, x->began, x->elapsed);
	putc('\n', d->out);
	if (f->processes || f->threads)
		fprintf(d->out,
			"folded processes %" PRIu64 " threads %" PRIu64 " failed %" PRIu64
			" ranks %" PRIu64 " from %" PRId32 " to %" PRId32 "\n",
			f->processes, f->threads, f->failed, f->ranks, f->rank_low, f->rank_high);
}

static void dump_facts(struct dump *d)
{
	for (size_t i = 0; i < d->x->facts.count; i++) {
		const struct experiment_fact *f = &d->x->facts.data[i];
		bool place = false;

		for (size_t j = 0; j < LENGTH(facts_of_place); j++)
			place |= strcmp(f->key, facts_of_place[j]) == 0;
		if (d->quiet && place)
			continue;
		fputs("fact ", d->out);
		row_quote(f->key, d->out);
		putc(' ', d->out);
		row_quote(f->value, d->out);
		fputs(f->several ? " several\n" : "\n", d->out);
	}
}

static void dump_images(struct dump *d)
{
	for (size_t i = 1; i < d->x->images.count; i++) {
		const struct experiment_image *image = &d->x->images.data[i];

		fprintf(d->out, "image %zu %s ", i, experiment_image_kinds[image->kind]);
		row_quote(image->path, d->out);
		if (image->build_id_length)
			fputs(" build-id ", d->out);
		for (uint32_t j = 0; j < image->build_id_length; j++)
			fprintf(d->out, "%02x", image->build_id[j]);
		if (image->size)
			fprintf(d->out, " size %" PRIu64, image->size);
		if (image->fingerprint)
			fprintf(d->out, " fingerprint %" PRIx64, image->fingerprint);
		if (image->pid && !d->quiet)
			fprintf(d->out, " pid %" PRId32, (int32_t)image->pid);
		putc('\n', d->out);
	}
}

/* What metrics of samples and of data have alike. */
static void dump_metric_words(
	struct dump *d, const char *kind, size_t number, const struct experiment_metric *m)
{
	fprintf(d->out, "%s %zu event %" PRId32, kind, number, m->event);
	put_named(d, "name", m->name);
	put_named(d, "short", m->short_name);
	put_named(d, "unit", m->unit);
	put_named(d, "source", m->source);
	put_named(d, "note", m->note);
	fprintf(d->out, " label %s", label_name(m->label));
}

static void dump_metrics(struct dump *d)
{
	for (size_t i = 0; i < d->x->metrics.count; i++) {
		const struct experiment_metric *m = &d->x->metrics.data[i];
		const char *separator = " flags ";

		dump_metric_words(d, "metric", i, m);
		for (size_t j = 0; j < LENGTH(metric_flags); j++)
			if (m->flags & metric_flags[j].flag) {
				fprintf(d->out, "%s%s", separator, metric_flags[j].name);
				separator = ",";
			}
		fprintf(d->out, " skid %" PRIu32 " period %" PRIu64 " total %" PRIu64, m->skid,
			m->period, m->total);
		if (!d->quiet)
			fprintf(d->out, " lost %" PRIu64 " throttled %" PRIu64, m->lost,
				m->throttled);
		for (int j = 0; j < EXPERIMENT_REASONS; j++)
			if (m->reasons[j])
				fprintf(d->out, " %s %" PRIu64, reasons[j], m->reasons[j]);
		putc('\n', d->out);
	}
}

static void dump_processes(struct dump *d)
{
	for (size_t i = 1; i < d->x->processes.count; i++) {
		const struct experiment_process *p = &d->x->processes.data[i];

		fprintf(d->out, "process %zu", i);
		if (!d->quiet)
			fprintf(d->out, " pid %" PRId32 " ppid %" PRId32, (int32_t)p->pid,
				(int32_t)p->ppid);
		fprintf(d->out, " rank %" PRId32 " status %" PRId32, p->rank, p->status);
		if (!d->quiet)
			fprintf(d->out, " begin %" PRIu64 " end %" PRIu64, p->begin, p->end);
		put_named(d, "command", p->command);
		if (*p->arguments)
			put_named(d, "arguments", p->arguments);
		putc('\n', d->out);
	}
	for (size_t i = 1; i < d->x->threads.count; i++) {
		const struct experiment_thread *t = &d->x->threads.data[i];

		fprintf(d->out, "thread %zu process %" PRIu32, i, t->process);
		if (!d->quiet)
			fprintf(d->out, " tid %" PRId32, (int32_t)t->tid);
		put_named(d, "name", t->name);
		if (t->cpu)
			fprintf(d->out, " cpu %" PRIu32, t->cpu - 1);
		putc('\n', d->out);
	}
}

static void dump_phases(struct dump *d)
{
	for (size_t i = 1; i < d->x->phases.count; i++) {
		const struct experiment_phase *p = &d->x->phases.data[i];

		fprintf(d->out, "phase %zu thread %" PRIu32, i, p->thread);
		if (!d->quiet)
			fprintf(d->out, " time %" PRIu64, p->time);
		put_named(d, "name", p->name);
		putc('\n', d->out);
	}
}

static void dump_data_metrics(struct dump *d)
{
	for (size_t i = 0; i < d->x->data.metrics.count; i++) {
		const struct experiment_metric *m = &d->x->data.metrics.data[i];

		dump_metric_words(d, "data-metric", i, m);
		fprintf(d->out, " period %" PRIu64 " total %" PRIu64 "\n", m->period, m->total);
	}
}

/* Times differ between runs that do the same. */
static void dump_slices(struct dump *d)
{
	if (d->quiet || !d->x->slices.count)
		return;
	fprintf(d->out, "slices shift %" PRIu32, d->x->slicing.shift);
	if (d->x->slicing.room != UINT64_MAX)
		fprintf(d->out, " room %" PRIu64, d->x->slicing.room);
	putc('\n', d->out);
	row_dump(&d->x->slices, &experiment_slices_kind, d->out);
}

static void dump_tables(struct dump *d)
{
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++) {
		if (i == EXPERIMENT_OBJECTS)
			dump_data_metrics(d);
		if (i == EXPERIMENT_SLICES)
			dump_slices(d);
		else
			row_dump(experiment_table(d->x, i), experiment_kind(i), d->out);
		if (i == EXPERIMENT_ENDS && d->x->data.lost)
			fprintf(d->out, "data-lost %" PRIu64 "\n", d->x->data.lost);
	}
}

void experiment_dump(const struct experiment *x, unsigned flags, FILE *out)
{
	struct dump d = {x, out, flags & DUMP_QUIET};

	dump_run(&d);
	dump_facts(&d);
	dump_images(&d);
	dump_metrics(&d);
	dump_processes(&d);
	dump_phases(&d);
	dump_tables(&d);
}
