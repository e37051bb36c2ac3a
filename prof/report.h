/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From experiments that were read to views of them: what printing and -tui have in common. */
#ifndef PROF_REPORT_H
#define PROF_REPORT_H

#include <sys/utsname.h>

#include "prof.h"
#include "profile/image_files.h"
#include "views.h"

struct reporting {
	struct prof_images_search search;
	struct prof_request request;
	struct prof_input *inputs;
	struct utsname host;
};

/* The files that the options name. */
int reporting_arguments(const struct options *o, struct arguments *a, struct error *e);
/* Where images are looked for. */
struct prof_images_search reporting_search(const struct options *o, const struct arguments *a);
/* What options and files ask for; all of them must outlive it. */
int reporting_init(struct reporting *r, const struct options *o, const struct arguments *a,
	const struct loaded *l, struct error *e);
void reporting_fini(struct reporting *r);
/* The clock of this host, where what was read needs it; wanted: a report does anyhow.  It may have
 * to be measured. */
void reporting_clock(struct reporting *r, const struct loaded *l, bool wanted);
/* What fills the table of a view; NULL: with these options, nothing. */
prof_view *reporting_view(const struct options *o, const struct view *view);
/* Damaged files are mentioned below. */
int reporting_damage(const struct loaded *l, struct prof_table *t, struct error *e);

#endif
