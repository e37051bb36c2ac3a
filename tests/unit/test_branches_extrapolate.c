/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counts of some spells, extrapolated. */
#include "branches/extrapolate.h"

#include <math.h>

#include "../tap.h"

enum { SPELLS = 12 };

static void test_ratio(void)
{
	const double count[SPELLS] = {10, 0, 10, 0, 10, 0, 10, 0, 10, 0, 10, 0};
	const double same[SPELLS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const double once[SPELLS] = {5, 0, 5, 0, 5, 0, 5, 0, 5, 0, 5, 0}, nothing[SPELLS] = {0};
	struct extrapolation e = extrapolate_by(
				     count, same, same, SPELLS, SPELLS, EXTRAPOLATE_USUAL),
			     other;

	is_near(e.ratio, 5, 1e-12, "five a spell");
	ok(e.scatter > 0.9, "which scatter: %g", e.scatter);
	other = extrapolate_by(count, once, same, SPELLS, SPELLS, EXTRAPOLATE_USUAL);
	is_near(other.ratio, 2, 1e-12, "twice as many as the other");
	ok(other.scatter < 0.05, "always: %g", other.scatter);
	e.total = 100;
	other.total = 200;
	is_near(extrapolate_mix((struct extrapolation[]){e, other}, 2, SPELLS, &e.variance), 200,
		0.1, "the way that explains all spells decides");
	ok(e.variance < 0.01, "nearly alone: %g", e.variance);
	other = extrapolate_by(count, nothing, same, SPELLS, SPELLS, EXTRAPOLATE_USUAL);
	ok(isinf(other.scatter), "nothing is in proportion to what was never there");
	e.total = 100;
	is_near(extrapolate_mix((struct extrapolation[]){e, other}, 2, SPELLS, &e.variance), 100,
		1e-9, "so it does not count");
}

/* A count that changes slowly is known well, though it differs by much. */
static void test_phases(void)
{
	const double slow[SPELLS] = {9, 9, 9, 9, 9, 9, 1, 1, 1, 1, 1, 1},
		     fast[SPELLS] = {9, 1, 9, 1, 9, 1, 9, 1, 9, 1, 9, 1},
		     same[SPELLS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	struct extrapolation a =
		extrapolate_by(slow, same, same, SPELLS, SPELLS, EXTRAPOLATE_USUAL);
	struct extrapolation b =
		extrapolate_by(fast, same, same, SPELLS, SPELLS, EXTRAPOLATE_USUAL);

	is_near(a.ratio, b.ratio, 1e-12, "as many");
	ok(a.scatter < b.scatter / 4, "phases are seen: %g, %g", a.scatter, b.scatter);
}

/* Two spells agree by chance: what is usual of others decides. */
static void test_usual(void)
{
	const double count[] = {10, 10}, same[] = {1, 1};

	is_near(extrapolate_by(count, same, same, 2, 2, 0).scatter, 0, 1e-12, "they agree");
	ok(extrapolate_by(count, same, same, 2, 2, 0.5).scatter > 0.2, "others do not");
}

static void test_weights(void)
{
	const double count[] = {10, 30}, known[] = {1, 1}, weight[] = {3, 1};

	is_near(extrapolate_by(count, known, weight, 2, 1.6, EXTRAPOLATE_USUAL).ratio, 15, 1e-12,
		"the first spell stands for three");
}

int main(void)
{
	double variance;

	test_ratio();
	test_phases();
	test_usual();
	test_weights();
	is_near(extrapolate_mix(NULL, 0, 1, &variance), 0, 1e-12, "no way, no total");
	return done();
}
