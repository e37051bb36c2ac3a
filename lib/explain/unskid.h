/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples of all procedures moved to the instructions that waited (skid.h). */
#ifndef EXPLAIN_UNSKID_H
#define EXPLAIN_UNSKID_H

#include "profile/places.h"

/* To be called before names are requested. *moved: some samples may be elsewhere now. */
int explain_unskid(struct prof_data *d, bool *moved, struct error *e);
/* What a report of them says: where its samples are, and why not elsewhere; NULL: nothing. */
const char *explain_unskid_note(const struct prof_data *d, bool moved);

#endif
