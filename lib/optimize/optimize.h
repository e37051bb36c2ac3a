/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A faster build of a program, by branch records. Ways, of which each that is possible is tried:
 *
 *   spgo   clang builds by a sample profile
 *   bolt   llvm-bolt rewrites the image, which was linked with --emit-relocs
 *   spgo+bolt   both: the image of the first is recorded again
 *   afdo   gcc builds by a sample profile
 *
 * Every result is verified against the build without a profile, or the image
 * that it is to replace (pgo/verify.h), and the one with the
 * greatest gain is kept, if any was accepted: profiles made every one of these compilers build some
 * program slower. No file is overwritten.
 */
#ifndef OPTIMIZE_OPTIMIZE_H
#define OPTIMIZE_OPTIMIZE_H

#include "optimize/recipe.h"
#include "pgo/pgo.h"
#include "pgo/verify.h"

struct optimize_request {
	const struct recipe *recipe; /* NULL: there is only the image */
	const char *image;           /* without a recipe: it is rewritten by BOLT */
	const char *train;           /* without a recipe, or instead of its own; may be NULL */
	char *const *experiments; /* NULL-terminated; none: recorded, by the command that trains */
	const char *of;           /* the image in these, a glob; NULL: that of the program's name */
	const char *output;       /* must not exist */
	const char *against;      /* what must be slower; NULL: the build without a profile */
	const char *how;          /* only this way; NULL: all that are possible */
	unsigned long runs;       /* of the command that trains, at most */
	struct verify_request verify;                  /* without old and new */
	const char *ssrun;                             /* the program that records */
	const char *llvm;                              /* where llvm-bolt is; NULL: it is sought */
	void (*tell)(void *context, const char *text); /* of steps; may be NULL */
	void *context;
};

struct optimize_candidate {
	const char *how;
	char *image;   /* in the scratch directory, or NULL */
	char *failure; /* why there is none; NULL: there is a verdict */
	struct verify_result verdict;
};

struct optimize_result {
	VEC(struct optimize_candidate) candidates;
	long best; /* the one that was written to the output; -1: none was accepted */
	struct pgo_coverage coverage; /* of the profile */
};

/* 0: there is a result; -1 with *e set: nothing could be built or recorded, or the profile covers
 * too little. optimize_fini in both cases. */
int optimize_run(const struct optimize_request *q, struct optimize_result *r, struct error *e);
void optimize_fini(struct optimize_result *r);
void optimize_text(
	const struct optimize_request *q, const struct optimize_result *r, struct strbuf *out);
int optimize_json(const struct optimize_request *q, const struct optimize_result *r,
	struct strbuf *out, struct error *e);

/* ---- install.c ---- */

/*
 * Writes beside an accepted image what it replaces: IMAGE.verdict, with the identities of both.
 * optimize_install needs it: image becomes a symbolic link to new, and what it was is
 * image.original. Both steps are atomic; optimize_undo renames the original back. -1 with *e set:
 * no verdict, or it is of other files (ERR_CONFLICT).
 */
int optimize_note(const char *old, const char *new, const struct strbuf *verdict, struct error *e);
int optimize_install(const char *new, const char *image, struct error *e);
int optimize_undo(const char *image, struct error *e);

#endif
