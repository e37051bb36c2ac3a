/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Branch records of the program, and profiles made of them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "load/load.h"
#include "optimize/private.h"
#include "profile/image_files.h"

/* One run's profile made Lua slower by 14%, where four runs together cost 2%; two bursts were
 * enough for the gain of mawk. What is below is not known to be safe. */
enum { RUNS_LEAST = 2, BURSTS_LEAST = 5, TRANSFERS_LEAST = 20000, TRANSFERS_ENOUGH = 2000000 };
static const double MISFIT_MOST = 0.05; /* of executions */
static const double ELSEWHERE_MOST = 0.9;

int optimize_enough(const struct pgo_coverage *c, struct error *e)
{
	if (c->ranges > 0 && (c->unmapped + c->mismatched) / c->ranges > MISFIT_MOST)
		return error_set(e, ERR_CONFLICT,
			"%.0f%% of executions are not along the code of the image: it is another "
			"build, or made by BOLT",
			100 * (c->unmapped + c->mismatched) / c->ranges);
	if (c->exact)
		return 0;
	if (c->runs < RUNS_LEAST || c->bursts < BURSTS_LEAST || c->transfers < TRANSFERS_LEAST) {
		error_set(e, ERR_UNSUPPORTED,
			"too few branch records: %llu branches in %llu bursts of %u runs; a "
			"profile "
			"needs %d, %d and %d",
			(unsigned long long)c->transfers, (unsigned long long)c->bursts, c->runs,
			TRANSFERS_LEAST, BURSTS_LEAST, RUNS_LEAST);
		if (c->elsewhere > ELSEWHERE_MOST)
			return error_hint(e,
				"%.0f%% of the branches are in other images, most in %s: optimise "
				"that one, or link it statically",
				100 * c->elsewhere, c->busiest);
		return error_hint(
			e, "record longer runs, or more of them: ssrun -branches -bursts 100");
	}
	return 0;
}

void optimize_files_free(char **files)
{
	for (size_t i = 0; files && files[i]; i++)
		free(files[i]);
	free(files);
}

/* Some programs answer by their exit status. 125 is that of ssrun itself. */
static void train_failed(const char *train, struct error *e)
{
	static const char status[] = "exit status ";
	const struct error was = *e;
	const char *text = strstr(was.message, status);
	int number = text ? atoi(text + strlen(status)) : 125;

	if (number == 125)
		return;
	error_set(e, was.code, "the training command '%.300s' ended with exit status %d", train,
		number);
	error_hint(e, "%s%sif that is no failure, write '%.100s; true'", was.hint,
		*was.hint ? "; " : "", train);
}

static int record_once(
	const struct workshop *w, const char *image, const char *file, struct error *e)
{
	const struct recipe *r = w->request->recipe;
	const char *train = w->request->train ? w->request->train : r ? r->train : NULL;
	char *command = NULL, *quoted = NULL;
	/* A rate of bursts: training may take longer, and short programs have some, too. */
	const char *words[] = {w->request->ssrun, "-q", "-branches", "-bursts", "100", "-o", file,
		"/bin/sh", "-c", NULL, NULL};
	int rc = -1;

	if (asprintf(&quoted, "'%s'", image) < 0)
		quoted = NULL;
	if (quoted)
		command = workshop_fill(train, (const char *const[]){"{}", quoted, NULL});
	words[9] = command;
	if (command)
		rc = workshop_tool(w, words, NULL, e);
	else
		error_nomem(e);
	if (rc && e->code == ERR_CANNOT_RUN)
		train_failed(train, e);
	free(command);
	free(quoted);
	return rc;
}

int optimize_records(const struct workshop *w, const char *image, const char *name, char ***files,
	struct error *e)
{
	char **all = calloc(w->request->runs + 1, sizeof(*all));
	char *probe = workshop_path(w, "probe", e), label[64];
	int rc = 0;

	*files = NULL;
	if (!all || !probe) {
		free(all);
		free(probe);
		return error_nomem(e);
	}

	for (size_t i = 0; i < w->request->runs && rc == 0; i++) {
		struct pgo_coverage c = {0};

		snprintf(label, sizeof(label), "%s.%zu", name, i);
		all[i] = workshop_path(w, label, e);
		rc = all[i] ? record_once(w, image, all[i], e) : -1;
		if (rc == 0 && i + 1 >= RUNS_LEAST &&
			optimize_profile(w, all, image, "bolt", probe, &c, e) == 0 &&
			c.transfers >= TRANSFERS_ENOUGH)
			break;
	}
	unlink(probe);
	free(probe);
	*files = all;
	return rc;
}

static int write_profile(void *p, FILE *out, struct error *e)
{
	return pgo_write(p, out, e);
}

static int export_to(struct prof_data *d, const char *image, const char *format, const char *to,
	struct pgo_coverage *coverage, struct error *e)
{
	struct pgo *p = pgo_new(d, image, pgo_format_find(format), e);
	int rc = p ? file_output(to, stdout, write_profile, p, e) : -1;

	if (rc == 0)
		*coverage = *pgo_coverage_of(p);
	pgo_free(p);
	return rc;
}

static int export_loaded(struct loaded *l, const struct arguments *a, const char *image,
	const char *format, const char *to, struct pgo_coverage *coverage, struct error *e)
{
	const struct prof_images_search search = {.executable = a->executable};
	struct prof_request request = {.command = NULL};
	struct prof_data data;
	int rc;

	if (loaded_ask(l, &request, e) || profile_named_init(&data, &request, &search, e))
		return -1;
	rc = export_to(&data, image, format, to, coverage, e);
	profile_named_fini(&data);
	return rc;
}

int optimize_profile(const struct workshop *w, char *const *files, const char *image,
	const char *format, const char *to, struct pgo_coverage *coverage, struct error *e)
{
	const struct load_request how = {.quiet = true};
	const struct recipe *r = w->request->recipe;
	const char *given = files == w->request->experiments ? w->request->of : NULL;
	const char *name = given   ? given
			   : image ? image
			   : r     ? file_base_name(r->output)
				   : file_base_name(w->request->image);
	struct arguments a = {0};
	struct loaded l = {0};
	int rc = arguments_find(&a, files, e);

	if (rc == 0)
		rc = loaded_read(&l, &how, &a, e);
	if (rc == 0 && l.damaged)
		rc = error_set(e, ERR_PARSE, "%s: leave it out", l.damage);
	if (rc == 0)
		rc = export_loaded(&l, &a, name, format, to, coverage, e);
	loaded_fini(&l);
	arguments_fini(&a);
	return rc;
}
