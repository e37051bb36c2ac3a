/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof optimize: a faster build of a program by branch records, its installation and the way back.
 */
#include "optimize/optimize.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/progress.h"
#include "base/say.h"
#include "base/shown.h"
#include "prof.h"
#include "verify.h"

enum { RUNS = 6 };

struct optimize_command_line {
	struct verify_how how;
	const char *recipe, *output, *way, *train, *against, *llvm, *program, *of;
	unsigned long runs;
	bool record, install, undo, json, quiet, help;
	word_list words; /* that are not options */
};

#define FIELD(field) .offset = offsetof(struct optimize_command_line, field)

const struct option_row optimize_options[] = {
	{"recipe", "FILE", "build by this recipe", OPTION_STRING, FIELD(recipe)},
	{"record", NULL, "record a recipe from a build: -o RECIPE -- make ...", FIELD(record)},
	{"program", "FILE", "-record: the program that is made (default: what is linked last)",
		OPTION_STRING, FIELD(program)},
	{"train", "COMMAND",
		"record branches of this, {} stands for the program (default: the recipe's)",
		OPTION_STRING, FIELD(train)},
	{"runs", "N", "record at most N runs of it (6)", OPTION_COUNT, FIELD(runs)},
	{"how", "WAY", "only this: spgo, bolt, spgo+bolt or afdo", OPTION_STRING, FIELD(way)},
	{"image", "GLOB", "of experiment files: this image (default: that of the program's name)",
		OPTION_STRING, FIELD(of)},
	{"against", "IMAGE", "what must be slower (default: the build without a profile)",
		OPTION_STRING, FIELD(against)},
	{"llvm", "DIR", "where llvm-bolt is", OPTION_STRING, FIELD(llvm)},
	VERIFY_OPTIONS,
	{"o", "FILE", "write the image, or the recipe, to FILE", OPTION_STRING, FIELD(output)},
	{"install", NULL, "make IMAGE a link to NEW: -install NEW IMAGE", FIELD(install)},
	{"undo", NULL, "put the original of IMAGE back: -undo IMAGE", FIELD(undo)},
	{"json", NULL, "JSON, schema prof.optimize/1", FIELD(json)},
	{"quiet", NULL, "do not report steps", FIELD(quiet)},
	{"help", NULL, "list the options", FIELD(help)},
	{.help = "prof optimize"},
};

static const char usage[] =
	"usage: prof optimize -o NEW -recipe FILE [options] [experiment-file ...] [-- argument "
	"...]\n"
	"       prof optimize -o NEW [options] IMAGE [experiment-file ...] [-- argument ...]\n"
	"       prof optimize -record -o RECIPE -- make ...\n"
	"       prof optimize -install NEW IMAGE | -undo IMAGE\n"
	"Builds a faster program by branch records of ssrun -branches, which it makes itself with "
	"-train, and writes what was verified to be equal and faster.\n\n";

static void optimize_say(void *context, const char *text)
{
	(void)context;
	say("%s", text);
}

static int optimize_report(const struct optimize_command_line *l, const struct optimize_request *q,
	const struct optimize_result *r, struct error *e)
{
	struct strbuf text = {0};
	int rc = 0;

	if (l->json)
		rc = optimize_json(q, r, &text, e);
	else
		optimize_text(q, r, &text);
	if (rc == 0)
		rc = shown_output(NULL, stdout, &text, e);
	strbuf_fini(&text);
	return rc;
}

/* Those of the recipe hold unless the command line has its own. */
static void take_recipe(struct optimize_command_line *l, const struct recipe *r)
{
	if (!l->how.timed)
		l->how.timed = r->timed;
	if (!l->how.modelled && !l->how.unmodelled)
		l->how.modelled = r->modelled;
	for (size_t i = 0; i < r->files.count && r->files.data[i]; i++)
		(void)option_words_add(&l->how.files, r->files.data[i], NULL);
}

static int optimize_with(struct optimize_command_line *l, const struct recipe *recipe,
	char **arguments, struct error *e)
{
	struct optimize_result result = {.best = -1};
	char *ssrun = file_command_path("ssrun");
	struct optimize_request q = {.recipe = recipe,
		.image = recipe ? NULL : l->words.data[0],
		.train = l->train,
		.experiments = (char *const *)(uintptr_t)(l->words.data + !recipe),
		.of = l->of,
		.output = l->output,
		.against = l->against,
		.how = l->way,
		.runs = l->runs ? l->runs : RUNS,
		.ssrun = ssrun,
		.llvm = l->llvm,
		.tell = l->quiet ? NULL : optimize_say};
	struct verify_asked a = {.perfex = NULL};
	int rc = ssrun ? 0 : error_nomem(e);

	if (rc == 0 && recipe)
		take_recipe(l, recipe);
	if (rc == 0)
		rc = verify_ask(&a, &l->how, arguments, recipe ? recipe->tests.data : NULL, e);
	q.verify = a.request;
	if (rc == 0)
		rc = optimize_run(&q, &result, e);
	if (rc == 0)
		rc = optimize_report(l, &q, &result, e);
	if (rc == 0)
		rc = result.best < 0;
	optimize_fini(&result);
	verify_asked_fini(&a);
	free(ssrun);
	return rc;
}

static int optimize_build(struct optimize_command_line *l, char **arguments, struct error *e)
{
	static const char *const ways[] = {"spgo", "bolt", "spgo+bolt", "afdo"};
	struct recipe recipe = {.build = NULL};
	bool known = !l->way;
	int rc = 0;

	for (int i = 0; i < 4; i++)
		known = known || strcmp(l->way, ways[i]) == 0;
	if (!known) {
		error_set(e, ERR_PARSE, "-how: unknown way '%s'", l->way);
		return error_hint(e, "the ways are spgo, bolt, spgo+bolt and afdo");
	}
	if (!l->output)
		return error_set(e, ERR_PARSE, "-o NEW is missing: the image to be written");
	if (!l->recipe && !l->words.data[0])
		return error_set(e, ERR_PARSE, "give an image, or -recipe FILE");
	if (l->recipe)
		rc = recipe_read(&recipe, l->recipe, e);
	if (rc == 0)
		rc = optimize_with(l, l->recipe ? &recipe : NULL, arguments, e);
	recipe_fini(&recipe);
	return rc;
}

static int optimize_record(const struct optimize_command_line *l, char **words, struct error *e)
{
	struct recipe recipe = {.build = NULL};
	struct strbuf text = {0};
	const char *which;
	size_t older;
	int rc;

	if (!words || !words[0]) {
		error_set(e, ERR_PARSE, "-record needs a build to run");
		return error_hint(e, "prof optimize -record -o program.recipe -- make");
	}
	rc = recipe_record(&recipe, words, l->program, e);
	if (rc == 0)
		rc = recipe_write(&recipe, &text, e);
	if (rc == 0)
		rc = shown_output(l->output, stdout, &text, e);
	if (rc == 0)
		say("%s by %s: %zu commands; add \"train\" and \"tests\", or give -train and -test",
			recipe.output, recipe.cc, recipe.steps.count);
	if (rc == 0 && (older = recipe_older(&recipe, &which)))
		say("%zu of its object files were not made by this build, such as %s: no profile "
		    "would change them; begin with make clean",
			older, which);
	recipe_fini(&recipe);
	strbuf_fini(&text);
	return rc;
}

static int optimize_act(struct optimize_command_line *l, char **arguments, struct error *e)
{
	size_t words = l->words.count - 1;

	if (l->record + l->install + l->undo > 1)
		return error_set(e, ERR_CONFLICT, "-record, -install and -undo exclude each other");
	if (l->record)
		return optimize_record(l, arguments, e);
	if (l->install) {
		if (words != 2)
			return error_set(e, ERR_PARSE, "-install takes two files: NEW IMAGE");
		return optimize_install(l->words.data[0], l->words.data[1], e);
	}
	if (l->undo) {
		if (words != 1)
			return error_set(e, ERR_PARSE, "-undo takes one file: IMAGE");
		return optimize_undo(l->words.data[0], e);
	}
	return optimize_build(l, arguments, e);
}

int do_optimize(int argc, char **argv)
{
	struct optimize_command_line l = {.how = {.least = 1}};
	struct error e = {0};
	int end = 1, rc = -1;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (option_parse_among(optimize_options, &l, end, argv, &l.words, &e) == 0)
		rc = l.help ? option_usage(usage, optimize_options, stdout)
			    : optimize_act(&l, end < argc ? argv + end + 1 : NULL, &e);
	verify_how_fini(&l.how);
	vec_fini(&l.words);
	return rc < 0 ? say_failure(&e) : rc;
}
