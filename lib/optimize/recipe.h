/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How to build a program, so that it can be built again with other flags: a JSON object of
 *
 *   directory   where the sources are; "." if it is missing
 *   build       a command for the shell, with {cc}, {cflags} and {ldflags} to be filled in; or
 *   commands    those that were recorded: arrays of words, the first one the directory
 *   output      the program that it makes, relative to the directory
 *   cc          the compiler: "clang-19"; "cc" if it is missing
 *   train       a command for the shell that uses the program as it is used; {} is the program
 *   tests       likewise, an array: commands with results to be compared
 *   files       that tests write, an array
 *   time, model commands to be timed and modelled; the first test if they are missing
 *
 * Commands run in a copy of the directory, so that neither sources nor earlier builds change.
 */
#ifndef OPTIMIZE_RECIPE_H
#define OPTIMIZE_RECIPE_H

#include <stddef.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "base/vec.h"

typedef VEC(char *) recipe_texts; /* NULL-terminated once read */

struct recipe_step {
	recipe_texts words; /* the directory, the command's words */
};

struct recipe {
	char *directory, *build, *output, *cc, *train, *timed, *modelled; /* NULL: not given */
	double limit; /* seconds, of the build and of training; 0: not given */
	recipe_texts tests, files;
	VEC(struct recipe_step) steps;
};

/* text as a file of this name has it. -1 with *e set: ERR_PARSE, "NAME: message"; recipe_fini all
 * the same. */
int recipe_parse(
	struct recipe *r, const char *text, size_t length, const char *name, struct error *e);
int recipe_read(struct recipe *r, const char *path, struct error *e);
void recipe_fini(struct recipe *r);
/* As recipe_parse reads it. */
int recipe_write(const struct recipe *r, struct strbuf *out, struct error *e);

/*
 * Runs a build (NULL-terminated words) with compilers and archivers replaced by scripts that note
 * their words and run the real ones. output: the program; NULL: what was linked last. *status: the
 * exit status of the build. -1 with *e set: no compiler was called, or it failed.
 */
int recipe_record(struct recipe *r, char *const *words, const char *output, struct error *e);

/* The words of a step are of a linker call: it compiles no single file. */
int recipe_links(const struct recipe_step *s);
/* The step that links this program (NULL, or none does: the last one that links a program, or else
 * a library); NULL: nothing is linked. r->directory is absolute, here and below. */
const struct recipe_step *recipe_link(const struct recipe *r, const char *output);
/* What a step writes, as its words name it; NULL: they do not. */
const char *recipe_step_output(const struct recipe_step *s);
/* The program that a step links, relative to the directory if it is in it; NULL: memory is out. */
char *recipe_step_program(const struct recipe_step *s, const char *directory);
/* The place outside of the directory where a step runs or writes, to be freed; NULL: there is none,
 * or memory is out. In a copy of the directory it would change the original. */
char *recipe_step_strays(const struct recipe_step *s, const char *directory);
/* The number of objects and archives of the program that no step makes, *which: the first one:
 * they would be linked as they are. */
size_t recipe_older(const struct recipe *r, const char **which);

#endif
