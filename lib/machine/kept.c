/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measured values of this host are kept until it boots again. A measured clock differs by a few
 * percent each time, and a modelled host with a different clock would have different counts. If
 * nothing can be kept, the clock is measured each time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"
#include "machine/private.h"

/* The first line of the file: identifies this boot of this processor. */
static bool kept_heading(const struct machine_identity *id, char *text, size_t size)
{
	struct error ignored;
	size_t length;
	char *boot = file_read("/proc/sys/kernel/random/boot_id", 256, &length, &ignored);

	if (!boot)
		return false;
	boot[strcspn(boot, "\n")] = '\0';
	snprintf(text, size, "boot %s, %s\n", boot, id->name);
	free(boot);
	return true;
}

static uint64_t kept_read_clock(const char *path, const char *heading)
{
	struct error ignored;
	size_t length, skip = strlen(heading);
	char *text = file_read(path, 4096, &length, &ignored);
	uint64_t hz = 0;

	if (text && length > skip && memcmp(text, heading, skip) == 0 &&
		sscanf(text + skip, "clock %" SCNu64 " Hz", &hz) != 1)
		hz = 0;
	free(text);
	return hz;
}

uint64_t machine_kept_hz(const struct machine_identity *id)
{
	struct error ignored;
	char text[256], *path;
	uint64_t hz = 0;

	if (!kept_heading(id, text, sizeof(text)))
		return 0;
	path = home_path(HOME_CACHE, "clock", &ignored);
	if (path)
		hz = kept_read_clock(path, text);
	free(path);
	return hz;
}

static bool write_clock(const char *path, const char *heading, uint64_t hz)
{
	FILE *f = fopen(path, "we");
	bool whole;

	if (!f)
		return false;
	whole = fprintf(f, "%sclock %" PRIu64 " Hz\n", heading, hz) > 0;
	return !fclose(f) && whole;
}

/* Of several processes that time it at once, the first one's is kept by all. */
static uint64_t kept_store(const char *path, const char *heading, uint64_t hz)
{
	uint64_t others = 0;
	char *own = NULL;

	if (asprintf(&own, "%s.%ld", path, (long)getpid()) < 0)
		return hz;
	if (write_clock(own, heading, hz) && link(own, path)) {
		others = kept_read_clock(path, heading);
		if (!others)
			rename(own, path); /* over one of an earlier boot */
	}
	unlink(own);
	free(own);
	return others ? others : hz;
}

uint64_t machine_keep_hz(const struct machine_identity *id, uint64_t hz)
{
	struct error ignored;
	char text[256], *path;

	if (!kept_heading(id, text, sizeof(text)))
		return hz;
	path = home_path_make(HOME_CACHE, "clock", &ignored);
	if (path)
		hz = kept_store(path, text, hz);
	free(path);
	return hz;
}
