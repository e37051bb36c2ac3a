/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiments on the model, against what the programs are known to do: exact counts, samples at
 * every period-th, call paths that add up, threads, forks, phases; and the same again is the same.
 */
#include <libgen.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "../tap.h"
#include "base/strbuf.h"
#include "build_data.h"
#include "collect/collect.h"
#include "image/image.h"

static char build[4096];

struct collected {
	struct experiment x;
	struct collect_result result;
	struct error error;
	char said[1024];
	int rc;
};

static void say(void *context, int level, const char *line)
{
	struct collected *c = context;

	(void)level;
	snprintf(c->said, sizeof(c->said), "%s", line);
}

/* specs: "dsc_hwc", "ideal", or EVENT:PERIOD[:stacks], ended by NULL. */
static void collect_it(struct collected *c, const char *const *specs, char *const *argv)
{
	struct collect_metrics metrics = {.list = {0}};
	struct machine machine;
	struct collect_request r = {
		.argv = argv, .metrics = &metrics, .machine = &machine, .say = say, .context = c};
	struct error reason;

	memset(c, 0, sizeof(*c));
	c->rc = machine_find("zen4", &machine, &c->error);
	for (; c->rc == 0 && *specs; specs++) {
		struct collect_experiment x;

		if (strchr(*specs, ':'))
			c->rc = collect_metrics_parse(&metrics, *specs, false, &c->error);
		else
			c->rc = collect_experiment_find(*specs, &x, &c->error) ||
				collect_metrics_add(&metrics, &x, false, &c->error);
	}
	if (c->rc == 0)
		c->rc = collect_choose(
			&metrics, COLLECT_MODEL, &machine, false, &reason, &c->error);
	if (c->rc == 0)
		c->rc = experiment_init(&c->x, &c->error);
	if (c->rc == 0)
		c->rc = collect_model(&r, &c->x, &c->result, &c->error);
	if (c->rc) {
		printf("# %s (%s)\n", c->error.message, c->error.hint);
		experiment_fini(&c->x);
	}
	collect_metrics_fini(&metrics);
}

static uint64_t samples_of(const struct experiment *x, uint32_t metric)
{
	uint64_t n = 0;

	for (size_t i = 0; i < x->samples.count; i++)
		if (experiment_sample_at(x, i)->key.metric == metric)
			n += experiment_sample_at(x, i)->count;
	return n;
}

/* The function of a node, "" where none is known. */
static const char *function_of(const struct experiment *x, uint32_t node)
{
	static struct image *images[64];
	const struct experiment_node *n = experiment_node_at(x, node);
	const struct experiment_image *im = &x->images.data[n->key.image];
	struct image_identity id = {
		.path = im->path, .build_id = im->build_id, .build_id_length = im->build_id_length};
	const struct image_symbol *symbol;
	struct image_search where = {0};

	if (im->kind != EXPERIMENT_IMAGE_ELF || n->key.image >= 64)
		return "";
	if (!images[n->key.image])
		images[n->key.image] = image_open(&id, &where, NULL);
	if (!images[n->key.image])
		return "";
	symbol = image_symbol_at(images[n->key.image], n->key.address);
	return symbol ? symbol->name : "";
}

/* Samples with `function` on their path (or at their end). */
static uint64_t inclusive(const struct experiment *x, uint32_t metric, const char *function)
{
	char *below = calloc(x->nodes.count, 1);
	uint64_t n = 0;

	for (size_t i = 1; below && i < x->nodes.count; i++)
		below[i] = below[experiment_node_at(x, i)->key.parent] ||
			   !strcmp(function_of(x, (uint32_t)i), function);
	for (size_t i = 0; below && i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);

		n += s->key.metric == metric && below[s->key.node] ? s->count : 0;
	}
	free(below);
	return n;
}

static void check_ideal(void)
{
	char program[4200];
	char *argv[] = {program, (char *)"loop", (char *)"12345", NULL};
	struct collected c;
	uint64_t taken = 0;

	snprintf(program, sizeof(program), "%s/tests/programs/profiled", build);
	collect_it(&c, (const char *const[]){"ideal", NULL}, argv);
	if (!ok(c.rc == 0, "ideal: runs: %s", c.error.message))
		return;
	is_int(c.result.exit_status, 0, "ideal: the command's status");
	ok(c.x.metrics.count == 1 && c.x.metrics.data[0].flags & METRIC_EXACT &&
			c.x.metrics.data[0].label == LABEL_MODEL,
		"ideal: an exact metric, labelled");
	ok(c.x.metrics.data[0].total > 37035, "ideal: the total is known");
	is_int(samples_of(&c.x, 0), c.x.metrics.data[0].total, "ideal: instructions add up to it");
	for (size_t i = 0; i < c.x.edges.count; i++) {
		const struct experiment_edge *edge =
			(const struct experiment_edge *)(void *)c.x.edges.entries + i;

		taken += edge->count == 12344 && edge->key.taken;
	}
	is_int(taken, 1, "ideal: the loop's edge is there");
	is_int(c.x.processes.count, 2, "ideal: a process");
	is_str(c.x.processes.data[1].command, "profiled", "ideal: of its name");
	experiment_fini(&c.x);
}

static void check_paths(void)
{
	char program[4200];
	char *argv[] = {program, NULL};
	struct collected c;
	uint64_t all;
	unsigned threads = 0;

	snprintf(program, sizeof(program), "%s/tests/programs/paths", build);
	collect_it(&c,
		(const char *const[]){"tbr:101:stacks", "dc:7", "gi:1009:stacks", "cy:1009:stacks",
			"bes:11", NULL},
		argv);
	if (!ok(c.rc == 0, "several events: run"))
		return;
	for (uint32_t i = 0; i < 5; i++) {
		const struct experiment_metric *m = &c.x.metrics.data[i];

		ok(samples_of(&c.x, i) <= m->total / m->period &&
				samples_of(&c.x, i) + 8 > m->total / m->period,
			"a sample at every period-th: %s", m->short_name);
		is_str(m->note, "zen4", "the machine is noted");
	}
	all = samples_of(&c.x, 0);
	ok(inclusive(&c.x, 0, "catcher") * 101 / 1000 == 20 ||
			inclusive(&c.x, 0, "catcher") * 101 / 1000 == 19,
		"paths: what catcher's calls did");
	ok(inclusive(&c.x, 0, "main") > all / 4, "paths: main has most of what no thread did");
	ok(inclusive(&c.x, 0, "main") + inclusive(&c.x, 0, "thread") <= all,
		"paths: shares add up");
	for (size_t i = 0; i < c.x.samples.count; i++)
		if (experiment_sample_at(&c.x, i)->key.metric == 1) {
			const struct experiment_node *n =
				experiment_node_at(&c.x, experiment_sample_at(&c.x, i)->key.node);

			threads += n->key.parent != EXPERIMENT_ROOT;
		}
	is_int(threads, 0, "a metric without paths has none beside those with");
	is_int(c.x.processes.count, 3, "the child of a fork is a process");
	is_int(c.x.threads.count, 1 + 4 + 1, "threads: the first, three more, the child's");
	experiment_fini(&c.x);
}

static void check_phases(void)
{
	char program[4200];
	char *argv[] = {program, (char *)"phases", NULL};
	struct collected c;
	uint64_t in[3] = {0};

	snprintf(program, sizeof(program), "%s/tests/programs/profiled", build);
	collect_it(&c, (const char *const[]){"tbr:1", NULL}, argv);
	if (!ok(c.rc == 0, "phases: runs"))
		return;
	is_int(c.x.phases.count, 3, "phases: one before each point, and one behind");
	is_str(c.x.phases.count == 3 ? c.x.phases.data[2].name : "", "two", "phases: their names");
	for (size_t i = 0; i < c.x.samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(&c.x, i);

		if (s->key.phase < 3)
			in[s->key.phase] += s->count;
	}
	ok(in[1] >= 2999 && in[1] < 3100, "phases: what the second did");
	ok(c.x.phases.data[2].time > c.x.phases.data[1].time, "phases: in order of time");
	experiment_fini(&c.x);
}

static void check_again(void)
{
	char program[4200];
	char *argv[] = {program, (char *)"threads", NULL};
	struct collected a, b;
	bool same;

	snprintf(program, sizeof(program), "%s/tests/programs/profiled", build);
	collect_it(&a, (const char *const[]){"gi:997:stacks", NULL}, argv);
	collect_it(&b, (const char *const[]){"gi:997:stacks", NULL}, argv);
	if (!ok(a.rc == 0 && b.rc == 0, "twice: runs"))
		return;
	same = a.x.nodes.count == b.x.nodes.count && a.x.samples.count == b.x.samples.count &&
	       memcmp(a.x.nodes.entries, b.x.nodes.entries,
		       a.x.nodes.count * sizeof(struct experiment_node)) == 0 &&
	       memcmp(a.x.samples.entries, b.x.samples.entries,
		       a.x.samples.count * sizeof(struct experiment_sample)) == 0;
	ok(same, "twice the same run: the same paths and samples");
	experiment_fini(&a.x);
	experiment_fini(&b.x);
}

static void check_refused(void)
{
	char *argv[] = {(char *)"/nonexistent/program", NULL};
	struct collected c;

	collect_it(&c, (const char *const[]){"dsc_hwc", NULL}, argv);
	ok(c.rc == -1 && c.error.code == ERR_CANNOT_RUN, "a command that is not there");
	experiment_fini(&c.x);
}

int main(void)
{
	char libexec[4300];
	struct stat st;

	build_data();
	build_directory(build, sizeof(build));
	snprintf(libexec, sizeof(libexec), "%s/libexec/perfex", build);
	setenv("PERFEX_LIBEXEC", libexec, 1);
	snprintf(libexec + strlen(libexec), 64, "/perfexmodel-amd64-linux");
	if (stat(libexec, &st) != 0) {
		skip("the model's tool is not built here");
		return done();
	}
	check_ideal();
	check_paths();
	check_phases();
	check_again();
	check_refused();
	return done();
}
