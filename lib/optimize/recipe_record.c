/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A recipe from a build. A directory of scripts, one for each name of a compiler, comes first in
 * PATH. A script writes its directory and words, each ended by a NUL, to a file of its own, so that
 * parallel builds do not mix them, after the real compiler has succeeded. Builds also ask compilers
 * what they are, and try what they can.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/order.h"
#include "optimize/recipe.h"
#include "process/trial.h"

static const char *const recorded[] = {
	"cc", "gcc", "clang", "c++", "g++", "clang++", "ar", "ranlib"};
enum { RECORDED = sizeof(recorded) / sizeof(recorded[0]), LOG_LARGEST = 64 << 20 };

static int script_write(const char *directory, const char *name, struct error *e)
{
	struct file_out f;
	char *path;
	int rc;

	if (asprintf(&path, "%s/bin/%s", directory, name) < 0)
		return error_nomem(e);
	rc = file_create(&f, path, e);
	if (rc == 0) {
		fprintf(f.stream,
			"#!/bin/sh\n"
			"log=$PROF_RECORD/log/$(date +%%s.%%N).$$\n"
			"(PATH=$PROF_RECORD_PATH; export PATH; exec '%s' \"$@\") || exit\n"
			"printf '%%s\\0' \"$(pwd -P)\" '%s' \"$@\" > \"$log.part\" && mv "
			"\"$log.part\" "
			"\"$log\"\n",
			name, name);
		rc = file_commit(&f, e);
	}
	if (rc == 0 && chmod(path, 0755))
		rc = error_sys(e, errno, "cannot write %s", path);
	free(path);
	return rc;
}

/* Names with a version, as clang-19, are recorded if PATH has them. */
static int scripts_versioned(const char *directory, const char *paths, struct error *e)
{
	char *copy = strdup(paths), *rest = copy;
	int rc = copy ? 0 : error_nomem(e);

	for (char *at; rc == 0 && (at = strsep(&rest, ":"));) {
		DIR *d = *at ? opendir(at) : NULL;

		for (const char *name; rc == 0 && (name = file_next(d, ""));) {
			size_t n = strcspn(name, "-");
			const char *version = name + n;

			if (*version && version[1] &&
				strspn(version + 1, "0123456789") == strlen(version + 1))
				for (int i = 0; i < RECORDED && rc == 0; i++)
					if (strlen(recorded[i]) == n &&
						strncmp(recorded[i], name, n) == 0)
						rc = script_write(directory, name, e);
		}
		if (d)
			closedir(d);
	}
	free(copy);
	return rc;
}

static int scripts_make(const char *directory, const char *paths, struct error *e)
{
	char *path = NULL;
	int rc = 0;

	for (int i = 0; i < 2 && rc == 0; i++) {
		if (asprintf(&path, "%s/%s", directory, i ? "log" : "bin") < 0)
			return error_nomem(e);
		if (mkdir(path, 0700))
			rc = error_sys(e, errno, "cannot make %s", path);
		free(path);
	}
	for (int i = 0; i < RECORDED && rc == 0; i++)
		rc = script_write(directory, recorded[i], e);
	return rc ? rc : scripts_versioned(directory, paths, e);
}

/* NAME=VALUE or, with b, NAME=A/bin:B; NULL when memory is out. */
static char *recorded_variable(const char *name, const char *a, const char *b)
{
	struct strbuf s = {0};

	strbuf_printf(&s, "%s=%s", name, a);
	if (b)
		strbuf_printf(&s, "/bin:%s", b);
	return strbuf_take(&s);
}

static int build_run(char *const *words, const char *directory, const char *paths, struct error *e)
{
	char *added[] = {recorded_variable("PATH", directory, paths),
		recorded_variable("PROF_RECORD", directory, NULL),
		recorded_variable("PROF_RECORD_PATH", paths, NULL), NULL};
	const struct trial t = {.argv = words, .environment = added, .shares = true};
	struct trial_result r;
	int rc = -1;

	if (added[0] && added[1] && added[2])
		rc = trial_run(&t, &r, e);
	else
		error_nomem(e);
	for (int i = 0; i < 3; i++)
		free(added[i]);
	if (rc == 0 && !(WIFEXITED(r.status) && WEXITSTATUS(r.status) == 0))
		rc = error_set(
			e, ERR_CANNOT_RUN, "the build %s failed: nothing is recorded", words[0]);
	return rc;
}

static int step_read(struct recipe *r, const char *path, struct error *e)
{
	struct recipe_step *s = vec_push(&r->steps);
	size_t length;
	char *text = s ? file_read(path, LOG_LARGEST, &length, e) : NULL;

	if (!text)
		return s ? -1 : error_nomem(e);
	for (size_t at = 0; at < length; at += strlen(text + at) + 1) {
		char **slot = vec_push(&s->words);

		if (slot)
			*slot = strdup(text + at);
		if (!slot || !*slot) {
			free(text);
			return error_nomem(e);
		}
	}
	free(text);
	return vec_add(&s->words, (char *)NULL) ? error_nomem(e) : 0;
}

/* Whether the step makes a file: not a question, nor of a text that is gone. */
static bool step_makes(const struct recipe_step *s)
{
	static const char *const questions[] = {"--version", "-V", "-dumpversion", "-dumpmachine",
		"-dumpfullversion", "-dumpspecs", "--help", "-###", "-fsyntax-only", "-"};

	if (s->words.count < 4 || (s->words.count == 4 && strcmp(s->words.data[2], "-v") == 0))
		return false;
	for (size_t i = 2; i < s->words.count && s->words.data[i]; i++) {
		const char *w = s->words.data[i];

		if (strncmp(w, "-print-", 7) == 0 || strncmp(w, "--print-", 8) == 0)
			return false;
		for (size_t k = 0; k < sizeof(questions) / sizeof(questions[0]); k++)
			if (strcmp(w, questions[k]) == 0)
				return false;
	}
	return true;
}

static void step_drop(struct recipe *r)
{
	struct recipe_step *s = &r->steps.data[--r->steps.count];

	for (size_t i = 0; i < s->words.count; i++)
		free(s->words.data[i]);
	vec_fini(&s->words);
}

static int steps_gather(struct recipe *r, const char *directory, struct error *e)
{
	recipe_texts names = {0};
	char *log;
	DIR *d;
	int rc = 0;

	if (asprintf(&log, "%s/log", directory) < 0)
		return error_nomem(e);
	d = opendir(log);
	for (const char *name; rc == 0 && (name = file_next(d, ""));) {
		char **slot;

		if (*name == '.' || strstr(name, ".part"))
			continue;
		slot = vec_push(&names);
		if (!slot) {
			rc = error_nomem(e);
		} else if (asprintf(slot, "%s/%s", log, name) < 0) {
			names.count--;
			rc = error_nomem(e);
		}
	}
	if (d)
		closedir(d);
	if (names.count)
		qsort(names.data, names.count, sizeof(*names.data), order_strings);
	for (size_t i = 0; i < names.count; i++) {
		if (rc == 0)
			rc = step_read(r, names.data[i], e);
		if (rc == 0 && !step_makes(&r->steps.data[r->steps.count - 1]))
			step_drop(r);
		unlink(names.data[i]);
		free(names.data[i]);
	}
	vec_fini(&names);
	free(log);
	return rc;
}

/* A build in a copy of the directory must change nothing elsewhere. */
static int steps_inside(const struct recipe *r, struct error *e)
{
	for (size_t i = 0; i < r->steps.count; i++) {
		char *place = recipe_step_strays(&r->steps.data[i], r->directory);

		if (!place)
			continue;
		error_set(e, ERR_CANNOT_RUN, "the build writes to %s, outside of %s", place,
			r->directory);
		free(place);
		return error_hint(e, "run it from a directory that holds all it writes: make -C "
				     "DIRECTORY");
	}
	return 0;
}

static int output_missing(
	const struct recipe *r, const struct recipe_step *last, const char *output, struct error *e)
{
	char *other = recipe_step_program(last, r->directory);

	if (!other)
		return error_nomem(e);
	error_set(e, ERR_NOT_FOUND, "the build made no %s", output);
	error_hint(e, "it linked %s last", other);
	free(other);
	return -1;
}

/* The compiler and the program: those of the call that links it. */
static int recipe_complete(struct recipe *r, const char *output, struct error *e)
{
	const struct recipe_step *s;

	r->directory = getcwd(NULL, 0);
	if (!r->directory)
		return error_sys(e, errno, "cannot find the directory");
	s = recipe_link(r, output);
	if (!s) {
		error_set(e, ERR_NOT_FOUND, "the build linked nothing by a compiler that PATH has");
		return error_hint(e,
			"begin with make clean; give compilers by name (CC=clang), not by path as "
			"CMake does: write a recipe for that");
	}
	if (steps_inside(r, e))
		return -1;
	if (output && access(output, F_OK))
		return output_missing(r, s, output, e);
	r->cc = strdup(s->words.data[1]);
	r->output = output ? strdup(output) : recipe_step_program(s, r->directory);
	if (!r->cc || !r->output)
		return error_nomem(e);
	return vec_add(&r->tests, (char *)NULL) || vec_add(&r->files, (char *)NULL) ? error_nomem(e)
										    : 0;
}

static void record_clean(const char *directory)
{
	static const char *const parts[] = {"bin", "log", "."};

	for (int i = 0; i < 3; i++) {
		char *path;
		DIR *d;

		if (asprintf(&path, "%s/%s", directory, parts[i]) < 0)
			return;
		d = i < 2 ? opendir(path) : NULL;
		file_remove_all(d);
		if (d)
			closedir(d);
		rmdir(i < 2 ? path : directory);
		free(path);
	}
}

int recipe_record(struct recipe *r, char *const *words, const char *output, struct error *e)
{
	const char *paths = getenv("PATH");
	char *directory;
	sigset_t before;
	int rc;

	memset(r, 0, sizeof(*r));
	trial_signals_hold(&before);
	directory = file_temporary_directory("prof-record", "", e);
	if (!directory) {
		trial_signals_release(&before);
		return -1;
	}
	paths = paths ? paths : "/usr/bin:/bin";
	rc = scripts_make(directory, paths, e) || build_run(words, directory, paths, e) ||
			     steps_gather(r, directory, e) || recipe_complete(r, output, e)
		     ? -1
		     : 0;
	record_clean(directory);
	trial_signals_release(&before);
	free(directory);
	return rc;
}
