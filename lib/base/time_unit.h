/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The unit in which times up to some length are best read. */
#ifndef BASE_TIME_UNIT_H
#define BASE_TIME_UNIT_H

struct time_unit {
	const char *name, *word; /* "ms", "milliseconds" */
	double scale;            /* of them in a second */
};

static inline struct time_unit time_unit_of(double seconds)
{
	if (seconds >= 0.1)
		return (struct time_unit){"s", "seconds", 1};
	if (seconds >= 1e-4)
		return (struct time_unit){"ms", "milliseconds", 1e3};
	return (struct time_unit){"us", "microseconds", 1e6};
}

#endif
