/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/data.h"

#include <stdlib.h>
#include <string.h>

#include "experiment/private.h"

static bool copy_text(char **to, const char *from)
{
	*to = strdup(from ? from : "");
	return *to != NULL;
}

int experiment_init(struct experiment *x, struct error *e)
{
	struct experiment_phase beginning = {.name = (char *)""};

	memset(x, 0, sizeof(*x));
	x->runs = 1;
	x->slicing.room = UINT64_MAX;
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		if (row_init(experiment_table(x, i), experiment_kind(i)))
			goto fail;
	/* No path has the root's key. */
	((struct experiment_node *)table_at(&x->nodes, EXPERIMENT_ROOT))->key.parent = UINT32_MAX;
	if (!copy_text(&x->type, "") ||
		experiment_image(x, &(struct experiment_image){.path = (char *)"[unknown]"}, e) <
			0 ||
		experiment_process(x, &(struct experiment_process){.rank = -1, .status = -1}, e) <
			0 ||
		experiment_thread(x, &(struct experiment_thread){0}, e) < 0 ||
		experiment_phase(x, &beginning, e) < 0)
		goto fail;
	return 0;
fail:
	experiment_fini(x);
	return error_nomem(e);
}

void experiment_fini(struct experiment *x)
{
	for (int i = EXPERIMENT_FACTS; i < EXPERIMENT_LISTS; i++)
		experiment_list_fini(x, i);
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		row_fini(experiment_table(x, i), experiment_kind(i));
	images_known_forget(x);
	free(x->type);
	memset(x, 0, sizeof(*x));
}

int experiment_copy(struct experiment *to, const struct experiment *from, struct error *e)
{
	bool good;

	*to = *from;
	to->images_known = (struct images_known){0};
	good = copy_text(&to->type, from->type);
	for (int i = EXPERIMENT_FACTS; i < EXPERIMENT_LISTS; i++)
		good &= experiment_list_copy(to, from, i) == 0;
	for (int i = EXPERIMENT_LISTS; i < EXPERIMENT_TABLES; i++)
		good &= row_copy(experiment_table(to, i), experiment_table(from, i),
				experiment_kind(i)) == 0;
	if (good)
		return 0;
	experiment_fini(to);
	return error_nomem(e);
}

long experiment_image(struct experiment *x, const struct experiment_image *image, struct error *e)
{
	bool nomem;
	long at;

	if (image->build_id_length > EXPERIMENT_BUILD_ID_MAX)
		return error_set(e, ERR_RANGE, "the build-id of %s has %u bytes", image->path,
			image->build_id_length);
	at = images_known_find(x, image, &nomem);
	if (nomem)
		return error_nomem(e);
	return at < 0 ? experiment_list_add(x, EXPERIMENT_IMAGES, image, e) : at;
}

long experiment_metric(
	struct experiment *x, const struct experiment_metric *metric, struct error *e)
{
	return experiment_list_add(x, EXPERIMENT_METRICS, metric, e);
}

long experiment_data_metric(
	struct experiment *x, const struct experiment_metric *metric, struct error *e)
{
	return experiment_list_add(x, EXPERIMENT_DATA_METRICS, metric, e);
}

long experiment_process(
	struct experiment *x, const struct experiment_process *process, struct error *e)
{
	return experiment_list_add(x, EXPERIMENT_PROCESSES, process, e);
}

void experiment_drop_processes(struct experiment *x)
{
	for (; x->processes.count > 1; x->processes.count--) {
		free(x->processes.data[x->processes.count - 1].command);
		free(x->processes.data[x->processes.count - 1].arguments);
	}
}

long experiment_thread(
	struct experiment *x, const struct experiment_thread *thread, struct error *e)
{
	return experiment_list_add(x, EXPERIMENT_THREADS, thread, e);
}

uint64_t experiment_thread_count(const struct experiment *x)
{
	uint64_t n = x->folded.threads;

	for (size_t i = 1; i < x->threads.count; i++)
		n += x->threads.data[i].cpu == 0;
	return n;
}

long experiment_phase(struct experiment *x, const struct experiment_phase *phase, struct error *e)
{
	return experiment_list_add(x, EXPERIMENT_PHASES, phase, e);
}

int experiment_symbol(struct experiment *x, uint32_t image, uint64_t address, uint64_t length,
	const char *name, struct error *e)
{
	const struct experiment_symbol symbol = {.key = {.address = address, .image = image},
		.length = length,
		.name = (char *)name};

	return experiment_row(x, EXPERIMENT_SYMBOLS, &symbol) < 0 ? error_nomem(e) : 0;
}

struct experiment_fact *experiment_fact_row(const struct experiment *x, const char *key)
{
	for (size_t i = 0; i < x->facts.count; i++)
		if (strcmp(x->facts.data[i].key, key) == 0)
			return &x->facts.data[i];
	return NULL;
}

int experiment_fact(struct experiment *x, const char *key, const char *value, struct error *e)
{
	struct experiment_fact *fact = experiment_fact_row(x, key);
	bool fresh = !fact;
	char *former;

	if (fresh)
		fact = vec_push(&x->facts);
	if (!fact)
		return error_nomem(e);
	former = fact->value;
	if ((!fresh || copy_text(&fact->key, key)) && copy_text(&fact->value, value)) {
		free(former);
		return 0;
	}
	/* The experiment is written even if memory was out: it has whole facts only. */
	fact->value = former;
	if (fresh) {
		free(fact->key);
		x->facts.count--;
	}
	return error_nomem(e);
}

const char *experiment_fact_find(const struct experiment *x, const char *key)
{
	const struct experiment_fact *fact = experiment_fact_row(x, key);

	return fact ? fact->value : NULL;
}

long experiment_node(struct experiment *x, uint32_t parent, uint32_t image, uint64_t address)
{
	struct experiment_node key = {
		.key = {.address = address, .parent = parent, .image = image}};
	struct experiment_node *node = table_add(&x->nodes, &key.key);

	return node ? node - (struct experiment_node *)(void *)x->nodes.entries : -1;
}

int experiment_add(struct experiment *x, uint32_t metric, uint32_t thread, uint32_t phase,
	uint32_t node, uint64_t count)
{
	const struct experiment_sample sample = {
		.key = {.metric = metric, .thread = thread, .phase = phase, .node = node},
		.count = count};

	return experiment_row(x, EXPERIMENT_SAMPLES, &sample) < 0 ? -1 : 0;
}

uint64_t experiment_samples_sum(const struct experiment *x)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < x->samples.count; i++)
		sum += experiment_sample_at(x, i)->count;
	return sum;
}
