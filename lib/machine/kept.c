/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file is named after what it was measured on, so that none needs to be replaced: a virtual
 * machine may wake up on another processor. Its first line says the same to readers, and is
 * compared. Links are not followed, and only a file of root's, or of this user's, that no other
 * may write is read.
 */
#include "machine/kept.h"
#include "base/table.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/home.h"

enum { TEXT_MAX = 8192 };

static const char *directories[] = {[KEPT_BOOT] = "/dev/shm", [KEPT_LASTING] = "/var/tmp"};

void kept_directories(const char *boot, const char *lasting)
{
	directories[KEPT_BOOT] = boot;
	directories[KEPT_LASTING] = lasting;
}

/* The first line: the processor and, if it matters, the boot. */
static bool kept_heading(
	const struct machine_identity *id, enum kept_how_long how_long, char *text, size_t size)
{
	char boot[64] = "";
	int n;

	if (how_long == KEPT_BOOT && !file_line(FILE_BOOT_ID, boot, sizeof(boot)))
		return false;
	n = snprintf(text, size, "%s %u/%u %016" PRIx64 " %s%s%s\n", id->vendor, id->family,
		id->model, table_hash_fixed(id->flags, strlen(id->flags)), id->name,
		boot[0] ? ", boot " : "", boot);
	return n > 0 && (size_t)n < size;
}

/* A directory in which no other user can replace our file. */
static bool kept_safe(const char *directory)
{
	struct stat st;

	return lstat(directory, &st) == 0 && S_ISDIR(st.st_mode) &&
	       (st.st_uid == 0 || st.st_uid == geteuid()) &&
	       (!(st.st_mode & 022) || (st.st_mode & S_ISVTX));
}

enum kept_of { OF_TRUSTED, OF_ANY_USER };

/* The text after the heading; NULL if it is not usable. */
static char *kept_text(
	const struct kept_file *file, const char *path, const char *heading, enum kept_of of)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	size_t length = strlen(heading);
	char text[TEXT_MAX] = "";
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && !(st.st_mode & 022) &&
		(of == OF_ANY_USER || st.st_uid == 0 || st.st_uid == geteuid()))
		n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < (ssize_t)length || memcmp(text, heading, length) != 0)
		return NULL;
	text[n] = '\0';
	return file->usable(text + length) ? strdup(text + length) : NULL;
}

/* Where it is for all users, or for this one: NULL: nowhere. To be freed by the caller. */
static char *shared_path(
	const struct kept_file *file, const char *heading, enum kept_how_long how_long)
{
	const char *directory = directories[how_long];
	char *path;

	if (!directory || !kept_safe(directory) ||
		asprintf(&path, "%s/perfex-%s-%016" PRIx64, directory, file->name,
			table_hash_fixed(heading, strlen(heading))) < 0)
		return NULL;
	return path;
}

static char *own_path(const struct kept_file *file, bool make)
{
	struct error ignored;

	return make ? home_path_make(HOME_CACHE, file->name, &ignored)
		    : home_path(HOME_CACHE, file->name, &ignored);
}

/* Frees path. */
static char *kept_text_at(
	const struct kept_file *file, char *path, const char *heading, enum kept_of of)
{
	char *text = path ? kept_text(file, path, heading, of) : NULL;

	free(path);
	return text;
}

char *kept_read(const struct kept_file *file, const struct machine_identity *id,
	enum kept_how_long how_long)
{
	char heading[512], *text;

	if (!kept_heading(id, how_long, heading, sizeof(heading)))
		return NULL;
	text = kept_text_at(file, shared_path(file, heading, how_long), heading, OF_TRUSTED);
	if (text || how_long == KEPT_LASTING)
		return text;
	return kept_text_at(file, own_path(file, false), heading, OF_TRUSTED);
}

char *kept_read_of_any_user(const struct kept_file *file, const struct machine_identity *id,
	enum kept_how_long how_long)
{
	char heading[512];

	if (!kept_heading(id, how_long, heading, sizeof(heading)))
		return NULL;
	return kept_text_at(file, shared_path(file, heading, how_long), heading, OF_ANY_USER);
}

static bool write_new(const char *path, const char *heading, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool whole;

	if (!f) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	whole = fchmod(fd, 0644) == 0 && fputs(heading, f) >= 0 && fputs(text, f) >= 0;
	return !fclose(f) && whole;
}

/* Appears complete or not at all. A file that is in the way stays if it is of use, or another
 * user's. */
static bool kept_put(const struct kept_file *file, const char *path, const char *heading,
	const char *text, bool replace)
{
	char *own = NULL, *others;
	bool done = false;

	if (asprintf(&own, "%s.%ld", path, (long)getpid()) < 0)
		return false;
	if (write_new(own, heading, text)) {
		done = !replace && link(own, path) == 0;
		others = done || replace ? NULL : kept_text(file, path, heading, OF_TRUSTED);
		if (!done && !others)
			done = rename(own, path) == 0;
		done |= others != NULL;
		free(others);
		unlink(own);
	}
	free(own);
	return done;
}

bool kept_write(const struct kept_file *file, const struct machine_identity *id,
	enum kept_how_long how_long, const char *text)
{
	char heading[512], *path;
	bool done = false;

	if (!kept_heading(id, how_long, heading, sizeof(heading)))
		return false;
	path = shared_path(file, heading, how_long);
	if (path)
		done = kept_put(file, path, heading, text, how_long == KEPT_LASTING);
	free(path);
	if (done || how_long == KEPT_LASTING)
		return done;
	path = own_path(file, true);
	if (path)
		done = kept_put(file, path, heading, text, false);
	free(path);
	return done;
}

bool kept_possible(const struct kept_file *file, enum kept_how_long how_long)
{
	const char *directory = directories[how_long];
	bool possible = directory && kept_safe(directory) && access(directory, W_OK | X_OK) == 0;
	char *path, *slash;

	if (possible || how_long == KEPT_LASTING)
		return possible;
	path = own_path(file, true);
	slash = path ? strrchr(path, '/') : NULL;
	if (slash) {
		*slash = '\0';
		possible = access(path, W_OK | X_OK) == 0;
	}
	free(path);
	return possible;
}

/* ---- what the user gives instead ---- */

#define GIVEN "PERFEX_HOST"

bool kept_measures(void)
{
	return !getenv(GIVEN);
}

char *kept_given(struct error *e)
{
	const char *given = getenv(GIVEN);
	char *text = NULL;

	if (e)
		memset(e, 0, sizeof(*e));
	if (!given || strcmp(given, "none") == 0)
		return NULL;
	text = file_read_regular(given, 1 << 16, NULL, e);
	if (!text)
		error_hint(e, GIVEN " names it: give a file of figures of this host, or none "
				    "(perfex-machine(5))");
	return text;
}
