/* SPDX-License-Identifier: GPL-2.0-or-later */
/* -profile: the events of each instruction, into a file of its own. */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/say.h"
#include "perfex.h"
#include "render/profile.h"

#define SLICE_CYCLES 1000000

int profile_prepare(
	const struct options *o, struct profile *p, struct profile_request *r, struct error *e)
{
	struct file_out f;

	*r = (struct profile_request){
		.blocks = o->blocks,
		.samplers = o->samplers.data,
		.sampler_count = o->samplers.count,
		.stacks = o->stacks,
		.slice_cycles = o->slices     ? o->slices
				: o->counters ? SLICE_CYCLES
					      : 0,
		.into = p,
	};
	/* Better now than after an hour's run. */
	if (file_create(&f, o->profile, e))
		return -1;
	file_abandon(&f);
	return profile_init(p, e);
}

static void say_what_is_missing(const struct profile *p)
{
	char line[PROFILE_MISSING][PROFILE_LINE];

	profile_missing(p, line);
	for (int i = 0; i < PROFILE_MISSING; i++)
		if (line[i][0])
			say("%s", line[i]);
}

int profile_write(
	const struct options *o, const struct machine *m, struct profile *p, struct error *e)
{
	struct profile_report r;
	struct file_out f;
	int rc;

	if (profile_finish(p, e) || profile_report_init(&r, p, o->counters, e))
		return -1;
	r.command = (const char *const *)o->command;
	r.machine = m;
	r.blocks_only = o->blocks;
	rc = file_create(&f, o->profile, e);
	if (rc == 0) {
		render_profile_json(&r, f.stream);
		rc = file_commit(&f, e);
	}
	if (rc == 0 && !o->quiet)
		say_what_is_missing(p);
	profile_report_fini(&r);
	return rc;
}
