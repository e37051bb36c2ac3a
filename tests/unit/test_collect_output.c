/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is left of an experiment that is larger than files may be. */
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tap.h"
#include "base/file.h"
#include "collect/output.h"
#include "experiment/private.h"
#include "experiment_random.h"

static char directory[] = "/tmp/test_collect_output.XXXXXX";

static uint64_t samples_in_bytes(const char *data, size_t size)
{
	struct experiment_damage damage;
	struct experiment x;
	uint64_t n;

	if (experiment_parse(&x, data, size, &damage, NULL))
		return 0;
	n = experiment_samples_sum(&x);
	experiment_fini(&x);
	return n;
}

static uint64_t samples_in_file(const char *path)
{
	size_t size = 0;
	char *data = file_read(path, 0, &size, NULL);
	uint64_t n = data ? samples_in_bytes(data, size) : 0;

	free(data);
	return n;
}

struct answer {
	struct error e;
	rlim_t limit; /* afterwards */
	int rc;
	bool claimed;
};

static void answer_limited(
	struct collect_output *o, struct experiment *x, rlim_t least, rlim_t most, struct answer *a)
{
	struct rlimit limit = {least, most};
	struct error moved;

	setrlimit(RLIMIT_FSIZE, &limit);
	a->rc = collect_output_write(o, x, &moved, &a->e);
	a->claimed = o->claimed;
	getrlimit(RLIMIT_FSIZE, &limit);
	a->limit = limit.rlim_cur;
}

/* Writes x where files may have `least` bytes, and `most` if one asks for more. In a process of its
 * own, as not everybody can raise limits again. */
static int write_limited(
	struct collect_output *o, struct experiment *x, rlim_t least, rlim_t most, struct error *e)
{
	struct answer a = {.rc = -2};
	struct rlimit now;
	int ends[2];

	getrlimit(RLIMIT_FSIZE, &now);
	if (most > now.rlim_max)
		most = now.rlim_max;
	if (pipe(ends))
		return -2;
	fflush(NULL);
	if (fork() == 0) {
		answer_limited(o, x, least, most, &a);
		_exit(write(ends[1], &a, sizeof(a)) != sizeof(a));
	}
	close(ends[1]);
	if (read(ends[0], &a, sizeof(a)) != sizeof(a))
		a.rc = -2;
	close(ends[0]);
	wait(NULL);
	is_int(a.limit, least, "the limit is as before");
	o->claimed = a.claimed;
	*e = a.e;
	return a.rc;
}

static void test_limit(void)
{
	size_t size = 0, samples_end = 0;
	struct collect_output o = {0};
	struct experiment x;
	struct error e = {0};
	char path[80], *data;
	struct stat st;
	uint64_t all;

	random_experiment(&x, 3, 2000);
	data = random_bytes(&x, &size);
	all = samples_in_bytes(data, size);
	while (samples_end < size && samples_in_bytes(data, samples_end) < all)
		samples_end += 16;
	ok(all && samples_end + 100 < size, "%zu of %zu bytes are up to the samples", samples_end,
		size);
	free(data);
	snprintf(path, sizeof(path), "%s/x", directory);
	collect_output_init(&o, path, NULL, "true", "x", -1, NULL);

	is_int(write_limited(&o, &x, 1000, RLIM_INFINITY, &e), 0, "a limit that can be raised");
	is_int(samples_in_file(path), all, "all samples are there");
	unlink(path);
	o.claimed = false;
	is_int(write_limited(&o, &x, size - 50, size - 50, &e), -1, "one that cannot");
	is_int(e.errnum, EFBIG, "is the error");
	ok(strstr(e.hint, "samples; ulimit -f"), "which says what is kept: %s", e.hint);
	is_int(samples_in_file(path), all, "all samples");
	ok(stat(path, &st) == 0 && st.st_size == (off_t)size - 50, "and what fits besides");
	is_int(write_limited(&o, &x, 100, 100, &e), -1, "no room for samples");
	is_int(samples_in_file(path), all, "leaves what an earlier moment had");
	unlink(path);
	o.claimed = false;
	is_int(write_limited(&o, &x, 100, 100, &e), -1, "no room at all");
	ok(access(path, F_OK) != 0, "leaves nothing");
	file_write(path, "earlier", 7, NULL);
	is_int(write_limited(&o, &x, size - 50, size - 50, &e), -1,
		"a file that is not of this run");
	ok(stat(path, &st) == 0 && st.st_size == 7, "stays");
	unlink(path);
	collect_output_fini(&o);
	experiment_fini(&x);
}

int main(void)
{
	file_limit_is_error();
	setenv("TMPDIR", directory, 1);
	if (!mkdtemp(directory))
		return 1;
	test_limit();
	rmdir(directory);
	return done();
}
