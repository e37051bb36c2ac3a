/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SCHEDULE_PRIVATE_H
#define SCHEDULE_PRIVATE_H

#include "schedule/schedule.h"

void schedule_in_order(const struct core *c, const struct op *ops, size_t count, struct schedule *s,
	struct schedule_row *rows);

#endif
