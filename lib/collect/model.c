/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect.h"

int collect_model(const struct collect_request *r, struct experiment *x,
	struct collect_result *result, struct error *e)
{
	(void)r;
	(void)x;
	(void)result;
	error_set(e, ERR_UNSUPPORTED, "experiments on the model are not built yet");
	return error_hint(e, "perfex -profile FILE -sample EVENT:PERIOD samples on the model");
}
