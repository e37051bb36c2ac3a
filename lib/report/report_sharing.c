/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines that threads took from each other: the kind of sharing, and the instructions at both ends.
 *
 * A line is called falsely shared if nearly all transfers were useless: while it had the line, the
 * thread touched nothing that others had written since (experiment/data.h); truly shared if nearly
 * none were. If a run is too short to decide, bytes decide: threads whose written bytes no other
 * thread touches share falsely. A line that is never written is read by several; a line with only
 * one thread was taken from another once.
 */
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "report/report_dataspace.h"

enum {
	NEARLY_ALL = 90,    /* percent */
	KNOWN_AT_LEAST = 8, /* one in this number of requests */
	WORTH_SHOWING = 1,  /* percent of all requests, of a line in -dataspace */
	LINES_SHOWN = 4,
	ENDS_SHOWN = 8,
	CULPRITS_SHOWN = 5,
	REQUESTS_LEAST = 8, /* fewer are called hand-overs, of a line in -dataspace */
};

struct shared {
	const struct experiment *x;
	const struct experiment_line *line;
	size_t input, first, ends; /* ends of x: first and how many */
	uint32_t index;            /* of the line, there */
};

/* What threads do to the same bytes at one place of the code. */
struct end {
	VEC(uint32_t) threads; /* ascending */
	uint32_t object;       /* of v->o */
	const char *place;
	uint64_t requests, accesses;
	uint64_t read[EXPERIMENT_MASK_WORDS], written[EXPERIMENT_MASK_WORDS];
};

typedef VEC(struct end) end_list;

/* ---- bytes ---- */

static bool sharing_empty(const uint64_t *mask)
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

/* "0-7, 16-23": bytes of the unit, counted from `first`. */
static void put_bytes(struct strbuf *to, const uint64_t *mask, uint64_t unit, int64_t first)
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
		strbuf_printf(to, "%s%lld", separator, (long long)((uint64_t)first + i * each));
		if (end * each > i * each + 1)
			strbuf_printf(to, "-%lld", (long long)((uint64_t)first + end * each - 1));
		separator = ", ";
	}
}

/* ---- kinds ---- */

/* Ends of a line follow each other. */
static void find_ends(struct shared *s)
{
	size_t low =
		vec_search(i, s->x->ends.count, experiment_end_at(s->x, i)->key.line < s->index);

	s->first = low;
	while (low < s->x->ends.count && experiment_end_at(s->x, low)->key.line == s->index)
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

/* Do two threads touch it, of which one writes? */
static bool is_contended(const struct shared *s, bool *writes)
{
	bool threads = false;

	*writes = false;
	for (size_t i = 0; i < s->ends; i++) {
		const struct experiment_end *a = experiment_end_at(s->x, s->first + i);

		*writes |= !sharing_empty(a->written);
		threads |= a->key.thread != experiment_end_at(s->x, s->first)->key.thread;
	}
	return threads;
}

static const struct sharing {
	const char *name, *text;
} false_sharing = {"false", "false sharing"}, true_sharing = {"true", "true sharing"},
  both_sharing = {"both", "true and false sharing"}, read_sharing = {"read", "read by several"},
  no_sharing = {"moved", "came from another thread"};

static const struct sharing *sharing_of(const struct shared *s)
{
	double needed = (double)s->line->needed, useless = (double)s->line->useless;
	bool writes, threads = is_contended(s, &writes);

	if (!threads)
		return &no_sharing;
	if (!writes)
		return &read_sharing;
	if (needed + useless == 0)
		return bytes_meet(s) ? &true_sharing : &false_sharing;
	/* Few known transfers are weak evidence if bytes contradict them. */
	if (100 * useless >= NEARLY_ALL * (needed + useless))
		return (needed + useless) * KNOWN_AT_LEAST < (double)s->line->requests &&
				       bytes_meet(s)
			       ? &both_sharing
			       : &false_sharing;
	return 100 * needed >= NEARLY_ALL * (needed + useless) ? &true_sharing : &both_sharing;
}

/* ---- ends ---- */

static int by_use(const void *pa, const void *pb)
{
	const struct end *a = pa, *b = pb;

	return sort_falling(a->requests, b->requests) ?: sort_falling(a->accesses, b->accesses)
		       ?: sort_rising(a->threads.data[0], b->threads.data[0])
		       ?: strcmp(a->place, b->place);
}

static void fini_ends(end_list *ends)
{
	for (size_t i = 0; i < ends->count; i++)
		vec_fini(&ends->data[i].threads);
	vec_fini(ends);
}

static void sharing_add_up(struct end *to, const struct end *from)
{
	to->requests += from->requests;
	to->accesses += from->accesses;
	for (int k = 0; k < EXPERIMENT_MASK_WORDS; k++) {
		to->read[k] |= from->read[k];
		to->written[k] |= from->written[k];
	}
}

/* Instructions of one line of the source are one end of a thread. */
static int take_ends(struct report_dataspace_view *v, const struct shared *s, end_list *ends)
{
	for (size_t i = 0; i < s->ends; i++) {
		const struct experiment_end *from = experiment_end_at(s->x, s->first + i);
		struct end one = {.object = v->o.of[s->input][from->key.object],
			.place = report_code_place(v->t, v->d,
				v->d->image_of.data[s->input][from->key.image], from->key.address),
			.requests = from->requests,
			.accesses = from->loads + from->stores};
		struct end *to = NULL;

		memcpy(one.read, from->read, sizeof(one.read));
		memcpy(one.written, from->written, sizeof(one.written));
		for (size_t k = 0; !to && k < ends->count; k++)
			if (ends->data[k].threads.data[0] == from->key.thread &&
				ends->data[k].object == one.object &&
				strcmp(ends->data[k].place, one.place) == 0)
				to = &ends->data[k];
		if (to)
			sharing_add_up(to, &one);
		else if (vec_add(&one.threads, from->key.thread) || vec_add(ends, one)) {
			vec_fini(&one.threads);
			return -1;
		}
	}
	return 0;
}

/* Threads that do the same to the same bytes are one end. */
static int join_ends(end_list *ends)
{
	size_t kept = 0;

	for (size_t i = 0; i < ends->count; i++) {
		struct end one = ends->data[i], *to = NULL;

		for (size_t k = 0; !to && k < kept; k++)
			if (ends->data[k].object == one.object &&
				equal(ends->data[k].read, one.read) &&
				equal(ends->data[k].written, one.written) &&
				strcmp(ends->data[k].place, one.place) == 0)
				to = &ends->data[k];
		if (!to) {
			if (kept != i)
				ends->data[i].threads.data = NULL;
			ends->data[kept++] = one;
			continue;
		}
		if (vec_add(&to->threads, one.threads.data[0]))
			return -1;
		sharing_add_up(to, &one);
		vec_fini(&ends->data[i].threads);
	}
	ends->count = kept;
	return 0;
}

/* "threads 1-3, 5": ends of a line are sorted by thread. */
static void put_threads(struct strbuf *to, const struct end *end)
{
	const uint32_t *t = end->threads.data;
	size_t n = end->threads.count;

	strbuf_puts(to, n > 1 ? "threads " : "thread ");
	for (size_t i = 0, next; i < n; i = next) {
		for (next = i + 1; next < n && t[next] == t[next - 1] + 1; next++)
			;
		strbuf_printf(to, "%s%u", i ? ", " : "", t[i]);
		if (next > i + 1)
			strbuf_printf(to, "%s%u", next > i + 2 ? "-" : ", ", t[next - 1]);
	}
}

/* " reads and writes bytes 8-15" */
static void put_access(struct strbuf *to, const struct end *end, uint64_t unit, int64_t first)
{
	bool reads = !sharing_empty(end->read), writes = !sharing_empty(end->written);
	const char *verb = end->threads.count > 1 ? "" : "s";

	if (reads && writes && equal(end->read, end->written)) {
		strbuf_printf(to, " read%s and write%s bytes ", verb, verb);
		put_bytes(to, end->read, unit, first);
		return;
	}
	strbuf_printf(to, " %s%s bytes ", reads ? "read" : "write", verb);
	put_bytes(to, reads ? end->read : end->written, unit, first);
	if (reads && writes) {
		strbuf_printf(to, ", write%s ", verb);
		put_bytes(to, end->written, unit, first);
	}
}

/* "thread 1 writes bytes 8-15 in physics (weather: weather.c, 55)": bytes of the object. Where
 * other objects begin in the line is not known: "bytes 8-15 of the line, in sums, in physics ...".
 */
static void add_end(struct report_dataspace_view *v, const struct shared *s, const struct end *end)
{
	bool own = end->object == v->o.of[s->input][s->line->key.object];
	struct strbuf text = {0};

	put_threads(&text, end);
	put_access(&text, end, s->line->key.bytes, own ? s->line->key.offset : 0);
	if (!own)
		strbuf_printf(&text, " of the line, of %s,",
			profile_string_at(v->d, report_object_at(&v->o, end->object)->key.name));
	strbuf_printf(&text, " in %s", end->place);
	if (end->requests)
		strbuf_printf(&text, ": took it %llu time%s", (unsigned long long)end->requests,
			plural(end->requests));
	report_dataspace_text(v, 2, REPORT_DATASPACE_END, NULL, NULL, strbuf_text(&text));
	v->t->failed |= text.failed;
	strbuf_fini(&text);
}

/* Those that never took it are shown only as the other end. */
static bool is_end_shown(const struct end *end, size_t shown)
{
	return shown < (end->requests ? ENDS_SHOWN : 2);
}

static void add_ends(struct report_dataspace_view *v, const struct shared *s)
{
	end_list ends = {0};
	size_t shown = 0;

	if (take_ends(v, s, &ends) || join_ends(&ends))
		v->t->failed = true;
	else if (ends.count)
		qsort(ends.data, ends.count, sizeof(*ends.data), by_use);
	for (; shown < ends.count && is_end_shown(&ends.data[shown], shown); shown++)
		add_end(v, s, &ends.data[shown]);
	report_dataspace_more(v, ends.count - shown, "place", 2);
	fini_ends(&ends);
}

/* ---- lines ---- */

/* "the line of bytes 0-31 and of 32 bytes before them": of the object, the line's */
static const char *bytes_of(struct report_dataspace_view *v, const struct experiment_line *line)
{
	int64_t from = line->key.offset;
	int64_t to = (int64_t)((uint64_t)from + line->key.bytes - 1);

	if (from >= 0 || to < 0)
		return report_text(
			v->t, "the line of bytes %lld-%lld", (long long)from, (long long)to);
	return report_text(v->t, "the line of bytes 0-%lld and of %lld before them", (long long)to,
		-(long long)from);
}

/* "false sharing: the line of bytes 0-63 was taken from another thread 429 times, 209 of 210
 * needlessly" */
static void add_line(struct report_dataspace_view *v, const struct shared *s)
{
	const struct sharing *sharing = sharing_of(s);
	unsigned long long requests = s->line->requests, useless = s->line->useless,
			   known = s->line->needed + useless;

	report_dataspace_text(v, 1, REPORT_DATASPACE_LINE, sharing->name, NULL,
		report_text(v->t, "%s: %s was taken from another thread %llu time%s%s",
			sharing->text, bytes_of(v, s->line), requests, plural(requests),
			known ? report_text(v->t, ", %llu of %llu needlessly", useless, known)
			      : ""));
	add_ends(v, s);
}

/* Is there something to report on the line of an object? */
static bool is_shown(const struct report_dataspace_view *v, const struct shared *s)
{
	const struct sharing *sharing = sharing_of(s);

	if (v->lines)
		return true;
	return sharing != &read_sharing && sharing != &no_sharing &&
	       s->line->requests >= REQUESTS_LEAST &&
	       s->line->requests * 100 >= v->requests * WORTH_SHOWING;
}

static int by_requests(const void *pa, const void *pb)
{
	const struct shared *a = pa, *b = pb;

	return sort_falling(a->line->requests, b->line->requests)
		       ?: (a->line->key.offset > b->line->key.offset) -
				  (a->line->key.offset < b->line->key.offset)
		       ?: sort_rising(a->input, b->input) ?: sort_rising(a->index, b->index);
}

typedef VEC(struct shared) shared_list;

static shared_list find_lines(struct report_dataspace_view *v, uint32_t object)
{
	const struct report_dataspace_refs *refs = &v->refs[EXPERIMENT_LINES];
	shared_list lines = {0};

	for (size_t i = refs->first[object]; i < refs->first[object + 1]; i++) {
		const struct report_dataspace_ref *ref = &refs->ref[i];
		const struct experiment *x = report_dataspace_input(v, ref);
		struct shared one = {.x = x,
			.line = experiment_line_at(x, ref->row),
			.input = ref->input,
			.index = ref->row};

		if (!one.line->requests)
			continue;
		find_ends(&one);
		if (is_shown(v, &one))
			v->t->failed |= vec_add(&lines, one) != 0;
	}
	if (lines.count)
		qsort(lines.data, lines.count, sizeof(*lines.data), by_requests);
	return lines;
}

void report_sharing_rows(struct report_dataspace_view *v, uint32_t object)
{
	shared_list lines = find_lines(v, object);
	size_t shown = 0;

	for (; shown < lines.count && shown < LINES_SHOWN; shown++)
		add_line(v, &lines.data[shown]);
	report_dataspace_more(v, lines.count - shown, "shared line", 1);
	vec_fini(&lines);
}

/* ---- falsely shared lines ---- */

struct culprit {
	uint64_t requests;
	uint32_t object;
	size_t lines;
};

static int by_culprit(const void *pa, const void *pb)
{
	const struct culprit *a = pa, *b = pb;

	return sort_falling(a->requests, b->requests) ?: sort_rising(a->object, b->object);
}

static void say_culprit(struct report_dataspace_view *v, const struct culprit *c)
{
	const struct report_object *o = report_object_at(&v->o, c->object);

	report_note(v->t,
		"False sharing: %s%s: %zu line%s, taken from another thread %llu "
		"times (%.1f%% of all)",
		profile_string_at(v->d, o->key.name),
		o->key.image ? report_text(v->t, " (%s)", v->d->images.data[o->key.image].name)
			     : "",
		c->lines, plural(c->lines), (unsigned long long)c->requests,
		100 * (double)c->requests / (double)v->requests);
}

void report_sharing_notes(struct report_dataspace_view *v)
{
	struct culprit *culprits = report_scratch(v->t, v->o.all.count, sizeof(*culprits));
	size_t count = 0;

	for (uint32_t o = 0; culprits && o < v->o.all.count; o++) {
		struct culprit one = {.object = o};
		shared_list lines = find_lines(v, o);

		for (size_t i = 0; i < lines.count; i++)
			if (sharing_of(&lines.data[i]) == &false_sharing) {
				one.requests += lines.data[i].line->requests;
				one.lines++;
			}
		vec_fini(&lines);
		if (one.lines)
			culprits[count++] = one;
	}
	if (culprits)
		qsort(culprits, count, sizeof(*culprits), by_culprit);
	for (size_t i = 0; i < count && i < CULPRITS_SHOWN; i++)
		if (culprits[i].requests * 100 >= v->requests * WORTH_SHOWING)
			say_culprit(v, &culprits[i]);
}
