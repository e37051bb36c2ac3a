/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect.h"

int collect_perf(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e)
{
	(void)r;
	(void)x;
	(void)result;
	return error_set(e, ERR_UNSUPPORTED, "sampling is not built yet");
}
