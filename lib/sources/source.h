/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sources of counts: one ops struct, and three of them: pmu, os, model. Above lib/sources, only
 * a number's label shows its source.
 *
 * Life of a session: probe -> accepts (each event) -> open -> prepare (the command, before fork) ->
 * attach (to the child, stopped before its exec, or to a running process) -> enable(true) -> tick
 * ... read ... -> [enable(false)] -> finish (all processes ended, or detached) -> read -> close.
 * Counts are cumulative from the first enable on, and do not change while disabled. A session
 * counts a process with all its threads and all descendants created after attach.
 */
#ifndef SOURCES_SOURCE_H
#define SOURCES_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "base/error.h"
#include "events/event.h"
#include "events/label.h"
#include "machine/machine.h"
#include "model/cause.h"
#include "process/threads.h"
#include "sources/profile.h"

/* What else the model is to find out besides counts (sources/profile.h). */
struct profile_request {
	bool blocks; /* executions, blocks and edges only: nothing is modelled */
	const struct profile_sampler *samplers; /* borrowed */
	size_t sampler_count;
	bool only_samples;     /* and caliper points: nothing of each instruction */
	bool stacks;           /* samples with their call paths */
	bool dataspace;        /* which data misses are about */
	uint64_t slice_cycles; /* counts of slices of the run, so long each; 0: none */
	struct profile *into;  /* initialised; results are added */
};

struct source_options {
	bool per_thread;               /* readings carry threads */
	bool user, kernel, exceptions; /* levels to count; default user alone */
	bool from_exec; /* enable(true) comes before launch_release and takes effect at the exec, so
			   that no instruction of ours is counted (a command that is not begun by a
			   signal) */
	bool alone;     /* only the attached thread, without threads that it creates (libperfex) */
	unsigned turn; /* model: superblocks that a thread runs before another gets its turn; 0: the
			  model's own choice */
	bool fast;     /* model: windows of the execution only, and estimates for the rest */
	bool forced;   /* requested by the user: use events even if they fail the self-test */
	const struct machine *machine;         /* model: what to model; borrowed until close */
	const struct profile_request *profile; /* model; NULL: counts are enough */
};

/* One event's count. quantity.label is LABEL_NONE if there is none; then why has the reason in a
 * few words. With a number, why is empty or describes its origin where that matters (rusage instead
 * of a counter). */
struct count {
	struct quantity quantity;
	char why[160];
	bool clamped;   /* an identity (misses <= accesses) moved a scaled estimate */
	bool short_run; /* too few rotations for the interval to mean much: offer -passes */
};

struct thread_reading {
	pid_t pid, tid;
	char command[16];
	struct count *counts; /* as many as the session has events */
};

struct reading {
	size_t count;
	struct count *counts; /* sums over all threads and descendants, in the order of the specs */
	size_t thread_count;  /* 0 unless per_thread */
	struct thread_reading *threads; /* sorted by pid, then tid */
	double enabled_seconds; /* time counted, of the longest-enabled event; 0 if unknown */
	/* Cycles by what they were spent on, where the clock knows. */
	bool clocked;
	struct quantity causes[MODEL_CAUSES];
	char note[256]; /* parts that the counts leave out, or errors on the way; "": nothing */
};

/* Allocates room for count counts (all LABEL_NONE, why empty). */
int reading_init(struct reading *r, size_t count, struct error *e);
/* Adds a zeroed thread row, NULL when memory is out. */
struct thread_reading *reading_add_thread(struct reading *r);
/* By pid, then tid; what has the same numbers (one after the other) stays in its order. */
void reading_sort_threads(struct reading *r);
/* now is initialised with the counts of r less those of before, which r's take the place of; before
 * may be zeroed.  Threads are left out. */
int reading_since(
	struct reading *now, const struct reading *r, struct reading *before, struct error *e);
/* Nothing was counted, and why: zeros would be figures of nothing. */
void reading_uncounted(struct reading *r, const char *why);
void reading_fini(struct reading *r);

struct launch; /* process/launch.h */

struct source_ops {
	const char *name;
	/* Counts a command that runs as it is, so that sessions of several such sources share one
	 * run.  The model replaces the command by itself running under Valgrind, so it has a run of
	 * its own. */
	bool native;
	/* 0 if usable here; else why not, in one line, with the remedy as hint. */
	int (*probe)(const struct source_options *options, struct error *why);
	/* 0 if it can count this event here; may encode spec. */
	int (*accepts)(
		const struct source_options *options, struct event_spec *spec, struct error *why);
	/* specs are borrowed until close. */
	void *(*open)(const struct source_options *options, struct event_spec *specs, size_t count,
		struct error *e);
	/* NULL: nothing is to be prepared. */
	int (*prepare)(void *session, struct launch *launch, struct error *e);
	/* running: pid is not ours and runs already (-pid); else it is our child, stopped before
	 * its exec. */
	int (*attach)(void *session, pid_t pid, bool running, struct error *e);
	/* With per_thread, of a native source: a thread that begins (of a running process, also
	 * existing ones) or ends. NULL in sources that need no calls. */
	int (*thread)(void *session, enum trace_news news, pid_t pid, pid_t tid,
		const char *command, struct error *e);
	int (*enable)(void *session, bool on, struct error *e);
	/* Job control: stops the session's processes, or continues them. NULL in sources whose
	 * processes stop for ^Z by themselves. */
	void (*stop)(void *session, bool stop);
	/* Seconds between the calls of tick that it needs; 0, or both NULL: none. */
	double (*tick_interval)(void *session);
	int (*tick)(void *session, struct error *e);
	/* Instructions executed until the last tick, for the progress line.  NULL in sources that
	 * do not make a run so slow that one is wanted. */
	double (*instructions)(void *session);
	/* Processor time of the modelled processor until then, in seconds; 0: unknown. */
	double (*modelled)(void *session);
	/* What would be faster, in a few words; NULL, or its result NULL: nothing. */
	const char *(*faster)(void *session);
	/* Sets of events that must take turns on the counters: 1, or NULL, when all are counted all
	 * the time. */
	size_t (*groups)(void *session);
	/* r was initialised by reading_init with the session's number of events. */
	int (*read)(void *session, struct reading *r, struct error *e);
	/* usage: of the child and its awaited descendants, NULL if unknown (-pid).  NULL: nothing
	 * is to be done then. */
	int (*finish)(void *session, const struct rusage *usage, struct error *e);
	void (*close)(void *session);
};

extern const struct source_ops source_pmu, source_os, source_model;

/* All of them, in the order in which `auto` tries them, NULL-terminated: pmu, model, os. */
extern const struct source_ops *const sources[];
const struct source_ops *source_find(const char *name);

#endif
