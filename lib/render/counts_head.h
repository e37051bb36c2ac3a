/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The first lines of perfex's report as text. */
#ifndef RENDER_COUNTS_HEAD_H
#define RENDER_COUNTS_HEAD_H

#include "base/strbuf.h"
#include "report/counts.h"

/* The command, its times and the processor, and an empty line. */
void counts_head(const struct counts_report *r, struct strbuf *out);

#endif
