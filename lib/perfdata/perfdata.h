/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * perf.data, what perf record writes, as an experiment:
 * tools/perf/Documentation/perf.data-file-format.txt of Linux and perf_event_open(2) say what is in
 * it.  Files and pipes, of either byte order, of all sizes of attributes, compressed or not.  Each
 * event is a metric; a count is a sample, however long its period was.
 *
 * What ran is past: its files are known by build-ids and found here if they are still there, or in
 * perf's cache of copies.  The kernel's names are taken from /proc/kallsyms while it is the same
 * kernel at the same place.
 */
#ifndef PERFDATA_PERFDATA_H
#define PERFDATA_PERFDATA_H

#include "base/progress.h"
#include "experiment/file.h"
#include "image/image.h"

/* Is this the beginning of a perf.data file? */
bool perfdata_is_file(const void *data, size_t size);

/*
 * Size bytes of a file into x, which experiment_init has not touched.  where: how to look for
 * files; NULL: nothing of this host is looked at.  A damaged file gives what came before the
 * damage, which *damage tells (may be NULL: then it is an error); -1 where there is nothing to be
 * had, with x as after experiment_fini.
 */
int perfdata_parse(struct experiment *x, const void *data, size_t size,
	const struct image_search *where, struct experiment_damage *damage, struct error *e);
/* progress may be NULL. */
int perfdata_read(struct experiment *x, const char *path, const struct image_search *where,
	struct progress *progress, struct experiment_damage *damage, struct error *e);

#endif
