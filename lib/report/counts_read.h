/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reads the output of perfex -json ("perfex.counts/1") back into a report. */
#ifndef REPORT_COUNTS_READ_H
#define REPORT_COUNTS_READ_H

#include "base/json_read.h"
#include "report/counts.h"

struct counts_file {
	struct counts_report *report; /* its texts are in json */
	struct json_object *json;
	const char **command;
};

/* Of statistics, and of what could not be counted, nothing is taken over.  name is the file's, for
 * errors. */
int counts_read(
	struct counts_file *f, const char *text, size_t length, const char *name, struct error *e);
void counts_file_fini(struct counts_file *f);

#endif
