/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Samples as pprof has them. Functions have names, from tables of symbols; lines do not, because
 * reading debug information takes more time and memory than a Monitor may.
 */
#include <stdio.h>
#include <stdlib.h>

#include "experiment/file.h"
#include "export/export.h"
#include "monitor/monitor_http.h"
#include "profile/image_files.h"

static int pprof_bytes(struct prof_data *data, struct strbuf *out, struct error *e)
{
	const struct export_request request = {.creator = "ssrun monitor " PERFEX_VERSION};
	const struct export_format *format = export_format_find("pprof", e);
	struct export_profile *x = format ? export_new(data, &request, format, e) : NULL;
	char *bytes = NULL;
	size_t size = 0;
	FILE *f = x ? open_memstream(&bytes, &size) : NULL;
	int rc = f ? export_write(x, f, e) : x ? error_nomem(e) : -1;

	if (f && fclose(f) && rc == 0)
		rc = error_nomem(e);
	if (rc == 0)
		strbuf_add(out, bytes, size);
	free(bytes);
	export_free(x);
	return rc == 0 && out->failed ? error_nomem(e) : rc;
}

int monitor_pprof(struct experiment *x, struct strbuf *out, struct error *e)
{
	const struct prof_images_search search = {.sparing = true};
	const struct prof_input input = {.experiment = x, .file = "monitor"};
	const struct prof_request request = {.inputs = &input, .count = 1};
	struct prof_names_ops names = profile_images_ops;
	struct prof_data data;
	int rc;

	names.line = profile_no_line;
	names.inlines = profile_no_inlines;
	if (experiment_settle(x, e) || profile_named_init(&data, &request, &search, e))
		return -1;
	data.names.ops = &names;
	rc = pprof_bytes(&data, out, e);
	profile_named_fini(&data);
	return rc;
}
