/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "experiment/waits.h"

#include "experiment/private.h"

const char *const experiment_wait_words[WAIT_CAUSES] = {
	[WAIT_EXECUTION] = "execution",
	[WAIT_DEPENDENCY] = "dependency",
	[WAIT_UNIT] = "unit",
	[WAIT_DIVIDER] = "divider",
	[WAIT_L2] = "l2",
	[WAIT_LL] = "last-level",
	[WAIT_MEMORY] = "memory",
	[WAIT_INTERVENTION] = "intervention",
	[WAIT_DTLB] = "dtlb",
	[WAIT_FORWARD] = "forward",
	[WAIT_ALIAS] = "alias",
	[WAIT_STORE_BUFFER] = "store-buffer",
	[WAIT_LOCKED] = "locked",
	[WAIT_SERIALISING] = "serialising",
	[WAIT_FETCH_L2] = "fetch-l2",
	[WAIT_FETCH_LL] = "fetch-last-level",
	[WAIT_FETCH_MEMORY] = "fetch-memory",
	[WAIT_FETCH_INTERVENTION] = "fetch-intervention",
	[WAIT_ITLB] = "itlb",
	[WAIT_TAKEN] = "taken",
	[WAIT_MISPREDICT] = "mispredict",
	[WAIT_SYSTEM_CALL] = "system-call",
	[WAIT_PAGE_FAULT] = "page-fault",
	[WAIT_STEAL] = "steal",
};

/* Causes of later versions are printed by number. */
static const struct row_field wait_fields[] = {
	{ROW_KEY(experiment_wait, image), .reference = EXPERIMENT_IMAGES},
	{ROW_KEY(experiment_wait, address), .coding = ROW_STEP, .hex = 1},
	{ROW_KEY(experiment_wait, cause), .names = experiment_wait_words,
		.names_count = WAIT_CAUSES},
	{ROW_FIELD(experiment_wait, parts), .positive = 1},
};

const struct row_kind experiment_waits_kind = {
	ROW_KIND(experiment_wait, wait_fields, 3), .type = "WAIT", .word = "wait"};
