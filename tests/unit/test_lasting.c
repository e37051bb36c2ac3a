/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of a last level that others use: by the time since their last use, which follows from the
 * rate of arrivals. */
#include <string.h>

#include "../tap.h"
#include "model/lasting.h"
#include "model_machine.h"

#define DRAWS 20000

/* Of lines with so many newer ones in their set, the part that is still there, after arrivals at a
 * distance of `each` cycles. */
static double found(struct model_config c, double each, unsigned newer)
{
	static struct lasting l;
	int gone = 0;

	memset(&l, 0, sizeof(l));
	lasting_init(&l, &c);
	lasting_begin(&l, 0, 0);
	l.arrivals = 1000;
	lasting_learn(&l, (uint64_t)(1000 * each), 5000);
	for (int i = 0; i < DRAWS; i++)
		gone += lasting_gone(&l, newer, (uint64_t)(1000 * each), 5000);
	return 1 - (double)gone / DRAWS;
}

int main(void)
{
	struct model_config c = zen4();
	double sets, later;

	c.clock_hz = 4000000000;
	c.ll.latency = 50;
	c.memory_latency = 450;
	c.ll_later = 0;
	sets = (double)c.ll.size / c.ll.line / c.ll.ways;
	later = 0.005 * 4e9 / sets; /* with one newer line half of the sets have had one */
	is_near(found(c, later, 0), 1, 0, "of a level without others, all");
	c.ll_later = 50;
	is_near(found(c, later, 0), 1, 0, "likewise if nothing was gone");
	for (uint32_t cycles = 130; cycles <= 370; cycles += 120) {
		double expected = (450 - (double)cycles) / 400;

		c.ll_later = cycles;
		/* Newer lines, and half a one: the time is in the middle between two. */
		is_near(found(c, 2 * later, 0), expected, 0.02,
			"after five milliseconds, as many as were measured: %.2f", expected);
		is_near(found(c, 2 * later / 3, 1), expected, 0.02, "also by newer lines");
		ok(found(c, later / 50, 0) > 0.99, "at once, nearly all");
		ok(found(c, 2 * later, 15) < 0.01, "much later, nearly none");
	}
	c.ll_later = 1000;
	ok(found(c, 2 * later, 0) < 0.02, "more than memory's latency is all gone");
	return done();
}
