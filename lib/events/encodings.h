/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The rows of the event table on each family of processors: rows of one shape, one file per maker.
 * An event that only nearly counts the row has a note that says what it counts instead, or is left
 * out.
 */
#ifndef EVENTS_ENCODINGS_H
#define EVENTS_ENCODINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "events/numbers.h"

struct encoding {
	const char *event; /* libpfm4 string without its family's prefix, or the maker's name of a
			      raw code; NULL: the base's row, or not available */
	uint64_t raw;      /* PERF_TYPE_RAW config; 0: event is a libpfm4 string */
	const char *note;  /* the difference from the row; NULL: none */
};

struct encoding_family {
	const char *name;   /* "zen4" */
	const char *prefix; /* of the libpfm4 strings: "amd64_fam19h_zen4::"; NULL: none are used */
	const struct encoding_family *base; /* the family that supplies missing rows; NULL: none */
	/* By event number. An event "" is not available, even if the base has one. */
	struct encoding rows[EV_COUNT];
};

extern const struct encoding_family encodings_zen2, encodings_zen3, encodings_zen4;
extern const struct encoding_family encodings_skl, encodings_icx, encodings_spr;
extern const struct encoding_family encodings_neoverse_n1;

/* Families by a processor's identification; "generic" for unknown ones. Static. The host's own is
 * event_host_family. amx: it has AMX-TILE, by which Intel's servers are known whatever their model.
 */
const char *host_family_x86(const char *vendor, unsigned family, unsigned model, bool amx);
const char *host_family_arm(uint64_t midr);
const char *host_family_cpuinfo(const char *text); /* of /proc/cpuinfo on Arm */

#endif
