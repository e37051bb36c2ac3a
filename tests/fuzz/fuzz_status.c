/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a Monitor's file says: any text gives texts that end and metrics; what is written and read
 * again is the same. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "monitor/monitor_status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Of a store without a status. */
static void lock_twice(const struct store *s)
{
	struct monitor_status none;
	struct error e = {0};
	int first = monitor_lock(s, &e), second;

	if (first < 0)
		return;
	second = monitor_lock(s, &e);
	if (second >= 0 || e.code != ERR_BUSY || !monitor_locked(s))
		abort();
	e = (struct error){0};
	if (monitor_status_read(s, &none, &e) == 0 || e.code != ERR_NOT_FOUND)
		abort();
	close(first);
	if (monitor_locked(s))
		abort();
}

/* Written and read twice: then numbers are those of the file. */
static void write_and_read(const struct monitor_status *status)
{
	char directory[] = "/tmp/fuzz-status.XXXXXX", file[64];
	const struct store s = {.directory = mkdtemp(directory)};
	struct monitor_status once = {0}, twice = {0};
	struct strbuf first = {0}, second = {0};
	struct error e = {0};

	if (!s.directory)
		return;
	snprintf(file, sizeof(file), "%s/monitor.status", directory);
	if (monitor_status_read(&s, &once, &e) == 0 || e.code != ERR_NOT_FOUND)
		abort();
	e = (struct error){0};
	if (monitor_status_write(&s, status, &e) == 0 && monitor_status_read(&s, &once, &e) == 0 &&
		monitor_status_write(&s, &once, &e) == 0 &&
		monitor_status_read(&s, &twice, &e) == 0) {
		monitor_status_metrics(&once, true, &first);
		monitor_status_metrics(&twice, true, &second);
		if (!first.failed && !second.failed &&
			strcmp(strbuf_text(&first), strbuf_text(&second)) != 0)
			abort();
	}
	strbuf_fini(&first);
	strbuf_fini(&second);
	unlink(file);
	lock_twice(&s);
	snprintf(file, sizeof(file), "%s/.monitor", directory);
	unlink(file);
	rmdir(directory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct monitor_status status = {0};
	struct strbuf metrics = {0};
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	monitor_status_parse(text, &status);
	for (const struct monitor_field *f = monitor_fields; f->name; f++)
		if (f->kind == FIELD_TEXT && !memchr((char *)&status + f->offset, '\0', f->size))
			abort();
	monitor_status_metrics(&status, size & 1, &metrics);
	if (!metrics.failed && (metrics.length < 6 || memcmp(metrics.data + metrics.length - 6,
							      "# EOF\n", 6) != 0))
		abort();
	strbuf_fini(&metrics);
	if (size % 4 == 0)
		write_and_read(&status);
	free(text);
	return 0;
}
