/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/dump.h"

#include <inttypes.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/data.h"

struct dump {
	const struct experiment *x;
	FILE *out;
	bool quiet;
};

static const char *const image_kinds[EXPERIMENT_IMAGE_KINDS] = {
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
};

static const char *const reasons[EXPERIMENT_REASONS] = {
	[EXPERIMENT_NO_MAPPING] = "no-mapping",
	[EXPERIMENT_NO_STACK] = "no-stack",
	[EXPERIMENT_NO_ROOM] = "no-room",
};

/* Facts that say where a run was, and not what it did. */
static const char *const facts_of_place[] = {"host", "cpu", "kernel"};

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* In quotes; quotes, backslashes and control characters escaped. */
static void put_quoted(struct dump *d, const char *text)
{
	putc('"', d->out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (*c < ' ' || *c == 0x7f)
			fprintf(d->out, "\\x%02x", *c);
		else
			fprintf(d->out, *c == '"' || *c == '\\' ? "\\%c" : "%c", *c);
	putc('"', d->out);
}

static void put_named(struct dump *d, const char *name, const char *text)
{
	fprintf(d->out, " %s ", name);
	put_quoted(d, text);
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
		put_quoted(d, f->key);
		putc(' ', d->out);
		put_quoted(d, f->value);
		fputs(f->several ? " several\n" : "\n", d->out);
	}
}

static void dump_images(struct dump *d)
{
	for (size_t i = 1; i < d->x->images.count; i++) {
		const struct experiment_image *image = &d->x->images.data[i];

		fprintf(d->out, "image %zu %s ", i, image_kinds[image->kind]);
		put_quoted(d, image->path);
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

static void dump_metrics(struct dump *d)
{
	for (size_t i = 0; i < d->x->metrics.count; i++) {
		const struct experiment_metric *m = &d->x->metrics.data[i];
		const char *separator = " flags ";

		fprintf(d->out, "metric %zu event %" PRId32, i, m->event);
		put_named(d, "name", m->name);
		put_named(d, "short", m->short_name);
		put_named(d, "unit", m->unit);
		put_named(d, "source", m->source);
		put_named(d, "note", m->note);
		fprintf(d->out, " label %s", label_name(m->label));
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
		putc('\n', d->out);
	}
	for (size_t i = 1; i < d->x->threads.count; i++) {
		const struct experiment_thread *t = &d->x->threads.data[i];

		fprintf(d->out, "thread %zu process %" PRIu32, i, t->process);
		if (!d->quiet)
			fprintf(d->out, " tid %" PRId32, (int32_t)t->tid);
		put_named(d, "name", t->name);
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

static void dump_symbols(struct dump *d)
{
	for (size_t i = 0; i < d->x->symbols.count; i++) {
		const struct experiment_symbol *s = table_at(&d->x->symbols, i);

		fprintf(d->out, "symbol image %" PRIu32 " address %" PRIx64 " length %" PRIu64,
			s->key.image, s->key.address, s->length);
		put_named(d, "name", s->name);
		putc('\n', d->out);
	}
}

static void dump_nodes(struct dump *d)
{
	for (size_t i = 1; i < d->x->nodes.count; i++) {
		const struct experiment_node *n = experiment_node_at(d->x, i);

		fprintf(d->out,
			"node %zu parent %" PRIu32 " image %" PRIu32 " address %" PRIx64 "\n", i,
			n->key.parent, n->key.image, n->key.address);
	}
}

static void dump_samples(struct dump *d)
{
	for (size_t i = 0; i < d->x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(d->x, i);

		fprintf(d->out,
			"sample metric %" PRIu32 " thread %" PRIu32 " phase %" PRIu32
			" node %" PRIu32 " count %" PRIu64 "\n",
			s->key.metric, s->key.thread, s->key.phase, s->key.node, s->count);
	}
}

static void dump_edges(struct dump *d)
{
	for (size_t i = 0; i < d->x->edges.count; i++) {
		const struct experiment_edge *edge = table_at(&d->x->edges, i);

		fprintf(d->out,
			"edge image %" PRIu32 " from %" PRIx64 " image %" PRIu32 " to %" PRIx64
			" kind %" PRIu32 " taken %" PRIu32 " count %" PRIu64 "\n",
			edge->key.from_image, edge->key.from, edge->key.to_image, edge->key.to,
			edge->key.kind, edge->key.taken, edge->count);
	}
}

static void dump_data(struct dump *d)
{
	if (!experiment_has_data(d->x))
		return;
	for (size_t i = 0; i < d->x->data.metrics.count; i++) {
		const struct experiment_metric *m = &d->x->data.metrics.data[i];

		fprintf(d->out, "data-metric %zu event %" PRId32, i, m->event);
		put_named(d, "name", m->name);
		put_named(d, "short", m->short_name);
		put_named(d, "unit", m->unit);
		put_named(d, "source", m->source);
		put_named(d, "note", m->note);
		fprintf(d->out, " label %s period %" PRIu64 " total %" PRIu64 "\n",
			label_name(m->label), m->period, m->total);
	}
	for (int which = 0; which < DATA_TABLES; which++)
		for (size_t i = which == DATA_OBJECTS;
			i < experiment_data_table(d->x, which)->count; i++)
			experiment_data_dump(d->x, which, i, d->out);
	if (d->x->data.lost)
		fprintf(d->out, "data-lost %" PRIu64 "\n", d->x->data.lost);
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
	dump_symbols(&d);
	dump_nodes(&d);
	dump_samples(&d);
	dump_edges(&d);
	dump_data(&d);
	experiment_branches_dump(x, out);
}
