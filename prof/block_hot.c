/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The hottest blocks of an experiment.  Each function with samples is cut into blocks (lib/flow),
 * and those at calls, since a call's cycles are not the block's.  A sample counts for the piece
 * that its address lies in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/say.h"
#include "base/table.h"
#include "block.h"
#include "experiment/experiment.h"
#include "flow/flow.h"
#include "image/image.h"
#include "prof.h"

struct hot_address {
	struct {
		uint64_t address, image;
	} key;
	uint64_t samples;
};

struct hot_piece {
	struct {
		uint64_t begin, image;
	} key;
	uint64_t samples, end;
	uint64_t function; /* address of it */
};

struct hot {
	const struct experiment *x;
	struct image **images;
	bool *tried;
	struct table addresses, pieces;
	uint64_t total, lost; /* samples; those of which there is no code */
};

static int add_samples(struct hot *h, struct error *e)
{
	for (size_t i = 0; i < h->x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(h->x, i);
		const struct experiment_node *node;
		struct hot_address *slot;

		if (s->key.metric != 0)
			continue;
		node = experiment_node_at(h->x, s->key.node);
		slot = table_add(&h->addresses,
			&(__typeof__(slot->key)){node->key.address, node->key.image});
		if (!slot)
			return error_nomem(e);
		slot->samples += s->count;
		h->total += s->count;
	}
	return 0;
}

static struct image *open_image(struct hot *h, uint64_t index)
{
	const struct experiment_image *of = &h->x->images.data[index];
	const struct image_identity id = {.path = of->path,
		.build_id = of->build_id,
		.build_id_length = of->build_id_length,
		.size = of->size,
		.fingerprint = of->fingerprint};
	const struct image_search where = {0};
	struct error e = {0};

	if (h->tried[index] || of->kind != EXPERIMENT_IMAGE_ELF)
		return h->images[index];
	h->tried[index] = true;
	h->images[index] = image_open(&id, &where, &e);
	if (!h->images[index])
		say("%s", e.message);
	return h->images[index];
}

static size_t read_image(void *context, uint64_t address, void *bytes, size_t size)
{
	return image_code(context, address, bytes, size);
}

/* One piece of a block; the samples within it are added by find_piece. */
static int add_piece(struct hot *h, uint64_t image, uint64_t function, uint64_t begin, uint64_t end)
{
	struct hot_piece *p;

	if (begin == end)
		return 0;
	p = table_add(&h->pieces, &(__typeof__(p->key)){begin, image});
	if (!p)
		return -1;
	p->end = end;
	p->function = function;
	return 0;
}

static int cut(struct hot *h, uint64_t image, const struct flow *f)
{
	for (size_t i = 0; i < f->blocks.count; i++) {
		const struct flow_block *b = &f->blocks.data[i];
		uint64_t begin = f->insns.data[b->first].address;

		for (uint32_t k = 0; k < b->count; k++) {
			const struct insn *insn = &f->insns.data[b->first + k];
			uint64_t end = insn->address + insn->length;

			if (!(insn->classes & INSN_CALL) && k + 1 < b->count)
				continue;
			if (add_piece(h, image, f->begin, begin, end))
				return -1;
			begin = end;
		}
	}
	return 0;
}

static int cut_function(
	struct hot *h, uint64_t image, const struct image_symbol *symbol, struct error *e)
{
	struct hot_piece *known;
	struct flow_request request = {.machine = ISA_X86_64,
		.begin = symbol->address,
		.context = h->images[image],
		.read = read_image};
	uint8_t *bytes;
	struct flow *f;
	int rc;

	known = table_find(&h->pieces, &(__typeof__(known->key)){symbol->address, image});
	if (known)
		return 0;
	bytes = malloc(symbol->size);
	if (!bytes)
		return error_nomem(e);
	request.bytes = bytes;
	request.size = image_code(h->images[image], symbol->address, bytes, symbol->size);
	f = flow_new(&request, e);
	rc = f ? cut(h, image, f) : -1;
	flow_free(f);
	free(bytes);
	return rc;
}

static int by_place(const void *a, const void *b)
{
	const struct hot_piece *p = a, *q = b;

	if (p->key.image != q->key.image)
		return p->key.image < q->key.image ? -1 : 1;
	return p->key.begin < q->key.begin ? -1 : p->key.begin > q->key.begin;
}

static int by_samples(const void *a, const void *b)
{
	const struct hot_piece *p = a, *q = b;

	if (p->samples != q->samples)
		return p->samples < q->samples ? 1 : -1;
	return by_place(a, b);
}

static struct hot_piece *find_piece(struct hot *h, uint64_t image, uint64_t address)
{
	size_t low = 0, high = h->pieces.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct hot_piece *p = table_at(&h->pieces, middle);

		if (p->key.image < image || (p->key.image == image && p->key.begin <= address))
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	return ((struct hot_piece *)table_at(&h->pieces, low - 1));
}

static int cut_functions(struct hot *h, struct error *e)
{
	for (size_t i = 0; i < h->addresses.count; i++) {
		const struct hot_address *a = table_at(&h->addresses, i);
		struct image *image = open_image(h, a->key.image);
		const struct image_symbol *symbol;

		if (!image || image_machine(image) != IMAGE_X86_64)
			continue;
		symbol = image_symbol_at(image, a->key.address);
		if (symbol && cut_function(h, a->key.image, symbol, e))
			return e->code ? -1 : error_nomem(e);
	}
	table_sort(&h->pieces, by_place);
	for (size_t i = 0; i < h->addresses.count; i++) {
		const struct hot_address *a = table_at(&h->addresses, i);
		struct hot_piece *p = find_piece(h, a->key.image, a->key.address);

		if (p && p->key.image == a->key.image && a->key.address < p->end)
			p->samples += a->samples;
		else
			h->lost += a->samples;
	}
	table_sort(&h->pieces, by_samples);
	return 0;
}

static int take(struct hot *h, const struct hot_piece *p, block_items *items, struct error *e)
{
	struct image *image = h->images[p->key.image];
	const struct image_symbol *symbol = image_symbol_at(image, p->function);
	size_t length = (size_t)(p->end - p->key.begin);
	uint8_t *bytes = malloc(length);
	struct block_item *item = NULL;

	if (bytes)
		item = block_item_new(items, bytes, image_code(image, p->key.begin, bytes, length));
	free(bytes);
	if (!item)
		return error_nomem(e);
	item->address = p->key.begin;
	item->share = (double)p->samples / (double)h->total;
	item->function = symbol ? strdup(symbol->demangled) : NULL;
	if (asprintf(&item->where, "0x%llx", (unsigned long long)p->key.begin) < 0)
		item->where = NULL;
	return 0;
}

static int find_hot(struct hot *h, block_items *items, size_t top, struct error *e)
{
	if (add_samples(h, e) || cut_functions(h, e))
		return -1;
	if (!h->total)
		return error_set(e, ERR_NOT_FOUND, "the experiment has no samples");
	if (h->lost)
		say("%.1f%% of the samples are in no block that could be found",
			100.0 * (double)h->lost / (double)h->total);
	for (size_t i = 0; i < h->pieces.count && i < top; i++) {
		const struct hot_piece *p = table_at(&h->pieces, i);

		if (p->samples && take(h, p, items, e))
			return -1;
	}
	return 0;
}

int blocks_from_experiment(block_items *items, const char *path, size_t top, struct error *e)
{
	const struct options none = {0};
	char *words[] = {(char *)path, NULL};
	struct arguments arguments;
	struct loaded loaded = {0};
	struct hot h = {
		.addresses = {.entry_size = sizeof(struct hot_address),
			.key_size = sizeof(((struct hot_address *)0)->key)},
		.pieces = {.entry_size = sizeof(struct hot_piece),
			.key_size = sizeof(((struct hot_piece *)0)->key)},
	};
	size_t images = 0;
	int rc = arguments_find(&arguments, words, e) || load(&loaded, &none, &arguments, e);

	if (rc == 0) {
		h.x = &loaded.experiments.data[0];
		images = h.x->images.count;
		h.images = calloc(images + 1, sizeof(*h.images));
		h.tried = calloc(images + 1, sizeof(*h.tried));
		rc = h.images && h.tried ? find_hot(&h, items, top, e) : error_nomem(e);
	}
	for (size_t i = 0; h.images && i < images; i++)
		image_close(h.images[i]);
	free(h.images);
	free(h.tried);
	table_fini(&h.addresses);
	table_fini(&h.pieces);
	loaded_fini(&loaded);
	arguments_fini(&arguments);
	return rc ? -1 : 0;
}
