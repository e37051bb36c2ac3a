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

/* times.c: -from and -to, in the span of an input, whose first column is given. */
int profile_within(struct prof_data *d, size_t input, size_t first, struct error *e);

/* ---- selection.c ---- */

/* Finds the threads that are left out. ERR_NOT_FOUND: a word of -only selects none. */
int profile_whom_init(struct prof_data *d, struct error *e);
void profile_whom_fini(struct prof_data *d);
bool profile_whom_wants(const struct prof_data *d, size_t input, uint32_t thread);
/* The group of a thread's samples. */
struct prof_group profile_whom_group(const struct prof_data *d, size_t input, uint32_t thread);

#endif
