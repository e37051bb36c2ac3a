/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Out of memory at each single allocation of what experiments are made, settled, merged, written
 * and read with, and of what the modelled processor's profiles are read with. */
#include <stdlib.h>

#include "experiment/file.h"
#include "experiment/merge.h"
#include "experiment_random.h"
#include "inject.h"
#include "profile_bytes.h"
#include "sources/profile.h"

static char *bytes;
static size_t size;

/* Seed 3 has data space, 5 branch records too. */
static uint64_t seed;

static int settled(struct error *e)
{
	struct experiment x;
	struct strbuf out = {0};
	bool on = inject_on;
	int rc;

	inject_on = false;
	random_experiment(&x, seed, 40);
	inject_on = on;
	rc = experiment_encode(&x, &out, e);
	strbuf_fini(&out);
	experiment_fini(&x);
	return rc;
}

static int read_back(struct error *e)
{
	struct experiment x;

	if (experiment_parse(&x, bytes, size, NULL, e))
		return -1;
	experiment_fini(&x);
	return 0;
}

static int copied(struct error *e)
{
	struct experiment x, copy;
	bool on = inject_on;
	int rc;

	inject_on = false;
	random_experiment(&x, seed, 40);
	inject_on = on;
	rc = experiment_copy(&copy, &x, e);
	if (rc == 0)
		experiment_fini(&copy);
	experiment_fini(&x);
	return rc;
}

static int merged(struct error *e)
{
	struct experiment sum, x = {0};
	int rc = -1;

	if (experiment_merge_begin(&sum, e))
		return -1;
	if (experiment_parse(&x, bytes, size, NULL, e) == 0 &&
		experiment_merge(&sum, &x, 0, e) == 0 &&
		experiment_merge(&sum, &x, MERGE_THREADS, e) == 0)
		rc = experiment_settle(&sum, e);
	experiment_fini(&x);
	experiment_fini(&sum);
	return rc;
}

static int profiled(struct error *e)
{
	static struct out o;
	struct profile p;
	int rc = profile_init(&p, e);

	if (!o.length)
		out_objects(&o, 7);
	if (rc == 0)
		rc = profile_add(&p, o.data, o.length, e);
	if (rc == 0)
		rc = profile_finish(&p, e);
	profile_fini(&p);
	return rc;
}

int main(void)
{
	for (seed = 3; seed <= 5; seed += 2) {
		struct experiment x;

		random_experiment(&x, seed, 40);
		bytes = random_bytes(&x, &size);
		experiment_fini(&x);
		inject_each("an experiment is settled and written", settled, false);
		inject_each("an experiment is read", read_back, false);
		inject_each("an experiment is copied", copied, false);
		inject_each("experiments are merged", merged, false);
		free(bytes);
	}
	inject_each("a profile is read", profiled, false);
	return done();
}
