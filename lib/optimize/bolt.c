/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * BOLT. perf2bolt is called by its directory: a link to it with another name optimises instead of
 * converting. BOLT before 21 stops at some functions with computed gotos, and names them: they are
 * skipped, one more each time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "optimize/private.h"

enum { NEWEST = 29, OLDEST = 15, SKIPS = 20 };

static char *bolt_directory(const struct workshop *w, int *version, struct error *e)
{
	char *path;

	*version = 0;
	if (w->request->llvm) {
		path = strdup(w->request->llvm);
		if (!path)
			error_nomem(e);
		return path;
	}
	for (*version = NEWEST; *version >= OLDEST; --*version) {
		char tool[128];

		snprintf(tool, sizeof(tool), "/usr/lib/llvm-%d/bin/perf2bolt", *version);
		if (access(tool, X_OK) == 0) {
			*strrchr(tool, '/') = '\0';
			path = strdup(tool);
			if (!path)
				error_nomem(e);
			return path;
		}
	}
	error_set(e, ERR_NOT_FOUND, "there is no perf2bolt below /usr/lib/llvm-*");
	error_hint(e, "install bolt-19, or name its directory by -llvm");
	return NULL;
}

/* "in function NAME. Consider": the function that BOLT could not place. */
static char *blamed(const char *log)
{
	const char *at = strstr(log, "unable to get new address"), *end;

	at = at ? strstr(at, "in function ") : NULL;
	if (!at)
		return NULL;
	at += strlen("in function ");
	end = at + strcspn(at, " \n");
	while (end > at && end[-1] == '.')
		end--;
	return strndup(at, (size_t)(end - at));
}

static int bolt_rewrite(const struct workshop *w, const char *tool, const char *image,
	const char *profile, const char *to, int version, struct error *e)
{
	struct strbuf skip = {0};
	char *data = NULL;
	int rc = -1;

	strbuf_puts(&skip, "-skip-funcs=");
	if (asprintf(&data, "-data=%s", profile) < 0) {
		data = NULL;
		error_nomem(e);
	}
	for (int i = 0; data && i < SKIPS; i++) {
		const char *words[] = {tool, image, "-o", to, data, "-reorder-blocks=ext-tsp",
			version && version < 18 ? "-reorder-functions=hfsort+"
						: "-reorder-functions=cdsort",
			"-split-functions", "-split-all-cold", "-split-eh", NULL, NULL};
		char *log = NULL, *name;

		if (i)
			words[10] = strbuf_text(&skip);
		rc = workshop_tool(w, words, &log, e);
		name = rc && log ? blamed(log) : NULL;
		free(log);
		if (!name)
			break;
		strbuf_printf(&skip, "%s%s", i ? "," : "", name);
		workshop_say(w, "BOLT cannot place %s: it is left as it is", name);
		free(name);
	}
	strbuf_fini(&skip);
	free(data);
	return rc;
}

int optimize_by_bolt(const struct workshop *w, const char *image, char *const *files,
	const char *profiled, const char *to, struct error *e)
{
	struct pgo_coverage coverage;
	char *convert = NULL, *tool = NULL, *rows = workshop_path(w, "rows", e);
	char *profile = workshop_path(w, "fdata", e), *directory;
	int version, rc = -1;

	directory = bolt_directory(w, &version, e);
	if (directory && (asprintf(&convert, "%s/perf2bolt", directory) < 0 ||
				 asprintf(&tool, "%s/llvm-bolt", directory) < 0)) {
		error_nomem(e);
	} else if (directory && rows && profile &&
		   optimize_profile(w, files, profiled, "bolt", rows, &coverage, e) == 0) {
		const char *const words[] = {
			convert, "-pa", "-p", rows, "-o", profile, image, NULL};

		if (workshop_tool(w, words, NULL, e) == 0)
			rc = bolt_rewrite(w, tool, image, profile, to, version, e);
	}
	free(convert);
	free(tool);
	free(rows);
	free(profile);
	free(directory);
	return rc;
}
