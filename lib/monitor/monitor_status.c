/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "monitor/monitor_status.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shown.h"
#include "base/utf8.h"

#define AT(field)   .offset = offsetof(struct monitor_status, field)
#define TEXT(field) FIELD_TEXT, AT(field), .size = sizeof(((struct monitor_status *)0)->field)

const struct monitor_field monitor_fields[] = {
	{"pid", "process number", FIELD_GAUGE, AT(pid)},
	{"began", "when it began, since 1970", FIELD_GAUGE, AT(began), .unit = "seconds"},
	{"updated", "when this was written, since 1970", FIELD_GAUGE, AT(updated),
		.unit = "seconds"},
	{"clock", "what it samples by", TEXT(clock)},
	{"scope", "what it watches", TEXT(scope)},
	{"lacks", "why it does not do more", TEXT(lacks)},
	{"error", "the last failure to write", TEXT(error)},
	{"period", "ns from one sample of a processor to the next", FIELD_GAUGE, AT(period)},
	{"sample_cost", "processor time that a sample takes, measured", FIELD_NUMBER, AT(cost),
		.unit = "seconds"},
	{"budget", "part of the machine that it may take", FIELD_NUMBER, AT(budget),
		.unit = "ratio"},
	{"overhead", "part of the machine that it took since it began", FIELD_NUMBER, AT(overhead),
		.unit = "ratio"},
	{"overhead_peak", "the same, of the costliest interval", FIELD_NUMBER, AT(peak),
		.unit = "ratio"},
	{"cpu", "its own processor time", FIELD_NUMBER, AT(cpu), .unit = "seconds"},
	{"elapsed", "time since it began", FIELD_NUMBER, AT(elapsed), .unit = "seconds"},
	{"samples", "samples of all kinds", FIELD_COUNTER, AT(records)},
	{"samples_user", "samples in user mode", FIELD_COUNTER, AT(user)},
	{"samples_system", "samples in the kernel, for a program", FIELD_COUNTER, AT(system)},
	{"samples_kernel", "samples of the kernel's own threads", FIELD_COUNTER, AT(kernel)},
	{"samples_idle", "ticks of idle processors", FIELD_COUNTER, AT(idle)},
	{"samples_early", "interrupts between ticks", FIELD_COUNTER, AT(early)},
	{"samples_generated", "samples in generated code", FIELD_COUNTER, AT(generated)},
	{"samples_gone", "samples in files without build-id that could not be read", FIELD_COUNTER,
		AT(gone)},
	{"samples_unmapped", "samples in no known mapping", FIELD_COUNTER, AT(unmapped)},
	{"samples_between", "samples in the kernel between two programs", FIELD_COUNTER,
		AT(between)},
	{"lost", "records that the kernel dropped", FIELD_COUNTER, AT(lost)},
	{"stored", "samples written", FIELD_COUNTER, AT(stored)},
	{"dropped", "samples not written for want of room", FIELD_COUNTER, AT(dropped)},
	{"unattached", "threads that cannot be watched", FIELD_GAUGE, AT(unattached)},
	{"processes", "processes that run", FIELD_GAUGE, AT(processes)},
	{"images", "mapped files", FIELD_GAUGE, AT(images)},
	{"addresses", "addresses in memory", FIELD_GAUGE, AT(addresses)},
	{"resident", "its memory", FIELD_GAUGE, AT(resident), .unit = "bytes"},
	{"writes", "times that it wrote", FIELD_COUNTER, AT(writes)},
	{"failures", "times that it could not write all", FIELD_COUNTER, AT(failures)},
	{"slowed", "times that samples became fewer", FIELD_COUNTER, AT(slowed)},
	{"sessions", "times that branches were followed", FIELD_COUNTER, AT(sessions)},
	{"session_failures", "times that they could not be", FIELD_COUNTER, AT(session_failures)},
	{"bursts", "bursts of branches stored", FIELD_COUNTER, AT(bursts)},
	{"branches", "branches stored", FIELD_COUNTER, AT(branches)},
	{"known", "images that have enough branches", FIELD_GAUGE, AT(known)},
	{"session_cpu", "processor time that following took, of programs as well", FIELD_NUMBER,
		AT(session_cpu), .unit = "seconds"},
	{"followed", "the image that was followed last", TEXT(followed)},
	{"unfollowed", "why the last one was not followed", TEXT(unfollowed)},
	{"store", "bytes in the store, when last swept", FIELD_GAUGE, AT(stored_bytes),
		.unit = "bytes"},
	{.name = NULL},
};

static char *status_path(const struct store *s, const char *name, struct error *e)
{
	char *path;

	if (asprintf(&path, "%s/%s", s->directory, name) >= 0)
		return path;
	error_nomem(e);
	return NULL;
}

/* One line, whatever is in the names of files. */
static void put_text(const char *name, const char *text, FILE *to)
{
	struct strbuf room = {0};

	fprintf(to, "%s %s\n", name, shown_text(text, &room));
	strbuf_fini(&room);
}

int monitor_status_write(
	const struct store *s, const struct monitor_status *status, struct error *e)
{
	char *path = status_path(s, "monitor.status", e);
	struct file_out f;

	if (!path || file_create(&f, path, e)) {
		free(path);
		return -1;
	}
	file_private(&f);
	for (const struct monitor_field *m = monitor_fields; m->name; m++) {
		const char *at = (const char *)status + m->offset;

		if (m->kind == FIELD_TEXT)
			put_text(m->name, at, f.stream);
		else if (m->kind == FIELD_NUMBER)
			fprintf(f.stream, "%s %.9g\n", m->name, *(const double *)(const void *)at);
		else
			fprintf(f.stream, "%s %" PRIu64 "\n", m->name,
				*(const uint64_t *)(const void *)at);
	}
	free(path);
	return file_commit(&f, e);
}

/* As many whole characters as there is room for. */
static void take_whole_text(char *to, size_t size, const char *text)
{
	size_t length = 0;

	while (text[length]) {
		int n = utf8_length(text + length);
		size_t next = length + (n > 1 ? (size_t)n : 1);

		if (next >= size)
			break;
		length = next;
	}
	memcpy(to, text, length);
	to[length] = '\0';
}

static void parse_field(struct monitor_status *status, const char *name, const char *value)
{
	for (const struct monitor_field *m = monitor_fields; m->name; m++) {
		char *at = (char *)status + m->offset;

		if (strcmp(m->name, name) != 0)
			continue;
		if (m->kind == FIELD_TEXT)
			take_whole_text(at, m->size, value);
		else if (m->kind == FIELD_NUMBER)
			*(double *)(void *)at = strtod(value, NULL);
		else
			*(uint64_t *)(void *)at = strtoull(value, NULL, 10);
	}
}

void monitor_status_parse(char *text, struct monitor_status *status)
{
	memset(status, 0, sizeof(*status));
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
		char *value = strchr(line, ' ');

		if (!value)
			continue;
		*value = '\0';
		parse_field(status, line, value + 1);
	}
}

int monitor_status_read(const struct store *s, struct monitor_status *status, struct error *e)
{
	char *path = status_path(s, "monitor.status", e), *text;
	size_t length;

	if (!path)
		return -1;
	if (access(path, F_OK)) {
		free(path);
		if (monitor_locked(s)) {
			error_set(e, ERR_NOT_FOUND,
				"the monitor of %s has not written its status yet", s->directory);
			return error_hint(e,
				"it begins, or cannot write there: see what it says, "
				"and df %s",
				s->directory);
		}
		error_set(e, ERR_NOT_FOUND, "no monitor has written to %s yet", s->directory);
		return error_hint(e, "ssrun monitor starts one");
	}
	text = file_read(path, 0, &length, e);
	free(path);
	if (!text)
		return -1;
	monitor_status_parse(text, status);
	free(text);
	if (status->pid)
		return 0;
	error_set(e, ERR_PARSE, "%s/monitor.status is damaged: it names no monitor", s->directory);
	return error_hint(e, "a monitor that runs writes it anew within 10 seconds");
}

double monitor_status_mapped(const struct monitor_status *status)
{
	uint64_t bad = status->unmapped + status->gone;

	return bad < status->user ? 1 - (double)bad / (double)status->user : bad ? 0 : 1;
}

int monitor_lock(const struct store *s, struct error *e)
{
	char *path = status_path(s, ".monitor", e);
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;

	if (path && fd < 0)
		error_sys(e, errno, "cannot open %s", path);
	free(path);
	if (fd < 0 || fcntl(fd, F_OFD_SETLK, &(struct flock){.l_type = F_WRLCK}) == 0)
		return fd;
	close(fd);
	error_set(e, ERR_BUSY, "another monitor writes to %s", s->directory);
	return error_hint(e, "ssrun monitor -status shows what it does; -store DIR takes another "
			     "store");
}

bool monitor_locked(const struct store *s)
{
	char *path = status_path(s, ".monitor", NULL);
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	struct flock lock = {.l_type = F_RDLCK};
	bool locked = fd >= 0 && fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;

	if (fd >= 0)
		close(fd);
	free(path);
	return locked;
}
