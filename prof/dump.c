/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -dump: the whole contents of files, as text. */
#include <stdlib.h>

#include "base/say.h"
#include "base/shown.h"
#include "experiment/dump.h"
#include "prof.h"
#include "report.h"

static int dump_one(
	const struct options *o, const char *path, FILE *out, bool *damaged, struct error *e)
{
	struct experiment_damage damage = {0};
	const struct load_request files = reporting_files(o);
	struct experiment x;

	if (load_file(&x, &files, path, &damage, e))
		return -1;
	experiment_dump(&x, o->dump_quiet ? DUMP_QUIET : 0, out);
	experiment_fini(&x);
	if (damage.damaged)
		say("%s: %s; what comes before is shown", path, damage.message);
	*damaged = *damaged || damage.damaged;
	return 0;
}

/* In memory first: several files and -o are one output. */
static int dump_all(const struct options *o, const struct arguments *a, struct strbuf *out,
	bool *damaged, struct error *e)
{
	char *text = NULL;
	size_t length = 0;
	FILE *f = open_memstream(&text, &length);
	int rc = 0;

	if (!f)
		return error_nomem(e);
	for (size_t i = 0; i < a->paths.count && rc == 0; i++)
		rc = dump_one(o, a->paths.data[i], f, damaged, e);
	if (fclose(f))
		rc = error_nomem(e);
	if (rc == 0)
		strbuf_add(out, text, length);
	free(text);
	return rc;
}

int do_dump(const struct options *o)
{
	struct arguments arguments = {0};
	struct strbuf text = {0};
	struct error e = {0};
	bool damaged = false;
	int rc;

	rc = arguments_find(&arguments, o->files, &e);
	if (rc == 0)
		rc = dump_all(o, &arguments, &text, &damaged, &e);
	if (rc == 0)
		rc = shown_output(o->output, stdout, &text, &e);
	if (rc)
		say_error(&e);
	strbuf_fini(&text);
	arguments_fini(&arguments);
	return rc ? EXIT_OURS : damaged ? EXIT_INCOMPLETE : 0;
}
