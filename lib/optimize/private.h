/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of this module share. */
#ifndef OPTIMIZE_PRIVATE_H
#define OPTIMIZE_PRIVATE_H

#include "image/image.h"
#include "optimize/optimize.h"

struct workshop {
	const struct optimize_request *request;
	struct optimize_result *result;
	char *directory; /* scratch, removed at the end */
	char *plain;     /* the image without a profile: what others are compared with */
	char *base;      /* with what profiles need, recorded; NULL: records were given */
	bool clang;
};

/* workshop.c */
void workshop_say(const struct workshop *w, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* DIRECTORY/NAME; to be freed by the caller, NULL with *e set. */
char *workshop_path(const struct workshop *w, const char *name, struct error *e);
/* Runs a tool; -1 with *e set, with the end of what it printed as the hint. log: what it printed,
 * to be freed by the caller; may be NULL. */
int workshop_tool(const struct workshop *w, const char *const *words, char **log, struct error *e);
/* {program} and other names in braces are replaced. Pairs: name, text, ..., NULL. To be freed by
 * the caller, NULL when memory is out. */
char *workshop_fill(const char *text, const char *const *pairs);
int workshop_open(struct workshop *w, struct error *e);
void workshop_close(struct workshop *w);

/* build.c: builds by the recipe in a copy of its directory; the program is moved to `to`. */
int optimize_program(const struct workshop *w, const char *cflags, const char *ldflags,
	const char *to, struct error *e);

/* records.c */
/* Records runs of the command that trains on an image. files: NULL-terminated, to be freed by
 * optimize_files_free; at least two runs, until the profile covers enough or runs are out. */
int optimize_records(const struct workshop *w, const char *image, const char *name, char ***files,
	struct error *e);
void optimize_files_free(char **files);
/* Writes a profile. image: the executable that was recorded; NULL: another build of the program
 * was, and the one of most executions with its name is taken. */
int optimize_profile(const struct workshop *w, char *const *files, const char *image,
	const char *format, const char *to, struct pgo_coverage *coverage, struct error *e);
/* -1 with *e set: it covers too little. */
int optimize_enough(const struct pgo_coverage *c, struct error *e);

/* bolt.c: -1 with *e set: there is no llvm-bolt, or it fails. */
int optimize_by_bolt(const struct workshop *w, const char *image, char *const *files,
	const char *profiled, const char *to, struct error *e);

#endif
