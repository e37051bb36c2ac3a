/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tool contains a copy of Valgrind's core, and that core preloads a small library of the
 * installed Valgrind into the program. The two must have the same version. The build recorded the
 * version, the library's path and its checksum (POSIX cksum). Comparing the checksum costs
 * microseconds; `valgrind --version` is run only if it differs.
 */
#include "sources/model_install.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"

#define BUILT_FOR "perfexmodel.built-for"

struct built_for {
	char version[64], library[512];
	unsigned long checksum, size;
};

/* The CRC of POSIX cksum: polynomial 0x04c11db7, the length appended, complemented. */
static uint32_t crc_byte(uint32_t crc, unsigned byte)
{
	crc ^= (uint32_t)byte << 24;
	for (int i = 0; i < 8; i++)
		crc = crc & 0x80000000u ? crc << 1 ^ 0x04c11db7u : crc << 1;
	return crc;
}

static uint32_t posix_cksum(const unsigned char *data, size_t length)
{
	uint32_t crc = 0;

	for (size_t i = 0; i < length; i++)
		crc = crc_byte(crc, data[i]);
	for (size_t n = length; n; n >>= 8)
		crc = crc_byte(crc, n & 255);
	return ~crc;
}

static int read_built_for(struct built_for *b, struct error *e)
{
	char *path = file_libexec_path(BUILT_FOR, e), *text;
	size_t length;
	int fields;

	if (!path)
		return -1;
	text = file_read(path, 4096, &length, e);
	if (!text) {
		free(path);
		return -1;
	}
	fields = sscanf(text, "%63s %511s %lu %lu", b->version, b->library, &b->checksum, &b->size);
	if (fields != 4) {
		error_set(e, ERR_PARSE, "%s is not what the build wrote", path);
		error_hint(e, "build or install the toolkit again");
	}
	free(text);
	free(path);
	return fields == 4 ? 0 : -1;
}

static int installed_version(char *version, size_t size)
{
	FILE *f = popen("valgrind --version 2>/dev/null", "re");
	char line[128] = "";

	if (!f)
		return -1;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	pclose(f);
	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "valgrind-", 9) != 0)
		return -1;
	snprintf(version, size, "%s", line + 9);
	return 0;
}

static int check_version(const struct built_for *b, struct error *e)
{
	char version[128];
	size_t length = 0;
	char *library = file_read(b->library, 0, &length, NULL);
	int same = library && length == b->size &&
		   posix_cksum((const unsigned char *)library, length) == b->checksum;
	int there = library != NULL;

	free(library);
	if (same)
		return 0;
	if (installed_version(version, sizeof(version)) != 0) {
		error_set(e, ERR_NOT_FOUND, "the model needs Valgrind, which is not installed");
		return error_hint(
			e, "install Valgrind %s (Debian: apt-get install valgrind)", b->version);
	}
	if (there && strcmp(version, b->version) == 0)
		return 0;
	error_set(e, ERR_UNSUPPORTED,
		"the model was built with Valgrind %s (%s), and %s is installed", b->version,
		b->library, version);
	return error_hint(e, "build the toolkit again: make clean all (and make install)");
}

void model_install_version(char *text, size_t size)
{
	struct built_for built;

	snprintf(text, size, "%s", read_built_for(&built, &(struct error){0}) ? "" : built.version);
}

int model_install_find(struct model_install *m, struct error *e)
{
	struct built_for built;
	char *tool;

	memset(m, 0, sizeof(*m));
#ifndef __x86_64__
	error_set(e, ERR_UNSUPPORTED, "the model needs x86-64");
	return error_hint(
		e, "use -source pmu for hardware counters, -source os for events of the kernel");
#endif
	tool = file_libexec_path("perfexmodel-amd64-linux", NULL);
	if (!tool) {
		error_set(e, ERR_NOT_FOUND,
			"the model's tool perfexmodel-amd64-linux is not in libexec/perfex: it was "
			"not built");
		return error_hint(e,
			"install Valgrind (Debian: apt-get install valgrind) and build the "
			"toolkit again");
	}
	free(tool);
	if (read_built_for(&built, e) || check_version(&built, e))
		return -1;
	m->launcher = file_libexec_path("valgrind.bin", e);
	m->wrapper = file_libexec_path("valgrind", NULL);
	return m->launcher ? 0 : -1;
}

void model_install_fini(struct model_install *m)
{
	free(m->launcher);
	free(m->wrapper);
	memset(m, 0, sizeof(*m));
}
