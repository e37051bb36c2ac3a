/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/pauses.h"

#include <string.h>

long experiment_obstacle(struct experiment *x, enum experiment_pause_reason reason,
	const char *call, const char *name, uint32_t image, uint64_t address)
{
	struct experiment_obstacle row = {
		.key = {.reason = reason, .image = image, .address = address},
		.call = (char *)call,
		.name = (char *)name};

	if (reason == PAUSE_UNKNOWN)
		return 0;
	row.key.hash =
		table_hash_fixed(call, strlen(call)) * 31 ^ table_hash_fixed(name, strlen(name));
	return experiment_row(x, EXPERIMENT_OBSTACLES, &row);
}
