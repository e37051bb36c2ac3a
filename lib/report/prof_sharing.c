/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that threads took from each other: what kind of sharing that is, and who is at its ends.
 *
 * A line is called falsely shared where nearly all who took it touched nothing, while they had it,
 * that others had written since (experiment/data.h); truly shared where nearly all did.  Where a
 * run is too short to know, bytes decide: threads that write none that another touches share
 * falsely. What nobody writes is read by several; what only one thread is seen at came from another
 * once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "report/prof_dataspace.h"

enum {
	NEARLY_ALL = 90,    /* percent */
	KNOWN_AT_LEAST = 8, /* one in so many requests */
	WORTH_SHOWING = 1,  /* percent of all requests, of a line in -dataspace */
	LINES_SHOWN = 8,
	ENDS_SHOWN = 16,
};

struct shared {
	const struct experiment *x;
	const struct experiment_line *line;
	size_t input, first, ends; /* ends of x: first and how many */
	uint32_t index;            /* of the line, there */
};

/* What one thread does at one place of the code. */
struct end {
	uint32_t thread, object; /* object: of v->o */
	const char *place;
	uint64_t requests, accesses;
	uint64_t read[EXPERIMENT_MASK_WORDS], written[EXPERIMENT_MASK_WORDS];
};

typedef VEC(struct end) end_list;

/* ---- bytes ---- */

static bool empty(const uint64_t *mask)
{
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		if (mask[i])
			return false;
	return true;
}

static bool overlap(const uint64_t *a, const uint64_t *b)
{
	for (int i = 0; i < EXPERIMENT_MASK_WORDS; i++)
		if (a[i] & b[i])
			return true;
	return false;
}

static bool equal(const uint64_t *a, const uint64_t *b)
{
	return memcmp(a, b, EXPERIMENT_MASK_WORDS * sizeof(*a)) == 0;
}

/* "0-7, 16-23", of bytes of the unit. */
static void put_bytes(struct strbuf *to, const uint64_t *mask, uint64_t unit)
{
	unsigned bits = 64 * EXPERIMENT_MASK_WORDS, end;
	uint64_t each = unit > bits ? unit / bits : 1;
	const char *separator = "";

	for (unsigned i = 0; i < bits; i = end) {
		end = i + 1;
		if (!(mask[i / 64] >> i % 64 & 1))
			continue;
		while (end < bits && mask[end / 64] >> end % 64 & 1)
			end++;
		strbuf_printf(to, "%s%llu", separator, (unsigned long long)(i * each));
		if (end * each > i * each + 1)
			strbuf_printf(to, "-%llu", (unsigned long long)(end * each - 1));
		separator = ", ";
	}
}

/* ---- kinds ---- */

/* Ends of a line follow each other. */
static void find_ends(struct shared *s)
{
	size_t low = 0, high = s->x->data.ends.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (experiment_end_at(s->x, middle)->key.line < s->index)
			low = middle + 1;
		else
			high = middle;
	}
	s->first = low;
	while (low < s->x->data.ends.count && experiment_end_at(s->x, low)->key.line == s->index)
		low++;
	s->ends = low - s->first;
}

/* Does a thread write what another touches? */
static bool bytes_meet(const struct shared *s)
{
	for (size_t i = 0; i < s->ends; i++)
		for (size_t k = 0; k < s->ends; k++) {
			const struct experiment_end *a = experiment_end_at(s->x, s->first + i),
						    *b = experiment_end_at(s->x, s->first + k);

			if (a->key.thread != b->key.thread &&
				(overlap(a->written, b->read) || overlap(a->written, b->written)))
				return true;
		}
	return false;
}

/* Are two threads seen there, of which one writes? */
static bool is_contended(const struct shared *s, bool *writes)
{
	bool threads = false;

	*writes = false;
	for (size_t i = 0; i < s->ends; i++) {
		const struct experiment_end *a = experiment_end_at(s->x, s->first + i);

		*writes |= !empty(a->written);
		threads |= a->key.thread != experiment_end_at(s->x, s->first)->key.thread;
	}
	return threads;
}

static const char *sharing_of(const struct shared *s)
{
	double needed = (double)s->line->needed, useless = (double)s->line->useless;
	bool writes, threads = is_contended(s, &writes);

	if (!threads)
		return "moved";
	if (!writes)
		return "read";
	if (needed + useless == 0)
		return bytes_meet(s) ? "true" : "false";
	/* Of a few only it says little where bytes say otherwise. */
	if (100 * useless >= NEARLY_ALL * (needed + useless))
		return (needed + useless) * KNOWN_AT_LEAST < (double)s->line->requests &&
				       bytes_meet(s)
			       ? "both"
			       : "false";
	return 100 * needed >= NEARLY_ALL * (needed + useless) ? "true" : "both";
}

static const struct {
	const char *name, *text;
} sharings[] = {
	{"false", "false sharing"},
	{"true", "true sharing"},
	{"both", "true and false sharing"},
	{"read", "read by several"},
	{"moved", "came from another thread"},
};

static const char *sharing_text(const char *name)
{
	size_t i = 0;

	while (strcmp(sharings[i].name, name) != 0)
		i++;
	return sharings[i].text;
}

/* ---- ends ---- */

static int by_use(const void *pa, const void *pb)
{
	const struct end *a = pa, *b = pb;

	if (a->requests != b->requests)
		return a->requests > b->requests ? -1 : 1;
	if (a->accesses != b->accesses)
		return a->accesses > b->accesses ? -1 : 1;
	if (a->thread != b->thread)
		return a->thread < b->thread ? -1 : 1;
	return strcmp(a->place, b->place);
}

/* Instructions of one line of the source are one end. */
static int take_ends(struct dataspace_view *v, const struct shared *s, end_list *ends)
{
	for (size_t i = 0; i < s->ends; i++) {
		const struct experiment_end *from = experiment_end_at(s->x, s->first + i);
		struct end one = {.thread = from->key.thread,
			.object = v->o.of.data[s->input][from->key.object]};
		struct end *to = NULL;

		one.place = prof_code_place(v->t, v->d,
			v->d->image_of.data[s->input][from->key.image], from->key.address);
		if (!one.place)
			return -1;
		for (size_t k = 0; !to && k < ends->count; k++)
			if (ends->data[k].thread == one.thread &&
				ends->data[k].object == one.object &&
				strcmp(ends->data[k].place, one.place) == 0)
				to = &ends->data[k];
		if (!to) {
			to = vec_push(ends);
			if (!to)
				return -1;
			*to = one;
		}
		to->requests += from->requests;
		to->accesses += from->loads + from->stores;
		for (int k = 0; k < EXPERIMENT_MASK_WORDS; k++) {
			to->read[k] |= from->read[k];
			to->written[k] |= from->written[k];
		}
	}
	if (ends->count)
		qsort(ends->data, ends->count, sizeof(*ends->data), by_use);
	return 0;
}

/* "reads and writes bytes 8-15" */
static void put_access(struct strbuf *to, const struct end *end, uint64_t unit)
{
	bool reads = !empty(end->read), writes = !empty(end->written);

	if (reads && writes && equal(end->read, end->written)) {
		strbuf_puts(to, "reads and writes bytes ");
		put_bytes(to, end->read, unit);
		return;
	}
	strbuf_puts(to, reads ? "reads bytes " : writes ? "writes bytes " : "prefetches");
	put_bytes(to, reads ? end->read : end->written, unit);
	if (reads && writes) {
		strbuf_puts(to, ", writes ");
		put_bytes(to, end->written, unit);
	}
}

/* "thread 1 writes bytes 8-15 of sums in physics (weather: weather.c, 55)" */
static int add_end(struct dataspace_view *v, const struct shared *s, const struct end *end)
{
	struct prof_row row = {.role = PROF_ROW, .parent = -1, .depth = 2};
	struct strbuf text = {0};

	strbuf_printf(&text, "thread %u ", end->thread);
	put_access(&text, end, s->line->key.bytes);
	if (end->object != v->o.of.data[s->input][s->line->key.object])
		strbuf_printf(&text, " of %s",
			prof_string_at(v->d, prof_object_at(&v->o, end->object)->key.name));
	strbuf_printf(&text, " in %s", end->place);
	if (end->requests)
		strbuf_printf(&text, ": took it %llu times", (unsigned long long)end->requests);
	row.procedure = text.failed ? NULL : prof_text(v->t, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	return row.procedure && dataspace_row(v, &row, DATASPACE_END, NULL, NULL) >= 0 ? 0 : -1;
}

static int add_ends(struct dataspace_view *v, const struct shared *s)
{
	end_list ends = {0};
	size_t shown = 0;
	int rc = take_ends(v, s, &ends);

	for (; rc == 0 && shown < ends.count && shown < ENDS_SHOWN; shown++)
		rc = add_end(v, s, &ends.data[shown]);
	if (rc == 0)
		rc = dataspace_more(v, ends.count - shown, "places in the code", 2);
	vec_fini(&ends);
	return rc;
}

/* ---- lines ---- */

/* "false sharing of bytes 0-63: taken from another thread 429 times, 209 of 210 needlessly" */
static int add_line(struct dataspace_view *v, const struct shared *s)
{
	const char *sharing = sharing_of(s);
	struct prof_row row = {.role = PROF_ROW, .parent = -1, .depth = 1};
	long long offset = (long long)s->line->key.offset;
	uint64_t known = s->line->needed + s->line->useless;
	struct strbuf text = {0};

	strbuf_printf(&text, "%s: line from byte %lld on, taken from another thread %llu times",
		sharing_text(sharing), offset, (unsigned long long)s->line->requests);
	if (known)
		strbuf_printf(&text, ", %llu of %llu needlessly",
			(unsigned long long)s->line->useless, (unsigned long long)known);
	row.procedure = text.failed ? NULL : prof_text(v->t, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	if (!row.procedure || dataspace_row(v, &row, DATASPACE_LINE, sharing, NULL) < 0)
		return -1;
	return add_ends(v, s);
}

/* Which lines of an object there is something to say of. */
static bool is_shown(const struct dataspace_view *v, const struct shared *s)
{
	const char *sharing = sharing_of(s);

	if (v->lines)
		return true;
	return strcmp(sharing, "read") != 0 && strcmp(sharing, "moved") != 0 &&
	       s->line->requests > 1 && s->line->requests * 100 >= v->requests * WORTH_SHOWING;
}

static int by_requests(const void *pa, const void *pb)
{
	const struct shared *a = pa, *b = pb;

	if (a->line->requests != b->line->requests)
		return a->line->requests > b->line->requests ? -1 : 1;
	if (a->line->key.offset != b->line->key.offset)
		return a->line->key.offset < b->line->key.offset ? -1 : 1;
	if (a->input != b->input)
		return a->input < b->input ? -1 : 1;
	return a->index < b->index ? -1 : a->index > b->index;
}

void sharing_sum(struct dataspace_view *v)
{
	for (size_t i = 0; i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->data.lines.count; k++)
			v->requests += experiment_line_at(x, k)->requests;
	}
}

int sharing_rows(struct dataspace_view *v, uint32_t object)
{
	VEC(struct shared) lines = {0};
	size_t shown = 0;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < v->d->request->count; i++) {
		const struct experiment *x = v->d->request->inputs[i].experiment;

		for (size_t k = 0; rc == 0 && k < x->data.lines.count; k++) {
			struct shared one = {.x = x,
				.line = experiment_line_at(x, k),
				.input = i,
				.index = (uint32_t)k};
			struct shared *slot;

			if (v->o.of.data[i][one.line->key.object] != object || !one.line->requests)
				continue;
			find_ends(&one);
			if (!is_shown(v, &one))
				continue;
			slot = vec_push(&lines);
			if (slot)
				*slot = one;
			rc = slot ? 0 : -1;
		}
	}
	if (lines.count)
		qsort(lines.data, lines.count, sizeof(*lines.data), by_requests);
	for (; rc == 0 && shown < lines.count && shown < LINES_SHOWN; shown++)
		rc = add_line(v, &lines.data[shown]);
	if (rc == 0)
		rc = dataspace_more(v, lines.count - shown, "shared lines", 1);
	vec_fini(&lines);
	return rc;
}
