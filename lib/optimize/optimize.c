/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "optimize/optimize.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "optimize/private.h"
#include "process/trial.h"

static const char PROFILE_CFLAGS[] = "-g1 -ffunction-sections";
static const char CLANG_CFLAGS[] = "-fdebug-info-for-profiling";
/* Blocks are numbered before they are optimised: a profile by these numbers loses less. */
static const char PROBE_CFLAGS[] = "-fpseudo-probe-for-profiling";
static const char GCC_CFLAGS[] = "-fno-reorder-blocks-and-partition";
/* How clang uses a sample profile: a compiler that does not know the first flags builds by the
 * next. Profi is of LLVM 14, salvaging of LLVM 17. */
static const char *const SPGO_FLAGS[] = {
	("-mllvm -sample-profile-use-profi -mllvm -sample-profile-inline-size "
	 "-mllvm -salvage-stale-profile"),
	"-mllvm -sample-profile-use-profi -mllvm -sample-profile-inline-size",
	"-mllvm -sample-profile-inline-size",
};
static const char PROFILE_LDFLAGS[] = "-Wl,--emit-relocs";

/* What is replaced, and must be slower. */
static const char *replaced(const struct workshop *w)
{
	return w->request->against ? w->request->against : w->plain;
}

/* Whether a way is wanted. */
static bool wanted(const struct workshop *w, const char *how)
{
	return !w->request->how || strcmp(w->request->how, how) == 0;
}

static struct optimize_candidate *candidate_add(
	struct workshop *w, const char *how, struct error *e)
{
	struct optimize_candidate *c = vec_push(&w->result->candidates);

	if (!c) {
		error_nomem(e);
		return NULL;
	}
	c->how = how;
	c->image = workshop_path(w, how, e);
	return c->image ? c : NULL;
}

/* Verifies the last candidate, or notes why there is none. */
static int candidate_judge(
	struct workshop *w, struct optimize_candidate *c, int built, struct error *e)
{
	struct verify_request q = w->request->verify;

	if (built) {
		if (e->code == ERR_NOMEM)
			return -1;
		workshop_say(w, "%s: %s%s%s", c->how, e->message, *e->hint ? ": " : "", e->hint);
		c->failure = strdup(e->message);
		*e = (struct error){0};
		return c->failure ? 0 : error_nomem(e);
	}
	workshop_say(w, "%s: verifying", c->how);
	q.old = replaced(w);
	q.new = c->image;
	return verify_run(&q, &c->verdict, e);
}

/* probes: the profile is by pseudo-probes, or is yet to be made. */
static char *build_flags(const struct workshop *w, bool probes, const char *more)
{
	char *flags;

	return asprintf(&flags, "%s %s %s %s", PROFILE_CFLAGS, w->clang ? CLANG_CFLAGS : GCC_CFLAGS,
		       w->clang && probes ? PROBE_CFLAGS : "", more) < 0
		       ? NULL
		       : flags;
}

static int build_with(
	const struct workshop *w, bool probes, const char *more, const char *to, struct error *e)
{
	char *flags = build_flags(w, probes, more);
	int rc = flags ? optimize_program(w, flags, PROFILE_LDFLAGS, to, e) : error_nomem(e);

	free(flags);
	return rc;
}

/* ---- ways ---- */

/* An old compiler refuses flags that it does not know at once. */
static int build_by_samples(const struct workshop *w, const char *profile, bool probes, bool stale,
	const char *to, struct error *e)
{
	const size_t ways = w->clang ? sizeof(SPGO_FLAGS) / sizeof(*SPGO_FLAGS) : 1;
	int rc = -1;

	for (size_t i = w->clang && !stale; i < ways && rc; i++) {
		char *flags;

		if (asprintf(&flags,
			    w->clang ? "-fprofile-sample-use=%s %s" : "-fauto-profile=%s%s",
			    profile, w->clang ? SPGO_FLAGS[i] : "") < 0)
			return error_nomem(e);
		rc = build_with(w, probes, flags, to, e);
		free(flags);
	}
	return rc;
}

/* A build by a sample profile. stale: records are of another build. */
static int try_samples(struct workshop *w, char *const *files, bool stale, struct error *e)
{
	const char *how = w->clang ? "spgo" : "afdo";
	char *profile = workshop_path(w, "profile", e);
	struct optimize_candidate *c = profile ? candidate_add(w, how, e) : NULL;
	struct pgo_coverage coverage;
	int built, rc;

	if (!c) {
		free(profile);
		return -1;
	}
	workshop_say(w, "%s: building by the profile", how);
	built = optimize_profile(w, files, stale ? NULL : w->base, w->clang ? "llvm" : "afdo",
		profile, &coverage, e);
	if (built == 0)
		built = build_by_samples(w, profile, coverage.probes, stale, c->image, e);
	rc = candidate_judge(w, c, built, e);
	free(profile);
	return rc;
}

static int try_bolt(struct workshop *w, const char *how, const char *image, char *const *files,
	const char *profiled, struct error *e)
{
	struct optimize_candidate *c = candidate_add(w, how, e);
	int built;

	if (!c)
		return -1;
	workshop_say(w, "%s: rewriting the image", how);
	built = optimize_by_bolt(w, image, files, profiled, c->image, e);
	return candidate_judge(w, c, built, e);
}

/* BOLT on what the sample profile made: its addresses are new, so it is recorded again. */
static int try_both(struct workshop *w, struct error *e)
{
	char *image, **files = NULL;
	int rc;

	if (!w->result->candidates.count || w->result->candidates.data[0].failure ||
		strcmp(w->result->candidates.data[0].how, "spgo") != 0)
		return 0;
	image = w->result->candidates.data[0].image;
	workshop_say(w, "spgo+bolt: recording the build by the profile");
	rc = optimize_records(w, image, "again", &files, e);
	if (rc == 0)
		rc = try_bolt(w, "spgo+bolt", image, files, image, e);
	optimize_files_free(files);
	return rc;
}

static bool can_train(const struct workshop *w)
{
	return w->request->train || (w->request->recipe && w->request->recipe->train);
}

static int try_ways(struct workshop *w, char *const *files, bool stale, struct error *e)
{
	if (w->request->recipe &&
		(wanted(w, w->clang ? "spgo" : "afdo") || (w->clang && wanted(w, "spgo+bolt"))))
		if (try_samples(w, files, stale, e))
			return -1;
	if (w->request->recipe && w->clang && wanted(w, "spgo+bolt") && can_train(w))
		if (try_both(w, e))
			return -1;
	if (wanted(w, "bolt") && !stale)
		return try_bolt(w, "bolt", w->base, files, w->base, e);
	return 0;
}

/* ---- the base ---- */

/* Which compiler: the image says so; flags for both are accepted by neither. */
static int find_compiler(struct workshop *w, const char *image, struct error *e)
{
	struct image_facts facts;

	if (image_facts_read(image, &facts, e))
		return -1;
	w->clang = facts.clang;
	if (!facts.whole) {
		image_facts_fini(&facts);
		return error_set(e, ERR_PARSE,
			"%s is cut short: segments or sections end after the file", image);
	}
	if (!w->request->recipe && !facts.relocations) {
		image_facts_fini(&facts);
		error_set(e, ERR_UNSUPPORTED,
			"%s was linked without relocations: BOLT cannot move its code", image);
		return error_hint(e, "link it with -Wl,--emit-relocs, or give a recipe (-recipe)");
	}
	image_facts_fini(&facts);
	return 0;
}

static int make_plain(struct workshop *w, struct error *e)
{
	const struct optimize_request *q = w->request;

	if (!q->recipe) {
		w->plain = realpath(q->image, NULL);
		if (!w->plain)
			return error_sys(e, errno, "cannot find %s", q->image);
		return find_compiler(w, w->plain, e);
	}
	w->plain = workshop_path(w, "plain", e);
	if (!w->plain)
		return -1;
	workshop_say(w, "building without a profile");
	return optimize_program(w, PROFILE_CFLAGS, PROFILE_LDFLAGS, w->plain, e) ||
			       find_compiler(w, w->plain, e)
		       ? -1
		       : 0;
}

/* What is recorded. Old compilers have no pseudo-probes. */
static int make_base(struct workshop *w, struct error *e)
{
	const struct recipe *r = w->request->recipe;

	w->base = r ? workshop_path(w, file_base_name(r->output), e) : strdup(w->plain);
	if (!w->base)
		return error_nomem(e);
	if (!r || (w->clang && build_with(w, true, "", w->base, e) == 0))
		return 0;
	return build_with(w, false, "", w->base, e);
}

static int keep_best(struct workshop *w, struct error *e)
{
	struct optimize_result *r = w->result;
	struct strbuf verdict = {0};
	struct verify_request q = w->request->verify;
	const char *output = w->request->output;
	int rc;

	r->best = -1;
	for (size_t i = 0; i < r->candidates.count; i++)
		if (!r->candidates.data[i].failure && r->candidates.data[i].verdict.accept &&
			(r->best < 0 || r->candidates.data[i].verdict.gain.value >
						r->candidates.data[r->best].verdict.gain.value))
			r->best = (long)i;
	if (r->best < 0)
		return 0;
	{
		/* -n: what came there meanwhile stays */
		const char *const words[] = {
			"cp", "-n", "--", r->candidates.data[r->best].image, output, NULL};

		if (workshop_tool(w, words, NULL, e))
			return -1;
	}
	q.old = replaced(w);
	q.new = output;
	rc = verify_json(&q, &r->candidates.data[r->best].verdict, &verdict, e);
	if (rc == 0)
		rc = optimize_note(replaced(w), output, &verdict, e);
	strbuf_fini(&verdict);
	return rc;
}

static int optimize_check(const struct optimize_request *q, struct error *e)
{
	struct stat s;

	if (lstat(q->output, &s) == 0) {
		error_set(e, ERR_CONFLICT, "%s exists, and nothing is overwritten", q->output);
		return error_hint(e, "choose another name, or remove it first");
	}
	if (q->experiments[0] || q->train || (q->recipe && q->recipe->train))
		return 0;
	error_set(e, ERR_PARSE, "there are no branch records, and no command to record");
	return error_hint(e, "give files of ssrun -branches, or -train COMMAND");
}

/* Own records without a burst: the program was not run, or for too short a time. */
static int short_training(struct error *e)
{
	if (e->code != ERR_UNSUPPORTED && e->code != ERR_NOT_FOUND)
		return -1;
	error_set(e, ERR_UNSUPPORTED, "too few branch records: none of the program itself");
	return error_hint(e, "the command of -train must run the program, {}, and take a second or "
			     "more");
}

static int optimize_steps(struct workshop *w, struct error *e)
{
	char *const *files = w->request->experiments, **own = NULL;
	char *probe = workshop_path(w, "probe", e);
	bool stale;
	int rc = probe ? make_plain(w, e) : -1;

	stale = w->request->recipe && files[0];
	if (rc == 0 && !stale)
		rc = make_base(w, e);
	if (rc == 0 && !files[0]) {
		workshop_say(w, "recording branches");
		rc = optimize_records(w, w->base, "records", &own, e);
		files = own;
	}
	if (rc == 0 && optimize_profile(w, files, stale ? NULL : w->base, "bolt", probe,
			       &w->result->coverage, e))
		rc = own ? short_training(e) : -1;
	if (rc == 0)
		rc = optimize_enough(&w->result->coverage, e);
	if (rc == 0)
		rc = try_ways(w, files, stale, e);
	if (rc == 0)
		rc = keep_best(w, e);
	optimize_files_free(own);
	free(probe);
	return rc;
}

int optimize_run(const struct optimize_request *q, struct optimize_result *r, struct error *e)
{
	struct workshop w = {.request = q, .result = r};
	sigset_t before;
	int rc;

	memset(r, 0, sizeof(*r));
	r->best = -1;
	rc = optimize_check(q, e);
	trial_signals_hold(&before);
	if (rc == 0)
		rc = workshop_open(&w, e);
	if (rc == 0)
		rc = optimize_steps(&w, e);
	workshop_close(&w);
	trial_signals_release(&before);
	return rc;
}

void optimize_fini(struct optimize_result *r)
{
	for (size_t i = 0; i < r->candidates.count; i++) {
		free(r->candidates.data[i].image);
		free(r->candidates.data[i].failure);
		verify_fini(&r->candidates.data[i].verdict);
	}
	vec_fini(&r->candidates);
}
