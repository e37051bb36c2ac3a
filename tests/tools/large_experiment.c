/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * large_experiment FILE ELF NODES: an experiment with that many nodes of call paths over the
 * functions of a program, for measuring what opens large files.  A node in eight calls others; what
 * is called lies anywhere in a function, those with low numbers more often.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../chance.h"
#include "../metrics.h"
#include "experiment/file.h"
#include "image/image.h"

struct functions {
	VEC(struct image_symbol) list;
};

static int take(void *context, const struct image_symbol *symbol)
{
	struct functions *f = context;
	struct image_symbol *own;

	if (symbol->guessed || symbol->size < 8)
		return 0;
	own = vec_push(&f->list);
	if (!own)
		return -1;
	*own = *symbol;
	return 0;
}

static int describe(struct experiment *x, const char *elf, struct functions *f, struct error *e)
{
	struct experiment_image image = {.kind = EXPERIMENT_IMAGE_ELF, .path = (char *)elf};
	struct experiment_metric metric = METRIC_TIME(METRIC_STACKS);
	struct image_identity id = {.path = elf};
	struct image_search where = {0};
	struct image *open = image_open(&id, &where, e);
	size_t length = 0;

	if (!open || image_symbols(open, take, f) || experiment_init(x, e) ||
		image_identify(elf, image.build_id, &length, &image.size, &image.fingerprint, e))
		return -1;
	free(x->type);
	x->type = strdup("usertime");
	x->complete = true;
	image.build_id_length = (uint32_t)length;
	return experiment_image(x, &image, e) < 0 || experiment_metric(x, &metric, e) < 0 ||
			       !f->list.count
		       ? -1
		       : 0;
}

static int grow(struct experiment *x, const struct functions *f, uint32_t nodes)
{
	for (uint32_t i = 1; i < nodes; i++) {
		uint32_t n = (uint32_t)f->list.count, which = chance_below(1 + chance_below(n));
		uint32_t parent = chance_below((uint32_t)x->nodes.count / 8 + 1) * 8;
		const struct image_symbol *s = &f->list.data[which];
		long node = experiment_node(x, parent < x->nodes.count ? parent : 0, 1,
			s->address + chance_below((uint32_t)s->size / 4) * 4);

		if (node < 0 || experiment_add(x, 0, 0, 0, (uint32_t)node,
					1 + chance_below(3) * chance_below(40)))
			return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct functions f = {0};
	struct experiment x;
	struct error e = {0};

	if (argc != 4 || describe(&x, argv[2], &f, &e) ||
		grow(&x, &f, (uint32_t)strtoul(argv[3], NULL, 10)) ||
		experiment_write(&x, argv[1], &e)) {
		fprintf(stderr, "large_experiment: %s\n", e.code ? e.message : "FILE ELF NODES");
		return 1;
	}
	printf("%zu nodes\n", x.nodes.count);
	experiment_fini(&x);
	vec_fini(&f.list);
	return 0;
}
