/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Parts of objects: members with misses, by the types of variables; of blocks of the heap, by the
 * accesses of the code: an instruction that always moves by the size of a structure accesses a
 * member of it, if its compilation unit has only one structure of that size. And lines of the
 * cache.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "base/strbuf.h"
#include "isa/isa.h"
#include "report/report_columns.h"
#include "report/report_dataspace.h"

enum {
	MEMBERS_SHOWN = 6,
	PLACES_SHOWN = 16,
	PLACES_ALWAYS = 4, /* even if their shares are small */
	STEPS = 16,        /* an instruction may move by several elements */
	SIZE_LEAST = 17,   /* bytes: smaller structures are as large as much else */
	LINE_MOST = 128,   /* bytes of a line of any machine */
	COUNT_LEAST = 16,  /* few places fit any distance */
};

struct part {
	const char *text; /* in the table's arena */
	uint64_t first, all, *counts;
};

#define MEMBER_WORTH 1.0 /* percent of its object */

typedef VEC(struct part) part_list;

/* The part of that name, made if there is none. */
static struct part *part_of(struct report_dataspace_view *v, part_list *parts, const char *text)
{
	struct part *p;

	/* Events of a line follow each other. */
	for (size_t i = parts->count; i-- > 0;)
		if (strcmp(parts->data[i].text, text) == 0)
			return &parts->data[i];
	p = vec_push(parts);
	if (p) {
		p->text = report_text(v->t, "%s", text);
		p->counts = report_scratch(v->t, v->o.metrics.count, sizeof(*p->counts));
	}
	v->t->failed |= !p;
	return p && p->counts ? p : NULL;
}

static int members_by_count(const void *pa, const void *pb)
{
	const struct part *a = pa, *b = pb;

	return sort_falling(a->first, b->first) ?: sort_falling(a->all, b->all)
		       ?: strcmp(a->text, b->text);
}

/* Of the table's, or of its object's: what a user would look at. */
static bool part_is_worth(const struct report_dataspace_view *v, const struct part *p,
	enum report_dataspace_row kind, size_t shown, const uint64_t *object)
{
	if (v->d->request->whole || report_dataspace_worth(v, p->counts))
		return true;
	if (kind == REPORT_DATASPACE_PLACE)
		return shown < PLACES_ALWAYS;
	return report_percent((double)p->first, (double)object[v->by]) >= MEMBER_WORTH;
}

static void show(struct report_dataspace_view *v, part_list *parts, enum report_dataspace_row kind,
	size_t limit, const char *what, uint32_t object)
{
	const uint64_t *of = v->o.counts + object * v->o.metrics.count;
	size_t shown = 0;

	for (size_t i = 0; i < parts->count && !v->t->failed; i++) {
		struct part *p = &parts->data[i];

		p->first = p->counts[v->by];
		for (size_t k = 0; k < v->o.metrics.count; k++)
			p->all += p->counts[k];
	}
	if (parts->count)
		qsort(parts->data, parts->count, sizeof(*parts->data), members_by_count);
	for (size_t i = 0; i < parts->count && shown < limit && !v->t->failed; i++) {
		const struct part *p = &parts->data[i];

		if (!part_is_worth(v, p, kind, shown, of))
			continue;
		report_dataspace_text(v, 1, kind, NULL, p->counts, p->text);
		shown++;
	}
	if (shown)
		report_dataspace_more(v, parts->count - shown, what, 1);
	vec_fini(parts);
}

/* ---- members ---- */

static bool name_of_variable(const struct report_dataspace_view *v, const struct report_object *o,
	const struct experiment_touch *t, struct strbuf *to)
{
	struct image *file = profile_names_file(&v->d->names, o->place);
	struct image_member m;

	if (!file || t->least < 0 ||
		image_variable_member(file, o->address, (uint64_t)t->least,
			(uint64_t)t->most - (uint64_t)t->least, t->apart, &m))
		return false;
	if (strcmp(m.path, "[]") == 0)
		return false; /* all of it */
	strbuf_printf(to, "%s%s", profile_string_at(v->d, o->key.name), m.path);
	if (m.structure)
		strbuf_printf(to, ", of struct %s", m.structure);
	return true;
}

/*
 * The largest possible distance between the same member of two elements; 0: unknown. Code that
 * walks all elements has one miss per line: a distance of one line has no information, and one of
 * several may be caused by prefetchers, so that only the whole distance is used (*steps).
 */
static uint64_t distance(
	const struct report_object *o, const struct experiment_touch *t, uint64_t *steps)
{
	*steps = 1;
	if (!t->apart)
		return o->blocks && o->bytes % o->blocks == 0 ? o->bytes / o->blocks : 0;
	if (t->count < COUNT_LEAST || (t->apart <= LINE_MOST && (t->apart & (t->apart - 1)) == 0))
		return 0;
	if (t->apart % EXPERIMENT_LINE_BYTES)
		*steps = STEPS;
	return t->apart;
}

/* DWARF's number of the register that the instruction's address is based on; -1: unknown. */
static int base_register(const struct report_dataspace_view *v, uint64_t address, uint32_t code)
{
	static const int dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5};
	const struct prof_names *n = &v->d->names;
	uint8_t bytes[INSN_LENGTH_MAX];
	struct insn insn;
	size_t size;

	if (!n->ops->code || !n->ops->machine || n->ops->machine(n->context, code) != IMAGE_X86_64)
		return -1;
	size = n->ops->code(n->context, code, address, bytes, sizeof(bytes));
	if (!isa_decode(ISA_X86_64, bytes, size, address, &insn) || !insn.memories ||
		insn.memory[0].base >= 16)
		return -1;
	return insn.memory[0].base < 8 ? dwarf[insn.memory[0].base] : insn.memory[0].base;
}

/* By the types of pointers: also of structures whose size says nothing. */
static bool name_of_pointed(const struct report_dataspace_view *v, const struct experiment_touch *t,
	uint32_t code, struct strbuf *to)
{
	struct image *file = profile_names_file(&v->d->names, code);
	struct image_member m;

	if (!t->apart || t->count < COUNT_LEAST ||
		image_pointed_member(file, t->key.address, base_register(v, t->key.address, code),
			t->apart, (uint64_t)t->least, &m))
		return false;
	strbuf_printf(to, "[]%s, of struct %s (by the type of a pointer, %llu bytes)", m.path,
		m.structure ? m.structure : "?", (unsigned long long)m.element);
	return true;
}

static bool name_of_block(const struct report_dataspace_view *v, const struct report_object *o,
	const struct experiment_touch *t, uint32_t code, struct strbuf *to)
{
	struct image *file = profile_names_file(&v->d->names, code);
	uint64_t steps, whole = distance(o, t, &steps), size = 0;
	struct image_member m, found = {0};
	unsigned sizes = 0;

	if (t->least < 0 || !file)
		return false;
	for (uint64_t step = 1; step <= steps && whole / step >= SIZE_LEAST; step++) {
		if (whole % step || image_structure_member(file, t->key.address, whole / step,
					    (uint64_t)t->least % (whole / step), &m))
			continue;
		/* Several may be meant. */
		size = sizes++ ? 0 : whole / step;
		found = m;
	}
	if (size) {
		strbuf_printf(to, "%s%s, of struct %s (by its size, %llu bytes)",
			t->apart ? "[]" : "", found.path, found.structure ? found.structure : "?",
			(unsigned long long)size);
		return true;
	}
	if (name_of_pointed(v, t, code, to))
		return true;
	if (whole < SIZE_LEAST || !t->apart || t->apart % EXPERIMENT_LINE_BYTES == 0)
		return false;
	strbuf_printf(to, "byte %llu of every %llu",
		(unsigned long long)((uint64_t)t->least % whole), (unsigned long long)whole);
	return true;
}

/* The function of the frame. */
static bool name_of_frame(const struct report_dataspace_view *v, uint32_t input,
	const struct experiment_object *o, struct strbuf *to)
{
	struct image_symbol symbol;

	if (v->d->names.ops->symbol(v->d->names.context, v->d->image_of.data[input][o->key.image],
		    o->key.address, &symbol))
		return false;
	strbuf_printf(to, "frame of %s", symbol.demangled);
	return true;
}

/* The name of the touched part of the object; false: unknown. */
static bool name_of_part(const struct report_dataspace_view *v, uint32_t input,
	const struct experiment *x, const struct experiment_touch *t, struct strbuf *to)
{
	const struct report_object *o = report_object_at(&v->o, v->o.of[input][t->key.object]);

	switch (o->kind) {
	case EXPERIMENT_OBJECT_VARIABLE:
		return name_of_variable(v, o, t, to);
	case EXPERIMENT_OBJECT_STACK:
		return name_of_frame(v, input, experiment_object_at(x, t->key.object), to);
	case EXPERIMENT_OBJECT_HEAP:
	case EXPERIMENT_OBJECT_MAPPING:
		return name_of_block(v, o, t, v->d->image_of.data[input][t->key.image], to);
	default:
		return false;
	}
}

/* Adds count of a metric of an input to the part of that name. */
static void members_add_count(struct report_dataspace_view *v, part_list *parts,
	const struct strbuf *name, uint32_t input, uint32_t metric, uint64_t count)
{
	struct part *p = part_of(v, parts, strbuf_text(name));

	v->t->failed |= name->failed;
	if (p)
		p->counts[v->o.metric_of[input][metric]] += count;
}

void report_members_rows(struct report_dataspace_view *v, uint32_t object)
{
	const struct report_dataspace_refs *refs = &v->refs[EXPERIMENT_TOUCHES];
	part_list parts = {0};
	struct strbuf text = {0};

	for (size_t i = refs->first[object]; i < refs->first[object + 1]; i++) {
		const struct report_dataspace_ref *ref = &refs->ref[i];
		const struct experiment *x = report_dataspace_input(v, ref);
		const struct experiment_touch *t = experiment_touch_at(x, ref->row);

		text.length = 0;
		if (name_of_part(v, ref->input, x, t, &text))
			members_add_count(v, &parts, &text, ref->input, t->key.metric, t->count);
	}
	strbuf_fini(&text);
	show(v, &parts, REPORT_DATASPACE_MEMBER, MEMBERS_SHOWN, "member", object);
}

/* ---- lines of the cache ---- */

/* "bytes 64-127" of the object, as far as its blocks begin at one place in their lines. Large
 * objects are counted by several lines: "bytes 0-4095, 64 lines". */
static void put_line(
	struct strbuf *to, const struct experiment_object *of, const struct experiment_place *p)
{
	uint64_t size = (uint64_t)EXPERIMENT_LINE_BYTES << p->key.scale;
	uint64_t line = (uint64_t)p->key.line << p->key.scale;
	int64_t from = (int64_t)((uint64_t)p->key.line * size);
	bool fixed = of->key.kind == EXPERIMENT_OBJECT_VARIABLE ||
		     of->key.kind == EXPERIMENT_OBJECT_IMAGE;
	uint64_t begins = fixed ? of->key.address % EXPERIMENT_LINE_BYTES : of->begins;

	if (begins == EXPERIMENT_SEVERAL || (!fixed && !of->blocks)) {
		strbuf_printf(to, "line %" PRId64, (int64_t)line);
		if (p->key.scale)
			strbuf_printf(to, " and %llu more",
				(unsigned long long)(UINT64_C(1) << p->key.scale) - 1);
		return;
	}
	from = (int64_t)((uint64_t)from - begins);
	strbuf_printf(to, "bytes %" PRId64 "-%" PRId64, from < 0 ? 0 : from,
		(int64_t)((uint64_t)from + size - 1));
	if (p->key.scale)
		strbuf_printf(to, ", %llu lines", (unsigned long long)UINT64_C(1) << p->key.scale);
}

void report_places_rows(struct report_dataspace_view *v, uint32_t object)
{
	const struct report_dataspace_refs *refs = &v->refs[EXPERIMENT_PLACES];
	part_list parts = {0};
	struct strbuf text = {0};

	for (size_t i = refs->first[object]; i < refs->first[object + 1]; i++) {
		const struct report_dataspace_ref *ref = &refs->ref[i];
		const struct experiment *x = report_dataspace_input(v, ref);
		const struct experiment_place *p = experiment_place_at(x, ref->row);

		text.length = 0;
		put_line(&text, experiment_object_at(x, p->key.object), p);
		members_add_count(v, &parts, &text, ref->input, p->key.metric, p->count);
	}
	strbuf_fini(&text);
	show(v, &parts, REPORT_DATASPACE_PLACE, PLACES_SHOWN, "line", object);
}
