/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/wakes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"

/* Of common_flags. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10

/* "field:pid_t pid;	offset:24;	size:4;	signed:1;" */
static int field_at(const char *text, const char *field, uint32_t size, uint32_t *to)
{
	const char *at = strstr(text, field);
	unsigned offset, bytes;

	if (!at || sscanf(at + strlen(field), " offset:%u; size:%u;", &offset, &bytes) != 2 ||
		bytes != size || offset > 4096)
		return -1;
	*to = offset;
	return 0;
}

int wakes_parse_format(struct wake_format *f, const char *text)
{
	const char *id = strstr(text, "ID: ");

	if (!id || field_at(text, "field:pid_t pid;", 4, &f->tid) ||
		field_at(text, "field:unsigned char common_flags;", 1, &f->flags))
		return -1;
	f->tracepoint = strtoull(id + 4, NULL, 10);
	return f->tracepoint ? 0 : -1;
}

int wakes_init(struct wake_format *f, struct experiment *x, struct error *e)
{
	static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	const char *seen = "not seen: tracefs is not mounted, or may not be read; as root, for the "
			   "next run: mount -t tracefs nodev /sys/kernel/tracing";

	*f = (struct wake_format){0};
	for (size_t i = 0; !f->tracepoint && i < sizeof(places) / sizeof(places[0]); i++) {
		char path[96], *text;
		size_t length;

		snprintf(path, sizeof(path), "%s/events/sched/sched_waking/format", places[i]);
		text = file_read(path, 65536, &length, NULL);
		if (text && wakes_parse_format(f, text) == 0)
			seen = "seen";
		free(text);
	}
	return experiment_fact(x, PAUSE_WAKES_FACT, seen, e);
}

int wake_parse(
	const struct wake_format *f, const struct record_sample *s, pid_t *tid, bool *interrupt)
{
	if (!s->raw || f->tid + sizeof(*tid) > s->raw_size || f->flags >= s->raw_size)
		return -1;
	memcpy(tid, s->raw + f->tid, sizeof(*tid));
	*interrupt = s->raw[f->flags] & (FLAG_HARDIRQ | FLAG_SOFTIRQ);
	return 0;
}
