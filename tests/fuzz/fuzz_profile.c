/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Profiles that the tool writes: any bytes are read as far as they make sense. */
#include <stdint.h>
#include <stdlib.h>

#include "sources/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	profile_blocks blocks = {0};
	struct profile p;
	struct error e = {0};

	if (profile_init(&p, &e) == 0 && profile_add(&p, data, size, &e) == 0 &&
		profile_finish(&p, &e) == 0)
		profile_find_blocks(&p, &blocks, &e);
	if (e.code != ERR_NONE && e.code != ERR_NOMEM)
		abort();
	vec_fini(&blocks);
	profile_fini(&p);
	return 0;
}
