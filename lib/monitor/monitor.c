/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"
#include "monitor/monitor_follow.h"
#include "monitor/monitor_http.h"
#include "monitor/monitor_own.h"

/* A record's time is taken shortly before it is visible; newer records wait. */
#define MONITOR_GUARD (SECOND / 1000)
#define ROUND_MS      1000
#define STATUS_EVERY  (10 * (uint64_t)SECOND)
#define SWEEP_EVERY   (3600 * (uint64_t)SECOND)
#define DAY_SECONDS   86400
/* As prof store -gc; and no more files of one day, image and machine than these. */
enum { KEEP_DAYS = 14, KEEP_WEEKS = 12, KEEP_MEGABYTES = 256, DAY_FILES = 12 };

struct monitor {
	const struct monitor_request *request;
	struct store store;
	struct monitor_clock clock;
	struct rings rings;
	struct watch watch;
	struct monitor_own own;
	struct monitor_status status;
	struct monitor_http *http;
	struct monitor_follow *follow; /* NULL: no branches */
	double earned; /* ns of processor time for branches, of all the time that passed */
	double before, before_own; /* spent on them at the beginning of the interval, besides cpu
				      and in it */
	int lock, signals;
	bool scope_own, watching, open, stop, write_now,
		unwritten; /* unwritten: the last writing failed */
	VEC(struct pollfd) poll;
	struct watch_part part;
	pthread_t writer;
	bool threaded;
	enum { NOT_WRITING, WRITING, WRITTEN } writing; /* the thread sets WRITTEN */
	uint64_t began, interval;        /* clock_ns: of the Monitor, and of what is in memory */
	uint64_t cpu, records;           /* at the beginning of the interval */
	uint64_t next_status, next_look; /* clock_ns */
	struct {
		uint64_t next;    /* clock_ns */
		time_t day;       /* since 1970, when it was looked at last */
		uint64_t at;      /* clock_ns, then */
		uint64_t doubted; /* clock_ns: until then the day is not believed */
		uint64_t bytes;   /* in the store, after */
	} sweep;
};

static void monitor_say(const struct monitor *m, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void monitor_say(const struct monitor *m, const char *format, ...)
{
	char line[1024];
	va_list ap;

	if (!m->request->say)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	m->request->say(m->request->context, line);
}

/* ---- opening ---- */

/* The part of the budget that is for samples. */
static double ticks_budget(const struct monitor_request *r)
{
	return r->branches ? r->budget / 3 : r->budget;
}

static int look_at_system(struct monitor *m, uint64_t time, struct error *e)
{
	DIR *list = proc_list(0);
	int rc = 0;
	pid_t pid;

	if (!list)
		return error_sys(e, errno, "cannot read /proc");
	while (rc == 0 && (pid = proc_next(list)))
		if (!spaces_process(&m->watch.spaces, pid, time))
			rc = error_nomem(e);
	closedir(list);
	return rc;
}

/* An event of ourselves that counts nothing has the rings: it does not end before us. */
static int open_own(struct monitor *m, struct error *e)
{
	struct perf_event_attr attr = monitor_clock_attr(&m->clock);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	attr.mmap = attr.mmap2 = attr.comm = attr.comm_exec = attr.task = 0;
	attr.exclude_kernel = m->clock.user_only;
	if (rings_open(&m->rings, &attr, getpid(), 0, e))
		return errno ? error_sys(e, errno, "cannot open events") : -1;
	return monitor_own_look(&m->own, &m->clock, &m->rings, &m->watch, clock_ns(), e);
}

static int open_system(struct monitor *m, struct error *e)
{
	struct perf_event_attr attr = monitor_clock_attr(&m->clock);

	if (rings_open(&m->rings, &attr, -1, 0, e))
		return errno ? error_sys(e, errno, "cannot open events") : -1;
	rings_enable(&m->rings, true);
	return look_at_system(m, clock_ns(), e);
}

static void monitor_close(struct monitor *m)
{
	if (!m->open)
		return;
	m->open = false;
	rings_fini(&m->rings);
	monitor_own_fini(&m->own);
	vec_fini(&m->poll);
}

static int add_descriptor(struct monitor *m, int fd, struct error *e)
{
	struct pollfd *p = vec_push(&m->poll);

	if (!p)
		return error_nomem(e);
	*p = (struct pollfd){.fd = fd, .events = POLLIN};
	return 0;
}

/* Of a processor: large where there are few, so that nothing is lost while we wait for a busy one.
 */
static size_t ring_bytes(void)
{
	long processors = sysconf(_SC_NPROCESSORS_CONF);

	return (size_t)(processors <= 4 ? 512 : processors <= 16 ? 256 : 128) << 10;
}

/* Watch, rings and events, by the clock as it is. */
static int monitor_open(struct monitor *m, struct error *e)
{
	struct perf_event_attr attr = monitor_clock_attr(&m->clock);
	struct record_format format = {
		.sample_type = attr.sample_type, .registers = attr.sample_regs_user};

	m->open = true;
	if (rings_init(&m->rings, &format, ring_bytes(), e) ||
		(m->scope_own ? open_own(m, e) : open_system(m, e)) ||
		add_descriptor(m, m->signals, e))
		return -1;
	for (size_t i = 0; i < m->rings.poll.count; i++)
		if (add_descriptor(m, m->rings.poll.data[i].fd, e))
			return -1;
	return 0;
}

static int monitor_choose(struct monitor *m, struct error *e)
{
	const struct monitor_request *r = m->request;
	struct error why;

	m->scope_own = r->own;
	if (!r->own && monitor_clock_choose(&m->clock, r->clock, false, ticks_budget(r), &why) == 0)
		return 0;
	if (!r->own && why.code != ERR_PERMISSION) {
		*e = why;
		return -1;
	}
	if (!r->own)
		monitor_say(
			m, "only your own processes are watched: %s (%s)", why.message, why.hint);
	m->scope_own = true;
	return monitor_clock_choose(&m->clock, r->clock, true, ticks_budget(r), e);
}

static int monitor_signals(struct monitor *m, sigset_t *before, struct error *e)
{
	static const int handled[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(handled) / sizeof(handled[0]); i++)
		sigaddset(&set, handled[i]);
	sigprocmask(SIG_BLOCK, &set, before);
	m->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return m->signals >= 0 ? 0 : error_sys(e, errno, "signalfd");
}

/* ---- what it costs ---- */

static double machine_share(
	const struct monitor *m, uint64_t cpu, uint64_t records, uint64_t passed)
{
	double machine = (double)passed * (double)sysconf(_SC_NPROCESSORS_ONLN);

	return machine > 0 ? ((double)cpu + (double)records * m->clock.cost) / machine : 0;
}

/* ns of processor time that sessions took besides our own. */
static double followed_besides(const struct monitor *m, double *own)
{
	double all = m->follow ? monitor_follow_spent(m->follow, own) : (*own = 0);

	return all - *own;
}

/* What is left for sessions of the time that passed, in ns; it never decreases. */
static double follow_earned(struct monitor *m, uint64_t now)
{
	double own, ticks, all;

	(void)followed_besides(m, &own);
	ticks = (double)clock_of(CLOCK_PROCESS_CPUTIME_ID) - own +
		(double)m->watch.counts.records * m->clock.cost;
	all = m->request->budget * (double)(now - m->began) * (double)sysconf(_SC_NPROCESSORS_ONLN);
	if (all - ticks > m->earned)
		m->earned = all - ticks;
	return m->earned;
}

/* The status as it is now. */
static void monitor_settle(struct monitor *m, uint64_t now)
{
	const struct watch_counts *c = &m->watch.counts;
	struct monitor_status *s = &m->status;
	double own, besides = followed_besides(m, &own);

	if (m->follow)
		monitor_follow_settle(m->follow, s);
	s->updated = clock_of(CLOCK_REALTIME) / SECOND;
	s->period = m->clock.watch.period;
	s->cost = m->clock.cost * 1e-9;
	s->elapsed = (double)(now - m->began) * 1e-9;
	s->cpu = (double)clock_of(CLOCK_PROCESS_CPUTIME_ID) * 1e-9;
	s->overhead = machine_share(m, clock_of(CLOCK_PROCESS_CPUTIME_ID) + (uint64_t)besides,
		c->records, now - m->began);
	s->records = c->records;
	s->user = c->user;
	s->system = c->system;
	s->kernel = c->kernel;
	s->idle = c->idle;
	s->early = c->early;
	s->generated = c->generated;
	s->gone = c->gone;
	s->unmapped = c->unmapped;
	s->between = c->between;
	s->lost = c->lost;
	s->stored = c->stored;
	s->dropped = c->dropped;
	s->unattached = m->own.unattached;
	s->processes = spaces_count(&m->watch.spaces);
	s->images = m->watch.images.list.count;
	s->addresses = m->watch.experiment.nodes.count - 1;
	s->resident = proc_own_memory(1);
}

static void monitor_publish(struct monitor *m, uint64_t now)
{
	struct monitor_status *s = &m->status;
	struct error why;

	monitor_settle(m, now);
	m->next_status = now + STATUS_EVERY;
	if (monitor_status_write(&m->store, s, &why))
		snprintf(s->error, sizeof(s->error), "%.250s", why.message);
}

/* All is opened anew: a ring has one period. */
static int open_again(struct monitor *m, struct error *e)
{
	monitor_close(m);
	spaces_fini(&m->watch.spaces);
	spaces_init(&m->watch.spaces, &m->watch.experiment, &m->watch.images);
	m->watch.spaces.unlisted = true;
	return monitor_open(m, e);
}

/* share: of the machine, without sessions; samples: of that, what their recording takes. */
static int change_pace(struct monitor *m, double share, double samples, struct error *e)
{
	int wanted = monitor_clock_wanted(ticks_budget(m->request), share, samples);
	bool slower = wanted < 0 && monitor_clock_slower(&m->clock);

	if (!slower && !(wanted > 0 && monitor_clock_faster(&m->clock)))
		return 0;
	m->status.slowed += slower;
	monitor_say(m, "%.3f%% of the machine is %s the budget: one sample in %.1f ms from now on",
		100 * share, slower ? "over" : "far below", (double)m->clock.watch.period * 1e-6);
	return open_again(m, e);
}

static int keep_budget(struct monitor *m, uint64_t now, struct error *e)
{
	uint64_t cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID) - m->cpu,
		 records = m->watch.counts.records - m->records;
	uint64_t passed = now - m->interval;
	double own, besides = followed_besides(m, &own);
	double all = machine_share(m, cpu + (uint64_t)(besides - m->before), records, passed);
	uint64_t watching = cpu - (uint64_t)(own - m->before_own);

	m->cpu += cpu;
	m->records += records;
	m->interval = now;
	m->before = besides;
	m->before_own = own;
	if (passed >= SECOND && all > m->status.peak) /* the last one may be of no length */
		m->status.peak = all;
	if (m->stop || passed < SECOND)
		return 0;
	return change_pace(m, machine_share(m, watching, records, passed),
		machine_share(m, 0, records, passed), e);
}

/* ---- writing ---- */

/* A clock that was set by more than this is not believed for a day: files are removed by age. */
static bool day_is_certain(struct monitor *m, uint64_t now)
{
	time_t expected = m->sweep.day + (time_t)((now - m->sweep.at) / SECOND);
	time_t is = (time_t)(clock_of(CLOCK_REALTIME) / SECOND);

	if (m->sweep.at && llabs((long long)is - (long long)expected) > DAY_SECONDS / 2) {
		m->sweep.doubted = now + (uint64_t)DAY_SECONDS * SECOND;
		monitor_say(m, "the clock was set by %lld seconds: nothing is removed for a day",
			(long long)is - (long long)expected);
	}
	m->sweep.day = is;
	m->sweep.at = now;
	return now >= m->sweep.doubted;
}

static void sweep_at_times(struct monitor *m, uint64_t now)
{
	struct store_policy policy = {
		.today = store_day_of((long)(clock_of(CLOCK_REALTIME) / SECOND / 86400)),
		.days = KEEP_DAYS,
		.weeks = KEEP_WEEKS,
		.most = DAY_FILES,
		.quota = (uint64_t)KEEP_MEGABYTES << 20};
	struct store_swept swept;
	struct error why;
	bool certain = day_is_certain(m, now);

	if (now < m->sweep.next || !certain)
		return;
	m->sweep.next = now + SWEEP_EVERY;
	if (store_sweep(&m->store, &policy, &swept, &why))
		monitor_say(m, "%s: old files stay for now", why.message);
	else
		m->sweep.bytes = swept.bytes;
}

static void *monitor_writer(void *context)
{
	struct monitor *m = context;

	monitor_watch_put(&m->part, &m->store);
	sweep_at_times(m, clock_ns());
	__atomic_store_n(&m->writing, WRITTEN, __ATOMIC_RELEASE);
	return NULL;
}

/* The disk may be slow, and records must be read meanwhile: a thread writes. */
static int monitor_write(struct monitor *m, uint64_t now, struct error *e)
{
	if (monitor_watch_detach(&m->watch, &m->part, &m->clock.watch, clock_of(CLOCK_REALTIME),
		    now - m->interval))
		return error_nomem(e);
	m->write_now = false;
	m->writing = WRITING;
	m->threaded = pthread_create(&m->writer, NULL, monitor_writer, m) == 0;
	if (!m->threaded)
		monitor_writer(m);
	return spaces_trim(&m->watch.spaces) ? error_nomem(e) : 0;
}

/* Takes note of what the thread did, if it has ended or must. */
static int monitor_written(struct monitor *m, bool wait, struct error *e)
{
	int writing = __atomic_load_n(&m->writing, __ATOMIC_ACQUIRE);

	if (writing == NOT_WRITING || (!wait && writing == WRITING))
		return 0;
	if (m->threaded)
		pthread_join(m->writer, NULL);
	m->writing = NOT_WRITING;
	m->unwritten = m->part.failed != 0;
	m->status.writes++;
	m->next_status = 0; /* what became of it is said now */
	m->status.stored_bytes = m->sweep.bytes;
	if (m->unwritten) {
		if (m->status.failures++ == 0)
			monitor_say(m, "%s: it is tried again", m->part.why.message);
		snprintf(m->status.error, sizeof(m->status.error), "%.250s", m->part.why.message);
	}
	return monitor_watch_settle(&m->watch, &m->part) ? error_nomem(e) : 0;
}

/* What is in memory belongs to the day on which it began. What could not be written last time is
 * not tried again at every round. */
static bool is_due(const struct monitor *m, uint64_t now)
{
	uint64_t day = (uint64_t)DAY_SECONDS * SECOND;

	return m->write_now || monitor_watch_full(&m->watch) ||
	       (!m->unwritten && monitor_watch_fills(&m->watch)) ||
	       now - m->interval >= (uint64_t)(m->request->every * SECOND) ||
	       clock_of(CLOCK_REALTIME) / day != m->watch.began / day;
}

/* ---- while it runs ---- */

static void monitor_hear(struct monitor *m)
{
	struct signalfd_siginfo info;

	while (read(m->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGUSR1)
			m->write_now = true;
		else
			m->stop = true;
	}
}

static int monitor_on_record(void *context, const struct record *r)
{
	return monitor_watch_take(context, r);
}

/* Processes of the user's that others started; events of ended ones. */
static int look_again(struct monitor *m, uint64_t now, struct error *e)
{
	if (!m->scope_own || now < m->next_look)
		return 0;
	m->next_look = now + 2 * (uint64_t)SECOND;
	return monitor_own_look(&m->own, &m->clock, &m->rings, &m->watch, now, e);
}

static int follow_again(struct monitor *m, uint64_t now, struct error *e)
{
	int rc = m->follow && !m->stop
			 ? monitor_follow_round(m->follow, &m->watch, follow_earned(m, now), now)
			 : 0;

	if (rc > 0)
		m->next_status = now;
	return rc < 0 ? error_nomem(e) : 0;
}

static int monitor_round(struct monitor *m, uint64_t limit, struct error *e)
{
	uint64_t now = clock_ns();

	m->watch.wall = clock_of(CLOCK_REALTIME) - now;
	if (rings_drain(&m->rings, limit, monitor_on_record, &m->watch) ||
		monitor_watch_trim(&m->watch))
		return error_nomem(e);
	if (look_again(m, now, e))
		return -1;
	if (m->http) {
		monitor_settle(m, now);
		if (monitor_http_round(m->http, &m->status, &m->watch, now))
			return error_nomem(e);
	}
	if (follow_again(m, now, e))
		return -1;
	if (monitor_written(m, m->stop || monitor_watch_full(&m->watch), e))
		return -1;
	if (__atomic_load_n(&m->writing, __ATOMIC_ACQUIRE) == NOT_WRITING && is_due(m, now) &&
		(monitor_write(m, now, e) || keep_budget(m, now, e)))
		return -1;
	if (now >= m->next_status)
		monitor_publish(m, now);
	return 0;
}

static int monitor_loop(struct monitor *m, struct error *e)
{
	uint64_t end = m->request->seconds > 0
			       ? clock_ns() + (uint64_t)(m->request->seconds * SECOND)
			       : UINT64_MAX;

	while (!m->stop && clock_ns() < end) {
		uint64_t left = (end - clock_ns()) / 1000000;
		int wait = m->follow ? monitor_follow_wait(m->follow, ROUND_MS) : ROUND_MS;

		if (poll(m->poll.data, m->poll.count,
			    left < (uint64_t)wait ? (int)left + 1 : wait) < 0 &&
			errno != EINTR)
			return error_sys(e, errno, "poll");
		monitor_hear(m);
		if (monitor_round(m, clock_ns() - MONITOR_GUARD, e))
			return -1;
	}
	rings_enable(&m->rings, false);
	monitor_follow_end(m->follow);
	m->write_now = m->stop = true;
	return monitor_round(m, UINT64_MAX, e) || monitor_written(m, true, e) ? -1 : 0;
}

static int monitor_begin(struct monitor *m, struct error *e)
{
	const struct monitor_request *r = m->request;
	const struct monitor_follow_request follow = {
		.store = &m->store, .ssrun = r->ssrun, .spared = r->spared, .only = r->only};
	struct monitor_status *s = &m->status;

	if (store_open(&m->store, r->directory, true, e) ||
		(m->lock = monitor_lock(&m->store, e)) < 0)
		return -1;
	m->began = clock_ns();
	if (r->listen && !(m->http = monitor_http_new(r->listen, e)))
		return -1;
	if (monitor_choose(m, e))
		return -1;
	m->watching = true;
	if (monitor_watch_init(&m->watch, &m->clock.watch, clock_of(CLOCK_REALTIME)))
		return error_nomem(e);
	if (monitor_open(m, e))
		return -1;
	s->pid = (uint64_t)getpid();
	s->began = clock_of(CLOCK_REALTIME) / SECOND;
	s->budget = r->budget;
	snprintf(s->clock, sizeof(s->clock), "%s", monitor_clock_names[m->clock.kind]);
	snprintf(s->scope, sizeof(s->scope), "%s", m->scope_own ? "user" : "system");
	snprintf(s->lacks, sizeof(s->lacks), "%s", m->clock.lacks);
	monitor_say(m, "%s, %s, one sample in %.1f ms, each %.0f ns; store %s",
		m->scope_own ? "your own processes" : "the whole system",
		m->clock.kind == MONITOR_CLOCK_TICK ? "the timer's tick" : "cpu-clock",
		(double)m->clock.watch.period * 1e-6, m->clock.cost, m->store.directory);
	if (m->http)
		monitor_say(m, "http://%s/metrics and /debug/pprof/profile?seconds=N",
			monitor_http_address(m->http));
	if (m->clock.lacks[0])
		monitor_say(m, "not the timer's tick: %s", m->clock.lacks);
	if (r->branches && !(m->follow = monitor_follow_new(&follow, e)))
		return -1;
	/* the beginning is no part of an interval, but has to be earned before branches are */
	m->interval = clock_ns();
	m->cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	monitor_publish(m, m->interval);
	return 0;
}

int monitor_run(const struct monitor_request *r, struct error *e)
{
	struct monitor m = {.request = r, .lock = -1, .signals = -1};
	sigset_t before;
	int rc = monitor_signals(&m, &before, e);

	if (rc == 0)
		rc = monitor_begin(&m, e);
	if (rc == 0) {
		rc = monitor_loop(&m, e);
		monitor_publish(&m, clock_ns());
		if (m.unwritten && rc == 0)
			rc = error_set(e, ERR_SYSTEM, "the last samples were not written: %s",
				m.status.error);
	}
	monitor_written(&m, true, NULL);
	monitor_http_free(m.http);
	monitor_follow_free(m.follow);
	monitor_close(&m);
	if (m.watching)
		monitor_watch_fini(&m.watch);
	store_close(&m.store);
	if (m.lock >= 0)
		close(m.lock);
	monitor_hear(&m); /* they must not kill us now */
	if (m.signals >= 0)
		close(m.signals);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return rc;
}
