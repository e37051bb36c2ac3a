/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "explain/hot_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "explain/code.h"

struct search {
	struct hot_blocks *h;
	const struct prof_data *d;
};

/* Instructions first .. last of a procedure, where they have samples. */
static int hot_blocks_take_piece(const struct search *s, const struct explain_procedure *procedure,
	const struct explain_code *c, uint32_t first, uint32_t last)
{
	const struct insn *from = &c->flow->insns.data[first], *to = &c->flow->insns.data[last];
	struct hot_block *own;
	uint64_t samples = 0;

	for (uint32_t i = first; i <= last; i++)
		samples += c->counts[i * s->d->metrics.count];
	if (!samples)
		return 0;
	own = vec_push(&s->h->list);
	if (!own)
		return -1;
	*own = (struct hot_block){.image = c->image,
		.begin = from->address,
		.samples = samples,
		.length = to->address + to->length - from->address,
		.function = profile_string_at(s->d, procedure->name)};
	own->bytes = malloc(own->length);
	if (!own->bytes)
		return -1;
	memcpy(own->bytes, c->bytes + (from->address - c->begin), own->length);
	s->h->lost -= samples;
	return 0;
}

static int cut_procedure(void *to, const struct explain_procedure *procedure,
	struct explain_code *c, struct error *e)
{
	const struct flow *f = c->flow;

	for (uint32_t i = 0; f && c->machine == ISA_X86_64 && i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		uint32_t first = b->first, last = b->first + b->count - 1;

		for (uint32_t k = first; k <= last; k++) {
			if (!(f->insns.data[k].classes & INSN_CALL) && k < last)
				continue;
			if (hot_blocks_take_piece(to, procedure, c, first, k))
				return error_nomem(e);
			first = k + 1;
		}
	}
	return 0;
}

static int by_samples(const void *a, const void *b)
{
	const struct hot_block *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return sort_rising(x->image, y->image) ?: sort_rising(x->begin, y->begin);
}

int hot_blocks_find(struct hot_blocks *h, const struct prof_data *d, struct error *e)
{
	struct search s = {h, d};

	memset(h, 0, sizeof(*h));
	h->total = h->lost = d->metrics.count ? d->metrics.data[0].samples : 0;
	if (!h->total)
		return error_set(e, ERR_NOT_FOUND, "the experiment has no samples");
	if (explain_code_all(d, cut_procedure, &s, e)) {
		hot_blocks_fini(h);
		return -1;
	}
	if (h->list.count)
		qsort(h->list.data, h->list.count, sizeof(*h->list.data), by_samples);
	return 0;
}

void hot_blocks_fini(struct hot_blocks *h)
{
	for (size_t i = 0; i < h->list.count; i++)
		free(h->list.data[i].bytes);
	vec_fini(&h->list);
}
