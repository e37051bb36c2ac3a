/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>

#include "export/private.h"

static int steps_add_node(
	struct export_steps *s, const struct export_profile *x, uint32_t *of, size_t i)
{
	const struct prof_node *node = profile_tree_node_at(x->data, i);
	const struct profile_place *place = profile_place_at(x->data, node->key.place);
	uint32_t location = x->location[node->key.place], parent = of[node->key.parent];
	const struct export_location *l = &x->locations.data[location];
	bool inlines = x->data->request->inlines;

	/* outermost first; without -inlines, the real function at the position of the innermost
	 * frame */
	for (uint32_t frame = inlines ? l->frames : 1; frame-- > 0;) {
		size_t real = l->first + (inlines ? frame : l->frames - 1);
		struct export_step *step = vec_push(&s->all);

		if (!step)
			return -1;
		*step = (struct export_step){.parent = parent,
			.location = location,
			.frame = frame,
			.function = x->frames.data[real].function,
			.group = place->key.group,
			.node = frame ? 0 : (uint32_t)i};
		parent = (uint32_t)s->all.count - 1;
	}
	of[i] = parent;
	return 0;
}

int export_steps(struct export_steps *s, const struct export_profile *x)
{
	size_t count = x->data->nodes.count;
	uint32_t *of = calloc(count + 1, sizeof(*of));
	const struct export_step *root = vec_push(&s->all);
	int rc = of && root ? 0 : -1;

	for (size_t i = 1; i < count && rc == 0; i++)
		rc = steps_add_node(s, x, of, i);
	free(of);
	return rc;
}
