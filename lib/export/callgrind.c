/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Callgrind format, version 1 (Valgrind's manual describes it), with names and positions
 * compressed. Inlined code is part of the real function, at its own file and line, unless -inlines
 * makes functions of it. If call paths are known, calls have the inclusive cost; recursion on a
 * path counts once. The number of calls is unknown: calls=1.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/shown.h"
#include "base/sort.h"
#include "export/private.h"

#define NONE UINT32_MAX

struct cost { /* table entry */
	struct {
		uint64_t address;
		uint32_t function, callee; /* callee: NONE for what is the function's own */
		uint32_t file, line;
	} key;
};

struct writer {
	const struct export_profile *x;
	FILE *out;
	struct strbuf text;
	struct export_steps steps;
	struct table costs;
	VEC(uint64_t) units; /* [cost * metrics + metric] */
	uint32_t *order;
	bool *seen[3]; /* names written: [enum space][index] */
	uint32_t object, file;
	uint64_t address;
	uint32_t line;
	bool positioned; /* an address and a line were written before */
};

enum space { OBJECT, FILE_NAME, FUNCTION };

static long callgrind_cost_of(struct writer *w, const struct cost *key)
{
	size_t before = w->costs.count;
	struct cost *own = table_add(&w->costs, &key->key);

	if (!own)
		return -1;
	for (size_t k = 0; w->costs.count > before && k < w->x->metrics.count; k++) {
		const uint64_t *slot = vec_push(&w->units);

		if (!slot)
			return -1;
	}
	return own - (struct cost *)(void *)w->costs.entries;
}

/* The position of a step in its function. */
static struct cost callgrind_place_of(
	const struct writer *w, const struct export_step *s, uint32_t callee)
{
	const struct export_location *l = &w->x->locations.data[s->location];
	const struct export_frame *f = &w->x->frames.data[l->first + s->frame];

	return (struct cost){
		.key = {l->address, s->function, callee,
			f->file ? f->file : export_function_at(w->x, s->function)->key.file,
			f->line}};
}

static int take_own(struct writer *w)
{
	const struct export_profile *x = w->x;

	for (size_t i = 1; i < w->steps.all.count; i++) {
		const struct export_step *s = &w->steps.all.data[i];
		struct cost key = callgrind_place_of(w, s, NONE);
		long cost;

		if (!s->node || !export_any(x, s->node))
			continue;
		cost = callgrind_cost_of(w, &key);
		if (cost < 0)
			return -1;
		for (size_t m = 0; m < x->metrics.count; m++)
			w->units.data[(size_t)cost * x->metrics.count + m] +=
				export_units(x, s->node, m);
	}
	return 0;
}

/* Units of each step and all below it. */
static uint64_t *subtrees(const struct writer *w)
{
	size_t m = w->x->metrics.count, count = w->steps.all.count;
	uint64_t *sums = calloc(count * m + 1, sizeof(*sums));

	for (size_t i = count; sums && i-- > 1;)
		for (size_t k = 0; k < m; k++) {
			sums[i * m + k] += export_units(w->x, w->steps.all.data[i].node, k);
			sums[w->steps.all.data[i].parent * m + k] += sums[i * m + k];
		}
	return sums;
}

/* The call to each step; NONE of those without caller. */
static int find_calls(struct writer *w, const uint64_t *sums, uint32_t *call)
{
	size_t m = w->x->metrics.count;

	for (size_t i = 0; i < w->steps.all.count; i++) {
		const struct export_step *s = &w->steps.all.data[i];
		bool any = false;
		struct cost key;
		long cost;

		call[i] = NONE;
		for (size_t k = 0; k < m; k++)
			any = any || sums[i * m + k];
		if (!i || !s->parent || !any)
			continue;
		key = callgrind_place_of(w, &w->steps.all.data[s->parent], s->function);
		cost = callgrind_cost_of(w, &key);
		if (cost < 0)
			return -1;
		call[i] = (uint32_t)cost;
	}
	return 0;
}

struct walk {
	uint32_t *first, *next, *active;
};

static int link_steps(const struct writer *w, struct walk *walk)
{
	size_t count = w->steps.all.count;

	walk->first = calloc(count + 1, sizeof(*walk->first));
	walk->next = calloc(count + 1, sizeof(*walk->next));
	walk->active = calloc(w->costs.count + 1, sizeof(*walk->active));
	if (!walk->first || !walk->next || !walk->active)
		return -1;
	for (size_t i = count; i-- > 1;) {
		uint32_t parent = w->steps.all.data[i].parent;

		walk->next[i] = walk->first[parent];
		walk->first[parent] = (uint32_t)i;
	}
	return 0;
}

/* Depth first; a call that is on the path already adds nothing. */
static int take_calls(struct writer *w, const uint64_t *sums, const uint32_t *call)
{
	size_t m = w->x->metrics.count;
	struct walk walk = {0};
	uint32_t at;
	int rc = link_steps(w, &walk);

	for (at = rc ? 0 : walk.first[0]; at;) {
		if (call[at] != NONE && walk.active[call[at]]++ == 0)
			for (size_t k = 0; k < m; k++)
				w->units.data[call[at] * m + k] += sums[at * m + k];
		if (walk.first[at]) {
			at = walk.first[at];
			continue;
		}
		for (;;) {
			if (call[at] != NONE)
				walk.active[call[at]]--;
			if (walk.next[at]) {
				at = walk.next[at];
				break;
			}
			at = w->steps.all.data[at].parent;
			if (!at)
				break;
		}
	}
	free(walk.first);
	free(walk.next);
	free(walk.active);
	return rc;
}

static int callgrind_by_place(const void *a, const void *b, void *context)
{
	const struct writer *w = context;
	const struct cost *x = table_at(&w->costs, *(const uint32_t *)a),
			  *y = table_at(&w->costs, *(const uint32_t *)b);
	const struct export_function *f = export_function_at(w->x, x->key.function),
				     *g = export_function_at(w->x, y->key.function);

	return sort_rising(f->key.image, g->key.image) ?:
	       sort_rising(x->key.function, y->key.function) ?:
	       sort_rising(x->key.address, y->key.address) ?:
	       sort_rising(x->key.callee + 1, y->key.callee + 1) ?: /* NONE first */
	       sort_rising(x->key.file, y->key.file);
}

static int collect(struct writer *w)
{
	size_t count;
	uint64_t *sums = NULL;
	uint32_t *call = NULL;
	int rc = export_steps(&w->steps, w->x);

	if (rc == 0) {
		sums = subtrees(w);
		call = calloc(w->steps.all.count + 1, sizeof(*call));
		rc = sums && call && take_own(w) == 0 && find_calls(w, sums, call) == 0 &&
				     take_calls(w, sums, call) == 0
			     ? 0
			     : -1;
	}
	free(sums);
	free(call);
	count = w->costs.count;
	w->order = calloc(count + 1, sizeof(*w->order));
	if (rc || !w->order)
		return -1;
	for (uint32_t i = 0; i < count; i++)
		w->order[i] = i;
	qsort_r(w->order, count, sizeof(*w->order), callgrind_by_place, w);
	return 0;
}

static void finish_line(struct writer *w)
{
	fprintf(w->out, "%s\n", strbuf_text(&w->text));
	w->text.length = 0;
}

/* "fn=(3) name" the first time, "fn=(3)" later. */
static void put_name(struct writer *w, const char *key, enum space space, uint32_t index)
{
	const char *text = "";

	strbuf_printf(&w->text, "%s=(%" PRIu32 ")", key, index + 1);
	if (!w->seen[space][index]) {
		w->seen[space][index] = true;
		text = space == OBJECT ? w->x->data->images.data[index].image->path
		       : space == FUNCTION
			       ? export_text(w->x, export_function_at(w->x, index)->key.name)
		       : index ? export_text(w->x, index)
			       : "???";
		shown_printf(&w->text, " %s", text);
	}
	finish_line(w);
}

static void put_relative(struct writer *w, uint64_t now, uint64_t before, const char *format)
{
	uint64_t up = now - before, down = before - now;

	if (!w->positioned || (up > 9999 && down > 9999))
		fprintf(w->out, format, now);
	else if (!up)
		putc('*', w->out);
	else if (up <= 9999)
		fprintf(w->out, "+%" PRIu64, up);
	else
		fprintf(w->out, "-%" PRIu64, down);
}

static void put_cost(struct writer *w, uint32_t index)
{
	const struct cost *c = table_at(&w->costs, index);
	size_t m = w->x->metrics.count;

	put_relative(w, c->key.address, w->address, "0x%" PRIx64);
	putc(' ', w->out);
	put_relative(w, c->key.line, w->line, "%" PRIu64);
	for (size_t k = 0; k < m; k++)
		fprintf(w->out, " %" PRIu64, w->units.data[index * m + k]);
	putc('\n', w->out);
	w->address = c->key.address;
	w->line = c->key.line;
	w->positioned = true;
}

static void put_call(struct writer *w, const struct cost *c)
{
	const struct export_function *callee = export_function_at(w->x, c->key.callee);

	if (callee->key.image != w->object)
		put_name(w, "cob", OBJECT, callee->key.image);
	put_name(w, "cfi", FILE_NAME, callee->key.file);
	put_name(w, "cfn", FUNCTION, c->key.callee);
	fprintf(w->out, "calls=1 0x%" PRIx64 " %" PRIu32 "\n", callee->key.begin, callee->key.line);
}

static void put_costs(struct writer *w)
{
	uint32_t function = NONE;

	w->object = NONE;
	for (size_t i = 0; i < w->costs.count; i++) {
		const struct cost *c = table_at(&w->costs, w->order[i]);
		const struct export_function *f = export_function_at(w->x, c->key.function);

		if (c->key.function != function) {
			putc('\n', w->out);
			if (f->key.image != w->object)
				put_name(w, "ob", OBJECT, f->key.image);
			put_name(w, "fl", FILE_NAME, f->key.file);
			put_name(w, "fn", FUNCTION, c->key.function);
			w->object = f->key.image;
			w->file = f->key.file;
			function = c->key.function;
		}
		if (c->key.file != w->file)
			put_name(w, c->key.file == f->key.file ? "fe" : "fi", FILE_NAME,
				c->key.file);
		w->file = c->key.file;
		if (c->key.callee != NONE)
			put_call(w, c);
		put_cost(w, w->order[i]);
		progress_step(
			w->x->request->progress, (double)i / (double)w->costs.count, "writing");
	}
}

/* Names of events are words. */
static void put_event(const struct writer *w, size_t metric)
{
	for (const char *at = w->x->metrics.data[metric].name; *at; at++)
		putc(strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_", *at)
				? *at
				: '_',
			w->out);
}

static void put_head(struct writer *w)
{
	const struct export_profile *x = w->x;
	const struct prof_request *r = x->data->request;
	const char *command =
		r->count ? experiment_fact_find(r->inputs[0].experiment, "command") : NULL;

	fprintf(w->out, "# callgrind format\nversion: 1\ncreator: %s\n", x->request->creator);
	if (command) {
		shown_printf(&w->text, "cmd: %s", command);
		finish_line(w);
	}
	for (size_t m = 0; m < x->metrics.count; m++) {
		shown_printf(&w->text, "desc: Metric: %s", x->metrics.data[m].text);
		finish_line(w);
	}
	for (size_t i = 0; i < x->notes.notes.count; i++) {
		shown_printf(&w->text, "desc: Note: %s", x->notes.notes.data[i].value);
		finish_line(w);
	}
	fputs("desc: Calls: how often was called is not known, 1 stands for any number\n"
	      "positions: instr line\n",
		w->out);
	for (size_t m = 0; m < x->metrics.count; m++) {
		const struct experiment_metric *of =
			x->data->metrics.data[x->metrics.data[m].index].metric;

		fputs("event: ", w->out);
		put_event(w, m);
		shown_printf(&w->text, " : %s (%s, %s)", of->name, x->metrics.data[m].unit,
			label_name(of->label));
		finish_line(w);
	}
	fputs("events:", w->out);
	for (size_t m = 0; m < x->metrics.count; m++) {
		putc(' ', w->out);
		put_event(w, m);
	}
	fputs("\nsummary:", w->out);
	for (size_t m = 0; m < x->metrics.count; m++)
		fprintf(w->out, " %" PRIu64,
			x->metrics.data[m].samples * x->metrics.data[m].unit_size);
	putc('\n', w->out);
}

int export_callgrind(const struct export_profile *x, FILE *out, struct error *e)
{
	const size_t names[] = {x->data->images.count, x->data->strings.count, x->functions.count};
	struct writer w = {.x = x,
		.out = out,
		.costs = {.entry_size = sizeof(struct cost),
			.key_size = sizeof(((struct cost *)0)->key)}};
	bool failed;
	int rc = 0;

	for (int i = 0; i < 3; i++) {
		w.seen[i] = calloc(names[i] + 1, sizeof(bool));
		rc = w.seen[i] ? rc : -1;
	}
	if (rc == 0)
		rc = collect(&w);
	if (rc == 0) {
		put_head(&w);
		put_costs(&w);
	}
	failed = w.text.failed;
	for (int i = 0; i < 3; i++)
		free(w.seen[i]);
	vec_fini(&w.steps.all);
	table_fini(&w.costs);
	vec_fini(&w.units);
	strbuf_fini(&w.text);
	free(w.order);
	return rc || failed ? error_nomem(e) : 0;
}
