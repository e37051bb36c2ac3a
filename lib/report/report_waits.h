/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For report_waits.c (rows); report_waits_names.c makes the texts. */
#ifndef REPORT_REPORT_WAITS_H
#define REPORT_REPORT_WAITS_H

#include "base/strbuf.h"
#include "experiment/pauses.h"
#include "report/report_objects.h"

/* Where a thread waits, or lets another go on. */
struct report_waits_place {
	struct report_code code; /* the program's function; without one, whatever there is */
	const char *through;     /* the library's function that it called; NULL: none */
	bool any;                /* there is one */
};

/* What a pause waited for: "pipe 1", "planted_lock (program)"; "" where it is not known. */
void report_waits_object(
	const struct prof_data *d, size_t input, uint32_t obstacle, struct strbuf *to);
/* The place of a node; path (may be NULL): "f < g < main", from the program's function on. */
struct report_waits_place report_waits_place(
	const struct prof_data *d, size_t input, uint32_t node, struct strbuf *path);
/* "thread 12 of 10 name in f < g", "an interrupt"; "" where it was not seen. */
void report_waits_waker(const struct prof_data *d, size_t input, const struct experiment_pause *p,
	struct strbuf *to);
/* "12 name" */
void report_waits_thread(
	const struct prof_data *d, size_t input, uint32_t thread, struct strbuf *to);
/* "waiting for a lock ...": what a reason means. */
const char *report_waits_reason(uint32_t reason);

#endif
