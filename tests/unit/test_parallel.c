/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Results of several threads are those of a loop, errors too, and each is dropped once. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../tap.h"
#include "base/parallel.h"

struct work {
	size_t bad_make, bad_take; /* SIZE_MAX: none */
	size_t taken, wrong;       /* in order, and not */
	size_t dropped;
	uint64_t sum;
};

/* A result takes the longer, the smaller its number: later ones are ready first. */
static int make(void *context, size_t i, void *result, struct error *e)
{
	const struct work *w = context;
	uint64_t **own = result, x = i;

	if (*own)
		return error_set(e, ERR_CONFLICT, "not zeroed");
	*own = malloc(sizeof(**own));
	if (!*own)
		return error_nomem(e);
	for (size_t k = 0; k < 5000 / (i % 16 + 1); k++)
		x = x * 6364136223846793005u + 1;
	**own = x;
	return i == w->bad_make ? error_set(e, ERR_RANGE, "make %zu", i) : 0;
}

static int take(void *context, size_t i, void *result, struct error *e)
{
	struct work *w = context;

	w->wrong += i != w->taken;
	w->taken++;
	w->sum = w->sum * 31 + **(uint64_t **)result;
	return i == w->bad_take ? error_set(e, ERR_RANGE, "take %zu", i) : 0;
}

static void drop(void *context, void *result)
{
	struct work *w = context;

	w->dropped++;
	free(*(void **)result);
}

static int run(struct work *w, size_t count, unsigned threads, struct error *e)
{
	const struct parallel p = {.count = count,
		.size = sizeof(void *),
		.threads = threads,
		.context = w,
		.make = make,
		.take = take,
		.drop = drop};

	return parallel_run(&p, e);
}

static void test_equal(unsigned threads)
{
	struct work one = {SIZE_MAX, SIZE_MAX, 0, 0, 0, 0}, several = one;
	struct error e = {0};
	int alone = run(&one, 500, 1, &e), together = run(&several, 500, threads, &e);

	ok(alone == 0 && together == 0, "%u threads: no error", threads);
	ok(several.taken == 500 && several.wrong == 0, "all taken, in order");
	ok(several.dropped == 500, "each is dropped");
	ok(several.sum == one.sum, "the same results as of one");
}

static void test_errors(unsigned threads)
{
	struct work w = {200, 201, 0, 0, 0, 0};
	struct error e = {0};

	is_int(run(&w, 500, threads, &e), -1, "an error of make");
	is_str(e.message, "make 200", "it is the first in order");
	ok(w.taken == 200 && w.dropped >= 201, "nothing after it is taken, and it is dropped");
	w = (struct work){300, 20, 0, 0, 0, 0};
	is_int(run(&w, 500, threads, &e), -1, "an error of take");
	is_str(e.message, "take 20", "it ends the run");
	is_int((int)w.taken, 21, "nothing after it is taken");
}

int main(void)
{
	struct work none = {SIZE_MAX, SIZE_MAX, 0, 0, 0, 0};
	struct error e = {0};

	for (unsigned threads = 1; threads <= 4; threads++) {
		test_equal(threads);
		test_errors(threads);
	}
	ok(run(&none, 0, 3, &e) == 0 && !none.dropped, "nothing to do");
	ok(parallel_processors(1) == 1 && parallel_processors(64) >= 1, "processors");
	return done();
}
