/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles for compilers, linkers and binary optimisers, from the branch records or exact counts of
 * an image.
 *
 * A run of branch records (experiment/branches.h) is what a hardware branch stack holds: a straight
 * range of instructions, and the branch that ended it. All formats are sums over these. Exact
 * counts (ssrun -ideal) give ranges of one instruction, and edges. Clock samples give addresses
 * alone: they show hot functions, but neither directions of branches nor targets, so most formats
 * refuse them.
 *
 * Equal experiments give equal bytes. Addresses are those of the program headers.
 */
#ifndef PGO_PGO_H
#define PGO_PGO_H

#include <stdio.h>

#include "base/strbuf.h"
#include "profile/places.h"

struct pgo;

struct pgo_format {
	const char *name, *help;
	bool binary; /* not for a terminal */
	bool clock;  /* clock samples are enough */
	bool lines;  /* needs debug information */
	bool ties;   /* counts that differ by less than chance are equal */
	bool blocks; /* needs .llvm_bb_addr_map */
	bool probes; /* of pseudo-probes where the image has them, else of lines */
	int (*write)(struct pgo *p, FILE *out, struct error *e);
};
extern const struct pgo_format pgo_formats[]; /* ends with name NULL */
/* NULL: there is none of that name. */
const struct pgo_format *pgo_format_find(const char *name);

/* What of the experiment is in the profile. Ranges are weighed by their executions. */
struct pgo_coverage {
	bool exact;                   /* of exact counts */
	unsigned runs;                /* files that were added up */
	uint64_t bursts, transfers;   /* of branch records; 0: others */
	double elsewhere;             /* share of all branches that are in other images */
	char busiest[80];             /* of these, that with most, by its last name; or "" */
	size_t functions;             /* with executions */
	double ranges;                /* weight of all */
	double unmapped, mismatched;  /* of these: in no function; not along its instructions */
	bool probes;                  /* by pseudo-probes, not by lines */
	double instructions, sourced; /* weight of instructions; those with source lines, or in
					 functions with pseudo-probes */
};

/*
 * Gathers executions of an image of d, which must outlive p; d's names are set. image: a glob for
 * the path or base name; NULL: the ELF image with most executions. NULL with *e set:
 * ERR_NOT_FOUND (no such image, or its file), ERR_UNSUPPORTED (the format needs what is not there).
 */
struct pgo *pgo_new(
	struct prof_data *d, const char *image, const struct pgo_format *format, struct error *e);
void pgo_free(struct pgo *p);
int pgo_write(struct pgo *p, FILE *out, struct error *e);
/* After pgo_write. */
const struct pgo_coverage *pgo_coverage_of(const struct pgo *p);
/* One line for people; after pgo_write. */
void pgo_describe(const struct pgo *p, struct strbuf *out);
/* Path of the image, as it ran. Borrowed from d. */
const char *pgo_image_path(const struct pgo *p);

#endif
