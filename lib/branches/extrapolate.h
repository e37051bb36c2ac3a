/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What was counted in some spells of a program's time, extrapolated to all of it: by what is known
 * of all spells, which is their time, and the counts of what was counted always. Code that goes
 * with the latter is known from few spells, though the program has phases (ratio estimation:
 * Cochran, Sampling Techniques, 3rd edition, chapter 6). Which of them it goes with is not known,
 * so each counts by how well it explains the spells there are.
 *
 * Pure functions.
 */
#ifndef BRANCHES_EXTRAPOLATE_H
#define BRANCHES_EXTRAPOLATE_H

#include <stddef.h>

/* One way to do it. */
struct extrapolation {
	double ratio;   /* of what was counted to what is known */
	double scatter; /* variance of a spell's count about that, as a part of the mean, squared */
	double total;   /* by this way: the caller's */
	double variance; /* of total, as a part of it, squared: likewise */
};

#define EXTRAPOLATE_USUAL 0.01 /* scatter, before any is known */

/* From the spells with these counts. weight: each stands for as many others. known > 0 in some;
 * times: of how many spells with equal weights it is worth. usual: the scatter of others,
 * which counts as some more spells, since few agree by chance; 0: not known. */
struct extrapolation extrapolate_by(const double *count, const double *known, const double *weight,
	size_t spells, double times, double usual);
/* The mean total of some ways, the first of which counts as much as all others together if all
 * explain the same. *variance: of it, as a part, squared. */
double extrapolate_mix(
	const struct extrapolation *ways, size_t count, double times, double *variance);

#endif
