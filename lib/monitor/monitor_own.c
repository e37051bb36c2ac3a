/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_own.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

struct own_process {
	struct {
		uint64_t pid;
	} key;
};

/* Errors but those of memory mean that this thread is not watched. */
static int own_attach_thread(struct monitor_own *o, const struct monitor_clock *clock,
	struct rings *rings, pid_t tid, struct error *e)
{
	struct perf_event_attr attr = monitor_clock_attr(clock);

	attr.inherit = 1;
	attr.disabled = 0;
	if (rings_open(rings, &attr, tid, 0, e) == 0)
		return 0;
	if (errno == 0 && e->code == ERR_NOMEM)
		return -1;
	o->unattached += errno != ESRCH;
	return 0;
}

static int own_attach(struct monitor_own *o, const struct monitor_clock *clock, struct rings *rings,
	struct watch *w, pid_t pid, uint64_t time, struct error *e)
{
	DIR *list = proc_list(pid);
	int rc = 0;
	pid_t tid;

	while (rc == 0 && (tid = proc_next(list)))
		rc = own_attach_thread(o, clock, rings, tid, e);
	if (list)
		closedir(list);
	return rc || !spaces_process(&w->spaces, pid, time) ? error_nomem(e) : 0;
}

static bool of_this_user(pid_t pid)
{
	uid_t owner;

	return proc_owner(pid, &owner) && owner == geteuid();
}

/*
 * A process that was just started by a watched one is watched, but its record may not have been
 * read yet: only what two looks in turn find unknown is attached to. At first all are.
 */
static int own_consider(struct monitor_own *o, const struct monitor_clock *clock,
	struct rings *rings, struct watch *w, struct table *seen, pid_t pid, uint64_t time,
	struct error *e)
{
	const struct own_process key = {.key = {(uint64_t)pid}};

	if (spaces_knows(&w->spaces, pid))
		return 0;
	if (!o->begun || table_find(&o->seen, &key.key))
		return own_attach(o, clock, rings, w, pid, time, e);
	return table_add(seen, &key.key) ? 0 : error_nomem(e);
}

int monitor_own_look(struct monitor_own *o, const struct monitor_clock *clock, struct rings *rings,
	struct watch *w, uint64_t time, struct error *e)
{
	struct table found = TABLE_OF(struct own_process), seen = TABLE_OF(struct own_process);
	DIR *list = proc_list(0);
	int rc = 0;
	pid_t pid;

	if (!list)
		return error_sys(e, errno, "cannot read /proc");
	rings_drop_ended(rings);
	/* all are listed before the first is attached to: its children come by their records */
	while (rc == 0 && (pid = proc_next(list))) {
		const struct own_process key = {.key = {(uint64_t)pid}};

		if (pid != getpid() && of_this_user(pid) && !table_add(&found, &key.key))
			rc = error_nomem(e);
	}
	closedir(list);
	for (size_t i = 0; rc == 0 && i < found.count; i++) {
		const struct own_process *p = table_at(&found, i);

		rc = own_consider(o, clock, rings, w, &seen, (pid_t)p->key.pid, time, e);
	}
	table_fini(&found);
	table_fini(&o->seen);
	o->seen = seen;
	o->begun = true;
	return rc;
}

void monitor_own_fini(struct monitor_own *o)
{
	table_fini(&o->seen);
	memset(o, 0, sizeof(*o));
}
