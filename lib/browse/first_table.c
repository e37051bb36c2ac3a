/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "browse/first_table.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "report/report_views.h"

enum {
	LARGE = 4 << 20, /* bytes; smaller files are read at once */
	ROWS = 200,      /* functions, while it is preliminary */
};

/* ---- names without lines ---- */

static int bare_symbol(void *names, uint32_t image, uint64_t address, struct image_symbol *symbol)
{
	struct prof_names *n = &((struct browse_bare_names *)names)->under;

	return n->ops->symbol(n->context, image, address, symbol);
}

static enum prof_image_state bare_state(void *names, uint32_t image, const char **why)
{
	struct prof_names *n = &((struct browse_bare_names *)names)->under;

	return n->ops->state(n->context, image, why);
}

const struct prof_names_ops browse_bare_ops = {.symbol = bare_symbol,
	.line = profile_no_line,
	.inlines = profile_no_inlines,
	.state = bare_state};

/* ---- the file ---- */

bool first_table_wanted(const struct browse_request *r)
{
	const struct prof_request *q = r->request;
	struct stat st;

	if (r->arguments->paths.count != 1 || q->compare || profile_divides(q) || q->threads ||
		q->inclusive || q->inlines || profile_whom_asked(q))
		return false;
	return stat(r->arguments->paths.data[0], &st) == 0 && S_ISREG(st.st_mode) &&
	       st.st_size >= LARGE;
}

int first_table_open(struct first_table *g, const struct browse_request *r)
{
	const char *path = r->arguments->paths.data[0];

	memset(g, 0, sizeof(*g));
	g->g = experiment_glance_open(path, NULL);
	if (!g->g)
		return -1;
	g->input = (struct prof_input){.experiment = experiment_glance_head(g->g), .file = path};
	g->request = (struct prof_request){.inputs = &g->input,
		.count = 1,
		.only = r->request->only,
		.exclude = r->request->exclude,
		.quit = r->request->quit};
	if (!g->request.quit.rows || g->request.quit.rows > ROWS)
		g->request.quit.rows = ROWS;
	if (profile_data_init(&g->data, &g->request, NULL) == 0) {
		g->images = profile_images_new(&g->data, r->search, NULL);
		if (g->images)
			return 0;
		profile_data_fini(&g->data);
	}
	experiment_glance_close(g->g);
	g->g = NULL;
	return -1;
}

void first_table_close(struct first_table *g)
{
	profile_images_free(g->images);
	profile_data_fini(&g->data);
	experiment_glance_close(g->g);
	memset(g, 0, sizeof(*g));
}

/* ---- functions ---- */

struct gathering {
	struct first_table *g;
	struct experiment *x;
	uint32_t image, node;
	uint64_t begin, size; /* of the function that node stands for */
};

static int gather(void *context, uint32_t image, uint64_t address, const uint64_t *counts)
{
	struct gathering *at = context;

	if (image != at->image || address - at->begin >= at->size) {
		struct image_symbol symbol = {.address = address, .size = 1};
		long node;

		profile_images_ops.symbol(at->g->images, image, address, &symbol);
		at->image = image;
		at->begin = symbol.address;
		at->size = symbol.size;
		node = experiment_node(at->x, EXPERIMENT_ROOT, image, symbol.address);
		if (node < 0)
			return -1;
		at->node = (uint32_t)node;
	}
	for (size_t i = 0; i < at->x->metrics.count; i++)
		if (counts[i] && experiment_add(at->x, (uint32_t)i, 0, 0, at->node, counts[i]))
			return -1;
	return 0;
}

/* An experiment of the same images and metrics, with a node for each function. */
static int gather_all(struct first_table *g, struct experiment *x)
{
	const struct experiment *head = experiment_glance_head(g->g);
	struct gathering at = {.g = g, .x = x};

	if (experiment_init(x, NULL))
		return -1;
	for (size_t i = 1; i < head->images.count; i++)
		if (experiment_image(x, &head->images.data[i], NULL) != (long)i)
			return -1;
	for (size_t i = 0; i < head->metrics.count; i++) {
		struct experiment_metric m = head->metrics.data[i];

		m.flags &= ~(unsigned)METRIC_EXACT; /* the number of calls is not yet known */
		if (experiment_metric(x, &m, NULL) < 0)
			return -1;
	}
	return experiment_glance_walk(g->g, gather, &at);
}

int first_table_fill(struct first_table *g, uint64_t budget, struct experiment *functions,
	struct prof_data *data, struct report_table *t)
{
	int more = experiment_glance_work(g->g, budget, budget);
	struct prof_input input = {.experiment = functions, .file = g->input.file};
	struct prof_request request = g->request;
	struct browse_bare_names names = {{&profile_images_ops, g->images}};
	int rc = -1;

	memset(functions, 0, sizeof(*functions));
	memset(data, 0, sizeof(*data));
	memset(t, 0, sizeof(*t));
	request.inputs = &input;
	if (more < 0 || gather_all(g, functions) || profile_data_init(data, &request, NULL))
		goto out;
	data->names = (struct prof_names){&browse_bare_ops, &names};
	rc = report_procedures(data, t, NULL);
	data->request = NULL;
	data->names = (struct prof_names){0};
	report_note(t, "Preliminary: of the first %.0f%% of the samples; the file is being read",
		100 * experiment_glance_part(g->g));
	if (report_finish(t, rc, NULL) == 0)
		return more;
out:
	report_table_fini(t);
	profile_data_fini(data);
	experiment_fini(functions);
	return -1;
}
