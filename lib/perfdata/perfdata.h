/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads perf.data, the output of perf record, as an experiment. The format is described in
 * tools/perf/Documentation/perf.data-file-format.txt of Linux and perf_event_open(2). Files and
 * pipes, of either byte order, of all sizes of attributes, compressed or not. Each event is a
 * metric; a count is a sample, whatever its period was.
 *
 * The recorded run is over: its files are found by build-id, here if they still exist, or in perf's
 * cache of copies. The kernel's names are taken from /proc/kallsyms if the same kernel runs at the
 * same address.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include "base/progress.h"
#include "experiment/file.h"
#include "image/image.h"

/* Is this the beginning of a perf.data file? */
bool perfdata_is_file(const void *data, size_t size);

/*
 * Reads size bytes of a file into x, on which experiment_init was not called. where: how to look
 * for files; NULL: no file of this host is used. Of a damaged file, the part before the damage is
 * read, and *damage describes it (may be NULL: then it is an error). Returns -1 if nothing can be
 * read, with x as after experiment_fini.
 */
int perfdata_parse(struct experiment *x, const void *data, size_t size,
	const struct image_search *where, struct experiment_damage *damage, struct error *e);
/* progress may be NULL. */
int perfdata_read(struct experiment *x, const char *path, const struct image_search *where,
	struct progress *progress, struct experiment_damage *damage, struct error *e);

#endif
