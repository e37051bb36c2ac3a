/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RENDER_PROFILE_H
#define RENDER_PROFILE_H

#include <stdio.h>

#include "report/report_profile.h"

/* As lines of JSON, "perfex.profile/1": docs/man/perfex-profile.5. */
void render_profile_json(const struct profile_report *r, FILE *out);

#endif
