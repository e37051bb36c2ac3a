/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "verify.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/numeral.h"

enum { ROUNDS = 10 };

int verify_set_least(void *target, const char *argument, struct error *e)
{
	struct verify_how *how = target;

	if (!numeral_real(argument, "%", 0, 100, &how->least) || how->least == 100)
		return error_set(e, ERR_PARSE,
			"-least does not take '%s': give a percentage, as 1%%", argument);
	return 0;
}

int verify_ask(struct verify_asked *a, struct verify_how *how, char **arguments, char *const *more,
	struct error *e)
{
	struct verify_request *q = &a->request;
	size_t count = how->tests.count + 2;

	memset(a, 0, sizeof(*a));
	if (how->unmodelled && (how->modelled || how->machine))
		return error_set(
			e, ERR_CONFLICT, "-unmodelled cannot be combined with -model or -machine");
	for (size_t i = 0; more && more[i]; i++)
		count++;
	a->tests = calloc(count, sizeof(*a->tests));
	a->perfex = how->unmodelled ? NULL : file_command_path("perfex");
	if (!a->tests || (!a->perfex && !how->unmodelled))
		return error_nomem(e);
	if (arguments)
		a->tests[q->test_count++].arguments = arguments;
	for (size_t i = 0; i < how->tests.count; i++)
		a->tests[q->test_count++].shell = how->tests.data[i];
	for (size_t i = 0; more && more[i]; i++)
		a->tests[q->test_count++].shell = more[i];
	if (!q->test_count) {
		error_set(e, ERR_PARSE, "there is no test to run");
		return error_hint(e, "give the program's arguments after --, or -test COMMAND");
	}
	if (option_words_add(&how->files, NULL, e))
		return -1;
	a->timed.shell = how->timed;
	a->modelled.shell = how->modelled;
	q->tests = a->tests;
	q->timed = how->timed ? &a->timed : NULL;
	q->modelled = how->modelled ? &a->modelled : NULL;
	q->files = how->files.data;
	q->rounds = how->rounds ? how->rounds : ROUNDS;
	q->least = how->least / 100;
	q->limit = how->limit;
	q->perfex = a->perfex;
	q->machine = how->machine;
	return 0;
}

void verify_asked_fini(struct verify_asked *a)
{
	free(a->tests);
	free(a->perfex);
}

void verify_how_fini(struct verify_how *how)
{
	vec_fini(&how->tests);
	vec_fini(&how->files);
}
