/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -export: converts experiments to files of other tools. */
#include "export/export.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "prof.h"

static bool to_file(const struct options *o)
{
	return o->output && strcmp(o->output, "-") != 0;
}

static int check_terminal(
	const struct options *o, const struct export_format *format, struct error *e)
{
	if (!format->binary || to_file(o) || !isatty(STDOUT_FILENO))
		return 0;
	error_set(e, ERR_CONFLICT, "-export %s cannot be written to a terminal", format->name);
	return error_hint(e, "use -o FILE or a pipe");
}

static int write_to(const struct options *o, const struct export_profile *x, struct error *e)
{
	struct file_out f;

	if (to_file(o)) {
		if (file_create(&f, o->output, e))
			return -1;
		if (export_write(x, f.stream, e)) {
			file_abandon(&f);
			return -1;
		}
		return file_commit(&f, e);
	}
	errno = 0;
	if (export_write(x, stdout, e))
		return -1;
	if (fflush(stdout) || ferror(stdout))
		return error_sys(e, errno, "cannot write the profile");
	return 0;
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

int do_export(const struct options *o, const struct prof_request *request,
	const struct prof_images_search *search, bool *incomplete, struct error *e)
{
	const struct export_format *format = export_format_find(o->export, e);
	struct export_request wanted = {.creator = "prof " PERFEX_VERSION,
		.metrics = o->metrics.data,
		.progress = request->progress};
	struct export_profile *x = NULL;
	struct prof_images *images;
	struct prof_data data;
	int rc = -1;

	if (!format || check_terminal(o, format, e) || profile_data_init(&data, request, e))
		return -1;
	images = profile_images_new(&data, search, e);
	if (images) {
		data.names = (struct prof_names){&profile_images_ops, images};
		x = export_new(&data, &wanted, format, e);
	}
	if (x)
		rc = write_to(o, x, e);
	progress_end(request->progress);
	if (rc == 0) {
		tell(x, format);
		*incomplete = *incomplete || export_notes(x)->incomplete;
	}
	export_free(x);
	profile_images_free(images);
	profile_data_fini(&data);
	return rc;
}
