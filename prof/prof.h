/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of prof, and what they share. */
#ifndef PROF_COMMAND_H
#define PROF_COMMAND_H

#include "base/strbuf.h"
#include "load/load.h"
#include "options.h"
#include "profile/image_files.h"

/* Each returns the exit status. */
int do_report(const struct options *o);
int do_tui(const struct options *o);
int do_merge(const struct options *o);
int do_dump(const struct options *o);
/* prof block ...: argv[0] is "block". */
int do_block(int argc, char **argv);
int do_calibrate(int argc, char **argv);
int do_verify(int argc, char **argv);
int do_optimize(int argc, char **argv);
int do_store(int argc, char **argv);
extern const struct option_row block_options[], calibrate_options[], verify_options[],
	optimize_options[], store_options[];

/* Says which options the reports asked for do not take. */
void say_without_effect(const struct options *o);

/* What reports are made of, and of which options. */
struct reporting {
	const struct options *o;
	const struct loaded *l;
	const struct prof_request *request;
	const struct prof_images_search *search;
	bool incomplete; /* set by those below: a report lacks something */
};
int do_export(struct reporting *r, struct error *e);
int do_html(struct reporting *r, struct error *e); /* a page with the reports of most use */
int do_plot(struct reporting *r, struct error *e);

#endif
