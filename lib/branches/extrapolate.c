/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "branches/extrapolate.h"

#include <math.h>

#define USUAL_TIMES 3.0  /* spells that the usual scatter counts as */
#define TIMES_MOST  20.0 /* spells that follow each other are alike: more do not prove more */

struct extrapolation extrapolate_by(const double *count, const double *known, const double *weight,
	size_t spells, double times, double usual)
{
	double sum = 0, base = 0, squares = 0, last = 0;
	double prior = usual > 0 ? USUAL_TIMES : 0;
	struct extrapolation e = {0};

	for (size_t i = 0; i < spells; i++) {
		sum += weight[i] * count[i];
		base += weight[i] * known[i];
	}
	if (!(sum > 0) || !(base > 0))
		return (struct extrapolation){.scatter = INFINITY};
	e.ratio = sum / base;
	for (size_t i = 0; i < spells; i++) {
		double off = weight[i] * (count[i] - e.ratio * known[i]);

		squares += i ? (off - last) * (off - last) / 2 : 0;
		last = off;
	}
	squares *= spells > 1 ? (double)spells / (double)(spells - 1) : 0;
	e.scatter = squares / (sum * sum) * times * times;
	e.scatter = (prior * usual + e.scatter) / (prior + times);
	return e;
}

double extrapolate_mix(
	const struct extrapolation *ways, size_t count, double times, double *variance)
{
	double least = INFINITY, all = 0, total = 0, power = fmin(times, TIMES_MOST) / 2;

	*variance = 0;
	for (size_t i = 0; i < count; i++)
		least = fmin(least, ways[i].scatter);
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < count; i++) {
			double part = pow(ways[i].scatter / least, -power) /
				      (i && count > 1 ? (double)(count - 1) : 1);

			if (!(ways[i].total > 0) || isinf(ways[i].scatter))
				continue;
			if (!round) {
				all += part;
				total += part * ways[i].total;
				continue;
			}
			*variance +=
				part / all * (ways[i].variance + pow(ways[i].total / total - 1, 2));
		}
		if (!round)
			total /= all;
	}
	return all > 0 ? total : 0;
}
