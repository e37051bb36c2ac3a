/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/profile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiment/tables.h"
#include "model/trace.h"
#include "model/watch.h"
#include "model/wire/profile.h"
#include "model/wire/shared.h"
#include "sources/profile_paths.h"
#include "sources/profile_read.h"

/* ---- tables ---- */

/* What rows refer to, besides images as those of experiments do. */
enum { PROFILE_SAMPLERS = EXPERIMENT_TABLES, PROFILE_PROCESSES };

/* Counts for one key are added while they are read. */
static const struct row_field insn_fields[] = {
	{ROW_KEY(profile_insn, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(profile_insn, address)},
	{ROW_KEY(profile_insn, length)},
};

static const struct row_kind insns_kind = {ROW_KIND(profile_insn, insn_fields, 3)};

/* Nodes are renumbered where they are sorted: paths may be lost. */
static const struct row_field sample_fields[] = {
	{ROW_KEY(profile_sample, sampler), .reference = PROFILE_SAMPLERS},
	{ROW_KEY(profile_sample, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(profile_sample, address)},
	{ROW_KEY(profile_sample, pid)},
	{ROW_KEY(profile_sample, tid)},
	{ROW_KEY(profile_sample, phase)},
	{ROW_KEY(profile_sample, node)},
	{ROW_KEY(profile_sample, process), .reference = PROFILE_PROCESSES},
	{ROW_FIELD(profile_sample, count)},
};

static const struct row_kind samples_kind = {ROW_KIND(profile_sample, sample_fields, 8)};

static const struct row_field data_fields[] = {
	{ROW_KEY(profile_data, sampler), .reference = PROFILE_SAMPLERS},
	{ROW_KEY(profile_data, pid)},
	{ROW_KEY(profile_data, address)},
	{ROW_FIELD(profile_data, count)},
};

static const struct row_kind data_kind = {ROW_KIND(profile_data, data_fields, 3)};

static const struct row_field node_fields[] = {
	{ROW_KEY(profile_node, parent), .reference = EXPERIMENT_NODES},
	{ROW_KEY(profile_node, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(profile_node, address)},
	{ROW_KEY(profile_node, length)},
};

static const struct row_kind nodes_kind = {ROW_KIND(profile_node, node_fields, 4), .fixed = 1};

static const struct {
	const struct row_kind *kind;
	size_t offset; /* in struct profile */
	bool sorted;   /* at the end of profile_finish */
} tables[] = {
	{&insns_kind, offsetof(struct profile, insns), false},
	{&experiment_edges_kind, offsetof(struct profile, edges), true},
	{&samples_kind, offsetof(struct profile, samples), true},
	{&data_kind, offsetof(struct profile, data), true},
	{&nodes_kind, offsetof(struct profile, nodes), false},
	{&experiment_objects_kind, offsetof(struct profile, objects), false},
	{&experiment_places_kind, offsetof(struct profile, places), false},
	{&experiment_touches_kind, offsetof(struct profile, touches), false},
	{&experiment_lines_kind, offsetof(struct profile, lines), false},
	{&experiment_ends_kind, offsetof(struct profile, ends), false},
};

enum { TABLES = sizeof(tables) / sizeof(tables[0]) };

static struct table *profile_table(struct profile *p, int i)
{
	return (struct table *)(void *)((char *)p + tables[i].offset);
}

int profile_init(struct profile *p, struct error *e)
{
	struct profile_image *unknown;

	memset(p, 0, sizeof(*p));
	for (int i = 0; i < TABLES; i++)
		if (row_init(profile_table(p, i), tables[i].kind))
			return error_nomem(e);
	/* No other is so long. */
	((struct profile_node *)table_at(&p->nodes, PROFILE_ROOT))->key.length = UINT32_MAX;
	unknown = vec_push(&p->images);
	if (unknown)
		unknown->path = strdup("");
	return unknown && unknown->path ? 0 : error_nomem(e);
}

void profile_fini(struct profile *p)
{
	for (size_t i = 0; i < p->images.count; i++)
		free(p->images.data[i].path);
	for (size_t i = 0; i < p->insns.count; i++)
		vec_fini(&((struct profile_insn *)table_at(&p->insns, i))->counts);
	for (size_t i = 0; i < p->calipers.count; i++) {
		free(p->calipers.data[i].name);
		vec_fini(&p->calipers.data[i].threads);
	}
	vec_fini(&p->images);
	vec_fini(&p->samplers);
	vec_fini(&p->slices);
	vec_fini(&p->calipers);
	vec_fini(&p->processes);
	for (int i = 0; i < TABLES; i++)
		row_fini(profile_table(p, i), tables[i].kind);
}

/* ---- images and samplers ---- */

static int compare_images(const struct profile_image *a, const struct profile_image *b)
{
	int order = (a->kind > b->kind) - (a->kind < b->kind);

	if (!order)
		order = strcmp(a->path, b->path);
	if (!order)
		order = (a->build_id_length > b->build_id_length) -
			(a->build_id_length < b->build_id_length);
	if (!order)
		order = memcmp(a->build_id, b->build_id, a->build_id_length);
	if (!order)
		order = (a->pid > b->pid) - (a->pid < b->pid);
	return order ? order : a->by_name - b->by_name;
}

int64_t profile_image_add(struct profile *p, struct profile_image *image)
{
	struct profile_image *to;

	for (size_t i = p->images.count; i-- > 0;)
		if (compare_images(&p->images.data[i], image) == 0) {
			free(image->path);
			return (int64_t)i;
		}
	to = vec_push(&p->images);
	if (!to) {
		free(image->path);
		return -1;
	}
	*to = *image;
	return (int64_t)p->images.count - 1;
}

static int compare_samplers(const struct profile_sampler *a, const struct profile_sampler *b)
{
	int order = (a->event > b->event) - (a->event < b->event);

	if (!order)
		order = (a->period > b->period) - (a->period < b->period);
	return order ? order : (a->skid > b->skid) - (a->skid < b->skid);
}

int64_t profile_sampler_add(struct profile *p, const struct profile_sampler *sampler)
{
	struct profile_sampler *to;

	for (size_t i = 0; i < p->samplers.count; i++)
		if (compare_samplers(&p->samplers.data[i], sampler) == 0)
			return (int64_t)i;
	to = vec_push(&p->samplers);
	if (!to)
		return -1;
	*to = *sampler;
	return (int64_t)p->samplers.count - 1;
}

/* ---- sorting ---- */

#define ORDER(a, b) ((a) > (b)) - ((a) < (b))

static int compare_counts(const void *x, const void *y)
{
	const struct profile_count *a = x, *b = y;

	return ORDER(a->item, b->item);
}

static int compare_processes(const struct profile_process *a, const struct profile_process *b)
{
	int order = ORDER(a->pid, b->pid);

	return order ? order : ORDER(a->generation, b->generation);
}

/* The position of each of n things after sorting; NULL if memory is out. An insertion sort: n is
 * small, and most are in order. */
static uint32_t *profile_ranks(size_t n, const struct profile *p,
	int (*compare)(const struct profile *p, size_t a, size_t b))
{
	size_t *order = malloc((n + 1) * sizeof(*order));
	uint32_t *rank = malloc((n + 1) * sizeof(*rank));

	for (size_t i = 0; order && rank && i < n; i++) {
		size_t at = i;

		for (; at > 0 && compare(p, order[at - 1], i) > 0; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (size_t i = 0; order && rank && i < n; i++)
		rank[order[i]] = (uint32_t)i;
	free(order);
	if (!order) {
		free(rank);
		return NULL;
	}
	return rank;
}

static int images_order(const struct profile *p, size_t a, size_t b)
{
	return compare_images(&p->images.data[a], &p->images.data[b]);
}

static int samplers_order(const struct profile *p, size_t a, size_t b)
{
	return compare_samplers(&p->samplers.data[a], &p->samplers.data[b]);
}

static int processes_order(const struct profile *p, size_t a, size_t b)
{
	return compare_processes(&p->processes.data[a], &p->processes.data[b]);
}

static void renumber(struct profile *p, const struct row_numbers *n)
{
	for (int i = 0; i < TABLES; i++)
		row_renumber(profile_table(p, i), tables[i].kind, n);
	for (size_t i = 0; i < p->insns.count; i++) {
		struct profile_insn *d = table_at(&p->insns, i);

		if (d->counts.count)
			qsort(d->counts.data, d->counts.count, sizeof(*d->counts.data),
				compare_counts);
	}
	for (size_t i = 0; i < p->slices.count; i++)
		p->slices.data[i].process = n->to[PROFILE_PROCESSES][p->slices.data[i].process];
	for (size_t i = 0; i < p->calipers.count; i++)
		p->calipers.data[i].process = n->to[PROFILE_PROCESSES][p->calipers.data[i].process];
}

static int sort_table(struct table *t, const struct row_kind *kind, struct error *e)
{
	static const struct row_numbers same;

	return row_settle(t, kind, &same, NULL) ? error_nomem(e) : 0;
}

static int sort_tables(struct profile *p, struct error *e)
{
	for (int i = 0; i < TABLES; i++)
		if (tables[i].sorted && sort_table(profile_table(p, i), tables[i].kind, e))
			return -1;
	return 0;
}

/* Puts things in the order of their ranks. The ranks are used up. */
#define PERMUTE(vec, rank)                                                                         \
	for (size_t permute_i = 0; permute_i < (vec).count; permute_i++)                           \
		while ((rank)[permute_i] != permute_i) {                                           \
			uint32_t permute_to = (rank)[permute_i];                                   \
			__typeof__((vec).data[0]) permute_one = (vec).data[permute_to];            \
                                                                                                   \
			(vec).data[permute_to] = (vec).data[permute_i];                            \
			(vec).data[permute_i] = permute_one;                                       \
			(rank)[permute_i] = (rank)[permute_to];                                    \
			(rank)[permute_to] = permute_to;                                           \
		}

/* Puts elements, which begin with the number of their process, together by process; those of one
 * process keep their order. */
static int group(void *things, size_t count, size_t size, size_t processes, struct error *e)
{
	size_t *at = calloc(processes + 1, sizeof(*at));
	char *from = things, *to = malloc(count * size + 1);

	if (!at || !to) {
		free(at);
		free(to);
		return error_nomem(e);
	}
	for (size_t i = 0; i < count; i++)
		at[1 + *(size_t *)(from + i * size)]++;
	for (size_t i = 0; i < processes; i++)
		at[i + 1] += at[i];
	for (size_t i = 0; i < count; i++)
		memcpy(to + at[*(size_t *)(from + i * size)]++ * size, from + i * size, size);
	if (count)
		memcpy(things, to, count * size);
	free(to);
	free(at);
	return 0;
}

/* ---- the whole profile ---- */

int profile_finish(struct profile *p, struct error *e)
{
	uint32_t *image = profile_ranks(p->images.count, p, images_order);
	uint32_t *sampler = profile_ranks(p->samplers.count, p, samplers_order);
	uint32_t *process = profile_ranks(p->processes.count, p, processes_order);
	int rc = -1;

	if (!image || !sampler || !process) {
		error_nomem(e);
		goto out;
	}
	renumber(p, &(struct row_numbers){.to = {[EXPERIMENT_IMAGES] = image,
						  [PROFILE_SAMPLERS] = sampler,
						  [PROFILE_PROCESSES] = process}});
	PERMUTE(p->images, image);
	PERMUTE(p->samplers, sampler);
	PERMUTE(p->processes, process);
	if (sort_table(&p->insns, &insns_kind, e) || profile_add_sequence(p, e) ||
		profile_sort_nodes(p, e) || sort_tables(p, e))
		goto out;
	rc = group(p->slices.data, p->slices.count, sizeof(*p->slices.data), p->processes.count, e);
	if (rc == 0)
		rc = group(p->calipers.data, p->calipers.count, sizeof(*p->calipers.data),
			p->processes.count, e);
out:
	free(image);
	free(sampler);
	free(process);
	return rc;
}

/* ---- the scratch directory ---- */

/* Is the process image of this profile over? Then its counts were added up and removed. */
static bool is_over(int directory, const char *name)
{
	char counts[300];
	size_t prefix = strlen(MODEL_PROFILE_PREFIX);

	if (strlen(name) > 200)
		return false;
	strcpy(counts, MODEL_SHARED_PREFIX);
	strcat(counts, name + prefix);
	return faccessat(directory, counts, F_OK, 0) != 0 && errno == ENOENT;
}

/* An open file, to be freed by the caller, and its size; NULL with *e set. profile_add detects a
 * file that was cut off meanwhile. */
static char *profile_read_whole(int fd, const char *name, size_t *size, struct error *e)
{
	struct stat st;
	char *data;

	*size = 0;
	if (fstat(fd, &st)) {
		error_sys(e, errno, "cannot find out the size of %s", name);
		return NULL;
	}
	data = malloc((size_t)st.st_size + 1);
	if (!data)
		error_nomem(e);
	while (data && *size < (size_t)st.st_size) {
		ssize_t n = pread(fd, data + *size, (size_t)st.st_size - *size, (off_t)*size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			error_sys(e, errno, "cannot read %s", name);
			free(data);
			return NULL;
		}
		if (n == 0)
			break;
		*size += (size_t)n;
	}
	return data;
}

static int profile_take_file(struct profile *p, int directory, const char *name, struct error *e)
{
	int fd = openat(directory, name, O_RDONLY | O_CLOEXEC), rc;
	char *data;
	size_t size;

	if (fd < 0)
		return errno == ENOENT ? 0 : error_sys(e, errno, "cannot open %s", name);
	data = profile_read_whole(fd, name, &size, e);
	rc = data ? profile_add(p, data, size, e) : -1;
	free(data);
	close(fd);
	if (rc == 0)
		unlinkat(directory, name, 0);
	return rc;
}

int profile_take(struct profile *p, const char *directory, bool all, struct error *e)
{
	DIR *d = opendir(directory);
	struct dirent *entry;
	int rc = 0;

	if (!d)
		return error_sys(e, errno, "cannot read %s", directory);
	while (rc == 0 && (entry = readdir(d)) != NULL)
		if (strncmp(entry->d_name, MODEL_PROFILE_PREFIX, strlen(MODEL_PROFILE_PREFIX)) ==
				0 &&
			(all || is_over(dirfd(d), entry->d_name)))
			rc = profile_take_file(p, dirfd(d), entry->d_name, e);
	closedir(d);
	return rc;
}
