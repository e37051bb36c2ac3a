/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Step 2: the program's own tests, whose results must be equal byte by byte. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "pgo/verify_private.h"

enum { RUNS = 3, OUTPUT_LARGEST = (1 << 30) + 1, LIMIT_TIMES = 10, LIMIT_LEAST = 10 };

/* ---- comparison ---- */

static bool bytes_equal(struct verify_bytes a, struct verify_bytes b)
{
	return a.length == b.length && (!a.length || memcmp(a.data, b.data, a.length) == 0);
}

/* The next line, with its newline; empty after the last. */
static struct verify_bytes next_line(struct verify_bytes *rest)
{
	const char *end = rest->length ? memchr(rest->data, '\n', rest->length) : NULL;
	struct verify_bytes line = {
		rest->data, end ? (size_t)(end - rest->data) + 1 : rest->length};

	rest->data += line.length;
	rest->length -= line.length;
	return line;
}

static size_t count_lines(struct verify_bytes b)
{
	size_t n = 0;

	while (b.length) {
		(void)next_line(&b);
		n++;
	}
	return n;
}

enum verify_difference verify_compare(struct verify_bytes first, struct verify_bytes second,
	struct verify_bytes new, size_t *line, size_t *left)
{
	bool steady = bytes_equal(first, second);
	size_t lines = count_lines(first);

	*line = *left = 0;
	if (steady && bytes_equal(first, new))
		return VERIFY_SAME;
	if (!steady && lines != count_lines(second)) {
		*left = lines;
		return VERIFY_LEFT_OUT;
	}
	for (size_t i = 1; first.length || new.length; i++) {
		struct verify_bytes a = next_line(&first), b = next_line(&second),
				    c = next_line(&new);

		if (!bytes_equal(a, b) && a.length && c.length) {
			++*left;
		} else if (!bytes_equal(a, c)) {
			*line = i;
			return VERIFY_DIFFERS;
		}
	}
	return *left ? VERIFY_LEFT_OUT : VERIFY_SAME;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool in_word(char c)
{
	return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Of a time, or a rate: "12 ms", "3.4s", "5 MB/s". */
static bool unit_of_time(const char *at, const char *end)
{
	static const char *const units[] = {"s", "ms", "us", "ns", "sec", "secs", "second",
		"seconds", "msec", "usec", "nsec", "min", "minutes"};
	const char *stop;

	if (at < end && *at == ' ')
		at++;
	for (stop = at; stop < end && in_word(*stop); stop++)
		;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if ((size_t)(stop - at) == strlen(units[i]) &&
			memcmp(at, units[i], strlen(units[i])) == 0)
			return true;
	return end - stop > 1 && *stop == '/' && stop[1] == 's' &&
	       (end - stop < 3 || !in_word(stop[2]) || stop[2] == 'e');
}

size_t verify_mask_times(char *text, size_t length)
{
	const char *end = text + length, *at = text;
	char *to = text;

	while (at < end) {
		const char *stop = at;

		while (stop < end &&
			(is_digit(*stop) || (stop > at && (*stop == '.' || *stop == ':'))))
			stop++;
		if (stop > at && (to == text || !in_word(to[-1])) && unit_of_time(stop, end)) {
			while (to > text && (to[-1] == ' ' || to[-1] == '.'))
				to--;
			*to++ = '#';
			at = stop;
		} else {
			stop += stop == at;
			while (at < stop)
				*to++ = *at++;
		}
	}
	return (size_t)(to - text);
}

/* ---- runs ---- */

/* What a run left: standard output, standard error, and the files of the request. */
struct run_outcome {
	struct trial_result result;
	char *bytes[2];
	size_t lengths[2];
	char **files; /* NULL entries: not there */
	size_t *file_lengths;
};

static size_t file_count(const struct verify_request *q)
{
	size_t n = 0;

	while (q->files && q->files[n])
		n++;
	return n;
}

static void outcome_fini(struct run_outcome *o, size_t files)
{
	for (size_t i = 0; i < files && o->files; i++)
		free(o->files[i]);
	free(o->files);
	free(o->file_lengths);
	free(o->bytes[0]);
	free(o->bytes[1]);
}

static int take_files(struct verification *v, struct run_outcome *o, struct error *e)
{
	size_t n = file_count(v->request);

	o->files = calloc(n + 1, sizeof(*o->files));
	o->file_lengths = calloc(n + 1, sizeof(*o->file_lengths));
	if (!o->files || !o->file_lengths)
		return error_nomem(e);
	for (size_t i = 0; i < n; i++) {
		const char *path = v->request->files[i];

		if (access(path, F_OK) == 0) {
			o->files[i] =
				file_read_regular(path, OUTPUT_LARGEST, &o->file_lengths[i], e);
			if (!o->files[i])
				return -1;
		}
	}
	return 0;
}

static int take_run(struct verification *v, const struct verify_command *c, const char *image,
	struct run_outcome *o, struct error *e)
{
	char *paths[2] = {verify_path(v, ".output"), verify_path(v, ".errors")};
	int rc = paths[0] && paths[1] ? 0 : error_nomem(e);

	/* a file that an earlier run wrote must not count as written by this one */
	for (size_t i = 0; i < file_count(v->request); i++)
		unlink(v->request->files[i]);
	if (rc == 0)
		rc = verify_run_once(v, c, image, paths[0], paths[1], &o->result, e);
	for (int i = 0; i < 2 && rc == 0; i++) {
		o->bytes[i] = file_read(paths[i], OUTPUT_LARGEST, &o->lengths[i], e);
		rc = o->bytes[i] ? 0 : -1;
	}
	if (rc == 0)
		rc = take_files(v, o, e);
	for (int i = 0; i < 2; i++) {
		if (paths[i])
			unlink(paths[i]);
		free(paths[i]);
	}
	return rc;
}

/* ---- a test ---- */

static int judge_bytes(
	struct verification *v, size_t test, const char *what, const struct verify_bytes runs[RUNS])
{
	size_t line, left;

	switch (verify_compare(runs[0], runs[1], runs[2], &line, &left)) {
	case VERIFY_SAME:
		return 0;
	case VERIFY_LEFT_OUT:
		return verify_note(v,
			"test %zu: %zu lines of %s were left out: they differ between runs of the "
			"old image",
			test, left, what);
	case VERIFY_DIFFERS:
		break;
	}
	return verify_reason(v, "test %zu: %s differs in line %zu", test, what, line);
}

static int judge_files(struct verification *v, size_t test, const struct run_outcome o[RUNS])
{
	for (size_t i = 0; i < file_count(v->request); i++) {
		const char *path = v->request->files[i];
		struct verify_bytes runs[RUNS];

		for (int k = 0; k < RUNS; k++)
			runs[k] = (struct verify_bytes){o[k].files[i], o[k].file_lengths[i]};
		if (!o[0].files[i] != !o[1].files[i])
			continue;
		if (!o[0].files[i] != !o[2].files[i]) {
			if (verify_reason(v, "test %zu: the file %s is %s", test, path,
				    o[2].files[i] ? "new" : "missing"))
				return -1;
		} else if (o[0].files[i] && judge_bytes(v, test, path, runs)) {
			return -1;
		}
	}
	return 0;
}

static int judge(struct verification *v, size_t test, const struct run_outcome o[RUNS])
{
	static const char *const names[] = {"standard output", "standard error"};
	char was[80], is[80];

	trial_status_text(&o[0].result, was, sizeof(was));
	trial_status_text(&o[2].result, is, sizeof(is));
	if (o[0].result.status == o[1].result.status && strcmp(was, is) != 0)
		return verify_reason(v, "test %zu: %s instead of %s", test, is, was);
	for (int i = 0; i < 2; i++) {
		struct verify_bytes runs[RUNS];

		for (int k = 0; k < RUNS; k++)
			runs[k] = (struct verify_bytes){o[k].bytes[i], o[k].lengths[i]};
		if (judge_bytes(v, test, names[i], runs))
			return -1;
	}
	return judge_files(v, test, o);
}

/* The old image must pass its own test, or the test says nothing. */
static int old_works(const struct run_outcome *o, size_t test, struct error *e)
{
	char text[80];
	int status = o->result.status;

	if (!o->result.late && WIFEXITED(status) && WEXITSTATUS(status) < 126)
		return 0;
	trial_status_text(&o->result, text, sizeof(text));
	error_set(e, ERR_CANNOT_RUN, "test %zu fails with the old image: %s", test, text);
	return error_hint(e, "%s",
		o->lengths[1] && o->lengths[1] < 200 ? o->bytes[1] : "correct the test first");
}

/* Of two runs, the shorter one was less disturbed. */
static void note_duration(struct verification *v, size_t test, const struct run_outcome *o)
{
	double seconds = o[0].result.cpu < o[1].result.cpu ? o[0].result.cpu : o[1].result.cpu;

	if (seconds >= MODEL_SHORTEST && seconds <= MODEL_LONGEST &&
		seconds > v->modelled_seconds) {
		v->modelled = test;
		v->modelled_seconds = seconds;
	}
}

static int run_test(struct verification *v, size_t i, struct error *e)
{
	const char *images[RUNS] = {v->request->old, v->request->old, v->request->new};
	struct run_outcome o[RUNS] = {{.bytes = {NULL}}};
	double limit = v->limit;
	int rc = 0;

	for (int k = 0; k < RUNS && rc == 0; k++) {
		if (k == 2 && v->request->limit <= 0) {
			double slowest = o[0].result.elapsed > o[1].result.elapsed
						 ? o[0].result.elapsed
						 : o[1].result.elapsed;

			v->limit = LIMIT_TIMES * slowest > LIMIT_LEAST ? LIMIT_TIMES * slowest
								       : LIMIT_LEAST;
		}
		rc = take_run(v, &v->request->tests[i], images[k], &o[k], e);
		if (rc && k == 2 && e->code == ERR_CANNOT_RUN) {
			rc = verify_reason(v, "test %zu: %s", i + 1, e->message);
			break;
		}
		if (rc == 0 && k < 2)
			rc = old_works(&o[k], i + 1, e);
	}
	v->limit = limit;
	if (rc == 0 && !v->result->reasons.count) {
		note_duration(v, i + 1, o);
		rc = judge(v, i + 1, o);
	}
	for (int k = 0; k < RUNS; k++)
		outcome_fini(&o[k], file_count(v->request));
	return rc;
}

static int judge_timed(struct verification *v, struct run_outcome o[RUNS])
{
	struct verify_bytes runs[RUNS];
	size_t line, left;

	for (int k = 0; k < RUNS; k++)
		runs[k] = (struct verify_bytes){
			o[k].bytes[0], verify_mask_times(o[k].bytes[0], o[k].lengths[0])};
	if (verify_compare(runs[0], runs[1], runs[2], &line, &left) != VERIFY_DIFFERS)
		return 0;
	return verify_reason(v,
		"when it is timed, standard output differs in line %zu (if that is a time, filter "
		"it)",
		line);
}

int verify_timed_output(struct verification *v, const struct verify_command *c, struct error *e)
{
	const char *images[RUNS] = {v->request->old, v->request->old, v->request->new};
	struct run_outcome o[RUNS] = {{.bytes = {NULL}}};
	int rc = 0;

	for (int k = 0; k < RUNS && rc == 0; k++)
		rc = take_run(v, c, images[k], &o[k], e);
	if (rc == 0)
		rc = judge_timed(v, o);
	for (int k = 0; k < RUNS; k++)
		outcome_fini(&o[k], file_count(v->request));
	return rc;
}

int verify_tests(struct verification *v, struct error *e)
{
	for (size_t i = 0; i < v->request->test_count; i++) {
		if (v->request->progress)
			progress_step(v->request->progress,
				(double)i / (double)v->request->test_count, "tests");
		if (run_test(v, i, e))
			return -1;
		v->result->tests++;
		if (v->result->reasons.count)
			return 0;
		v->result->passed++;
	}
	return 0;
}
