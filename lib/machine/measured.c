/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What runs on this host have measured, since it takes some milliseconds: the first few after a
 * boot, for all users. A busy machine disturbs a measurement, so there are several. */
#include <stdio.h>
#include <stdlib.h>

#include "machine/kept.h"
#include "machine/machine.h"

/* *name: room for the file's. */
static struct kept_file measured_file(
	const struct machine_measurement *m, unsigned number, char name[32])
{
	snprintf(name, 32, "%s-%u", m->name, number + 1);
	return (struct kept_file){name, m->usable};
}

char *machine_measured(const struct machine_measurement *m, unsigned number)
{
	struct machine_identity id;
	char name[32];
	const struct kept_file file = measured_file(m, number, name);

	if (!kept_measures())
		return NULL;
	machine_identify("", &id);
	return kept_read(&file, &id, KEPT_BOOT);
}

void machine_keep_measured(const struct machine_measurement *m, const char *text)
{
	struct machine_identity id;

	if (!kept_measures() || !m->usable(text))
		return;
	machine_identify("", &id);
	for (unsigned i = 0; i < MACHINE_MEASURED; i++) {
		char name[32];
		const struct kept_file file = measured_file(m, i, name);
		char *there = kept_read(&file, &id, KEPT_BOOT);
		bool found = there != NULL;

		free(there);
		if (!found) {
			kept_write(&file, &id, KEPT_BOOT, text);
			return;
		}
	}
}
