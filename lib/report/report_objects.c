/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_objects.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "events/numbers.h"

/* ---- code ---- */

enum { CALLERS = 3 };

size_t report_code_at(const struct prof_data *d, uint32_t image, uint64_t address,
	struct report_code *to, size_t room)
{
	struct image_frame frames[REPORT_CODE_FRAMES];
	struct image_symbol symbol;
	struct image_line line;
	size_t n =
		d->names.ops->inlines(d->names.context, image, address, frames, REPORT_CODE_FRAMES);

	if (n > REPORT_CODE_FRAMES)
		n = REPORT_CODE_FRAMES;
	for (size_t i = 0; i < n && i < room; i++)
		to[i] = (struct report_code){
			frames[i].name, frames[i].line.file, frames[i].line.line, image};
	if (n > 1)
		return n < room ? n : room;
	to[0] = (struct report_code){.image = image};
	if (d->names.ops->symbol(d->names.context, image, address, &symbol) == 0)
		to[0].function = symbol.demangled;
	if (d->names.ops->line(d->names.context, image, address, &line) == 0) {
		to[0].file = line.file;
		to[0].line = line.line;
	}
	return 1;
}

const char *report_code_place(
	struct report_table *t, const struct prof_data *d, uint32_t image, uint64_t address)
{
	struct report_code p[REPORT_CODE_FRAMES];
	const char *name = d->images.data[image].name;

	report_code_at(d, image, address, p, REPORT_CODE_FRAMES);
	if (!p[0].function)
		return report_text(t, "0x%llx (%s)", (unsigned long long)address, name);
	if (!p[0].file)
		return report_text(t, "%s (%s)", p[0].function, name);
	return report_text(
		t, "%s (%s: %s, %u)", p[0].function, name, file_base_name(p[0].file), p[0].line);
}

/* ---- where something was allocated ---- */

/* Functions between the program and its allocator do not identify the allocation site. */
static bool is_between(const struct prof_data *d, const struct report_code *p)
{
	static const char *const functions[] = {"malloc", "calloc", "realloc", "operator new",
		"__libc_", "_dl_", "mmap", "__mmap", "posix_memalign", "aligned_alloc"};
	static const char *const images[] = {"libstdc++.so", "libc++.so", "ld-linux", "ld-musl"};
	const char *image = d->images.data[p->image].name;

	for (size_t i = 0; p->function && i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strncmp(p->function, functions[i], strlen(functions[i])) == 0)
			return true;
	for (size_t i = 0; i < sizeof(images) / sizeof(images[0]); i++)
		if (strncmp(image, images[i], strlen(images[i])) == 0)
			return true;
	return report_code_is_library(p);
}

static void add_name(const struct prof_data *d, const struct report_code *p, struct strbuf *to)
{
	if (p->function)
		strbuf_puts(to, p->function);
	else
		strbuf_puts(to, d->images.data[p->image].name);
}

/* "f < g < h", from the call path; *first: the place of f; *call: its address. */
static void describe_path(const struct prof_data *d, size_t input, uint32_t node, struct strbuf *to,
	struct report_code *first, uint64_t *call)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	struct report_code chain[REPORT_CODE_FRAMES], nearest = {0};
	size_t shown = 0, left = x->nodes.count;
	bool any = false, ended = false; /* callers of main are left out */

	for (; node && node < x->nodes.count && left-- && shown < CALLERS;
		node = experiment_node_at(x, node)->key.parent) {
		const struct experiment_node *n = experiment_node_at(x, node);
		size_t count = report_code_at(d, d->image_of.data[input][n->key.image],
			n->key.address, chain, REPORT_CODE_FRAMES);

		for (size_t i = 0; i < count && shown < CALLERS; i++) {
			if (!any)
				nearest = chain[i];
			any = true;
			if (is_between(d, &chain[i]))
				continue;
			if (ended)
				break;
			ended = chain[i].function && strcmp(chain[i].function, "main") == 0;
			strbuf_puts(to, shown ? " < " : "");
			add_name(d, &chain[i], to);
			if (!shown++) {
				*first = chain[i];
				*call = n->key.address;
			}
		}
	}
	if (!shown && any) {
		*first = nearest;
		add_name(d, &nearest, to);
	}
	if (!any)
		strbuf_puts(to, "unknown callers");
}

/* ---- objects ---- */

struct naming {
	struct prof_data *d;
	size_t input;
	const struct experiment_object *of;
	struct report_object *to;
	struct strbuf text;
	struct report_code place; /* where it was allocated */
	uint64_t call;            /* the address there */
};

static uint32_t image_of(const struct naming *n)
{
	return n->d->image_of.data[n->input][n->of->key.image];
}

static void name_variable(struct naming *n)
{
	struct image *file = profile_names_file(&n->d->names, image_of(n));
	struct image_variable v;

	n->to->key.image = n->to->place = image_of(n);
	n->to->address = n->of->key.address;
	n->to->bytes = n->of->key.size;
	if (file && image_variable_at(file, n->of->key.address, &v) == 0 &&
		v.address == n->of->key.address)
		strbuf_puts(&n->text, v.name);
	else
		strbuf_printf(&n->text, "data at 0x%llx", (unsigned long long)n->of->key.address);
}

static void name_image(struct naming *n)
{
	struct image *file = profile_names_file(&n->d->names, image_of(n));
	struct image_variable v;

	n->to->key.image = image_of(n);
	n->to->bytes = n->of->key.size;
	if (n->of->key.size && file && image_section_at(file, n->of->key.address, &v) == 0)
		strbuf_printf(&n->text, "section %s", v.name);
	else
		strbuf_puts(&n->text, "data without a name");
}

static void name_allocated(struct naming *n)
{
	const char *how =
		n->of->key.kind == EXPERIMENT_OBJECT_HEAP ? "allocated in " : "mapped in ";

	strbuf_puts(&n->text, how);
	describe_path(n->d, n->input, n->of->key.node, &n->text, &n->place, &n->call);
	n->to->key.image = n->place.image;
	n->to->key.line = n->place.line;
	n->to->blocks = n->of->blocks;
	n->to->bytes = n->of->bytes;
}

static void name_mapping(struct naming *n)
{
	const struct prof_data *d = n->d;

	if (!n->of->key.image) {
		name_allocated(n);
		return;
	}
	strbuf_printf(&n->text, "mapping of %s", d->images.data[image_of(n)].image->path);
	n->to->blocks = n->of->blocks;
	n->to->bytes = n->of->bytes;
}

static void name_stack(struct naming *n)
{
	strbuf_printf(&n->text, "stack of thread %u", n->of->key.thread);
}

static void name_thread(struct naming *n)
{
	strbuf_printf(&n->text, "thread-local data of thread %u", n->of->key.thread);
}

static void name_break(struct naming *n)
{
	strbuf_puts(&n->text, "heap between blocks (the allocator's own)");
}

static void name_unknown(struct naming *n)
{
	strbuf_puts(&n->text, "[unknown]");
}

/* An object as it is named, and the call that allocated it. */
struct named {
	struct report_object object;
	uint64_t call; /* 0: none, or its line is not known */
};

static int objects_name(
	struct named *to, struct prof_data *d, const struct experiment_object *of, size_t input)
{
	static void (*const name[EXPERIMENT_OBJECT_KINDS])(struct naming * n) = {
		[EXPERIMENT_OBJECT_UNKNOWN] = name_unknown,
		[EXPERIMENT_OBJECT_VARIABLE] = name_variable,
		[EXPERIMENT_OBJECT_IMAGE] = name_image,
		[EXPERIMENT_OBJECT_HEAP] = name_allocated,
		[EXPERIMENT_OBJECT_STACK] = name_stack,
		[EXPERIMENT_OBJECT_THREAD] = name_thread,
		[EXPERIMENT_OBJECT_MAPPING] = name_mapping,
		[EXPERIMENT_OBJECT_BREAK] = name_break,
	};
	struct naming n = {.d = d, .input = input, .of = of, .to = &to->object};
	long string, file;

	to->object.kind = of->key.kind;
	name[of->key.kind](&n);
	string = n.text.failed ? -1 : profile_string(d, strbuf_text(&n.text));
	file = profile_string(d, n.place.file ? n.place.file : "");
	strbuf_fini(&n.text);
	if (string < 0 || file < 0)
		return -1;
	to->object.key.name = (uint32_t)string;
	to->object.key.file = (uint32_t)file;
	to->call = n.place.line ? n.call : 0;
	return 0;
}

/* Index in o; -1 when memory is out. */
static long objects_add_object(struct report_objects *o, const struct report_object *object)
{
	size_t before = o->all.count;
	struct report_object *own = table_add(&o->all, &object->key);

	if (!own)
		return -1;
	if (o->all.count > before) {
		*own = *object;
	} else if (object->blocks) {
		own->blocks += object->blocks;
		own->bytes += object->bytes;
	}
	return (long)table_number(&o->all, own);
}

/* ---- several calls in one line ---- */

struct line_call {
	struct {
		uint32_t name, image, file, line; /* of a report_object */
		uint64_t address;
	} key;
};

static int by_line_and_address(const void *pa, const void *pb)
{
	const struct line_call *a = pa, *b = pb;
	int line = memcmp(&a->key, &b->key, offsetof(struct line_call, key.address));

	return line ? line : (a->key.address > b->key.address) - (a->key.address < b->key.address);
}

static struct line_call line_call_of(const struct named *n)
{
	struct line_call c = {.key = {.address = n->call}};

	memcpy(&c.key, &n->object.key, sizeof(n->object.key));
	return c;
}

/* "allocated in f < main, call 2 of 3": in the order of addresses, which two builds share. */
static int objects_number_call(const struct table *calls, struct prof_data *d, struct named *n)
{
	const struct line_call own = line_call_of(n), *all = (const void *)calls->entries;
	size_t line = offsetof(struct line_call, key.address), first, end;
	char *text;
	long string;

	if (!n->call)
		return 0;
	first = (size_t)((const struct line_call *)bsearch(
				 &own, all, calls->count, sizeof(*all), by_line_and_address) -
			 all);
	end = first + 1;
	for (size_t i = first; first > 0 && memcmp(&all[first - 1], &own, line) == 0; i--)
		first = i - 1;
	while (end < calls->count && memcmp(&all[end], &own, line) == 0)
		end++;
	if (end - first < 2)
		return 0;
	for (size_t i = first; i < end; i++)
		if (all[i].key.address == n->call &&
			asprintf(&text, "%s, call %zu of %zu",
				profile_string_at(d, n->object.key.name), i - first + 1,
				end - first) < 0)
			return -1;
	string = profile_string(d, text);
	free(text);
	n->object.key.name = (uint32_t)string;
	return string < 0 ? -1 : 0;
}

/* ---- metrics ---- */

static bool objects_same_metric(
	const struct experiment_metric *a, const struct experiment_metric *b)
{
	return a->event == b->event && a->label == b->label && a->period == b->period &&
	       strcmp(a->short_name, b->short_name) == 0 && strcmp(a->source, b->source) == 0;
}

/* Sorted by the cost of one event: misses that go far, then nearer ones, then requests. */
static int objects_rank_of(int event)
{
	static const int order[] = {EV_L2D_MISSES, EV_LL_DATA_MISSES, EV_L1D_MISSES, EV_DTLB_WALKS,
		EV_DTLB_MISSES, EV_INTERVENTIONS, EV_INTERVENTION_HITS, EV_INVALIDATIONS,
		EV_INVALIDATION_HITS, EV_STORES_TO_SHARED};
	int i = 0;

	while (i < (int)(sizeof(order) / sizeof(order[0])) && order[i] != event)
		i++;
	return i;
}

static int objects_by_rank(const void *pa, const void *pb)
{
	const struct experiment_metric *const *a = pa, *const *b = pb;

	return objects_rank_of((*a)->event) - objects_rank_of((*b)->event)
		       ?: (int)(*a)->label - (int)(*b)->label
		       ?: strcmp((*a)->short_name, (*b)->short_name);
}

static long objects_find_metric(const struct report_objects *o, const struct experiment_metric *m)
{
	size_t i = 0;

	while (i < o->metrics.count && !objects_same_metric(o->metrics.data[i], m))
		i++;
	return i < o->metrics.count ? (long)i : -1;
}

static int take_metrics(struct report_objects *o, struct report_table *t, const struct prof_data *d)
{
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->data.metrics.count; k++) {
			const struct experiment_metric *m = &x->data.metrics.data[k];

			if (objects_find_metric(o, m) < 0 && vec_add(&o->metrics, m))
				return -1;
		}
	}
	if (o->metrics.count)
		qsort(o->metrics.data, o->metrics.count, sizeof(*o->metrics.data), objects_by_rank);
	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;
		uint32_t *map = o->metric_of[i] =
			report_scratch(t, x->data.metrics.count, sizeof(*map));

		if (!map)
			return -1;
		for (size_t k = 0; k < x->data.metrics.count; k++)
			map[k] = (uint32_t)objects_find_metric(o, &x->data.metrics.data[k]);
	}
	return 0;
}

/* ---- all ---- */

/* The objects of an input, named. */
static struct named *objects_named(
	struct report_table *t, struct prof_data *d, size_t input, struct table *calls)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	struct named *all = report_scratch(t, x->objects.count, sizeof(*all));

	for (size_t k = 0; all && k < x->objects.count; k++) {
		struct line_call call;

		if (objects_name(&all[k], d, experiment_object_at(x, k), input))
			return NULL;
		call = line_call_of(&all[k]);
		if (all[k].call && !table_add(calls, &call.key))
			return NULL;
	}
	return all;
}

static int objects_take_named(struct report_objects *o, struct report_table *t, struct prof_data *d,
	struct named *const *named, const struct table *calls)
{
	for (size_t i = 0; i < d->request->count; i++) {
		size_t count = d->request->inputs[i].experiment->objects.count;
		uint32_t *map = o->of[i] = report_scratch(t, count, sizeof(*map));

		for (size_t k = 0; map && k < count; k++) {
			long index = -1;

			if (objects_number_call(calls, d, &named[i][k]) == 0)
				index = objects_add_object(o, &named[i][k].object);
			if (index < 0)
				return -1;
			map[k] = (uint32_t)index;
		}
	}
	return t->failed ? -1 : 0;
}

static int take_objects(struct report_objects *o, struct report_table *t, struct prof_data *d)
{
	struct table calls = TABLE_OF(struct line_call);
	struct named **named = report_scratch(t, d->request->count, sizeof(*named));
	int rc = named ? 0 : -1;

	for (size_t i = 0; rc == 0 && i < d->request->count; i++) {
		named[i] = objects_named(t, d, i, &calls);
		rc = named[i] || !d->request->inputs[i].experiment->objects.count ? 0 : -1;
	}
	if (rc == 0) {
		table_sort(&calls, by_line_and_address);
		rc = objects_take_named(o, t, d, named, &calls);
	}
	table_fini(&calls);
	return rc;
}

static int objects_take_counts(
	struct report_objects *o, struct report_table *t, const struct prof_data *d)
{
	size_t metrics = o->metrics.count;

	o->counts = report_scratch(t, o->all.count * metrics, sizeof(*o->counts));
	o->totals = report_scratch(t, metrics, sizeof(*o->totals));
	for (size_t i = 0; !t->failed && i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < x->touches.count; k++) {
			const struct experiment_touch *touch = experiment_touch_at(x, k);
			uint32_t metric = o->metric_of[i][touch->key.metric];

			o->counts[o->of[i][touch->key.object] * metrics + metric] += touch->count;
			o->totals[metric] += touch->count;
		}
	}
	return t->failed ? -1 : 0;
}

int report_objects_init(
	struct report_objects *o, struct report_table *t, struct prof_data *d, struct error *e)
{
	*o = (struct report_objects){.all = TABLE_OF(struct report_object),
		.of = report_scratch(t, d->request->count, sizeof(*o->of)),
		.metric_of = report_scratch(t, d->request->count, sizeof(*o->metric_of))};
	if (t->failed || take_metrics(o, t, d) || take_objects(o, t, d) ||
		objects_take_counts(o, t, d))
		return error_nomem(e);
	if (o->metrics.count)
		return 0;
	error_set(e, ERR_NOT_FOUND, "no experiment here has data of misses");
	return error_hint(e, "record one with ssrun -dataspace");
}

void report_objects_fini(struct report_objects *o)
{
	vec_fini(&o->metrics);
	table_fini(&o->all);
}
