/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_session.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "experiment/branches.h"
#include "experiment/file.h"
#include "image/image.h"
#include "monitor/monitor_follow.h"

/* Of a session, and bursts for each second of the program's time: a tenth of the rate of ssrun
 * -branches by itself would be one burst in many short programs. */
#define SESSION_SECONDS "0.5"
#define SESSION_RATE    "100"

bool monitor_session_enough(uint64_t bursts, uint64_t branches, uint64_t sessions)
{
	return sessions >= FOLLOW_SESSIONS &&
	       (bursts >= FOLLOW_BURSTS || branches >= FOLLOW_BRANCHES);
}

bool monitor_follow_fits(const char *path, char *why, size_t size)
{
	struct image_facts facts;
	struct error e = {0};
	bool fits;

	if (image_facts_read(path, &facts, &e)) {
		snprintf(why, size, "%s", e.message);
		return false;
	}
	fits = facts.machine == EM_X86_64 && facts.class == ELFCLASS64 &&
	       (facts.lines || facts.relocations);
	if (!fits)
		snprintf(why, size, "%s has neither lines (-g1) nor relocations (--emit-relocs)",
			path);
	image_facts_fini(&facts);
	return fits;
}

/* ---- the process that records ---- */

static int spawn_recorder(struct monitor_session *s, const char *file, const char *log)
{
	char pid[48];
	char *const words[] = {(char *)(uintptr_t)s->ssrun, (char *)"-q", (char *)"-branches",
		(char *)"-bursts", (char *)SESSION_RATE, (char *)"-pid", pid, (char *)"-for",
		(char *)SESSION_SECONDS, (char *)"-o", (char *)(uintptr_t)file, NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t how;
	sigset_t none;
	int failed;

	snprintf(pid, sizeof(pid), "%d@%" PRIu64, (int)s->pid, s->began);
	sigemptyset(&none);
	posix_spawnattr_init(&how);
	posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
	posix_spawnattr_setsigmask(&how, &none);
	posix_spawn_file_actions_init(&files);
	failed = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0) ||
		 posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0) ||
		 posix_spawn_file_actions_addopen(
			 &files, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	pthread_mutex_lock(&s->lock);
	failed = failed ? ENOMEM : posix_spawnp(&s->child, s->ssrun, &files, &how, words, environ);
	if (failed)
		s->child = 0;
	else if (__atomic_load_n(&s->stop, __ATOMIC_ACQUIRE))
		kill(s->child, SIGTERM);
	pthread_mutex_unlock(&s->lock);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&how);
	if (failed)
		snprintf(s->why, sizeof(s->why), "cannot run %.120s: %s", s->ssrun,
			strerror(failed));
	return failed ? -1 : 0;
}

/* It is never killed: a program that is followed would die with the tracer. */
static void await_recorder(struct monitor_session *s)
{
	struct rusage usage = {0};
	siginfo_t info;
	pid_t child = s->child;

	while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
		;
	pthread_mutex_lock(&s->lock);
	s->child = 0;
	if (wait4(child, NULL, 0, &usage) == child)
		s->spent += clock_used_ns(&usage);
	pthread_mutex_unlock(&s->lock);
}

/* ---- what it recorded ---- */

static void take_sums(struct monitor_session *s, const struct experiment *x)
{
	uint64_t samples = experiment_tally(x, TALLY_SAMPLES_LEFT_OUT);

	for (size_t i = 0; i < x->samples.count; i++)
		samples += experiment_sample_at(x, i)->count;
	s->spent += (double)experiment_tally(x, TALLY_STOP_NS) + (double)samples * s->sample_cost;
	s->bursts = experiment_tally(x, TALLY_BURSTS);
	s->branches = experiment_tally(x, TALLY_TRANSFERS);
}

/* What the recorder said last, or what reading its file said. */
static void take_failure(struct monitor_session *s, const char *log, const struct error *e)
{
	size_t length;
	char *text = file_read(log, 0, &length, NULL), *line = text;

	if (text)
		line[strcspn(line, "\n")] = '\0';
	snprintf(s->why, sizeof(s->why), "%.200s", text && *text ? text : e->message);
	free(text);
}

static void take_records(struct monitor_session *s, const char *file, const char *log)
{
	struct experiment_damage damage = {0};
	struct store to = *s->store;
	struct error e = {0};
	struct experiment x;
	size_t images;

	if (experiment_read(&x, file, &damage, &e)) {
		take_failure(s, log, &e);
		return;
	}
	take_sums(s, &x);
	if (!s->bursts)
		snprintf(s->why, sizeof(s->why), "no branches were recorded");
	else if (damage.damaged)
		snprintf(s->why, sizeof(s->why), "%.200s", damage.message);
	else if (store_add(&to, &x, 0, &images, NULL, &e))
		snprintf(s->why, sizeof(s->why), "%.200s", e.message);
	else
		s->outcome = SESSION_HELD;
	experiment_fini(&x);
}

static void hold_session(struct monitor_session *s)
{
	char *file = NULL, *log = NULL;

	s->outcome = SESSION_FAILED;
	if (asprintf(&file, "%s/.session.ssexp", s->store->directory) < 0)
		file = NULL;
	if (asprintf(&log, "%s/.session.log", s->store->directory) < 0)
		log = NULL;
	if (file && log) {
		unlink(file);
		if (spawn_recorder(s, file, log) == 0) {
			await_recorder(s);
			take_records(s, file, log);
		}
		unlink(file);
		unlink(log);
	}
	free(file);
	free(log);
}

static void examine_image(struct monitor_session *s)
{
	struct error e = {0};

	s->outcome = SESSION_HELD;
	if (!monitor_follow_fits(s->readable, s->why, sizeof(s->why))) {
		s->outcome = SESSION_UNFIT;
	} else if (store_sum(s->store, &s->image, &s->known, &e)) {
		snprintf(s->why, sizeof(s->why), "%.200s", e.message);
		s->outcome = SESSION_FAILED;
	} else if (monitor_session_enough(s->known.bursts, s->known.branches, s->known.followed)) {
		s->outcome = SESSION_KNOWN;
	}
}

static void *session_thread(void *context)
{
	struct monitor_session *s = context;

	if (s->examine)
		examine_image(s);
	if (s->outcome == SESSION_HELD)
		hold_session(s);
	s->own = (double)clock_of(CLOCK_THREAD_CPUTIME_ID);
	s->spent += s->own;
	__atomic_store_n(&s->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

int monitor_session_begin(struct monitor_session *s)
{
	s->outcome = SESSION_HELD;
	pthread_mutex_init(&s->lock, NULL);
	if (pthread_create(&s->thread, NULL, session_thread, s) == 0)
		return 0;
	pthread_mutex_destroy(&s->lock);
	return -1;
}

bool monitor_session_ended(const struct monitor_session *s)
{
	return __atomic_load_n(&s->ended, __ATOMIC_ACQUIRE);
}

void monitor_session_join(struct monitor_session *s, bool stop)
{
	if (stop) {
		__atomic_store_n(&s->stop, true, __ATOMIC_RELEASE);
		pthread_mutex_lock(&s->lock);
		if (s->child > 0)
			kill(s->child, SIGTERM);
		pthread_mutex_unlock(&s->lock);
	}
	pthread_join(s->thread, NULL);
	pthread_mutex_destroy(&s->lock);
}
