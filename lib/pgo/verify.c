/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "pgo/verify.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "pgo/verify_private.h"

enum { LIMIT_FIRST = 600 };

static int make_directory(struct verification *v, struct error *e)
{
	v->directory = file_temporary_directory("prof-verify", "'", e);
	if (!v->directory)
		return -1;
	v->link = verify_path(v, strchr(file_base_name(v->request->old), '\'')
					 ? "image"
					 : file_base_name(v->request->old));
	return v->link ? 0 : error_nomem(e);
}

static void remove_directory(struct verification *v)
{
	if (v->link)
		unlink(v->link);
	if (v->directory)
		rmdir(v->directory);
	free(v->link);
	free(v->directory);
}

int verify_run(const struct verify_request *q, struct verify_result *r, struct error *e)
{
	static int (*const steps[])(struct verification * v, struct error * e) = {
		verify_files, verify_tests, verify_timing, verify_model};
	struct verification v = {
		.request = q, .result = r, .limit = q->limit > 0 ? q->limit : LIMIT_FIRST};
	struct error own = {0};
	sigset_t before;
	int rc;

	memset(r, 0, sizeof(*r));
	e = e ? e : &own;
	trial_signals_hold(&before);
	rc = make_directory(&v, e);
	for (size_t i = 0; i < 4 && rc == 0 && !r->reasons.count; i++)
		rc = steps[i](&v, e);
	r->accept = rc == 0 && !r->reasons.count;
	remove_directory(&v);
	trial_signals_release(&before);
	if (rc && e->code == ERR_NONE)
		error_nomem(e);
	return rc;
}

void verify_fini(struct verify_result *r)
{
	for (size_t i = 0; i < r->reasons.count; i++)
		free(r->reasons.data[i]);
	for (size_t i = 0; i < r->notes.count; i++)
		free(r->notes.data[i]);
	vec_fini(&r->reasons);
	vec_fini(&r->notes);
}
