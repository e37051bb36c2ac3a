/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How much is known of an image. */
#include <stdlib.h>
#include <string.h>

#include "experiment/branches.h"
#include "experiment/file.h"
#include "store/private.h"

int store_sum_file(const char *path, struct store_sums *sums, struct experiment_damage *damage,
	struct error *e)
{
	struct experiment x;
	uint64_t bursts;

	if (experiment_read(&x, path, damage, e))
		return -1;
	for (size_t i = 0; i < x.samples.count; i++)
		sums->samples += experiment_sample_at(&x, i)->count;
	for (size_t i = 0; i < experiment_runs(&x); i++)
		sums->branches += experiment_run_at(&x, i)->count;
	bursts = experiment_tally(&x, TALLY_BURSTS);
	sums->bursts += bursts;
	sums->runs += x.runs;
	sums->followed += bursts ? x.runs : 0;
	experiment_fini(&x);
	return 0;
}

static int sum_files(const struct store_image *image, struct store_sums *sums, struct error *e)
{
	for (size_t i = 0; i < image->files.count; i++) {
		struct experiment_damage damage = {0};

		if (store_sum_file(image->files.data[i].path, sums, &damage, e))
			return -1;
	}
	return 0;
}

int store_sum(const struct store *s, const struct experiment_image *image, struct store_sums *sums,
	struct error *e)
{
	char *id = store_image_id(image);
	store_images images = {0};
	int rc = id ? store_list(s, &images, e) : error_nomem(e);

	memset(sums, 0, sizeof(*sums));
	for (size_t i = 0; rc == 0 && i < images.count; i++)
		if (strcmp(images.data[i].id, id) == 0)
			rc = sum_files(&images.data[i], sums, e);
	store_images_fini(&images);
	free(id);
	return rc;
}
