/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the drawings of prof's tables share. */
#ifndef RENDER_PROF_PRIVATE_H
#define RENDER_PROF_PRIVATE_H

extern const char *const prof_role_names[]; /* by enum prof_role */

#endif
