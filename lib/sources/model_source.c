/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The `model` source: the command runs under a Valgrind tool of ours (lib/valgrind), which drives a
 * modelled processor (lib/model) and leaves its counts in files (model/wire/shared.h).
 *
 * The tool counts all the time; stopping, starting and periodic reading are differences of the
 * counts in the files, with the resolution given there. Only user mode is modelled.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/strbuf.h"
#include "model/wire/shared.h"
#include "process/executable.h"
#include "process/launch.h"
#include "sources/model_arguments.h"
#include "sources/model_counts.h"
#include "sources/model_install.h"
#include "sources/model_reading.h"
#include "sources/model_scratch.h"
#include "sources/source.h"
#include "sources/windows.h"

#define TICK_SECONDS 0.25

struct model_session {
	struct source_options options;
	struct event_spec *specs; /* borrowed */
	size_t count;
	struct model_install install;
	struct model_scratch scratch;
	char command[128]; /* for messages */
	char note[256];    /* as in struct reading */
	struct model_counts counts;
	bool enabled;
	double enabled_at, enabled_seconds;
	struct model_sums base;                  /* what there was when counting was enabled */
	struct model_sums kept;                  /* counted while enabled, before that */
	double instructions;                     /* at the last tick */
	double modelled;                         /* likewise, seconds; 0: unknown */
	unsigned parts;                          /* of the model */
	struct model_execution_config execution; /* what no clock of the model sees is here */
};

/* ---- probe and accepts ---- */

static int model_probe(const struct source_options *options, struct error *why)
{
	struct model_install install;
	int rc = model_install_find(&install, why);
	const char *wrong;

	model_install_fini(&install);
	if (rc)
		return -1;
	wrong = options->machine ? model_check(&options->machine->model) : NULL;
	if (wrong)
		return error_set(why, ERR_RANGE, "the machine %s cannot be modelled: %s",
			options->machine->name, wrong);
	return 0;
}

static int model_accepts(
	const struct source_options *options, struct event_spec *spec, struct error *why)
{
	const struct event *event;

	event_user_row(spec);
	event = spec->event;
	if (spec->origin != EVENT_ORIGIN_TABLE || !event) {
		error_set(why, ERR_UNSUPPORTED,
			"the model does not have the processor's own event %s", spec->name);
		if (event_perf_hint(spec->name, why))
			return -1;
		return error_hint(why, "perfex -list shows the events that it has");
	}
	if (!(event->flags & EVENT_MODEL)) {
		error_set(why, ERR_UNSUPPORTED, "the model does not count %s", event->name);
		return event->flags & EVENT_OS ? error_hint(why, "-source os counts it") : -1;
	}
	if (options->profile && options->profile->blocks && !profile_is_executed(event->number)) {
		error_set(why, ERR_UNSUPPORTED, "-blocks does not model %s", event->name);
		return error_hint(why, "leave out -blocks, or count instructions or branches");
	}
	if (!options->user) {
		error_set(why, ERR_UNSUPPORTED, "the model sees user mode only");
		return error_hint(
			why, "leave the level out, or count on hardware with -source pmu");
	}
	if (options->machine && !model_counts_event(&options->machine->model, event->number)) {
		error_set(why, ERR_UNSUPPORTED, "the machine %s, as modelled, has no %s",
			options->machine->name, event->name);
		return error_hint(why, "choose another with -machine");
	}
	return 0;
}

/* ---- the run ---- */

static void model_close(void *session)
{
	struct model_session *s = session;

	if (!s)
		return;
	model_scratch_remove(&s->scratch);
	model_counts_fini(&s->counts);
	model_sums_fini(&s->base);
	model_sums_fini(&s->kept);
	model_install_fini(&s->install);
	free(s);
}

static void *model_open(const struct source_options *options, struct event_spec *specs,
	size_t count, struct error *e)
{
	struct model_session *s = calloc(1, sizeof(*s));
	struct model_config config;

	if (!s) {
		error_nomem(e);
		return NULL;
	}
	s->options = *options;
	s->specs = specs;
	s->count = count;
	if (options->kernel || options->exceptions)
		snprintf(s->note, sizeof(s->note),
			"the model sees user mode only: nothing of the kernel is counted");
	if (!options->machine) {
		error_set(e, ERR_RANGE, "the model needs a machine to model");
		model_close(s);
		return NULL;
	}
	config = options->machine->model;
	model_arguments_ask(&config, options, specs, count);
	s->parts = config.parts;
	s->execution = config.execution;
	if (model_install_find(&s->install, e) == 0 &&
		model_scratch_make(&s->scratch, &config, e) == 0) {
		s->counts.directory = s->scratch.path;
		s->counts.per_thread = options->per_thread;
		return s;
	}
	model_close(s);
	return NULL;
}

/* What Valgrind cannot run is refused here, before anything is started. */
static int check_command(const char *command, struct error *e)
{
	enum executable kind;
	char path[4096];

	if (executable_find(command, path, sizeof(path), e) || executable_kind(path, &kind, e))
		return -1;
	switch (kind) {
	case EXECUTABLE_64:
		return 0;
	case EXECUTABLE_OTHER:
		error_set(e, ERR_UNSUPPORTED,
			"%s is not a 64-bit x86 program, which the model needs", path);
		break;
	case EXECUTABLE_PRIVILEGED:
		error_set(e, ERR_PERMISSION,
			"%s has privileges (set-user-ID, set-group-ID, capabilities): Valgrind "
			"cannot run it",
			path);
		break;
	case EXECUTABLE_UNREADABLE:
		error_set(e, ERR_PERMISSION, "%s is not readable: the model must read it", path);
		break;
	}
	if (e) {
		e->code = ERR_CANNOT_RUN;
		e->errnum = EACCES;
	}
	return error_hint(e, "use -source os or -source pmu, which run it natively");
}

/* Shells set "_" to a program's path. For the same stack as under cachegrind, "_" must be the
 * wrapper's path and not ours. */
static int imitate_shell(const char *wrapper, struct launch *launch, struct error *e)
{
	const char *said = getenv("_");
	char target[1024];
	struct stat ours, theirs;
	ssize_t n;

	if (!said || stat(said, &theirs) != 0 || stat("/proc/self/exe", &ours) != 0 ||
		ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino)
		return 0;
	n = readlink(wrapper, target, sizeof(target) - 1);
	target[n > 0 ? n : 0] = '\0';
	return launch_setenv(launch, "_", n > 0 ? target : wrapper, e);
}

enum { FIXED_ARGUMENTS = 17, OWN_ARGUMENTS = 4 + MODEL_PROFILE_ARGUMENTS }; /* of Valgrind */

/* Those that contain numbers or names of this run; some may stay empty. */
static void own_arguments(const struct model_session *s, struct strbuf own[OWN_ARGUMENTS])
{
	model_log_argument(s->scratch.path, &own[0]);
	strbuf_printf(&own[1], "--model-config=%s/config", s->scratch.path);
	strbuf_printf(&own[2], "--model-counts=%s", s->scratch.path);
	if (s->options.turn)
		strbuf_printf(&own[3], "--model-turn=%u", s->options.turn);
	model_profile_arguments(s->options.profile, &own[4]);
}

static int model_prepare(void *session, struct launch *launch, struct error *e)
{
	struct model_session *s = session;
	bool imitate = s->options.machine->model.flavour == MODEL_CACHEGRIND && s->install.wrapper;
	struct strbuf own[OWN_ARGUMENTS] = {{0}};
	char *prefix[] = {
		imitate ? s->install.wrapper : s->install.launcher,
		"--tool=perfexmodel",
		"-q",
		"--command-line-only=yes", /* not the user's ~/.valgrindrc */
		"--trace-children=yes",
		"--vgdb=no",
		"--sanity-level=0",
		"--fair-sched=no",
		"--max-threads=1500",
		"--default-suppressions=no",
		"--sim-hints=lax-ioctls",
		"--sigill-diagnostics=yes",
		"--model-path=",
		"--model-argv0=",
		"--model-generation=",
		s->options.fast ? "--model-fast=yes" : "--model-fast=no",
		s->options.machine->family[0] ? "--model-host=yes" : "--model-host=no",
		[FIXED_ARGUMENTS + OWN_ARGUMENTS + 1] = NULL,
	};
	size_t at = FIXED_ARGUMENTS;
	bool failed = false;
	int rc = -1;

	snprintf(s->command, sizeof(s->command), "%s", launch->argv[0]);
	if (check_command(launch->argv[0], e))
		return -1;
	own_arguments(s, own);
	for (size_t i = 0; i < OWN_ARGUMENTS; i++) {
		failed |= own[i].failed;
		if (own[i].data)
			prefix[at++] = own[i].data;
	}
	prefix[at] = "--";
	if (failed)
		error_nomem(e);
	else
		rc = launch_wrap(launch, prefix, e);
	if (rc == 0 && imitate)
		rc = imitate_shell(s->install.wrapper, launch, e);
	for (size_t i = 0; i < OWN_ARGUMENTS; i++)
		strbuf_fini(&own[i]);
	return rc;
}

static int model_attach(void *session, pid_t pid, bool running, struct error *e)
{
	struct model_session *s = session;

	if (!running) {
		model_scratch_note(&s->scratch, pid);
		return 0;
	}
	error_set(e, ERR_UNSUPPORTED, "the model cannot attach to a process that runs already");
	return error_hint(
		e, "start the command under perfex, or use -source pmu or -source os with -pid");
}

static int model_enable(void *session, bool on, struct error *e)
{
	struct model_session *s = session;
	struct model_sums sums;

	if (s->enabled == on)
		return 0;
	if (model_counts_read(&s->counts, &sums, e))
		return -1;
	s->enabled = on;
	if (on) {
		model_sums_fini(&s->base);
		s->base = sums;
		s->enabled_at = clock_seconds();
		return 0;
	}
	s->enabled_seconds += clock_seconds() - s->enabled_at;
	model_sums_subtract(&sums, &s->base);
	if (model_sums_add(&s->kept, &sums, e)) {
		model_sums_fini(&sums);
		return -1;
	}
	model_sums_fini(&sums);
	return 0;
}

/* Valgrind takes SIGTSTP from its program and does nothing with it. */
static void model_stop(void *session, bool stop)
{
	const struct model_session *s = session;
	DIR *d = opendir(s->scratch.path);
	const char *name;

	while ((name = file_next(d, MODEL_SHARED_PREFIX))) {
		pid_t pid = (pid_t)strtol(name + strlen(MODEL_SHARED_PREFIX), NULL, 10);

		if (pid > 0 && getpgid(pid) == getpgrp())
			kill(pid, stop ? SIGSTOP : SIGCONT);
	}
	if (d)
		closedir(d);
}

static double model_tick_interval(void *session)
{
	(void)session;
	return TICK_SECONDS;
}

static int take_profiles(struct model_session *s, bool all, struct error *e)
{
	return s->options.profile ? profile_take(s->options.profile->into, s->scratch.path, all, e)
				  : 0;
}

/* Keeps the number of files small. */
static int model_tick(void *session, struct error *e)
{
	struct model_session *s = session;
	struct model_sums sums;

	if (model_counts_read(&s->counts, &sums, e))
		return -1;
	s->instructions = (double)sums.total[EV_INSTRUCTIONS];
	if (s->parts & MODEL_PART_CLOCK && !s->options.fast)
		s->modelled =
			(double)sums.total[EV_CYCLES] / (double)s->options.machine->model.clock_hz;
	model_sums_fini(&sums);
	return take_profiles(s, false, e);
}

static double model_done(void *session)
{
	const struct model_session *s = session;

	return s->instructions;
}

static double model_modelled(void *session)
{
	const struct model_session *s = session;

	return s->modelled;
}

static const char *model_faster(void *session)
{
	const struct model_session *s = session;

	if (s->options.profile)
		return s->options.profile->blocks || s->options.profile->only_samples
			       ? NULL
			       : "-blocks is faster, with executions only";
	if (s->options.fast || s->options.per_thread || s->parts == MODEL_PART_EXECUTION)
		return NULL;
	return "-fast is faster, with estimates and their intervals";
}

/* ---- results ---- */

/* Messages of Valgrind that the user must know. */
static const struct {
	const char *said, *means;
} troubles[] = {
	/* 62: the prefix of AVX-512, which is nothing else in 64-bit code. */
	{"unhandled instruction bytes: 0x62",
		"AVX-512 code, which Valgrind cannot run: the program got SIGILL.  Build it for "
		"x86-64-v3 (AVX2), or count it natively with -source os"},
	{"unhandled instruction bytes",
		"an instruction that Valgrind cannot run: the program got SIGILL"},
	{"'impossible' happened", "Valgrind crashed with the program: counts end there"},
	{"can't recover", "Valgrind stopped with the program: counts end there"},
	{"FATAL", "Valgrind stopped with the program: counts end there"},
	{"out of memory",
		"Valgrind ran out of memory and stopped with the program: counts end there"},
	{"perfexmodel: ", "some processes were not counted"},
};

/* Copies the line that `at` is in, without its "==123== ". */
static void copy_line(const char *text, const char *at, char *line, size_t size)
{
	while (at > text && at[-1] != '\n')
		at--;
	at += strspn(at, "=-0123456789 \t");
	snprintf(line, size, "%.*s", (int)strcspn(at, "\n"), at);
}

/* first: the first line with text. Returns the index of the trouble reported in `line`, or -1. */
static int read_log(const char *path, char *first, size_t size, char *line)
{
	size_t length, count = sizeof(troubles) / sizeof(troubles[0]);
	char *text = file_read(path, 0, &length, NULL);
	int trouble = -1;

	for (const char *at = text; text && !first[0] && *at; at += *at == '\n') {
		copy_line(text, at, first, size);
		at += strcspn(at, "\n");
	}
	for (size_t i = 0; text && i < count && trouble < 0; i++) {
		const char *at = strstr(text, troubles[i].said);

		if (!at)
			continue;
		trouble = (int)i;
		copy_line(text, at, line, size);
	}
	free(text);
	return trouble;
}

#define LOG_LINE 120

/* Puts trouble into the note; first: the first message of all, "" if there is none. */
static void read_logs(struct model_session *s, char *first)
{
	DIR *d = opendir(s->scratch.path);
	char line[LOG_LINE] = "", path[1024];
	const char *name;
	int trouble = -1;

	first[0] = '\0';
	while (trouble < 0 && (name = file_next(d, MODEL_LOG_PREFIX)))
		if (snprintf(path, sizeof(path), "%s/%s", s->scratch.path, name) <
			(int)sizeof(path))
			trouble = read_log(path, first, LOG_LINE, line);
	if (d)
		closedir(d);
	if (trouble >= 0)
		snprintf(s->note, sizeof(s->note), "%s (%s)", troubles[trouble].means, line);
}

/* Nothing of it was counted: why, in Valgrind's words if it left any. */
static int did_not_run(const struct model_session *s, const char *word, struct error *e)
{
	uint64_t has, needs;
	char path[4096];

	if (!word[0] && executable_find(s->command, path, sizeof(path), NULL) == 0 &&
		executable_cut(path, &has, &needs)) {
		error_set(e, ERR_CANNOT_RUN,
			"cannot run %s: the file ends at byte %llu, its segments at %llu", path,
			(unsigned long long)has, (unsigned long long)needs);
		return error_hint(e, "the file is truncated: copy or link it again");
	}
	if (!word[0] && access("/proc/self/exe", R_OK) != 0) {
		error_set(e, ERR_CANNOT_RUN, "the model could not run %s: /proc is not mounted",
			s->command);
		return error_hint(e, "as root: mount -t proc proc /proc");
	}
	error_set(e, ERR_CANNOT_RUN, "the model could not run %s: %s", s->command,
		word[0] ? word : "Valgrind ended without a message");
	return error_hint(e, "`valgrind --tool=none %s` may say more", s->command);
}

static int model_finish(void *session, const struct rusage *usage, struct error *e)
{
	struct model_session *s = session;
	char first[LOG_LINE];
	struct model_sums sums;
	bool ran;

	(void)usage;
	if (model_counts_read(&s->counts, &sums, e) || take_profiles(s, true, e))
		return -1;
	if (s->options.profile)
		model_profile_missing(s->options.profile, &sums);
	ran = sums.total[EV_INSTRUCTIONS] != 0;
	s->instructions = (double)sums.total[EV_INSTRUCTIONS];
	if (sums.native)
		snprintf(s->note, sizeof(s->note),
			"not counted: %llu program%s that cannot run under the model (%.100s)",
			(unsigned long long)sums.native, sums.native > 1 ? "s" : "",
			sums.native_program);
	else if (sums.lost)
		snprintf(s->note, sizeof(s->note),
			"not counted: %llu process%s without room for counts",
			(unsigned long long)sums.lost, sums.lost > 1 ? "es" : "");
	else if (sums.images > s->counts.ended.images)
		snprintf(s->note, sizeof(s->note),
			"not counted: %llu process%s of the command still run%s",
			(unsigned long long)(sums.images - s->counts.ended.images),
			sums.images - s->counts.ended.images > 1 ? "es" : "",
			sums.images - s->counts.ended.images > 1 ? "" : "s");
	model_sums_fini(&sums);
	read_logs(s, first);
	if (ran)
		return 0;
	return did_not_run(s, first, e);
}

static int model_read(void *session, struct reading *r, struct error *e)
{
	struct model_session *s = session;
	struct model_sums sums;
	int rc = -1;

	if (model_counts_read(&s->counts, &sums, e))
		return -1;
	if (!s->enabled) {
		model_sums_fini(&sums);
	} else {
		model_sums_subtract(&sums, &s->base);
	}
	if (model_sums_add(&sums, &s->kept, e))
		goto out;
	if (model_reading_fill(r, &sums, s->specs, s->count, &s->execution, e))
		goto out;
	memcpy(r->note, s->note, sizeof(r->note));
	r->enabled_seconds =
		s->enabled_seconds + (s->enabled ? clock_seconds() - s->enabled_at : 0);
	rc = 0;
out:
	model_sums_fini(&sums);
	return rc;
}

const struct source_ops source_model = {
	.name = "model",
	.probe = model_probe,
	.accepts = model_accepts,
	.open = model_open,
	.prepare = model_prepare,
	.attach = model_attach,
	.enable = model_enable,
	.stop = model_stop,
	.tick_interval = model_tick_interval,
	.tick = model_tick,
	.instructions = model_done,
	.modelled = model_modelled,
	.faster = model_faster,
	.read = model_read,
	.finish = model_finish,
	.close = model_close,
};
