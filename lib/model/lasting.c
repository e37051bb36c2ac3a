/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "model/lasting.h"

#include "model/random.h"

/* Seconds after which config.ll_later is measured. */
#define LATER 0.005
/* Arrivals between computations. */
#define LEARNS 32
/* Of lines that were looked for later, at least this part is taken to be found. */
#define FOUND_LEAST 0.01

/* For x up to 0: (1 + x / 2^16)^(2^16). */
static double exponential(double x)
{
	double y = 1 + x / 65536;

	if (x < -40)
		return 0;
	for (unsigned i = 0; i < 16; i++)
		y *= y;
	return y;
}

/* The part of the lines that are still there, after x times a third of the time that they last. */
static double found_after(double x)
{
	return exponential(-x) * (1 + x + x * x / 2);
}

/* Its inverse, by bisection. */
static double age_of(double found)
{
	double low = 0, high = 16;

	for (unsigned i = 0; i < 40; i++) {
		double middle = (low + high) / 2;

		if (found_after(middle) > found)
			low = middle;
		else
			high = middle;
	}
	return low;
}

void lasting_init(struct lasting *l, const struct model_config *config)
{
	double ll = config->ll.latency, memory = config->memory_latency, later = config->ll_later;
	double found = (memory - later) / (memory - ll);

	l->random = 1;
	if (!config->ll.size || !config->ll_later || memory <= ll || found >= 0.99)
		return;
	l->sets = (double)config->ll.size / config->ll.line / config->ll.ways;
	l->third = LATER * (double)config->clock_hz /
		   age_of(found > FOUND_LEAST ? found : FOUND_LEAST);
}

void lasting_begin(struct lasting *l, uint64_t now, uint64_t order)
{
	l->began = now;
	l->began_order = order;
}

/* Each as many arrivals as there are sets, what was known before weighs half as much: a line has
 * one newer one then. */
static void forget(struct lasting *l)
{
	if (l->arrived < 2 * l->sets)
		return;
	l->arrived /= 2;
	l->passed /= 2;
	l->cycles /= 2;
	l->clocked /= 2;
}

void lasting_learn(struct lasting *l, uint64_t now, uint64_t order)
{
	double each;

	/* Cores have clocks of their own. */
	if (now > l->began && order > l->began_order) {
		l->cycles += (double)(now - l->began);
		l->clocked += (double)(order - l->began_order);
	}
	if (order > l->order) {
		l->arrived += (double)(l->arrivals - l->since);
		l->passed += (double)(order - l->order);
	}
	l->since = l->arrivals;
	l->order = order;
	lasting_begin(l, now, order);
	if (l->arrived <= 0 || l->clocked <= 0 || !l->third)
		return;
	/* From one arrival in a set to the next. */
	each = l->sets * l->passed / l->arrived * l->cycles / l->clocked;
	for (unsigned i = 0; i < LASTING_RANKS; i++)
		l->gone[i] =
			(uint32_t)(UINT32_MAX * (1 - found_after((i + 0.5) * each / l->third)));
	forget(l);
}

int lasting_gone(struct lasting *l, unsigned newer, uint64_t now, uint64_t order)
{
	if (!l->third)
		return 0;
	if (l->arrivals - l->since >= LEARNS)
		lasting_learn(l, now, order);
	newer = newer < LASTING_RANKS ? newer : LASTING_RANKS - 1;
	return model_random_below(&l->random, UINT32_MAX) < l->gone[newer];
}
