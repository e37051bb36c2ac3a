/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Options that say how a build is verified: prof verify and prof optimize have them. */
#ifndef PROF_VERIFY_H
#define PROF_VERIFY_H

#include "base/option.h"
#include "pgo/verify.h"

struct verify_how {
	word_list tests, files;
	const char *timed, *modelled, *machine;
	unsigned long rounds;
	double least, limit; /* percent, seconds */
	bool unmodelled;
};

int verify_set_least(void *target, const char *argument, struct error *e);

/* Rows for a structure that begins with a struct verify_how. */
#define VERIFY_HOW(field) .offset = offsetof(struct verify_how, field)
#define VERIFY_OPTIONS                                                                             \
	{"test", "COMMAND", "a test for the shell, {} stands for the program; may be repeated",    \
		OPTION_WORDS, VERIFY_HOW(tests)},                                                  \
		{"file", "FILE", "compare this file as well, which tests write; may be repeated",  \
			OPTION_WORDS, VERIFY_HOW(files)},                                          \
		{"time", "COMMAND", "time this (default: the first test)", OPTION_STRING,          \
			VERIFY_HOW(timed)},                                                        \
		{"rounds", "N", "rounds of timing, of two runs of each build (10)", OPTION_COUNT,  \
			VERIFY_HOW(rounds)},                                                       \
		{"least", "PERCENT", "the gain in time that is required (1%)", OPTION_CALL,        \
			.call = verify_set_least},                                                 \
		{"model", "COMMAND",                                                               \
			"count modelled cycles of this (default: what is timed, if short)",        \
			OPTION_STRING, VERIFY_HOW(modelled)},                                      \
		{"machine", "MACHINE", "the processor to model", OPTION_STRING,                    \
			VERIFY_HOW(machine)},                                                      \
		{"unmodelled", NULL, "judge by tests and time alone", VERIFY_HOW(unmodelled)},     \
	{                                                                                          \
		"limit", "SECONDS", "the longest that a run may take", OPTION_SECONDS,             \
			VERIFY_HOW(limit)                                                          \
	}

/* What they request. Tests of words (arguments of the program after "--", NULL: none), of the
 * shell, and of `more` (NULL-terminated, may be NULL) are in this order. */
struct verify_asked {
	struct verify_request request;
	struct verify_command *tests, timed, modelled;
	char *perfex;
};
int verify_ask(struct verify_asked *a, struct verify_how *how, char **arguments, char *const *more,
	struct error *e);
void verify_asked_fini(struct verify_asked *a);
void verify_how_fini(struct verify_how *how);

#endif
