/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What of the toolkit works on this machine, found by trying it. Nothing of the machine is changed.
 */
#ifndef SOURCES_DOCTOR_H
#define SOURCES_DOCTOR_H

#include "base/error.h"
#include "base/vec.h"

enum doctor_state {
	DOCTOR_WORKS,
	DOCTOR_PART, /* detail says which part does not */
	DOCTOR_NOT,
};

struct doctor_finding {
	const char *what; /* "hardware counters"; static */
	const char *used; /* by which options: "perfex -e, ssrun -X_hwc"; static */
	enum doctor_state state;
	char detail[512]; /* how it works, or why it does not */
	char remedy[512]; /* "": nothing is to be done */
};

typedef VEC(struct doctor_finding) doctor_findings;

/* "works", "in part" or "no".  Static. */
const char *doctor_state_word(enum doctor_state state);

/* Adds what it finds, in the order in which it is to be read; takes tenths of a second. -1 with *e:
 * out of memory. The caller frees the list (vec_fini) in either case. */
int doctor_examine(doctor_findings *list, struct error *e);

#endif
