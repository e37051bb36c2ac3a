/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Call paths as a flame graph needs them: functions of one name on one path are one node, parents
 * before children. What would be narrower than a point of a screen is left out, and counted.
 *
 * "nodes" has, for each node, the index of its parent (-1: none), that of its name, and for each
 * metric the samples of it with all that it called, then those of its own.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "export/private.h"

enum {
	NARROW = 10000, /* the least share of the whole: one part in N */
	NODES_MAX = 50000,
};

struct paths {
	const struct export_profile *x;
	struct export_branches b;
	uint32_t *key;  /* of functions: their name */
	uint64_t *sums; /* [branch * metrics + metric]: with all below */
	uint32_t *at;   /* [branch]: its index in the output + 1; 0: none */
};

static int paths_add_up(struct paths *p)
{
	size_t m = p->x->metrics.count, count = p->b.all.count;

	p->sums = calloc(count * m + 1, sizeof(*p->sums));
	p->at = calloc(count + 1, sizeof(*p->at));
	if (!p->sums || !p->at)
		return -1;
	for (size_t i = count; i-- > 0;) {
		uint32_t at = p->b.order[i], parent = export_branch_at(&p->b, at)->key.parent;

		for (size_t k = 0; k < m; k++) {
			p->sums[at * m + k] += p->b.samples.data[at * m + k];
			if (at)
				p->sums[parent * m + k] += p->sums[at * m + k];
		}
	}
	return 0;
}

static bool paths_wide(const struct paths *p, uint32_t branch, uint64_t parts)
{
	size_t m = p->x->metrics.count;

	for (size_t k = 0; k < m; k++)
		if (p->sums[branch * m + k] && p->sums[branch * m + k] >= p->sums[k] / parts)
			return true;
	return false;
}

/* Numbers those that are shown; what is left out. A wide node's parent is as wide. */
static size_t paths_choose(struct paths *p)
{
	uint64_t parts = NARROW;
	uint32_t shown;

	for (;; parts /= 2) {
		shown = 0;
		for (size_t i = 1; i < p->b.all.count; i++) {
			uint32_t at = p->b.order[i];

			p->at[at] = paths_wide(p, at, parts) ? ++shown : 0;
		}
		if (shown <= NODES_MAX || parts < 2)
			return p->b.all.count ? p->b.all.count - 1 - shown : 0;
	}
}

static void paths_metrics(const struct export_profile *x, struct json *j)
{
	json_array(j, "metrics");
	for (size_t i = 0; i < x->metrics.count; i++) {
		const struct export_metric *m = &x->metrics.data[i];
		const struct report_experiment *of = &x->notes.experiments.data[m->index];

		json_object(j, NULL);
		json_string(j, "name", m->name);
		json_string(j, "text", m->text);
		json_string(j, "unit", m->unit);
		json_string(j, "label", label_name(of->label));
		json_bool(j, "exact", m->exact);
		json_integer(j, "period", (long long)m->unit_size);
		json_integer(j, "samples", (long long)m->samples);
		json_end_object(j);
	}
	json_end_array(j);
}

/* The number of a name in the output is in number, by string. */
static void paths_names(const struct paths *p, uint32_t *number, struct json *j)
{
	uint32_t count = 0;

	json_array(j, "names");
	for (size_t i = 1; i < p->b.all.count; i++) {
		uint32_t at = p->b.order[i], name = p->key[p->b.function[at]];

		if (!p->at[at] || number[name])
			continue;
		number[name] = ++count;
		json_string(j, NULL, export_text(p->x, name));
	}
	json_end_array(j);
}

static void paths_nodes(const struct paths *p, const uint32_t *number, struct json *j)
{
	size_t m = p->x->metrics.count;

	json_array(j, "nodes");
	for (size_t i = 1; i < p->b.all.count; i++) {
		uint32_t at = p->b.order[i];

		if (!p->at[at])
			continue;
		json_integer(
			j, NULL, (long long)p->at[export_branch_at(&p->b, at)->key.parent] - 1);
		json_integer(j, NULL, (long long)number[p->key[p->b.function[at]]] - 1);
		for (size_t k = 0; k < m; k++) {
			json_integer(j, NULL, (long long)p->sums[at * m + k]);
			json_integer(j, NULL, (long long)p->b.samples.data[at * m + k]);
		}
	}
	json_end_array(j);
}

static int paths_write(struct paths *p, FILE *out)
{
	uint32_t *number = calloc(p->x->data->strings.count + 1, sizeof(*number));
	struct json j;

	if (!number)
		return -1;
	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "narrow", (long long)paths_choose(p));
	paths_metrics(p->x, &j);
	paths_names(p, number, &j);
	paths_nodes(p, number, &j);
	json_end_object(&j);
	free(number);
	return 0;
}

int export_paths(const struct export_profile *x, FILE *out, struct error *e)
{
	struct paths p = {.x = x, .key = calloc(x->functions.count + 1, sizeof(*p.key))};
	int rc = p.key ? export_name_keys(x, p.key) : -1;

	if (rc == 0)
		rc = export_branches(&p.b, x, p.key);
	if (rc == 0)
		rc = paths_add_up(&p);
	if (rc == 0)
		rc = paths_write(&p, out);
	export_branches_fini(&p.b);
	free(p.key);
	free(p.sums);
	free(p.at);
	return rc ? error_nomem(e) : 0;
}

const struct export_format export_format_paths = {.name = "paths", .write = export_paths};
