/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Call paths of a profile, put in order. */
#ifndef SOURCES_PROFILE_PATHS_H
#define SOURCES_PROFILE_PATHS_H

#include "sources/profile.h"

/* Sorts the nodes, whose images have their final numbers: callers before callees, nodes of the same
 * depth by their callers, images and addresses; and renumbers samples. -1 with *e set. */
int profile_sort_nodes(struct profile *p, struct error *e);

#endif
