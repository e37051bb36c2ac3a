/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "values/value_module.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "experiment/values.h"

#define PATIENCE 30 /* seconds for a window, on a loaded machine */

/* All bytes to or from the process; false: it has ended, or time is over (*late). Seconds are
 * counted one by one: time in which we have been stopped, and it with us, is not its fault. */
static bool module_transfer(
	const struct value_module *m, void *data, size_t size, bool out, bool *late)
{
	struct pollfd poll_of = {.fd = m->socket, .events = out ? POLLOUT : POLLIN};
	int seconds = 0;
	char *at = data;

	while (size) {
		ssize_t done = out ? send(m->socket, at, size, MSG_NOSIGNAL | MSG_DONTWAIT)
				   : recv(m->socket, at, size, MSG_DONTWAIT);

		if (done > 0) {
			at += done;
			size -= (size_t)done;
			continue;
		}
		if (done == 0 || (errno != EAGAIN && errno != EINTR))
			return false;
		if (poll(&poll_of, 1, 1000) == 0 && ++seconds > PATIENCE) {
			*late = true;
			return false;
		}
	}
	return true;
}

/* ---- its end ---- */

static int module_reap(struct value_module *m)
{
	int status = 0;

	close(m->socket);
	kill(m->pid, SIGKILL);
	proc_wait(m->pid, &status, 0);
	m->pid = -1;
	return status;
}

/* A process that is about to die of a signal has closed its socket before it can be waited for, so
 * SIGKILL comes too late to replace that signal. */
static void module_drop(struct value_module *m, const char *why, bool late)
{
	int status = module_reap(m);

	if (late)
		why = "took half a minute for a window";
	else if (!why && WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF)
		why = "took a second of CPU time for a window";
	else if (!why && WIFSIGNALED(status))
		why = strsignal(WTERMSIG(status));
	else if (!why)
		why = "ended by itself";
	error_set(&m->gone, ERR_UNSUPPORTED,
		"%s: the module was dropped after %llu window%s (%s): other values are complete",
		m->path, (unsigned long long)m->windows, m->windows == 1 ? "" : "s", why);
}

void value_module_close(struct value_module *m)
{
	if (m->pid > 0)
		module_reap(m);
	free(m->path);
	free(m->text);
	free(m->names);
	free(m->value_names);
	memset(m, 0, sizeof(*m));
	m->pid = -1;
}

/* ---- its beginning ---- */

/* A file without a slash is one of this directory, not one of the loader's. */
static int module_name(struct value_module *m, const char *which, struct error *e)
{
	const char *colon = strchr(which, ':');
	char *path = strndup(which, colon ? (size_t)(colon - which) : strlen(which));

	m->text = strdup(colon ? colon + 1 : "");
	m->path = path ? realpath(path, NULL) : NULL;
	if (path && !m->path)
		error_sys(e, errno, "%s", path);
	else if (!path || !m->text)
		error_nomem(e);
	free(path);
	return m->path && m->text ? 0 : -1;
}

static int module_start(struct value_module *m, struct error *e)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return error_sys(e, errno, "socketpair");
	m->pid = fork();
	if (m->pid == 0)
		value_module_child(ends[1], m->path, m->text);
	close(ends[1]);
	m->socket = ends[0];
	if (m->pid < 0) {
		close(ends[0]);
		return error_sys(e, errno, "fork");
	}
	return 0;
}

static int module_hear(struct value_module *m, struct error *e)
{
	struct value_module_hello *h = calloc(1, sizeof(*h));
	bool late = false;
	int rc = -1;

	m->names = calloc(VP_KINDS, sizeof(*m->names));
	m->value_names = calloc(VP_KINDS, sizeof(*m->value_names));
	if (!h || !m->names || !m->value_names) {
		error_nomem(e);
	} else if (!module_transfer(m, &m->config, sizeof(m->config), true, &late) ||
		   !module_transfer(m, h, sizeof(*h), false, &late) ||
		   h->magic != VALUE_MODULE_MAGIC) {
		module_drop(m, NULL, late);
		error_set(e, ERR_UNSUPPORTED, "%s: it could not be loaded", m->path);
		error_hint(e, "a module must not end or wait while it is loaded, nor in vp_open");
	} else if (!h->open) {
		h->message[sizeof(h->message) - 1] = '\0';
		error_set(e, ERR_UNSUPPORTED, "%s: %s", m->path, h->message);
	} else {
		m->config = h->config;
		memcpy(m->names, h->names, sizeof(h->names));
		memcpy(m->value_names, h->value_names, sizeof(h->value_names));
		for (int k = 0; k < VP_KINDS; k++) {
			m->names[k][sizeof(*m->names) - 1] = '\0';
			for (int v = 0; v < VP_NAMED; v++)
				m->value_names[k][v][VALUE_MODULE_NAME - 1] = '\0';
		}
		rc = 0;
	}
	free(h);
	return rc;
}

int value_module_open(
	struct value_module *m, const char *which, const struct vp_config *config, struct error *e)
{
	memset(m, 0, sizeof(*m));
	m->pid = -1;
	m->config = *config;
	if (module_name(m, which, e) || module_start(m, e) || module_hear(m, e)) {
		value_module_close(m);
		return -1;
	}
	if (m->config.length < 1 || m->config.length > VALUES_LENGTH_MAX ||
		m->config.skip > VALUES_LENGTH_MAX ||
		!(m->config.rate >= 0 && m->config.rate <= 10000)) {
		error_set(e, ERR_RANGE, "%s: its vp_open asks for impossible windows", m->path);
		value_module_close(m);
		return -1;
	}
	return 0;
}

/* ---- windows ---- */

/* Values of an answer; false: it makes no sense. */
static bool take_answer(struct value_module *m, struct value_window *w, uint32_t count)
{
	struct value_module_value *all = calloc(count + (size_t)1, sizeof(*all));
	bool late = false, good = all != NULL;

	if (good && !module_transfer(m, all, count * sizeof(*all), false, &late)) {
		free(all);
		module_drop(m, NULL, late);
		return true;
	}
	for (uint32_t i = 0; good && i < count; i++) {
		unsigned kind = all[i].kind & ~(unsigned)(VP_PLACE | VP_DOUBLE);
		struct value_seen *to;

		good = kind < VP_KINDS && all[i].number + 1 < w->trace.count;
		to = good ? vec_push(&w->seen) : NULL;
		if (to)
			*to = (struct value_seen){.pc = w->trace.data[all[i].number].pc,
				.value = all[i].value,
				.kind = (uint8_t)(VALUE_USER + kind),
				.bits = 64,
				.class = all[i].kind & VP_PLACE    ? VALUE_PLACE
					 : all[i].kind & VP_DOUBLE ? VALUE_FLOAT
								   : VALUE_INTEGER};
	}
	free(all);
	return good;
}

void value_module_look(struct value_module *m, struct value_window *w)
{
	struct value_module_head head = {VALUE_MODULE_MAGIC, (uint32_t)w->trace.count - 1};
	struct value_module_answer answer;
	size_t size = w->trace.count * sizeof(*w->trace.data);
	bool late = false;

	if (m->pid < 0 || w->trace.count < 2)
		return;
	if (!module_transfer(m, &head, sizeof(head), true, &late) ||
		!module_transfer(m, w->trace.data, size, true, &late) ||
		!module_transfer(m, &answer, sizeof(answer), false, &late)) {
		module_drop(m, NULL, late);
		return;
	}
	if (answer.magic != VALUE_MODULE_MAGIC || answer.count > VALUE_MODULE_MOST ||
		!take_answer(m, w, answer.count)) {
		module_drop(m, "its answer makes no sense", false);
		return;
	}
	m->spent = answer.spent;
	m->windows += m->pid > 0;
}
