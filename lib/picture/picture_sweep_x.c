/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The positions of runs on a sweep's axis, and the runs of one curve. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/sort.h"
#include "base/strbuf.h"
#include "picture/picture_sweep_private.h"

/* A whole text as a number; NAN: it is none. */
static double number_of(const char *text)
{
	char *end;
	double value;

	if (!isdigit((unsigned char)text[*text == '-']) && text[*text == '-'] != '.')
		return NAN;
	value = strtod(text, &end);
	return *end || !isfinite(value) ? NAN : value;
}

/* The n-th number in a file's name, from 0; NAN. */
static double file_number(const struct sweep_run *run, size_t n)
{
	const char *at = file_base_name(run->file);

	while (*at) {
		char *end;
		double value;

		if (!isdigit((unsigned char)*at)) {
			at++;
			continue;
		}
		value = (double)strtoull(at, &end, 10);
		if (!n--)
			return value;
		at = end;
	}
	return NAN;
}

/* The n-th word after the program that is not an option. */
static double argument(const struct sweep_run *run, size_t n)
{
	for (size_t i = 1; i < run->words.count; i++) {
		const char *word = run->words.data[i];

		if ((word[0] != '-' || !isnan(number_of(word))) && !--n)
			return number_of(word);
	}
	return NAN;
}

/* -n 5, -n=5, -n5 */
static double option(const struct sweep_run *run, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 1; i < run->words.count; i++) {
		const char *word = run->words.data[i];

		if (strncmp(word, name, length) != 0)
			continue;
		if (!word[length])
			return i + 1 < run->words.count ? number_of(run->words.data[i + 1]) : NAN;
		return number_of(word + length + (word[length] == '='));
	}
	return NAN;
}

static double picture_sweep_x_threads(const struct sweep_run *run)
{
	size_t n = run->experiment ? experiment_thread_count(run->experiment)
				   : run->report->thread_count;

	return n ? (double)n : NAN;
}

static double picture_sweep_x_ranks(const struct sweep_run *run)
{
	double n = 0;

	if (!run->experiment)
		return NAN;
	n = (double)run->experiment->folded.ranks;
	for (size_t i = 0; i < run->experiment->processes.count; i++)
		n += run->experiment->processes.data[i].rank >= 0;
	return n > 0 ? n : NAN;
}

static double fact(const struct sweep_run *run, const char *key)
{
	const char *value = run->experiment ? experiment_fact_find(run->experiment, key) : NULL;

	return value ? number_of(value) : NAN;
}

/* "arg3": 3; 0: another word. */
static size_t argument_index(const char *x)
{
	char *end;
	unsigned long n;

	if (strncmp(x, "arg", 3) != 0 || !isdigit((unsigned char)x[3]))
		return 0;
	n = strtoul(x + 3, &end, 10);
	return *end ? 0 : n;
}

typedef double numbered(const struct sweep_run *run, size_t n);

/* A number in all runs, and not the same one in all of them? */
static bool numbers_vary(const struct sweep *s, numbered *number, size_t n)
{
	bool differs = false;

	for (size_t i = 0; i < s->runs.count; i++) {
		double value = number(&s->runs.data[i], n);

		if (isnan(value))
			return false;
		differs = differs || value != number(&s->runs.data[0], n);
	}
	return differs;
}

static int place_by(struct sweep *s, numbered *number, size_t n, const char *label)
{
	for (size_t i = 0; i < s->runs.count; i++)
		s->runs.data[i].x = number(&s->runs.data[i], n);
	s->x_label = label;
	return 0;
}

static const char *picture_sweep_x_program(const struct sweep *s)
{
	return s->runs.data[0].words.count ? file_base_name(s->runs.data[0].words.data[0])
					   : "the program";
}

enum { TRIED = 100 };

static int place_by_itself(struct sweep *s, struct error *e)
{
	for (size_t n = 1; n < TRIED; n++)
		if (numbers_vary(s, argument, n))
			return place_by(s, argument, n,
				picture_text(s->picture, "argument %zu of %s", n,
					picture_sweep_x_program(s)));
	for (size_t n = 0; n < TRIED; n++)
		if (numbers_vary(s, file_number, n))
			return place_by(s, file_number, n, "number in the file's name");
	error_set(e, ERR_NOT_FOUND,
		"the runs do not differ in a number of their commands or file names");
	return error_hint(e, "give the parameter with -x: argN, -OPTION, threads, ranks, file");
}

static void place_by_name(struct sweep *s, const char *x)
{
	size_t n = argument_index(x);

	if (n) {
		place_by(s, argument, n,
			picture_text(
				s->picture, "argument %zu of %s", n, picture_sweep_x_program(s)));
		return;
	}
	if (strcmp(x, "file") == 0) {
		for (n = 0; n + 1 < TRIED && !numbers_vary(s, file_number, n); n++)
			;
		place_by(s, file_number, n < TRIED - 1 ? n : 0, "number in the file's name");
		return;
	}
	for (size_t i = 0; i < s->runs.count; i++) {
		struct sweep_run *run = &s->runs.data[i];

		run->x = strcmp(x, "threads") == 0 ? picture_sweep_x_threads(run)
			 : strcmp(x, "ranks") == 0 ? picture_sweep_x_ranks(run)
			 : x[0] == '-'             ? option(run, x)
						   : fact(run, x);
	}
	s->x_label = x;
}

static int check(const struct sweep *s, struct error *e)
{
	const char *x = s->request->x;

	for (size_t i = 0; i < s->runs.count; i++) {
		const struct sweep_run *run = &s->runs.data[i];

		if (!isnan(run->x))
			continue;
		error_set(e, ERR_NOT_FOUND, "%s has no number for -x %s", run->file, x ? x : "");
		if (x && strcmp(x, "threads") == 0 && run->report)
			return error_hint(e, "record with perfex -mp, which counts each thread");
		return error_hint(e, "argN: word N after the command that is not an option; "
				     "-OPTION: the word after it; threads; ranks; file: a number "
				     "in its name; or a fact of the run (prof -dump)");
	}
	return 0;
}

/* A number, or the option that x is of. */
static bool is_parameter(const struct sweep *s, const char *word)
{
	const char *x = s->request->x;

	return !isnan(number_of(word)) || (x && x[0] == '-' && strncmp(word, x, strlen(x)) == 0);
}

/* The command without its parameters. */
static const char *variant_of(const struct sweep *s, const struct sweep_run *run)
{
	struct strbuf text = {0};
	const char *result;

	for (size_t i = 0; i < run->words.count; i++)
		if (i == 0 || !is_parameter(s, run->words.data[i]))
			strbuf_printf(&text, "%s%s", i ? " " : "",
				i ? run->words.data[i] : file_base_name(run->words.data[0]));
	s->picture->failed |= text.failed;
	result = picture_text(s->picture, "%s", strbuf_text(&text));
	strbuf_fini(&text);
	return result;
}

static void find_variants(struct sweep *s)
{
	for (size_t i = 0; i < s->runs.count; i++) {
		struct sweep_run *run = &s->runs.data[i];
		const char *own = variant_of(s, run);
		size_t k = 0;

		while (k < s->variants.count && strcmp(s->variants.data[k], own) != 0)
			k++;
		run->variant = k;
		if (k == s->variants.count)
			s->picture->failed |= vec_add(&s->variants, own) != 0;
	}
}

static int by_x(const void *pa, const void *pb, void *context)
{
	size_t a = *(const size_t *)pa, b = *(const size_t *)pb;
	const struct sweep_run *runs = context;

	return sort_falling_number(runs[b].x, runs[a].x) ?: sort_rising(a, b);
}

int picture_sweep_place(struct sweep *s, struct error *e)
{
	if (s->request->x)
		place_by_name(s, s->request->x);
	else if (place_by_itself(s, e))
		return -1;
	if (check(s, e))
		return -1;
	find_variants(s);
	for (size_t i = 0; i < s->runs.count; i++)
		s->order[i] = i;
	qsort_r(s->order, s->runs.count, sizeof(*s->order), by_x, s->runs.data);
	return picture_finish(s->picture, e);
}
