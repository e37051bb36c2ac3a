/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What users of perf, gprof, Valgrind, VTune, pprof and LIKWID type out of habit, and what does it
 * here. One table for all commands, so that no message says "did you mean" something unrelated.
 */
#ifndef BASE_HABITS_H
#define BASE_HABITS_H

/*
 * What to do instead of `word`, or NULL: an option of other tools, with its dashes, for `command`
 * (perfex, ssrun, prof, or a subcommand as "prof block"); or, where command is NULL, the name of a
 * tool's subcommand. What follows an equals sign, and digits at the end of an option, do not
 * matter.
 */
const char *habit_instead(const char *command, const char *word);

/* -1 with *e: a command line begins with the name of such a subcommand. */
struct error;
int habit_command(const char *word, struct error *e);

#endif
