/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Experiments into files: the reverse of read.c, and of the manual page ssexp(5). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "experiment/branches.h"
#include "experiment/data.h"
#include "experiment/private.h"
#include "experiment/values.h"

struct writer {
	struct experiment *x;
	struct strbuf *out;
	struct strbuf section, record;
	uint64_t sections;
	size_t lasting; /* bytes of sections that a sum keeps */
};

/* Not those of one run. */
static bool is_lasting(const char *type)
{
	static const char *const others[] = {"RUN ", "PROC", "THRD", "PHAS", "SAMP"};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(type, others[i]) == 0)
			return false;
	return true;
}

static void write_end_section(struct writer *w, const char *type)
{
	uint8_t head[CODING_SECTION];
	uLong sum = crc32(0, NULL, 0);

	memcpy(head, type, 4);
	put_fixed(head + 4, w->section.length, 4);
	sum = crc32(sum, head, 8);
	if (w->section.length)
		sum = crc32_z(sum, (const Bytef *)w->section.data, w->section.length);
	put_fixed(head + 8, sum, 4);
	strbuf_add(w->out, (const char *)head, sizeof(head));
	strbuf_add(w->out, strbuf_text(&w->section), w->section.length);
	/* Lengths have 32 bits: longer ones cannot be written. */
	if (w->section.failed || w->section.length > UINT32_MAX)
		w->out->failed = true;
	if (is_lasting(type))
		w->lasting += sizeof(head) + w->section.length;
	w->section.length = 0;
	w->sections++;
}

static void end_table(struct writer *w, const char *type)
{
	if (w->section.length)
		write_end_section(w, type);
}

static void write_run(struct writer *w)
{
	const struct experiment *x = w->x;
	const struct experiment_folded *f = &x->folded;

	put_text(&w->section, x->type);
	put_uint(&w->section, x->began);
	put_uint(&w->section, x->elapsed);
	put_uint(&w->section, x->runs);
	put_uint(&w->section, x->complete);
	put_uint(&w->section, f->processes);
	put_uint(&w->section, f->threads);
	put_uint(&w->section, f->failed);
	put_uint(&w->section, f->ranks);
	put_sint(&w->section, f->rank_low);
	put_sint(&w->section, f->rank_high);
	write_end_section(w, "RUN ");
}

static void write_list(struct writer *w, int which)
{
	const struct experiment_list *l = &experiment_lists[which];
	const struct experiment_vec *v = experiment_list_vec(w->x, which);

	for (size_t i = l->fixed; i < v->count; i++)
		row_put_record(v->data + i * l->kind.size, &l->kind, &w->record, &w->section);
	end_table(w, l->kind.type);
}

/*
 * The address is given by its distance from the last one in the same image. The lowest bit of the
 * first number: 0, image and parent are those of the last node, and the rest is that distance; 1,
 * the rest is the distance from that parent, and image and address follow.
 */
static void write_nodes(struct writer *w)
{
	uint64_t *last = calloc(w->x->images.count, sizeof(*last)), distance;
	uint32_t parent = 0, image = 0;

	if (!last)
		w->out->failed = true;
	for (size_t i = 1; last && i < w->x->nodes.count; i++) {
		const struct experiment_node *n = experiment_node_at(w->x, i);

		distance = n->key.address - last[n->key.image];
		if (n->key.parent == parent && n->key.image == image && !(distance >> 63)) {
			put_uint(&w->section, distance << 1);
		} else {
			put_uint(&w->section, (uint64_t)(n->key.parent - parent) << 1 | 1);
			put_uint(&w->section, n->key.image);
			put_sint(&w->section, (int64_t)distance);
		}
		parent = n->key.parent;
		image = n->key.image;
		last[image] = n->key.address;
		if (w->section.length >= CODING_CHUNK)
			write_end_section(w, "NODE");
	}
	end_table(w, "NODE");
	free(last);
}

static bool same_histogram(const struct experiment_sample *a, const struct experiment_sample *b)
{
	return a->key.metric == b->key.metric && a->key.thread == b->key.thread &&
	       a->key.phase == b->key.phase;
}

/* Writes samples of one histogram from number i on, as many as fit this section; returns the next
 * number. */
static size_t write_histogram(struct writer *w, size_t i)
{
	const struct experiment_sample *first = experiment_sample_at(w->x, i), *s = first;
	uint32_t next = 0;
	uint64_t n = 0;

	put_uint(&w->section, first->key.metric);
	put_uint(&w->section, first->key.thread);
	put_uint(&w->section, first->key.phase);
	while (i < w->x->samples.count && same_histogram(first, s) &&
		w->section.length + w->record.length < CODING_CHUNK) {
		put_uint(&w->record, (uint64_t)(s->key.node - next) << 1 | (s->count != 1));
		if (s->count != 1)
			put_uint(&w->record, s->count);
		next = s->key.node + 1;
		n++;
		i++;
		s++;
	}
	put_uint(&w->section, n);
	strbuf_add(&w->section, strbuf_text(&w->record), w->record.length);
	if (w->record.failed)
		w->section.failed = true;
	w->record.length = 0;
	return i;
}

static void write_samples_write(struct writer *w)
{
	for (size_t i = 0; i < w->x->samples.count && !w->section.failed && !w->record.failed;) {
		i = write_histogram(w, i);
		if (w->section.length >= CODING_CHUNK)
			write_end_section(w, "SAMP");
	}
	end_table(w, "SAMP");
}

static void write_slices(struct writer *w)
{
	if (time_slices_fit(w->x, w->lasting))
		w->out->failed = true;
	if (w->x->slices.count)
		time_slices_put(w->x, &w->section);
	end_table(w, "SLIC");
}

static void write_rows(struct writer *w, int which)
{
	const struct row_kind *kind = experiment_kind(which);
	const struct table *t = experiment_table(w->x, which);

	for (size_t i = kind->fixed; i < t->count; i++) {
		row_put(t, kind, i, &w->section);
		if (w->section.length >= CODING_CHUNK)
			write_end_section(w, kind->type);
	}
	end_table(w, kind->type);
}

static void write_table(struct writer *w, int which)
{
	if (which == EXPERIMENT_NODES)
		write_nodes(w);
	else if (which == EXPERIMENT_SAMPLES)
		write_samples_write(w);
	else if (which == EXPERIMENT_SLICES)
		write_slices(w);
	else
		write_rows(w, which);
}

static void write_tables(struct writer *w)
{
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++) {
		/* Most of the writing is over. */
		if (i == EXPERIMENT_VALUE_TALLIES && experiment_count_cost(w->x))
			w->out->failed = true;
		if (i == EXPERIMENT_OBJECTS)
			write_list(w, EXPERIMENT_DATA_METRICS);
		write_table(w, i);
		if (i == EXPERIMENT_ENDS && experiment_has_data(w->x)) {
			put_uint(&w->section, w->x->data.lost);
			write_end_section(w, "DLOS");
		}
	}
}

static unsigned minor_version(const struct experiment *x)
{
	if (x->pauses.count)
		return CODING_MINOR;
	if (x->slices.count)
		return CODING_TIMES;
	if (experiment_has_values(x))
		return CODING_VALUES;
	if (x->waits.count)
		return CODING_WAITS;
	if (experiment_has_branches(x))
		return CODING_BRANCH;
	return experiment_has_data(x) ? CODING_DATA : 0;
}

int experiment_encode(struct experiment *x, struct strbuf *out, struct error *e)
{
	struct writer w = {.x = x, .out = out};
	uint8_t version[4];

	if (experiment_count_cost(x))
		return error_nomem(e);
	if (experiment_settle(x, e))
		return -1;
	strbuf_add(out, CODING_MAGIC, sizeof(CODING_MAGIC) - 1);
	put_fixed(version, CODING_MAJOR, 2);
	put_fixed(version + 2, minor_version(x), 2);
	strbuf_add(out, (const char *)version, sizeof(version));
	write_run(&w);
	for (int i = EXPERIMENT_FACTS; i < EXPERIMENT_DATA_METRICS; i++)
		write_list(&w, i);
	write_tables(&w);
	put_uint(&w.section, w.sections);
	write_end_section(&w, "END ");
	strbuf_fini(&w.section);
	strbuf_fini(&w.record);
	return out->failed ? error_nomem(e) : 0;
}

int experiment_write(struct experiment *x, const char *path, struct error *e)
{
	struct strbuf out = {0};
	struct file_out file;
	int status = -1;

	if (experiment_encode(x, &out, e) == 0 && file_create(&file, path, e) == 0) {
		/* Values are data of the program: there may be secrets among them. */
		if (experiment_has_secrets(x))
			file_private(&file);
		fwrite(out.data, 1, out.length, file.stream);
		status = file_commit(&file, e);
	}
	strbuf_fini(&out);
	return status;
}

int experiment_write_beginning(struct experiment *x, int fd)
{
	mode_t mask = umask(0);
	struct strbuf out = {0};
	int status = experiment_encode(x, &out, NULL);
	size_t done = 0;

	umask(mask);
	fchmod(fd, experiment_has_secrets(x) ? 0600 : 0666 & ~mask);
	while (status == 0 && done < out.length) {
		ssize_t n = write(fd, out.data + done, out.length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	strbuf_fini(&out);
	return status;
}
