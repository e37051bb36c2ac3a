/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -merge: adds up many files into one. */
#include "base/say.h"
#include "experiment/experiment.h"
#include "prof.h"
#include "report.h"

int do_merge(const struct options *o)
{
	struct arguments arguments = {0};
	struct loaded loaded = {0};
	struct error e = {0};
	int rc;

	rc = arguments_find(&arguments, o->files, &e);
	if (rc == 0)
		rc = reporting_load(&loaded, o, &arguments, &e);
	if (rc == 0 && loaded.damaged)
		say("%s; what comes before is in the sum", loaded.damage);
	if (rc == 0)
		rc = experiment_write(&loaded.experiments.data[0], o->output, &e);
	if (rc)
		say_error(&e);
	loaded_fini(&loaded);
	arguments_fini(&arguments);
	return rc ? EXIT_OURS : loaded.damaged ? EXIT_INCOMPLETE : 0;
}
