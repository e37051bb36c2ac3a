/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All data as JSON: schema prof.profile/1, described in prof-export(1). */
#include "base/json.h"
#include "base/strbuf.h"
#include "export/private.h"

static void metrics(const struct export_profile *x, struct json *j)
{
	json_array(j, "metrics");
	for (size_t m = 0; m < x->metrics.count; m++) {
		const struct export_metric *own = &x->metrics.data[m];
		const struct report_experiment *of = &x->notes.experiments.data[own->index];

		json_object(j, NULL);
		json_string(j, "name", own->name);
		json_string(j, "event", of->event);
		json_string(j, "unit", own->unit);
		json_string(j, "label", label_name(of->label));
		json_string(j, "source", of->source);
		json_string(j, "note", of->note ? of->note : "");
		json_string(j, "file", of->file);
		json_string(j, "type", of->type);
		json_bool(j, "exact", own->exact);
		json_bool(j, "stacks", of->flags & METRIC_STACKS);
		json_integer(j, "period", (long long)own->unit_size);
		json_integer(j, "samples", (long long)own->samples);
		json_integer(j, "lost", (long long)of->lost);
		json_integer(j, "unattributed", (long long)of->unattributed);
		if (of->total)
			json_integer(j, "total", (long long)of->total);
		json_end_object(j);
	}
	json_end_array(j);
}

static void profile_json_lines(
	struct json *j, const char *key, const struct report_line *line, size_t count)
{
	json_array(j, key);
	for (size_t i = 0; i < count; i++) {
		if (line[i].label) {
			json_object(j, NULL);
			json_string(j, "name", line[i].label);
			json_string(j, "value", line[i].value);
			json_end_object(j);
		} else {
			json_string(j, NULL, line[i].value);
		}
	}
	json_end_array(j);
}

static void profile_json_images(const struct export_profile *x, struct json *j)
{
	json_array(j, "images");
	for (size_t i = 0; i < x->data->images.count; i++) {
		const struct experiment_image *image = x->data->images.data[i].image;
		char id[2 * EXPERIMENT_BUILD_ID_MAX + 1] = "";

		for (size_t k = 0; k < image->build_id_length; k++)
			snprintf(id + 2 * k, 3, "%02x", image->build_id[k]);
		json_object(j, NULL);
		json_string(j, "path", image->path);
		json_string(j, "kind", experiment_image_kinds[image->kind]);
		if (id[0])
			json_string(j, "build_id", id);
		json_end_object(j);
	}
	json_end_array(j);
}

static void profile_json_functions(const struct export_profile *x, struct json *j)
{
	json_array(j, "functions");
	for (size_t i = 0; i < x->functions.count; i++) {
		const struct export_function *f = export_function_at(x, i);

		json_object(j, NULL);
		json_string(j, "name", export_text(x, f->key.name));
		if (f->key.symbol != f->key.name)
			json_string(j, "symbol", export_text(x, f->key.symbol));
		json_integer(j, "image", f->key.image);
		if (f->key.begin)
			json_address(j, "address", f->key.begin);
		if (f->key.inlined)
			json_bool(j, "inlined", true);
		if (f->key.file)
			json_string(j, "file", export_text(x, f->key.file));
		if (f->key.line)
			json_integer(j, "line", f->key.line);
		json_end_object(j);
	}
	json_end_array(j);
}

static void profile_json_locations(const struct export_profile *x, struct json *j)
{
	json_array(j, "locations");
	for (size_t i = 0; i < x->locations.count; i++) {
		const struct export_location *l = &x->locations.data[i];

		json_object(j, NULL);
		json_integer(j, "image", l->image);
		json_address(j, "address", l->address);
		json_array(j, "frames");
		for (uint32_t k = 0; k < l->frames; k++) {
			const struct export_frame *f = &x->frames.data[l->first + k];

			json_object(j, NULL);
			json_integer(j, "function", f->function);
			if (f->file)
				json_string(j, "file", export_text(x, f->file));
			if (f->line)
				json_integer(j, "line", f->line);
			json_end_object(j);
		}
		json_end_array(j);
		json_end_object(j);
	}
	json_end_array(j);
}

static void profile_json_threads(const struct export_profile *x, struct json *j)
{
	if (!x->data->request->threads)
		return;
	json_array(j, "threads");
	for (size_t i = 0; i < x->data->groups.count; i++) {
		const struct prof_group *g = export_group_at(x, i);

		json_object(j, NULL);
		json_string(j, "name", g->command ? g->command : "");
		json_integer(j, "pid", g->key.pid);
		json_integer(j, "tid", g->key.tid);
		if (g->key.rank >= 0)
			json_integer(j, "rank", g->key.rank);
		json_end_object(j);
	}
	json_end_array(j);
}

static void profile_json_nodes(const struct export_profile *x, struct json *j)
{
	const struct prof_data *d = x->data;

	json_array(j, "nodes");
	for (size_t i = 0; i < d->nodes.count; i++) {
		const struct prof_node *node = profile_tree_node_at(d, i);

		json_object(j, NULL);
		if (i) {
			json_integer(j, "parent", node->key.parent);
			json_integer(j, "location", x->location[node->key.place]);
			if (d->request->threads)
				json_integer(j, "thread",
					profile_place_at(d, node->key.place)->key.group);
		}
		json_array(j, "samples");
		for (size_t m = 0; m < x->metrics.count; m++)
			json_integer(j, NULL, (long long)export_samples(x, i, m));
		json_end_array(j);
		json_end_object(j);
		progress_step(x->request->progress, (double)i / (double)d->nodes.count, "writing");
	}
	json_end_array(j);
}

int export_json(const struct export_profile *x, FILE *out, struct error *e)
{
	struct json j;

	(void)e;
	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "schema", "prof.profile/1");
	json_string(&j, "creator", x->request->creator);
	profile_json_lines(&j, "run", x->notes.head.data, x->notes.head.count);
	metrics(x, &j);
	profile_json_images(x, &j);
	profile_json_functions(x, &j);
	profile_json_locations(x, &j);
	profile_json_threads(x, &j);
	profile_json_nodes(x, &j);
	profile_json_lines(&j, "notes", x->notes.notes.data, x->notes.notes.count);
	json_bool(&j, "incomplete", x->notes.incomplete);
	json_end_object(&j);
	putc('\n', out);
	return 0;
}
