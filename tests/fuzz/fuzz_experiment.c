/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Experiment files: whatever they hold is read, refused, or read up to the damage.  What was read
 * can be written, is the same when it is read again, and can be added to itself.  Two files in one
 * input are added up in both orders.
 *
 * Checksums are put right first, so that chance gets past them.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/dump.h"
#include "experiment/merge.h"

#include "mend.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

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
	/* One that has threads becomes one that has not. */
	if (experiment_merge_begin(&sum, &e) || experiment_merge(&sum, x, MERGE_THREADS, &e) ||
		experiment_merge(&sum, &y, 0, &e) || experiment_settle(&sum, &e) ||
		sum.threads.count > 1)
		abort();
	experiment_fini(&sum);
	experiment_fini(&y);
	strbuf_fini(&once);
	strbuf_fini(&twice);
}

static void sum(
	const struct experiment *x, const struct experiment *y, unsigned flags, struct strbuf *out)
{
	struct experiment all;
	struct error e;

	if (experiment_merge_begin(&all, &e) || experiment_merge(&all, x, flags, &e) ||
		experiment_merge(&all, y, flags, &e) || experiment_encode(&all, out, &e))
		abort();
	experiment_fini(&all);
}

static void check_orders(const struct experiment *x, const struct experiment *y)
{
	for (unsigned flags = 0; flags <= MERGE_THREADS; flags += MERGE_THREADS) {
		struct strbuf one = {0}, other = {0};

		sum(x, y, flags, &one);
		sum(y, x, flags, &other);
		if (one.length != other.length || memcmp(one.data, other.data, one.length) != 0)
			abort();
		strbuf_fini(&one);
		strbuf_fini(&other);
	}
}

/* Is there an experiment?  Then it is to be freed. */
static bool check_one(struct experiment *x, const uint8_t *data, size_t size)
{
	struct experiment_damage damage;
	struct error e = {0};
	uint8_t *copy = malloc(size + 1);
	char *text = NULL;
	size_t length;
	FILE *out;
	int status;

	if (!copy)
		return false;
	memcpy(copy, data, size);
	mend(copy, size);
	status = experiment_parse(x, copy, size, &damage, &e);
	free(copy);
	if (status && e.code == ERR_NONE)
		abort();
	if (status)
		return false;
	out = open_memstream(&text, &length);
	if (out) {
		experiment_dump(x, size & 1 ? DUMP_QUIET : 0, out);
		fclose(out);
	}
	free(text);
	check_again(x);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *next =
		size > 8 ? memmem(data + 1, size - 1, CODING_MAGIC, sizeof(CODING_MAGIC) - 1)
			 : NULL;
	size_t first = next ? (size_t)(next - data) : size;
	struct experiment x, y;

	if (!check_one(&x, data, first))
		return 0;
	if (next && check_one(&y, next, size - first)) {
		check_orders(&x, &y);
		experiment_fini(&y);
	}
	experiment_fini(&x);
	return 0;
}
