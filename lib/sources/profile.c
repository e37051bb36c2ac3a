/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "sources/profile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "experiment/file.h"
#include "model/wire/profile.h"
#include "model/wire/shared.h"
#include "sources/profile_read.h"

/* ---- tables ---- */

static const struct row_field sampler_fields[] = {
	{ROW_KEY(profile_sampled, event)},
	{ROW_KEY(profile_sampled, period)},
	{ROW_KEY(profile_sampled, skid)},
	{ROW_FIELD(profile_sampled, lost)},
};

static const struct row_field process_fields[] = {
	{ROW_KEY(profile_process, pid)},
	{ROW_KEY(profile_process, generation)},
	{ROW_FIELD(profile_process, instructions)},
};

static const struct row_field call_fields[] = {
	{ROW_KEY(profile_call, node), .reference = EXPERIMENT_NODES},
	{ROW_FIELD(profile_call, length), .own = 1},
};

/* Counts for one key are added while they are read. */
static const struct row_field insn_fields[] = {
	{ROW_KEY(profile_insn, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(profile_insn, address)},
	{ROW_KEY(profile_insn, length)},
};

static const struct row_field count_fields[] = {
	{ROW_KEY(profile_count, insn), .reference = PROFILE_INSNS},
	{ROW_KEY(profile_count, item)},
	{ROW_FIELD(profile_count, n)},
};

static const struct row_field sample_fields[] = {
	{ROW_KEY(profile_sample, sampler), .reference = PROFILE_SAMPLERS},
	{ROW_KEY(profile_sample, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(profile_sample, address)},
	{ROW_KEY(profile_sample, pid)},
	{ROW_KEY(profile_sample, tid)},
	{ROW_KEY(profile_sample, phase)},
	{ROW_KEY(profile_sample, lost)},
	{ROW_KEY(profile_sample, node), .reference = EXPERIMENT_NODES},
	{ROW_KEY(profile_sample, process), .reference = PROFILE_PROCESSES},
	{ROW_FIELD(profile_sample, count)},
};

static const struct row_field data_fields[] = {
	{ROW_KEY(profile_data, sampler), .reference = PROFILE_SAMPLERS},
	{ROW_KEY(profile_data, pid)},
	{ROW_KEY(profile_data, address)},
	{ROW_FIELD(profile_data, count)},
};

static const struct row_field slice_fields[] = {
	{ROW_KEY(profile_slice, process), .reference = PROFILE_PROCESSES},
	{ROW_KEY(profile_slice, number)},
};

static const struct row_field caliper_fields[] = {
	{ROW_KEY(profile_caliper, process), .reference = PROFILE_PROCESSES},
	{ROW_KEY(profile_caliper, number)},
	{ROW_FIELD(profile_caliper, name), .coding = ROW_TEXT, .own = 1},
};

static const struct row_field thread_fields[] = {
	{ROW_KEY(profile_thread, caliper), .reference = PROFILE_CALIPERS},
	{ROW_KEY(profile_thread, number)},
};

static const struct row_kind profile_kinds[] = {
	[PROFILE_SAMPLERS] = {ROW_KIND(profile_sampled, sampler_fields, 3), .referred_to = true},
	[PROFILE_PROCESSES] = {ROW_KIND(profile_process, process_fields, 2), .referred_to = true},
	[PROFILE_CALLS] = {ROW_KIND(profile_call, call_fields, 1)},
	[PROFILE_INSNS] = {ROW_KIND(profile_insn, insn_fields, 3), .referred_to = true},
	[PROFILE_COUNTS] = {ROW_KIND(profile_count, count_fields, 2)},
	[PROFILE_SAMPLES] = {ROW_KIND(profile_sample, sample_fields, 9)},
	[PROFILE_DATA] = {ROW_KIND(profile_data, data_fields, 3)},
	[PROFILE_SLICES] = {ROW_KIND(profile_slice, slice_fields, 2)},
	[PROFILE_CALIPERS] = {ROW_KIND(profile_caliper, caliper_fields, 2), .referred_to = true},
	[PROFILE_THREADS] = {ROW_KIND(profile_thread, thread_fields, 2)},
};

_Static_assert(PROFILE_TABLES <= ROW_REFERENCES, "numbers of tables are references");

static struct table *profile_table(struct profile *p, int which)
{
	return &p->tables[which - EXPERIMENT_TABLES];
}

long profile_row(struct profile *p, int which, const void *row)
{
	return row_add(profile_table(p, which), &profile_kinds[which], row);
}

int profile_init(struct profile *p, struct error *e)
{
	memset(p, 0, sizeof(*p));
	for (int i = EXPERIMENT_TABLES; i < PROFILE_TABLES; i++)
		if (row_init(profile_table(p, i), &profile_kinds[i]))
			return error_nomem(e);
	return experiment_init(&p->x, e);
}

void profile_fini(struct profile *p)
{
	experiment_fini(&p->x);
	for (int i = EXPERIMENT_TABLES; i < PROFILE_TABLES; i++)
		row_fini(profile_table(p, i), &profile_kinds[i]);
}

/* ---- sorting ---- */

/* n: what rows refer to others by. *to: the new numbers of these, if others refer to them. */
static int profile_settle(struct profile *p, int which, const struct row_numbers *n, uint32_t **to)
{
	struct table *t = profile_table(p, which);

	if (profile_kinds[which].referred_to && !(*to = malloc((t->count + 1) * sizeof(**to))))
		return -1;
	return row_settle(t, &profile_kinds[which], n, *to);
}

int profile_finish(struct profile *p, struct error *e)
{
	static const struct row_numbers same;
	struct row_numbers n = {0};
	uint32_t *to[PROFILE_TABLES] = {0};
	int rc = experiment_settle_numbers(&p->x, to, e);

	for (int i = 0; i < PROFILE_TABLES; i++) {
		if (rc == 0 && i >= EXPERIMENT_TABLES && profile_settle(p, i, &n, &to[i]))
			rc = error_nomem(e);
		n.to[i] = to[i];
	}
	for (int i = 0; i < PROFILE_TABLES; i++)
		free(to[i]);
	if (rc || profile_add_sequence(p, e))
		return -1;
	return row_settle(&p->x.edges, &experiment_edges_kind, &same, NULL) ? error_nomem(e) : 0;
}

/* ---- the scratch directory ---- */

/* Is the process image of this profile over? Then its counts were added up and removed. */
static bool is_over(const char *directory, const char *name)
{
	char counts[PATH_MAX];

	return snprintf(counts, sizeof(counts), "%s/%s%s", directory, MODEL_SHARED_PREFIX,
		       name + strlen(MODEL_PROFILE_PREFIX)) < (int)sizeof(counts) &&
	       access(counts, F_OK) != 0 && errno == ENOENT;
}

/* profile_add detects a file that was cut off meanwhile. */
static int profile_take_file(
	struct profile *p, const char *directory, const char *name, struct error *e)
{
	char path[PATH_MAX], *data;
	size_t size;
	int rc;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	data = file_read(path, SIZE_MAX / 2, &size, e);
	rc = data ? profile_add(p, data, size, e) : -1;
	free(data);
	if (rc == 0)
		unlink(path);
	return rc;
}

int profile_take(struct profile *p, const char *directory, bool all, struct error *e)
{
	DIR *d = opendir(directory);
	const char *name;
	int rc = 0;

	if (!d)
		return error_sys(e, errno, "cannot read %s", directory);
	while (rc == 0 && (name = file_next(d, MODEL_PROFILE_PREFIX)))
		if (all || is_over(directory, name))
			rc = profile_take_file(p, directory, name, e);
	closedir(d);
	return rc;
}
