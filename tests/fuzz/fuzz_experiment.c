/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiment files: whatever they hold is read, refused, or read up to the damage.  What was read
 * can be written, is the same when it is read again, and can be added to itself.
 *
 * Checksums are put right first, so that chance gets past them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "experiment/coding.h"
#include "experiment/dump.h"
#include "experiment/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void mend(uint8_t *data, size_t size)
{
	for (size_t at = CODING_PREFIX; size - at >= CODING_SECTION;) {
		size_t length = (size_t)get_fixed(data + at + 4, 4);
		uLong sum = crc32(crc32(0, NULL, 0), data + at, 8);

		if (length > size - at - CODING_SECTION)
			return;
		if (length)
			sum = crc32_z(sum, data + at + CODING_SECTION, length);
		put_fixed(data + at + 8, sum, 4);
		at += CODING_SECTION + length;
	}
}

static void check_again(struct experiment *x)
{
	struct strbuf once = {0}, twice = {0};
	struct experiment y, sum;
	struct error e = {0};

	if (experiment_encode(x, &once, &e))
		abort();
	if (experiment_parse(&y, once.data, once.length, NULL, &e))
		abort();
	if (experiment_encode(&y, &twice, &e) || once.length != twice.length ||
		memcmp(once.data, twice.data, once.length) != 0)
		abort();
	if (experiment_merge_begin(&sum, &e) || experiment_merge(&sum, &y, 0, &e) ||
		experiment_merge(&sum, x, MERGE_THREADS, &e) || experiment_settle(&sum, &e) ||
		sum.nodes.count != x->nodes.count)
		abort();
	experiment_fini(&sum);
	experiment_fini(&y);
	strbuf_fini(&once);
	strbuf_fini(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct experiment_damage damage;
	struct experiment x;
	struct error e = {0};
	uint8_t *copy = malloc(size + 1);

	if (!copy)
		return 0;
	memcpy(copy, data, size);
	if (size >= CODING_PREFIX)
		mend(copy, size);
	if (experiment_parse(&x, copy, size, &damage, &e) == 0) {
		char *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		if (out) {
			experiment_dump(&x, size & 1 ? DUMP_QUIET : 0, out);
			fclose(out);
		}
		free(text);
		check_again(&x);
		experiment_fini(&x);
	} else if (e.code == ERR_NONE) {
		abort();
	}
	free(copy);
	return 0;
}
