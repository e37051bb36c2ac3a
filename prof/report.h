/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The part of the options about files and reports that printing and -tui share. */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#include "prof.h"
#include "profile/image_files.h"
#include "report/views.h"

/* The files that the options name. */
int reporting_arguments(const struct options *o, struct arguments *a, struct error *e);
/* Where images are looked for. */
/* Is anything selected?  It is said which words of -only and -exclude select nothing. */
bool reporting_selects(const struct options *o, struct prof_data *d, struct error *e);
struct prof_images_search reporting_search(const struct options *o, const struct arguments *a);
/* How files are read. */
struct load_request reporting_files(const struct options *o);
int reporting_load(
	struct loaded *l, const struct options *o, const struct arguments *a, struct error *e);
/* The request for reports, without inputs. The options must outlive it. */
struct prof_request reporting_request(const struct options *o);

#endif
