/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reports for -tui, made by a thread of their own while the interface goes on.  That thread alone
 * touches experiments, images and samples; what it hands over is a table that nobody changes any
 * more, and that comes back to it to be freed.
 */
#ifndef PROF_TUI_SOURCE_H
#define PROF_TUI_SOURCE_H

#include "prof.h"
#include "tui/source.h"

struct tui_maker;

/* Begins to read the files.  Both arguments must outlive it. */
struct tui_maker *tui_maker_new(
	const struct options *o, const struct arguments *a, struct error *e);
/* The source that it is; the first report asked for on the command line in *report, switches in
 * *switches. */
void tui_maker_source(
	struct tui_maker *m, struct tui_source *source, size_t *report, uint32_t *switches);
/* Stops and frees it, if that does not take long; else false, and the process had better end.  *e:
 * why nothing could be read; is anything incomplete? */
bool tui_maker_free(struct tui_maker *m, struct error *e, bool *incomplete);

/* tui_command.c: what prints what a report shows; yours to free. */
char *tui_command(const struct options *o, const struct tui_report *report, const char *procedure,
	const struct tui_switch *table, uint32_t switches);

#endif
