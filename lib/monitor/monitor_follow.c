/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_follow.h"

#include <errno.h>
#include <fnmatch.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/proc.h"
#include "monitor/monitor_clock.h"
#include "monitor/monitor_session.h"

/* Of the samples of the interval, and at least this many samples. */
#define HOT_SHARE 100 /* one in */
#define HOT_LEAST 50
/* What a session is taken to cost before one was held: ns. */
#define FIRST_COST 150e6
/* ns of a sample of its clock, where that cannot be measured. */
#define USUAL_SAMPLE 20000
/* What is not spent is lost beyond this many sessions, so that they never come in a row. */
#define SAVED_MOST   2
#define CHOOSE_EVERY SECOND
/* Until a process of a short-lived program is caught: how often it is looked for, how long, and how
 * long not. */
#define CATCH_MS    25
#define CATCH_FOR   (5 * (uint64_t)SECOND)
#define CATCH_PAUSE (30 * (uint64_t)SECOND)
/* After a failure, twice as long each time. */
#define FAILED_PAUSE    (5 * (uint64_t)SECOND)
#define FAILURES_MOST   8
#define FOLLOWED_IMAGES 1024 /* remembered; then all are forgotten, and examined again */

struct followed {
	struct {
		uint8_t build_id[EXPERIMENT_BUILD_ID_MAX];
		uint64_t size, fingerprint; /* of an image without one */
	} key;
	bool examined, unfit, enough;
	uint64_t bursts, branches, sessions;
	unsigned failures; /* in a row */
	uint64_t next;     /* not before */
};

struct monitor_follow {
	struct monitor_follow_request request;
	struct table images;             /* struct followed */
	struct monitor_session *session; /* that runs; NULL: none */
	char *path, *readable;           /* of its image */
	double credit, earned;           /* ns */
	double expected;                 /* ns that a session costs: the most of the last ones */
	double spent, own;
	double sample_cost; /* ns of a sample of a session's clock */
	double jitter;      /* [0,1): saved beyond the need before the next one, as a part of it */
	uint64_t next;      /* choice of an image, not before */
	uint64_t catch_end; /* a process of it is awaited until then; 0: none is */
	pid_t passed;       /* of those awaited not this one; 0: any */
	bool catching, news;
	struct followed wanted; /* its key */
	struct {
		uint64_t sessions, failures, bursts, branches, enough;
		char last[256], why[256];
	} told;
};

struct monitor_follow *monitor_follow_new(const struct monitor_follow_request *r, struct error *e)
{
	const struct monitor_clock clock = {.kind = MONITOR_CLOCK_CPU,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.watch = {.period = SECOND / 1000},
		.user_only = true};
	struct monitor_follow *f;

#if !defined(__x86_64__)
	error_set(e, ERR_UNSUPPORTED, "-branches needs x86-64");
	return NULL;
#endif
	f = calloc(1, sizeof(*f));
	if (!f) {
		error_nomem(e);
		return NULL;
	}
	f->request = *r;
	f->images = TABLE_OF(struct followed);
	f->expected = FIRST_COST;
	f->sample_cost = USUAL_SAMPLE;
	(void)monitor_cost(&clock, &f->sample_cost);
	return f;
}

/* ---- which process ---- */

static bool globs_match(const char *const *globs, const char *path)
{
	for (; globs && *globs; globs++)
		if (fnmatch(*globs, path, 0) == 0 || fnmatch(*globs, file_base_name(path), 0) == 0)
			return true;
	return false;
}

/* Real, effective and saved user and group, all of a kind; and no tracer. */
static bool status_allows(pid_t pid, char *why, size_t size)
{
	static const char *const keys[] = {"Uid", "Gid"};
	uid_t owner;

	if (!proc_owner(pid, &owner)) {
		snprintf(why, size, "process %d has ended", (int)pid);
		return false;
	}
	if (proc_status_number(pid, "TracerPid", 0) != 0) {
		snprintf(why, size, "a debugger follows process %d", (int)pid);
		return false;
	}
	for (int i = 0; i < 2; i++) {
		unsigned real, effective, saved;
		char ids[64];

		proc_status(pid, keys[i], ids, sizeof(ids));
		if (sscanf(ids, "%u %u %u", &real, &effective, &saved) == 3 &&
			(real != effective || real != saved)) {
			snprintf(why, size, "process %d has the rights of two users", (int)pid);
			return false;
		}
	}
	return true;
}

bool monitor_follow_may(pid_t pid, const char *const *spared, char *why, size_t size)
{
	char path[4096];
	int policy;

	if (!proc_link(pid, "exe", path, sizeof(path))) {
		snprintf(why, size, "process %d: %s", (int)pid, strerror(errno));
		return false;
	}
	if (pid == 1 || pid == getpid() || globs_match(spared, path)) {
		snprintf(why, size, "%.200s is spared", path);
		return false;
	}
	policy = sched_getscheduler(pid);
	if (policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE) {
		snprintf(why, size, "process %d runs in real time", (int)pid);
		return false;
	}
	return status_allows(pid, why, size);
}

/* ---- which image ---- */

static void followed_key(struct followed *k, const struct experiment_image *image)
{
	memset(k, 0, sizeof(*k));
	memcpy(k->key.build_id, image->build_id,
		image->build_id_length < sizeof(k->key.build_id) ? image->build_id_length
								 : sizeof(k->key.build_id));
	if (!image->build_id_length) {
		k->key.size = image->size;
		k->key.fingerprint = image->fingerprint;
	}
}

static bool may_want(
	const struct monitor_follow *f, const struct collect_image *image, uint64_t now)
{
	const struct followed *known;
	struct followed key;

	if (image->identity.kind != EXPERIMENT_IMAGE_ELF || !image->segments.elf ||
		(f->request.only && *f->request.only &&
			!globs_match(f->request.only, image->identity.path)))
		return false;
	followed_key(&key, &image->identity);
	known = table_find(&f->images, &key.key);
	return !known || (!known->unfit && !known->enough && now >= known->next);
}

/* The number of the image with most samples that is wanted; -1: there is none; -2: memory is out.
 */
static long hottest_image(const struct monitor_follow *f, const struct watch *w, uint64_t now)
{
	const struct experiment *x = &w->experiment;
	uint64_t *samples = calloc(x->images.count + 1, sizeof(*samples)), all = 0, most = 0;
	long best = -1;

	if (!samples)
		return -2;
	for (size_t i = 0; i < x->samples.count; i++) {
		const struct experiment_sample *s = experiment_sample_at(x, i);

		samples[experiment_node_at(x, s->key.node)->key.image] += s->count;
		all += s->count;
	}
	for (size_t i = 0; i < w->images.list.count; i++) {
		const struct collect_image *image = &w->images.list.data[i];
		uint64_t n = image->index < 0 ? 0 : samples[image->index];

		if (n > most && n >= HOT_LEAST && n > all / HOT_SHARE && may_want(f, image, now)) {
			most = n;
			best = (long)i;
		}
	}
	free(samples);
	return best;
}

/* The process that was sampled last in the image; 0: none was. */
static pid_t last_seen(const struct watch *w, size_t i)
{
	return i < w->seen.count ? w->seen.data[i] : 0;
}

static bool still_runs(pid_t pid)
{
	return pid > 0 && kill(pid, 0) == 0;
}

/* Its place in the list. It has two if it was mapped before the Monitor began, and again since:
 * that where a process runs goes first. -1: it is not there. */
static long find_followed(const struct watch *w, const struct followed *wanted)
{
	long found = -1;

	for (size_t i = 0; i < w->images.list.count; i++) {
		struct followed key;

		if (w->images.list.data[i].index < 0)
			continue;
		followed_key(&key, &w->images.list.data[i].identity);
		if (memcmp(&key.key, &wanted->key, sizeof(key.key)) != 0)
			continue;
		found = (long)i;
		if (still_runs(last_seen(w, i)))
			break;
	}
	return found;
}

/* ---- sessions ---- */

static int begin_session(struct monitor_follow *f, const struct collect_image *image, pid_t pid,
	uint64_t began, bool examine)
{
	const char *readable = image->readable ? image->readable : image->identity.path;
	struct monitor_session *s = calloc(1, sizeof(*s));

	f->path = strdup(image->identity.path);
	f->readable = strdup(readable);
	if (!s || !f->path || !f->readable) {
		free(s);
		return -1;
	}
	*s = (struct monitor_session){.store = f->request.store,
		.ssrun = f->request.ssrun,
		.readable = f->readable,
		.image = image->identity,
		.pid = pid,
		.began = began,
		.examine = examine,
		.sample_cost = f->sample_cost};
	s->image.path = f->path;
	if (monitor_session_begin(s))
		free(s);
	else
		f->session = s;
	return 0;
}

static struct followed *note_image(struct monitor_follow *f, const struct experiment_image *image)
{
	struct followed key;

	followed_key(&key, image);
	if (f->images.count >= FOLLOWED_IMAGES && !table_find(&f->images, &key.key)) {
		table_fini(&f->images);
		f->images = TABLE_OF(struct followed);
		f->told.enough = 0;
	}
	return table_add(&f->images, &key.key);
}

static void follow_say_why(struct monitor_follow *f, const char *why)
{
	snprintf(f->told.why, sizeof(f->told.why), "%.250s", why);
	f->news = true;
}

static void note_held(
	struct monitor_follow *f, struct followed *image, const struct monitor_session *s)
{
	image->bursts += s->bursts;
	image->branches += s->branches;
	image->sessions++;
	image->failures = 0;
	f->told.sessions++;
	f->told.bursts += s->bursts;
	f->told.branches += s->branches;
	snprintf(f->told.last, sizeof(f->told.last), "%.250s", f->path);
	f->expected = s->spent > f->expected ? s->spent : (f->expected + s->spent) / 2;
}

static void note_outcome(struct monitor_follow *f, struct followed *image,
	const struct monitor_session *s, uint64_t now)
{
	bool had = image->enough;

	if (s->examine && s->outcome != SESSION_UNFIT) {
		image->bursts += s->known.bursts;
		image->branches += s->known.branches;
		image->sessions += s->known.followed;
	}
	image->examined = f->news = true;
	if (s->outcome == SESSION_HELD)
		note_held(f, image, s);
	image->unfit = s->outcome == SESSION_UNFIT;
	image->enough = monitor_session_enough(image->bursts, image->branches, image->sessions);
	f->told.enough += image->enough && !had;
	if (s->outcome == SESSION_FAILED) {
		if (image->failures < FAILURES_MOST)
			image->failures++;
		image->next = now + (FAILED_PAUSE << (image->failures - 1));
		f->told.failures++;
	}
	if (s->outcome == SESSION_FAILED || s->outcome == SESSION_UNFIT)
		follow_say_why(f, s->why);
}

static int end_session(struct monitor_follow *f, bool stop, uint64_t now)
{
	struct monitor_session *s = f->session;
	struct followed *image;

	monitor_session_join(s, stop);
	f->session = NULL;
	f->spent += s->spent;
	f->own += s->own;
	f->credit -= s->spent;
	f->jitter = (double)(now / 1000 % 997) / 997;
	image = note_image(f, &s->image);
	if (image && !(stop && s->outcome == SESSION_FAILED)) /* our end is no failure of its */
		note_outcome(f, image, s, now);
	free(f->path);
	free(f->readable);
	f->path = f->readable = NULL;
	free(s);
	return image ? 0 : -1;
}

/* Others have their turn first. -1 when memory is out. */
static int postpone_image(
	struct monitor_follow *f, const struct experiment_image *image, uint64_t until)
{
	struct followed *known = note_image(f, image);

	if (known)
		known->next = until;
	return known ? 0 : -1;
}

/* The process that was sampled last in the image, if it still runs. */
static int try_session(struct monitor_follow *f, const struct watch *w, size_t i, uint64_t now)
{
	const struct collect_image *image = &w->images.list.data[i];
	pid_t pid = last_seen(w, i);
	const struct followed *known;
	uint64_t began;
	char why[256];

	if (pid == f->passed || !still_runs(pid))
		return 0;
	/* first: if the number goes to another process, the session sees it */
	began = proc_began(pid);
	f->catching = false;
	if (!monitor_follow_may(pid, f->request.spared, why, sizeof(why))) {
		follow_say_why(f, why);
		return postpone_image(f, &image->identity, now + CATCH_PAUSE);
	}
	known = table_find(&f->images, &f->wanted.key);
	return begin_session(f, image, pid, began, !known || !known->examined);
}

static int choose_followed(struct monitor_follow *f, const struct watch *w, uint64_t now)
{
	long i = hottest_image(f, w, now);
	const struct followed *known;

	f->next = now + CHOOSE_EVERY;
	if (i < 0)
		return i == -1 ? 0 : -1;
	followed_key(&f->wanted, &w->images.list.data[i].identity);
	i = find_followed(w, &f->wanted);
	f->catching = true;
	f->catch_end = now + CATCH_FOR;
	/* it may have ended before it could be followed: a younger one is awaited */
	known = table_find(&f->images, &f->wanted.key);
	f->passed = known && known->failures ? last_seen(w, (size_t)i) : 0;
	return try_session(f, w, (size_t)i, now);
}

static int catch_process(struct monitor_follow *f, const struct watch *w, uint64_t now)
{
	long i = find_followed(w, &f->wanted);

	if (now + CATCH_FOR / 2 > f->catch_end)
		f->passed = 0; /* there is no younger one */
	if (i >= 0 && now < f->catch_end)
		return try_session(f, w, (size_t)i, now);
	f->catching = false;
	return i < 0 ? 0 : postpone_image(f, &w->images.list.data[i].identity, now + CATCH_PAUSE);
}

int monitor_follow_round(
	struct monitor_follow *f, const struct watch *w, double earned, uint64_t now)
{
	double most = SAVED_MOST * f->expected;
	int rc = 0;

	f->credit += earned - f->earned;
	f->earned = earned;
	if (f->credit > most)
		f->credit = most;
	if (f->session && !monitor_session_ended(f->session))
		return 0;
	f->news = false;
	if (f->session)
		rc = end_session(f, false, now);
	else if (f->catching)
		rc = catch_process(f, w, now);
	else if (now >= f->next && f->credit >= f->expected * (1 + f->jitter) * 0.99)
		rc = choose_followed(f, w, now);
	return rc ? -1 : f->news;
}

int monitor_follow_wait(const struct monitor_follow *f, int usual)
{
	return f->catching && CATCH_MS < usual ? CATCH_MS : usual;
}

double monitor_follow_spent(const struct monitor_follow *f, double *own)
{
	*own = f->own;
	return f->spent;
}

void monitor_follow_settle(const struct monitor_follow *f, struct monitor_status *s)
{
	s->sessions = f->told.sessions;
	s->session_failures = f->told.failures;
	s->bursts = f->told.bursts;
	s->branches = f->told.branches;
	s->known = f->told.enough;
	s->session_cpu = f->spent * 1e-9;
	snprintf(s->followed, sizeof(s->followed), "%s", f->told.last);
	snprintf(s->unfollowed, sizeof(s->unfollowed), "%s", f->told.why);
}

void monitor_follow_end(struct monitor_follow *f)
{
	if (f && f->session)
		(void)end_session(f, true, 0);
}

void monitor_follow_free(struct monitor_follow *f)
{
	if (!f)
		return;
	monitor_follow_end(f);
	table_fini(&f->images);
	free(f);
}
