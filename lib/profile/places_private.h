/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files of lib/profile. */
#ifndef PROFILE_PLACES_PRIVATE_H
#define PROFILE_PLACES_PRIVATE_H

#include "profile/places.h"

/* strings.c */
struct table profile_strings_table(void);
void profile_strings_fini(struct table *strings);

/* calipers.c: -calipers, for each input. */
int profile_spans(struct prof_data *d, struct error *e);

#endif
