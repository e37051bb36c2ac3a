/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports for the terminal interface, made by a separate thread. Only that thread accesses
 * experiments, images and samples. Its result is a table that is not changed afterwards, and that
 * is returned to it to be freed.
 */
#ifndef BROWSE_BROWSE_H
#define BROWSE_BROWSE_H

#include "load/load.h"
#include "profile/image_files.h"
#include "tui/source.h"

/* All of it is borrowed, and must outlive the browser. */
struct browse_request {
	const struct load_request *files;
	const struct arguments *arguments;
	const struct prof_images_search *search;
	const struct prof_request *request; /* of the first report, but for inputs and command */
	const char *first;                  /* its name; NULL: the first of all */
	bool changes;                       /* -diff */
	/* The command that prints the content of a report; to be freed by the caller. */
	char *(*command)(const void *context, const struct tui_report *report,
		const struct tui_ask *ask, const struct tui_switch *switches);
	const void *context;
};

struct browse;

/* Begins to read the files. */
struct browse *browse_new(const struct browse_request *r, struct error *e);
/* The interface's source; the first report in *report, switches in *on. */
void browse_source(struct browse *m, struct tui_source *source, size_t *report, uint32_t *on);
/* Stops and frees it, if that does not take long; else false, and the process should end. *e: why
 * nothing could be read; is anything incomplete? */
bool browse_free(struct browse *m, struct error *e, bool *incomplete);

#endif
