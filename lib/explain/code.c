/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "experiment/branches.h"
#include "profile/entities.h"

enum { CODE_MAX = 64 << 20 }; /* bytes: no procedure is that large, but symbols may be wrong */

struct order {
	uint32_t image, place;
	uint64_t address;
};

static int by_address(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	return sort_rising(x->image, y->image) ?: sort_rising(x->address, y->address)
		       ?: sort_rising(x->place, y->place);
}

static int sort_places(struct explain_procedures *p, const struct prof_data *d)
{
	size_t n = d->places.count;
	struct order *order = calloc(n + 1, sizeof(*order));

	p->places = calloc(n + 1, sizeof(*p->places));
	if (!order || !p->places) {
		free(order);
		return -1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct profile_place *place = profile_place_at(d, i);

		order[i] = (struct order){place->key.image, (uint32_t)i, place->key.address};
	}
	qsort(order, n, sizeof(*order), by_address);
	for (size_t i = 0; i < n; i++)
		p->places[i] = order[i].place;
	free(order);
	return 0;
}

static int code_by_cost(const void *a, const void *b)
{
	const struct explain_procedure *x = a, *y = b;

	return sort_falling(x->value, y->value) ?: sort_falling(x->all, y->all)
		       ?: sort_rising(x->image, y->image) ?: sort_rising(x->begin, y->begin);
}

static int code_by_beginning(const void *a, const void *b)
{
	const struct explain_procedure *x = a, *y = b;

	return sort_rising(x->image, y->image) ?: sort_rising(x->begin, y->begin);
}

/* One that has another inside of it was met twice. */
static void join_parts(struct explain_procedures *p)
{
	size_t kept = 0;

	if (!p->list.count)
		return;
	qsort(p->list.data, p->list.count, sizeof(*p->list.data), code_by_beginning);
	for (size_t i = 1; i < p->list.count; i++) {
		struct explain_procedure *last = &p->list.data[kept];
		const struct explain_procedure *own = &p->list.data[i];

		if (code_by_beginning(last, own) != 0) {
			p->list.data[++kept] = *own;
			continue;
		}
		last->value += own->value;
		last->all += own->all;
	}
	p->list.count = kept + 1;
	qsort(p->list.data, p->list.count, sizeof(*p->list.data), code_by_cost);
}

/* The function of a place; with -inlines its name may be that of an inlined one. */
static bool procedure_of(const struct prof_data *d, uint32_t place, uint64_t *begin)
{
	const struct profile_place *p = profile_place_at(d, place);
	struct image_symbol symbol;

	*begin = d->name[place].begin;
	if (*begin || !d->name[place].inlined)
		return *begin != 0;
	if (d->names.ops->symbol(d->names.context, p->key.image, p->key.address, &symbol))
		return false;
	*begin = symbol.address;
	return true;
}

/* ---- recorded jumps ---- */

static int code_by_place(const void *a, const void *b)
{
	const struct explain_jump *x = a, *y = b;

	return sort_rising(x->image, y->image) ?: sort_rising(x->jump.from, y->jump.from)
		       ?: sort_rising(x->jump.to, y->jump.to);
}

/* Direct branches among them are known anyway and do no harm. */
static int take_seen(struct explain_procedures *p, const struct prof_data *d)
{
	size_t kept = 0;

	for (size_t i = 0; i < d->request->count; i++) {
		const struct experiment *x = d->request->inputs[i].experiment;

		for (size_t k = 0; k < experiment_runs(x); k++) {
			const struct experiment_run *run = experiment_run_at(x, k);
			struct explain_jump own = {.jump = {run->key.end, run->key.to}};

			if (run->key.image != run->key.to_image)
				continue;
			own.image = d->image_of.data[i][run->key.image];
			if (vec_add(&p->seen, own))
				return -1;
		}
	}
	if (p->seen.count)
		qsort(p->seen.data, p->seen.count, sizeof(*p->seen.data), code_by_place);
	for (size_t i = 0; i < p->seen.count; i++)
		if (!kept || code_by_place(&p->seen.data[kept - 1], &p->seen.data[i]))
			p->seen.data[kept++] = p->seen.data[i];
	p->seen.count = kept;
	return 0;
}

/* The first in image at or after address. */
static size_t seen_from(const struct explain_procedures *p, uint32_t image, uint64_t address)
{
	const struct explain_jump key = {image, {.from = address}};
	return vec_search(i, p->seen.count, code_by_place(&p->seen.data[i], &key) < 0);
}

/* ---- procedures ---- */

/* NULL: a damaged file may have no metric. */
static const uint64_t *code_counts_of(const struct prof_data *d, uint32_t place)
{
	size_t metrics = d->metrics.count;

	return metrics ? &d->counts.data[place * metrics] : NULL;
}

int explain_procedures_init(struct explain_procedures *p, const struct prof_data *d)
{
	size_t metrics = d->metrics.count;
	struct explain_procedure *own = NULL;

	memset(p, 0, sizeof(*p));
	if (sort_places(p, d) || take_seen(p, d))
		return -1;
	for (size_t i = 0; i < d->places.count; i++) {
		uint32_t place = p->places[i];
		const uint64_t *counts = code_counts_of(d, place);
		uint32_t image = profile_place_at(d, place)->key.image;
		uint64_t begin;

		if (!procedure_of(d, place, &begin)) {
			p->nameless += counts ? counts[0] : 0;
			continue;
		}
		if (!own || own->begin != begin || own->image != image) {
			if (!profile_wanted(d, image, d->name[place].procedure))
				continue;
			own = vec_push(&p->list);
			if (!own)
				return -1;
			own->begin = begin;
			own->image = image;
			own->name = d->name[place].inlined ? d->name[place].real
							   : d->name[place].procedure;
		}
		own->value += counts ? counts[0] : 0;
		for (size_t k = 0; k < metrics; k++)
			own->all += counts[k];
	}
	join_parts(p);
	return 0;
}

int explain_procedures_all(struct explain_procedures *p, const struct prof_data *d)
{
	struct prof_request request = *d->request;
	struct prof_data whole = *d;

	request.only = request.exclude = NULL;
	whole.request = &request;
	return explain_procedures_init(p, &whole);
}

void explain_procedures_fini(struct explain_procedures *p)
{
	vec_fini(&p->seen);
	vec_fini(&p->list);
	free(p->places);
	p->places = NULL;
}

static bool code_place_before(const struct profile_place *place, struct order want)
{
	struct order at = {place->key.image, 0, place->key.address};

	return by_address(&at, &want) < 0;
}

size_t explain_place_from(const struct prof_data *d, const struct explain_procedures *p,
	uint32_t image, uint64_t address)
{
	const struct order want = {image, 0, address};

	return vec_search(
		i, d->places.count, code_place_before(profile_place_at(d, p->places[i]), want));
}

struct asker {
	const struct prof_names *names;
	uint32_t image;
};

static size_t code_read_image(void *context, uint64_t address, void *bytes, size_t size)
{
	const struct asker *a = context;

	return a->names->ops->code(a->names->context, a->image, address, bytes, size);
}

static bool call_returns(void *context, const struct insn *call)
{
	const struct asker *a = context;
	struct image_symbol symbol;

	if (!call->has_target ||
		a->names->ops->symbol(a->names->context, a->image, call->target, &symbol) ||
		symbol.address != call->target || symbol.guessed)
		return true;
	return flow_name_returns(symbol.name);
}

enum isa_machine explain_isa(const struct prof_data *d, uint32_t image)
{
	static const enum isa_machine machines[] = {
		[IMAGE_OTHER] = ISA_NONE,
		[IMAGE_X86_64] = ISA_X86_64,
		[IMAGE_AARCH64] = ISA_AARCH64,
	};
	const struct prof_names_ops *ops = d->names.ops;

	return ops->machine && ops->code ? machines[ops->machine(d->names.context, image)]
					 : ISA_NONE;
}

static int code_take_counts(struct explain_code *c, const struct prof_data *d,
	const struct explain_procedures *p, uint32_t image)
{
	size_t metrics = d->metrics.count, n = c->flow ? c->flow->insns.count : 0;

	c->counts = calloc(n * metrics + 1, sizeof(*c->counts));
	c->sums = calloc(metrics + 1, sizeof(*c->sums));
	if (!c->counts || !c->sums)
		return -1;
	for (size_t i = explain_place_from(d, p, image, c->begin); i < d->places.count; i++) {
		const struct profile_place *place = profile_place_at(d, p->places[i]);
		const uint64_t *counts = code_counts_of(d, p->places[i]);
		uint32_t at;

		if (place->key.image != image || place->key.address - c->begin >= c->size)
			break;
		for (size_t k = 0; k < metrics; k++)
			c->sums[k] += counts[k];
		at = c->flow ? flow_insn_over(c->flow, place->key.address) : FLOW_NONE;
		if (at == FLOW_NONE)
			continue;
		for (size_t k = 0; k < metrics; k++)
			c->counts[at * metrics + k] += counts[k];
	}
	return 0;
}

static struct flow *make_flow(
	struct flow_request *r, const struct explain_procedures *p, uint32_t image, struct error *e)
{
	size_t first = seen_from(p, image, r->begin), end = seen_from(p, image, r->begin + r->size);
	struct flow_jump *seen = calloc(end - first + 1, sizeof(*seen));
	struct flow *f;

	if (!seen) {
		error_nomem(e);
		return NULL;
	}
	for (size_t i = first; i < end; i++)
		seen[i - first] = p->seen.data[i].jump;
	r->seen = seen;
	r->seen_count = end - first;
	f = flow_new(r, e);
	free(seen);
	return f;
}

int explain_code_load(struct explain_code *c, const struct prof_data *d,
	const struct explain_procedures *p, const struct explain_procedure *procedure,
	struct error *e)
{
	const struct prof_names_ops *ops = d->names.ops;
	struct asker asker = {&d->names, procedure->image};
	struct image_symbol symbol = {.address = procedure->begin, .size = 1};
	struct flow_request r = {.begin = procedure->begin,
		.context = &asker,
		.read = code_read_image,
		.returns = call_returns};

	memset(c, 0, sizeof(*c));
	ops->symbol(d->names.context, procedure->image, procedure->begin, &symbol);
	c->image = procedure->image;
	c->begin = procedure->begin;
	c->size = symbol.size ? symbol.size : 1;
	c->machine = explain_isa(d, procedure->image);
	c->bytes = c->machine != ISA_NONE && c->size <= CODE_MAX ? malloc(c->size) : NULL;
	if (!c->bytes && c->machine != ISA_NONE && c->size <= CODE_MAX)
		goto out_of_memory;
	if (c->bytes)
		r.size = code_read_image(&asker, c->begin, c->bytes, c->size);
	if (r.size) {
		r.machine = c->machine;
		r.bytes = c->bytes;
		c->flow = make_flow(&r, p, c->image, e);
		if (!c->flow)
			goto fail;
	}
	if (code_take_counts(c, d, p, procedure->image) == 0)
		return 0;
out_of_memory:
	error_nomem(e);
fail:
	explain_code_fini(c);
	return -1;
}

void explain_code_fini(struct explain_code *c)
{
	flow_free(c->flow);
	free(c->bytes);
	free(c->counts);
	free(c->sums);
	memset(c, 0, sizeof(*c));
}

int explain_code_each(const struct prof_data *d, const struct explain_procedures *all,
	explain_code_take *take, void *to, struct error *e)
{
	int rc = 0;

	for (size_t i = 0; i < all->list.count && rc == 0; i++) {
		struct explain_code code;

		if (explain_code_load(&code, d, all, &all->list.data[i], e))
			return -1;
		rc = take(to, &all->list.data[i], &code, e);
		explain_code_fini(&code);
	}
	return rc;
}

int explain_code_all(const struct prof_data *d, explain_code_take *take, void *to, struct error *e)
{
	struct explain_procedures all;
	int rc = explain_procedures_all(&all, d) ? error_nomem(e)
						 : explain_code_each(d, &all, take, to, e);

	explain_procedures_fini(&all);
	return rc;
}
