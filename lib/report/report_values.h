/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the reports of values. */
#ifndef REPORT_REPORT_VALUES_H
#define REPORT_REPORT_VALUES_H

#include "explain/code.h"
#include "profile/profile_values.h"
#include "report/report_columns.h"
#include "values/interval.h"

#define REPORT_VALUES_LEAST  20 /* values; fewer say nothing about shares */
#define REPORT_VALUES_LISTED 16 /* of a site */

/* A report of values, from samples of values to rows. */
struct report_values {
	struct prof_data *d;
	struct report_table *t;
	struct prof_values v;
	struct explain_procedures procedures;
	double all;       /* samples of the first metric */
	bool rivals;      /* a text has values that may be as frequent as the first */
	const void *view; /* of report_values_report, for `make` */
};

/* Names, the run; then the rows of `make`, and the lines below. */
int report_values_report(struct prof_data *d, struct report_table *t,
	void (*make)(struct report_values *w), const void *view, struct error *e);

/* The function that a site is in; NULL: it has no samples. */
const struct explain_procedure *report_values_procedure(
	const struct report_values *w, const struct prof_value_site *s);
/* Samples of a site's function, of the first metric, as a share of all [0,1]. */
double report_values_time(const struct report_values *w, const struct prof_value_site *s);
/* The same of the site's instruction, to which samples were moved as -dis does. */
double report_values_own_time(const struct report_values *w, const struct prof_value_site *s);
/* What is at stake: a share of executions of what takes this share [0,1] of the time, if all
 * executions take the same. No gain is greater. */
struct quantity report_values_stake(double time, struct value_share share);
/* The name of the function, and whether the request wants it. */
const char *report_values_function(
	const struct report_values *w, const struct prof_value_site *s, bool *wanted);
/* Whether rows are those of functions that the user named. */
bool report_values_named(const struct report_values *w);
/* A line below a report without rows: of what there is none in this number of moments, and how to
 * record more. */
void report_values_none(struct report_values *w, const char *none, unsigned least);
/* A line below a report with rows of few moments. */
void report_values_weak(struct report_values *w);
/* A row at the site's address, with the values as its list. */
struct report_row report_values_row(struct report_values *w, const struct prof_value_site *s);
/* The instruction at an address; "" if there is no code. */
const char *report_values_instruction(
	struct report_table *t, const struct prof_data *d, uint32_t image, uint64_t address);

/* report_value_text.c */
/* The share of a listed value. */
struct value_share report_value_share(
	const struct prof_value_site *s, const struct experiment_value *value);
/* One value, as people read it. */
const char *report_value_text(struct report_table *t, const struct prof_data *d,
	const struct prof_value_site *s, const struct experiment_value *value);
/* How many of the values after the first have intervals that reach its own: the first may not be
 * the most frequent one. Values between them count. Of few moments, which are weak, none. */
size_t report_values_rivals(const struct prof_value_site *s);
/* The same, for scripts; none of few moments. */
struct quantity report_values_rival_count(const struct prof_value_site *s);
/* "7, 25 0.4%, 12 0.3%": the first without its share; if none is frequent, their range. "or" for
 * the first comma: its rival. */
const char *report_values_text(struct report_values *w, const struct prof_value_site *s);
/* "8 98.2%", "8 31.0% or 4 28.0%", "8 31.0% or others": the first, with its share and its rivals.
 * brief: "31%". */
const char *report_values_first(struct report_table *t, const struct prof_data *d,
	const struct prof_value_site *s, bool brief);
/* "ebx", "store", "argument 2": what has these values. */
const char *report_values_what(
	struct report_table *t, const struct prof_data *d, const struct prof_value_site *s);
/* Is the most frequent value's share worth a figure? */
bool report_values_frequent(const struct prof_value_site *s);
/* Shares of values with a bit, or all bits of a mask, of enum experiment_value_access or
 * _operation; of: of values with these bits only (0: of all). */
struct value_share report_values_bits(
	const struct prof_value_site *s, uint64_t bits, uint64_t of, uint64_t *count);

/* "memory 70.0%, L1-L2 30.0%": of a site of VALUE_LEVEL. */
const char *report_levels_text(
	struct report_table *t, const struct prof_data *d, const struct prof_value_site *s);
/* "7 90%", "taken 75%", "by 10 97%" (a divisor or a shift count): what is most frequent at an
 * instruction, in few words; NULL: nothing is. */
const char *report_values_brief(struct report_table *t, const struct prof_data *d,
	const struct prof_values *v, uint32_t image, uint64_t address);

/* In percent, estimated; none where there are too few moments. */
struct quantity report_values_percent(struct value_share share);

#endif
