/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles that the tool writes: any bytes are read as far as they make sense. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sources/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Files of a directory: one whose counts are still there belongs to a process that runs. */
static void take_files(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"profile.1", "profile.2", "counts.2", "other"};
	char directory[] = "/tmp/fuzz-profile.XXXXXX", path[64];
	struct profile p;
	struct error e = {0};

	if (!mkdtemp(directory))
		return;
	for (int i = 0; i < 4; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		f = fopen(path, "w");
		if (f) {
			fwrite(data, 1, size, f);
			fclose(f);
		}
	}
	if (profile_init(&p, &e) == 0 && profile_take(&p, directory, false, &e) == 0 &&
		profile_take(&p, directory, true, &e) == 0 && profile_finish(&p, &e))
		abort();
	profile_fini(&p);
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", directory, names[i]);
		if ((unlink(path) == 0) != (i > 1) && e.code == ERR_NONE)
			abort();
	}
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	profile_blocks blocks = {0};
	struct profile p;
	struct error e = {0};

	if (size % 4 == 0)
		take_files(data, size);
	if (profile_init(&p, &e) == 0 && profile_add(&p, data, size, &e) == 0 &&
		profile_finish(&p, &e) == 0)
		profile_find_blocks(&p, &blocks, &e);
	if (e.code != ERR_NONE && e.code != ERR_NOMEM)
		abort();
	vec_fini(&blocks);
	profile_fini(&p);
	return 0;
}
