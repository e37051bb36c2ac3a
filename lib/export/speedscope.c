/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The file format of speedscope: a sampled profile for each metric and thread. Stacks come in the
 * order of the call tree, so that its view by time shows frames that belong together as one.
 */
#include <stdlib.h>

#include "base/json.h"
#include "base/strbuf.h"
#include "export/private.h"

static int write_frames(const struct export_profile *x, struct json *j)
{
	struct strbuf name = {0};
	int rc = 0;

	json_object(j, "shared");
	json_array(j, "frames");
	for (uint32_t i = 0; i < x->functions.count && rc == 0; i++) {
		const struct export_function *f = export_function_at(x, i);

		name.length = 0;
		rc = export_full_name(&name, x, i);
		json_object(j, NULL);
		json_string(j, "name", strbuf_text(&name));
		if (f->key.file) {
			json_string(j, "file", export_text(x, f->key.file));
			if (f->key.line)
				json_integer(j, "line", f->key.line);
		} else {
			json_string(j, "file", x->data->images.data[f->key.image].image->path);
		}
		json_end_object(j);
	}
	json_end_array(j);
	json_end_object(j);
	strbuf_fini(&name);
	return rc;
}

static bool mine(const struct export_profile *x, const struct export_branches *b, uint32_t branch,
	size_t metric, uint32_t group)
{
	return branch && export_branch_at(b, branch)->key.group == group &&
	       b->samples.data[branch * x->metrics.count + metric];
}

/* path has room for all. */
static void write_stack(
	const struct export_branches *b, uint32_t at, uint32_t *path, struct json *j)
{
	size_t depth = 0;

	for (; at; at = export_branch_at(b, at)->key.parent)
		path[depth++] = b->function[at];
	json_array(j, NULL);
	while (depth--)
		json_integer(j, NULL, path[depth]);
	json_end_array(j);
}

static int speedscope_write_profile(const struct export_profile *x, const struct export_branches *b,
	size_t metric, uint32_t group, struct json *j)
{
	const struct export_metric *m = &x->metrics.data[metric];
	uint32_t *path = calloc(b->all.count + 1, sizeof(*path));
	struct strbuf name = {0};
	uint64_t sum = 0;
	int rc;

	if (!path)
		return -1;
	if (x->data->request->threads) {
		export_thread_name(&name, x, group);
		strbuf_puts(&name, ": ");
	}
	strbuf_puts(&name, m->text);
	json_object(j, NULL);
	json_string(j, "type", "sampled");
	json_string(j, "name", strbuf_text(&name));
	json_string(j, "unit", m->clock ? "nanoseconds" : "none");
	json_array(j, "samples");
	for (size_t i = 0; i < b->all.count; i++)
		if (mine(x, b, b->order[i], metric, group))
			write_stack(b, b->order[i], path, j);
	json_end_array(j);
	json_array(j, "weights");
	for (size_t i = 0; i < b->all.count; i++) {
		uint32_t at = b->order[i];
		uint64_t units;

		if (!mine(x, b, at, metric, group))
			continue;
		units = b->samples.data[at * x->metrics.count + metric] * m->unit_size;
		sum += units;
		json_integer(j, NULL, (long long)units);
	}
	json_end_array(j);
	json_integer(j, "startValue", 0);
	json_integer(j, "endValue", (long long)sum);
	json_end_object(j);
	rc = name.failed ? -1 : 0;
	strbuf_fini(&name);
	free(path);
	return rc;
}

static bool has_any(const struct export_profile *x, const struct export_branches *b, size_t metric,
	uint32_t group)
{
	for (uint32_t i = 1; i < b->all.count; i++)
		if (mine(x, b, i, metric, group))
			return true;
	return false;
}

static int write_profiles(
	const struct export_profile *x, const struct export_branches *b, struct json *j)
{
	size_t groups = x->data->groups.count, all = groups * x->metrics.count + 1;
	int rc = 0;

	json_array(j, "profiles");
	for (uint32_t group = 0; group < groups || !group; group++)
		for (size_t m = 0; m < x->metrics.count && rc == 0; m++) {
			/* a profile without samples is written, but a thread without samples is
			 * left out */
			if (!x->data->request->threads || has_any(x, b, m, group))
				rc = speedscope_write_profile(x, b, m, group, j);
			progress_step(x->request->progress,
				(double)(group * x->metrics.count + m) / (double)all, "writing");
		}
	json_end_array(j);
	return rc;
}

int export_speedscope(const struct export_profile *x, FILE *out, struct error *e)
{
	uint32_t *key = calloc(x->functions.count + 1, sizeof(*key));
	struct export_branches b = {0};
	struct json j;
	int rc = key ? 0 : -1;

	for (uint32_t i = 0; i < x->functions.count && rc == 0; i++)
		key[i] = i;
	if (rc == 0)
		rc = export_branches(&b, x, key);
	json_init(&j, out);
	json_object(&j, NULL);
	json_string(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
	json_string(&j, "exporter", x->request->creator);
	json_string(&j, "name", x->data->request->count ? x->data->request->inputs[0].file : "");
	json_integer(&j, "activeProfileIndex", 0);
	if (rc == 0)
		rc = write_frames(x, &j);
	if (rc == 0)
		rc = write_profiles(x, &b, &j);
	json_end_object(&j);
	putc('\n', out);
	export_branches_fini(&b);
	free(key);
	return rc ? error_nomem(e) : 0;
}
