/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "events/label.h"

static const char *const label_names[LABEL_COUNT] = {
	[LABEL_NONE] = "",
	[LABEL_MEASURED] = "measured",
	[LABEL_SCALED] = "scaled",
	[LABEL_MODEL] = "model",
	[LABEL_ESTIMATED] = "estimated",
};

const char *label_name(enum label label)
{
	return (unsigned)label < LABEL_COUNT ? label_names[label] : "";
}

enum label label_join(enum label a, enum label b)
{
	static const enum label order[] = {
		LABEL_NONE, LABEL_ESTIMATED, LABEL_MODEL, LABEL_SCALED, LABEL_MEASURED};

	for (unsigned i = 0; i < sizeof(order) / sizeof(order[0]); i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return LABEL_NONE;
}
