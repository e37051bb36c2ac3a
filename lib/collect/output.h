/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The path of an experiment: FILE, or DIRECTORY/COMMAND.EXPERIMENT[.rRANK].PID, which is never an
 * existing file.
 */
#ifndef COLLECT_OUTPUT_H
#define COLLECT_OUTPUT_H

#include <stdio.h>
#include <sys/types.h>

#include "experiment/experiment.h"

struct collect_output {
	char *prefix;  /* all but the pid; NULL with a fixed path */
	char *path;    /* once known */
	bool claimed;  /* path is ours: it was written */
	FILE *earlier; /* what was there before, for a run that does not start */
};

/* file: as given by the user, or NULL.  directory: NULL for the working directory. */
int collect_output_init(struct collect_output *o, const char *file, const char *directory,
	const char *command, const char *experiment, int rank, struct error *e);
/* Can a file be created there? To be called before the run. */
int collect_output_check(const struct collect_output *o, struct error *e);
/* Chooses the path by the pid, if not yet done. */
int collect_output_claim(struct collect_output *o, pid_t pid, struct error *e);
/* Writes a copy of x as it is now, unfinished: x can still be added to. */
int collect_output_checkpoint(
	struct collect_output *o, const struct experiment *x, struct error *e);
/* Writes x, and settles it. If there is no space or permission (any more), other directories are
 * tried: then o->path is the path used and *moved the reason. If none has room, the beginning is
 * kept or the last checkpoint, whichever has more samples. The limit on the size of files is raised
 * if it can be. */
int collect_output_write(
	struct collect_output *o, struct experiment *x, struct error *moved, struct error *e);
/* The run did not start: removes what was written so far. An experiment that was there before is
 * there again. */
void collect_output_discard(struct collect_output *o);
void collect_output_fini(struct collect_output *o);

#endif
