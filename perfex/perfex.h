/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The operations of perfex; each returns the exit status. */
#ifndef PERFEX_COMMAND_H
#define PERFEX_COMMAND_H

#include "base/sheet.h"
#include "base/strbuf.h"
#include "costs/costs.h"
#include "machine/machine.h"
#include "options.h"
#include "sources/source.h"

int do_count(struct options *o);
int do_list(const struct options *o);
int do_explain(const struct options *o);
int do_explain_machine(const struct options *o);
int do_doctor(const struct options *o);
int do_calibrate(const struct options *o);
int do_print_costs(const struct options *o);
int do_completion(const struct options *o);

/* The table of costs for the machine given by -machine. */
int find_costs(const struct options *o, const struct machine *m, bool modelled,
	struct cost_table *t, struct error *e);

/* Once for each user: says that -calibrate measures what the table in force only guesses. */
void offer_calibration(
	const struct options *o, const struct machine *m, const struct cost_table *t);

/* -profile: checks it and makes the request to the model; after the run, writes the file. */
int profile_prepare(
	const struct options *o, struct profile *p, struct profile_request *r, struct error *e);
int profile_write(
	const struct options *o, const struct machine *m, struct profile *p, struct error *e);

/* The cells typical, minimum, maximum, unit, label. */
void cost_cells(struct sheet *s, const struct cost *c, const char *label);

#endif
