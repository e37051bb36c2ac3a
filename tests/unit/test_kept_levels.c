/* SPDX-License-Identifier: GPL-2.0-or-later */
/* lib/collect: times of known levels are kept after three measurements. */
#include "../tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "collect/kept_levels.h"
#include "machine/kept.h"
#include "machine/machine.h"

#include "kept_files.h"

enum { MEASURED_TRIES = 5 };

static bool is_same(const struct latency_levels *a, const struct latency_levels *b)
{
	return memcmp(a->pattern, b->pattern, sizeof(a->pattern)) == 0 &&
	       memcmp(a->class_of, b->class_of, sizeof(a->class_of)) == 0 &&
	       memcmp(a->last, b->last, sizeof(a->last)) == 0 &&
	       memcmp(a->floor, b->floor, sizeof(a->floor)) == 0 &&
	       memcmp(a->least, b->least, sizeof(a->least)) == 0;
}

/* Each to all but its last numbers; how many there are. */
static unsigned cut_files(const char *dir)
{
	char files[200];
	unsigned count = 0;
	struct stat st;
	glob_t found;

	snprintf(files, sizeof(files), "%s/perfex-levels-*", dir);
	if (glob(files, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			count += stat(found.gl_pathv[i], &st) == 0 &&
				 truncate(found.gl_pathv[i], st.st_size - 8) == 0;
	globfree(&found);
	return count;
}

static void test_kept(const char *dir)
{
	struct latency_levels measured[MACHINE_MEASURED], again, l;
	unsigned same = 0;
	struct error e;

	for (int i = 0; i < MACHINE_MEASURED; i++)
		if (kept_levels_find(&measured[i], &e)) {
			skip(e.message);
			return;
		}
	ok(kept_levels_find(&l, &e) == 0 && kept_levels_find(&again, &e) == 0 &&
			is_same(&l, &again),
		"they do not change any more");
	for (int i = 0; i < MACHINE_MEASURED; i++)
		same += is_same(&l, &measured[i]);
	ok(same == 1, "they are those of one measurement");
	ok(cut_files(dir) == MACHINE_MEASURED, "three files");
	/* Now they are measured, which beside other work is not always possible. */
	for (int tries = 0; tries < MEASURED_TRIES; tries++)
		if (kept_levels_find(&l, &e) == 0) {
			ok(l.tick_ns > 0, "files that were cut are no harm");
			return;
		}
	skip(e.message);
}

int main(void)
{
	char dir[] = "/tmp/levels.XXXXXX";

	if (!mkdtemp(dir)) {
		ok(0, "a directory of its own");
		return done();
	}
	setenv("XDG_CACHE_HOME", dir, 1);
	kept_directories(dir, NULL);
	unsetenv("PERFEX_HOST");
	test_kept(dir);
	kept_files_remove(dir);
	return done();
}
