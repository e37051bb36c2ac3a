/* SPDX-License-Identifier: GPL-2.0-or-later */
/* prof verify: whether another build of a program may replace it. */
#include "verify.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/progress.h"
#include "base/say.h"
#include "base/shown.h"
#include "optimize/optimize.h"
#include "prof.h"

struct verify_command_line {
	struct verify_how how;
	const char *output;
	bool json, note, help;
};

#define FIELD(field) .offset = offsetof(struct verify_command_line, field)

const struct option_row verify_options[] = {
	VERIFY_OPTIONS,
	{"note", NULL, "if it is accepted, write NEW.verdict, for prof optimize -install",
		FIELD(note)},
	{"json", NULL, "JSON, schema prof.verify/1", FIELD(json)},
	{"o", "FILE", "write to FILE", OPTION_STRING, FIELD(output)},
	{"help", NULL, "list the options", FIELD(help)},
	{.help = "prof verify"},
};

static const char usage[] =
	"usage: prof verify [options] OLD NEW [-- argument ...]\n"
	"Compares two builds of a program: results of tests, time, modelled cycles.  The verdict "
	"is "
	"accept (exit status 0) or refuse (1).  Try: prof verify ./old ./new -- arguments\n\n";

static int verdict_write(const struct verify_command_line *l, const struct verify_request *q,
	const struct verify_result *result, struct error *e)
{
	struct strbuf text = {0}, json = {0};
	int rc = verify_json(q, result, &json, e);

	if (rc == 0 && l->note && result->accept)
		rc = optimize_note(q->old, q->new, &json, e);
	if (!l->json)
		verify_text(q, result, &text);
	if (rc == 0)
		rc = text.failed ? error_nomem(e)
				 : shown_output(l->output, stdout, l->json ? &json : &text, e);
	strbuf_fini(&text);
	strbuf_fini(&json);
	return rc;
}

static int verify_words(
	struct verify_command_line *l, const char *const *words, char **arguments, struct error *e)
{
	struct verify_result result = {0};
	struct verify_asked a;
	struct progress progress;
	int rc;

	/* A name with a typing error is what to mend first. */
	for (int i = 0; i < 2; i++)
		if (access(words[i], R_OK) != 0)
			return error_sys(e, errno, "%s", words[i]);
	rc = verify_ask(&a, &l->how, arguments, NULL, e);

	if (rc == 0) {
		a.request.old = words[0];
		a.request.new = words[1];
		a.request.progress = &progress;
		progress_begin(&progress, isatty(STDERR_FILENO));
		rc = verify_run(&a.request, &result, e);
		progress_end(&progress);
		if (rc == 0)
			rc = verdict_write(l, &a.request, &result, e);
		if (rc == 0)
			rc = result.accept ? 0 : 1;
		verify_fini(&result);
	}
	verify_asked_fini(&a);
	return rc;
}

/* Options may come before, between and after both programs. */
static int verify_parse(
	struct verify_command_line *l, int argc, char **argv, word_list *words, struct error *e)
{
	if (option_parse_among(verify_options, l, argc, argv, words, e))
		return -1;
	if (words->count == 3 || l->help) /* with the NULL */
		return 0;
	error_set(e, ERR_PARSE, "prof verify compares two programs, not %zu", words->count - 1);
	return error_hint(e, "prof verify OLD NEW -- arguments");
}

int do_verify(int argc, char **argv)
{
	struct verify_command_line l = {.how = {.least = 1}};
	word_list words = {0};
	struct error e = {0};
	int end = 1, rc = -1;

	while (end < argc && strcmp(argv[end], "--") != 0)
		end++;
	if (verify_parse(&l, end, argv, &words, &e) == 0)
		rc = l.help ? option_usage(usage, verify_options, stdout)
			    : verify_words(&l, words.data, end < argc ? argv + end + 1 : NULL, &e);
	verify_how_fini(&l.how);
	vec_fini(&words);
	return rc < 0 ? say_failure(&e) : rc;
}
