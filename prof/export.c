/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -export: converts experiments to files of other tools. */
#include "export/export.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "pgo/pgo.h"
#include "report.h"

static bool to_file(const struct options *o)
{
	return o->output && strcmp(o->output, "-") != 0;
}

static int check_terminal(const struct options *o, bool binary, struct error *e)
{
	if (!binary || to_file(o) || !isatty(STDOUT_FILENO))
		return 0;
	error_set(e, ERR_CONFLICT, "-export %s cannot be written to a terminal", o->export);
	return error_hint(e, "use -o FILE or a pipe");
}

static int write_samples(void *what, FILE *out, struct error *e)
{
	return export_write(what, out, e);
}

static int write_profile(void *what, FILE *out, struct error *e)
{
	return pgo_write(what, out, e);
}

/* Reports what is missing, and what the format cannot express. */
static void tell(const struct export_profile *x, const struct export_format *format)
{
	const struct report_table *notes = export_notes(x);

	for (size_t i = 0; format->bare && i < export_metrics(x); i++)
		say("%s: %s", format->name, export_metric_text(x, i));
	for (size_t i = 0; i < notes->notes.count; i++)
		say("%s", notes->notes.data[i].value);
}

/* Profiles for compilers and linkers. */
static int export_code(const struct options *o, struct prof_data *data,
	const struct pgo_format *format, struct error *e)
{
	struct pgo *p = pgo_new(data, o->image, format, e);
	struct strbuf text = {0};
	int rc = p ? file_output(o->output, stdout, write_profile, p, e) : -1;

	if (rc == 0) {
		pgo_describe(p, &text);
		say("%s", strbuf_text(&text));
	}
	strbuf_fini(&text);
	pgo_free(p);
	return rc;
}

static int export_samples_of(struct reporting *r, struct prof_data *data,
	const struct export_format *format, struct error *e)
{
	const struct export_request wanted = {.creator = "prof " PERFEX_VERSION,
		.metrics = r->o->metrics.data,
		.progress = r->request->progress};
	bool selects = reporting_selects(r->o, data, e);
	struct export_profile *x = export_new(data, &wanted, format, e);
	uint64_t samples = 0;
	int rc = x ? file_output(r->o->output, stdout, write_samples, x, e) : -1;

	progress_end(wanted.progress);
	if (rc == 0) {
		tell(x, format);
		for (size_t i = 0; i < export_metrics(x); i++)
			samples += export_metric_samples(x, i);
		if (!samples && selects)
			say("-export %s: there is no sample in it: prof with the same words and "
			    "without -export says why",
				format->name);
		r->incomplete = r->incomplete || export_notes(x)->incomplete || !samples;
	}
	export_free(x);
	return rc;
}

int do_export(struct reporting *r, struct error *e)
{
	const struct options *o = r->o;
	const struct pgo_format *code = pgo_format_find(o->export);
	const struct export_format *format = code ? NULL : export_format_find(o->export, e);
	struct prof_data data;
	int rc;

	if ((!code && !format) || check_terminal(o, code ? code->binary : format->binary, e) ||
		profile_named_init(&data, r->request, r->search, e))
		return -1;
	rc = code ? export_code(o, &data, code, e) : export_samples_of(r, &data, format, e);
	progress_end(r->request->progress);
	profile_named_fini(&data);
	return rc;
}
