/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the reports of the interface can be limited to: threads, processes, commands, CPUs, images,
 * phases. */
#ifndef BROWSE_CHOICES_H
#define BROWSE_CHOICES_H

#include "profile/places.h"
#include "tui/source.h"

typedef VEC(struct tui_choice) browse_choices;

/* By kind, those with most samples of the first metric first. Without memory, fewer. */
void browse_choices_list(browse_choices *c, const struct prof_request *r);

#endif
