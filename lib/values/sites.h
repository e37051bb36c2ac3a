/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites of values with their lists of frequent values, filled window by window.
 *
 * Lists are by Space-Saving (Metwally, Agrawal, El Abbadi, "Efficient Computation of Frequent and
 * Top-k Elements in Data Streams", ICDT 2005): a value that is not listed takes the place of the
 * one with the least count, and that count is its error. So a value with a share above 1/16 is
 * always listed, count - error <= truth <= count, and error <= N/16.
 */
#ifndef VALUES_SITES_H
#define VALUES_SITES_H

#include "base/table.h"
#include "experiment/values.h"

#define VALUE_LIST 16

struct value_lists; /* their memory */

struct value_sites {
	struct table sites;
	struct value_lists *lists;
	size_t listed; /* values of all lists */
	uint64_t moment;
	bool shape; /* rows have no values, see VALUE_SHAPE */
};

struct value_told {
	uint64_t address; /* of the site */
	uint32_t image, kind, operand, form;
	uint64_t raw;         /* the value */
	uint64_t value;       /* the same or, with an image, relative to it */
	uint32_t value_image; /* 0: none */
};

void value_sites_init(struct value_sites *s);
void value_sites_fini(struct value_sites *s);
/* What follows is of another window. */
void value_sites_moment(struct value_sites *s);
/* -1: memory is out. */
int value_sites_add(struct value_sites *s, const struct value_told *told);
/* The number of a site, for value_sites_add_to. -1: memory is out. */
long value_sites_find(struct value_sites *s, const struct value_told *told);
/* -1: memory is out. */
int value_sites_add_to(
	struct value_sites *s, long number, uint64_t raw, uint64_t value, uint32_t image);
/* It will be added to soon: its row is fetched into the cache; if that is there, its list. */
void value_sites_fetch(const struct value_sites *s, long number);
void value_sites_fetch_list(const struct value_sites *s, long number);
/* Values of one place that are not addresses of images, all of one moment, in order. -1: memory is
 * out. */
int value_sites_add_run(
	struct value_sites *s, const struct value_told *of, const uint64_t *values, size_t count);
/* Puts them into the experiment, which has no rows of them. -1: memory is out. */
int value_sites_put(struct value_sites *s, struct experiment *x);

#endif
