/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the run that -from and -to select. Times of samples are those of slices
 * (experiment/time_slices.h), which are taken whole: the part begins and ends with a slice. It has
 * the slice at its beginning and not the one at its end, so that neighbours share none.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiment/time_slices.h"
#include "profile/places_private.h"

bool profile_divides(const struct prof_request *r)
{
	return r->calipers || r->from || r->to;
}

bool profile_damaged(const struct prof_request *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->inputs[i].experiment->damaged)
			return true;
	return false;
}

double profile_duration(const struct experiment *x)
{
	uint64_t end = experiment_slices_end(x);

	return (double)(x->runs == 1 && x->elapsed ? x->elapsed : end) * 1e-9;
}

bool profile_timed(const struct prof_data *d, size_t metric)
{
	const struct prof_metric *m = &d->metrics.data[metric];
	const struct experiment *x = d->request->inputs[m->input].experiment;

	for (size_t i = 0; i < x->slices.count; i++)
		if (experiment_sample_at(x, experiment_slice_at(x, i)->key.sample)->key.metric ==
			m->index)
			return true;
	return false;
}

static double slice_width(const struct experiment *x)
{
	return ldexp(1e-9, (int)x->slicing.shift);
}

bool profile_times(const struct prof_data *d, size_t input, double *from, double *to)
{
	const struct experiment *x = d->request->inputs[input].experiment;
	const struct prof_span *span = &d->spans.data[input];

	if (!span->within)
		return false;
	*from = span->first_slice * slice_width(x);
	*to = fmin(span->last_slice * slice_width(x), profile_duration(x));
	return true;
}

/* "1.5", "200ms", "25%": seconds. */
static int times_parse(
	const char *option, const char *text, double all, double *seconds, struct error *e)
{
	static const struct {
		const char *name;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"us", 1e-6}};
	char *rest;
	double n = strtod(text, &rest);

	for (size_t i = 0; rest > text && n >= 0 && i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(rest, units[i].name) == 0) {
			*seconds = n * units[i].seconds;
			return 0;
		}
	if (rest > text && n >= 0 && n <= 100 && strcmp(rest, "%") == 0) {
		*seconds = n / 100 * all;
		return 0;
	}
	error_set(e, ERR_PARSE, "%s: '%s' is not a time", option, text);
	return error_hint(e, "give seconds, as 1.5 or 200ms, or a share of the run, as 25%%");
}

static int times_missing(const struct prof_input *in, struct error *e)
{
	bool model = false;

	for (size_t i = 0; i < in->experiment->metrics.count; i++)
		model = model || in->experiment->metrics.data[i].label == LABEL_MODEL;
	error_set(e, ERR_UNSUPPORTED, "-from, -to: the samples of %s have no times", in->file);
	return error_hint(e, "%s",
		model ? "those of the model never have: divide the run by caliper points, and use "
			"-calipers"
		      : "an older ssrun, or prof store, did not keep them: record it again");
}

static uint32_t nearest_slice(double place)
{
	return (uint32_t)fmin(round(place), UINT32_MAX);
}

/* The slices from -from to -to; at least one. */
static int times_span(
	const struct prof_request *r, size_t input, struct prof_span *span, struct error *e)
{
	const struct prof_input *in = &r->inputs[input];
	double all = profile_duration(in->experiment), width = slice_width(in->experiment);
	double from = 0, to = INFINITY;

	if (!in->experiment->slices.count)
		return times_missing(in, e);
	if ((r->from && times_parse("-from", r->from, all, &from, e)) ||
		(r->to && times_parse("-to", r->to, all, &to, e)))
		return -1;
	if (from >= all)
		return error_set(e, ERR_RANGE, "-from %s: the run of %s took %.4g s", r->from,
			in->file, all);
	if (from >= to)
		return error_set(e, ERR_RANGE, "-to %s: give a time after -from", r->to);
	/* Ends go to the nearest border of slices, both alike: then parts add up to the whole. */
	span->first_slice = nearest_slice(from / width);
	span->last_slice = to < all ? nearest_slice(to / width) : UINT32_MAX;
	if (span->first_slice < span->last_slice)
		return 0;
	span->first_slice = (uint32_t)(from / width);
	span->last_slice = span->first_slice + 1;
	return 0;
}

/* The samples of each row in these slices, into `within`; what has no time is counted. */
static void times_count(const struct experiment *x, const struct prof_span *span, uint64_t *within,
	struct prof_metric *metrics)
{
	for (size_t i = 0; i < x->samples.count; i++)
		metrics[experiment_sample_at(x, i)->key.metric].untimed +=
			experiment_sample_at(x, i)->count;
	for (size_t i = 0; i < x->slices.count; i++) {
		const struct experiment_slice *s = experiment_slice_at(x, i);

		metrics[experiment_sample_at(x, s->key.sample)->key.metric].untimed -= s->count;
		if (s->key.slice >= span->first_slice && s->key.slice < span->last_slice)
			within[s->key.sample] += s->count;
	}
}

int profile_within(struct prof_data *d, size_t input, size_t first, struct error *e)
{
	const struct prof_request *r = d->request;
	const struct experiment *x = r->inputs[input].experiment;
	struct prof_span *span = &d->spans.data[input];

	if (!r->from && !r->to)
		return 0;
	if (times_span(r, input, span, e))
		return -1;
	span->within = calloc(x->samples.count + 1, sizeof(*span->within));
	if (!span->within)
		return error_nomem(e);
	times_count(x, span, span->within, d->metrics.data + first);
	return 0;
}
