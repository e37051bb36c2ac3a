/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the steps of a verification share. */
#ifndef PGO_VERIFY_PRIVATE_H
#define PGO_VERIFY_PRIVATE_H

#include "pgo/verify.h"
#include "process/trial.h"

struct verification {
	const struct verify_request *request;
	struct verify_result *result;
	char *directory;         /* of our own, removed at the end */
	char *link;              /* in it: the image at the moment, under the old one's name */
	double limit;            /* seconds for a run */
	size_t modelled;         /* the longest test that the model has time for, from 1; 0: none */
	double modelled_seconds; /* that it takes */
};

/* CPU seconds of the old image that the model runs without -model: it takes some 300 times that,
 * and of shorter runs much is the start of a process. */
#define MODEL_LONGEST  0.2
#define MODEL_SHORTEST 0.02

/* Adds a reason, or a note; -1 when memory is out. */
int verify_reason(struct verification *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
int verify_note(struct verification *v, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Runs the command on the image; its outputs go to files of the directory, or are discarded. */
int verify_run_once(struct verification *v, const struct verify_command *c, const char *image,
	const char *output, const char *errors, struct trial_result *r, struct error *e);
/* The same, with words before the image of arguments, or the shell: a program that runs it. */
int verify_run_under(struct verification *v, char *const *prefix, const struct verify_command *c,
	const char *image, struct trial_result *r, struct error *e);
/* A path in the directory; to be freed by the caller, NULL when memory is out. */
char *verify_path(const struct verification *v, const char *name);

/* The steps. Each adds reasons to refuse; -1 with *e set: it could not be done. */
int verify_files(struct verification *v, struct error *e);
int verify_tests(struct verification *v, struct error *e);
int verify_timing(struct verification *v, struct error *e);
/* What a command prints, by the old image twice and by the new one, must be equal but for times. */
int verify_timed_output(struct verification *v, const struct verify_command *c, struct error *e);
int verify_model(struct verification *v, struct error *e);

/* Outputs of two runs of the old image and one of the new, by line where the old ones differ. */
enum verify_difference { VERIFY_SAME, VERIFY_DIFFERS, VERIFY_LEFT_OUT };
struct verify_bytes {
	const char *data;
	size_t length;
};
/* line: the first that differs, from 1; left: lines left out. */
enum verify_difference verify_compare(struct verify_bytes first, struct verify_bytes second,
	struct verify_bytes new, size_t *line, size_t *left);

/* Replaces numbers before a unit of time, or of a rate, and the blanks before them, in place;
 * returns the new length. */
size_t verify_mask_times(char *text, size_t length);

/* Gain of b against a, as a share of a, by medians over rounds: of round i, per[i] values each. The
 * interval is a bootstrap's of 95%, with a fixed sequence of random numbers. */
struct verify_interval verify_gain(const double *a, const double *b, size_t rounds, size_t per);

#endif
