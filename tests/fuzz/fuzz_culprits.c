/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Culprits: whatever the code and its samples, parts add up and bounds hold.  Eight bytes choose
 * the samples. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/culprits_check.h"

#define AT 0x401000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct core core;
	static bool ready;
	struct flow_request r = {.machine = ISA_X86_64, .begin = AT};
	uint64_t seed;
	struct error e;
	struct flow *f;

	if (!ready && core_parse(&core, culprits_core, sizeof(culprits_core) - 1, "tiny", &e))
		abort();
	ready = true;
	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	r.bytes = data + sizeof(seed);
	r.size = size - sizeof(seed);
	f = flow_new(&r, &e);
	if (!f)
		abort();
	if (f->insns.count && (culprits_try(f, &core, seed) || culprits_try_lines(f, &core)))
		abort();
	flow_free(f);
	return 0;
}
