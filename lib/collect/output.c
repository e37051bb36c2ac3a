/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "experiment/file.h"

/* Names to use if the first choice exists: NAME.2, NAME.3 ... */
#define TRIES 1000

int collect_output_init(struct collect_output *o, const char *file, const char *directory,
	const char *command, const char *experiment, int rank, struct error *e)
{
	const char *base = file_base_name(command);
	char number[16] = "";

	memset(o, 0, sizeof(*o));
	if (rank >= 0)
		snprintf(number, sizeof(number), ".r%d", rank);
	if (file) {
		if (asprintf(&o->path, "%s%s", file, number) < 0)
			o->path = NULL;
		return o->path ? 0 : error_nomem(e);
	}
	if (asprintf(&o->prefix, "%s%s%s.%s%s", directory ? directory : "", directory ? "/" : "",
		    base, experiment, number) < 0) {
		o->prefix = NULL;
		return error_nomem(e);
	}
	return 0;
}

/* A file that the user named may be replaced if it is an experiment, or empty. */
static int may_replace(const char *path, struct error *e)
{
	char head[64];
	struct stat st;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return 0;
	n = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? read(fd, head, sizeof(head)) : 0;
	close(fd);
	if (n <= 0 || experiment_is_file(head, (size_t)n))
		return 0;
	error_set(e, ERR_CONFLICT, "%s exists but is not an experiment", path);
	return error_hint(e, "remove it, or give another file with -o");
}

int collect_output_check(const struct collect_output *o, struct error *e)
{
	struct file_out f;
	char *trial;

	if (o->path && strcmp(o->path, "-") == 0) {
		error_set(e, ERR_CONFLICT, "-o -: standard output is the command's");
		return error_hint(e, "give a file; prof - reads one from standard input");
	}
	if (o->path && may_replace(o->path, e))
		return -1;
	if (asprintf(&trial, "%s", o->path ? o->path : o->prefix) < 0)
		return error_nomem(e);
	if (file_create(&f, trial, e)) {
		free(trial);
		return -1;
	}
	file_abandon(&f);
	free(trial);
	return 0;
}

int collect_output_claim(struct collect_output *o, pid_t pid, struct error *e)
{
	if (o->path)
		return 0;
	for (int i = 1; i < TRIES; i++) {
		char again[16] = "", *path;
		int fd;

		if (i > 1)
			snprintf(again, sizeof(again), ".%d", i);
		if (asprintf(&path, "%s.%d%s", o->prefix, (int)pid, again) < 0)
			return error_nomem(e);
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			close(fd);
			o->path = path;
			o->claimed = true;
			return 0;
		}
		if (errno != EEXIST) {
			error_sys(e, errno, "cannot write %s", path);
			free(path);
			return error_hint(e, "give -o FILE, or set _SPEEDSHOP_OUTPUT_DIRECTORY, to "
					     "write elsewhere");
		}
		free(path);
	}
	return error_set(e, ERR_CONFLICT, "%s.%d and all names before it exist already", o->prefix,
		(int)pid);
}

/* Open, as its name is about to be that of the new file. */
static void keep_earlier(struct collect_output *o)
{
	int fd = o->claimed || o->earlier ? -1 : open(o->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		o->earlier = fdopen(fd, "r");
	if (!o->earlier)
		close(fd);
}

int collect_output_checkpoint(struct collect_output *o, const struct experiment *x, struct error *e)
{
	struct experiment now;
	int rc;

	keep_earlier(o);
	if (experiment_copy(&now, x, e))
		return -1;
	rc = experiment_write(&now, o->path, e);
	if (rc == 0)
		o->claimed = true;
	experiment_fini(&now);
	return rc;
}

/* In another directory, without a file of that name. */
static int write_elsewhere(struct collect_output *o, struct experiment *x)
{
	const char *directories[] = {getenv("TMPDIR"), "/var/tmp", "/tmp", "/dev/shm"};
	const char *base = file_base_name(o->path);

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++) {
		char *path;
		int fd;

		if (!directories[i] || asprintf(&path, "%s/%s", directories[i], base) < 0)
			continue;
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (fd >= 0) {
			close(fd);
			if (experiment_write(x, path, NULL) == 0) {
				free(o->path);
				o->path = path;
				o->claimed = true;
				return 0;
			}
			unlink(path);
		}
		free(path);
	}
	return -1;
}

/* The limit on the size of files is for the command. Is x written without it? */
static bool write_beyond_limit(struct collect_output *o, struct experiment *x)
{
	struct rlimit limit, raised;
	bool written;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == limit.rlim_max)
		return false;
	raised = limit;
	raised.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_FSIZE, &raised))
		return false;
	written = experiment_write(x, o->path, NULL) == 0;
	setrlimit(RLIMIT_FSIZE, &limit);
	o->claimed |= written;
	return written;
}

/* Of a cut file, what comes before counts. */
static uint64_t samples_at(const char *path)
{
	struct experiment_damage damage;
	struct experiment x;
	uint64_t n;

	if (experiment_read(&x, path, &damage, NULL))
		return 0;
	n = experiment_samples_sum(&x);
	experiment_fini(&x);
	return n;
}

/* Gives as much of x as there is room for the name, if that is more than the last checkpoint has.
 * Returns how many samples the file has then. */
static uint64_t replace_by_beginning(struct collect_output *o, struct experiment *x)
{
	uint64_t had = o->claimed ? samples_at(o->path) : 0, kept = 0;
	char *path;
	int fd;

	if ((!o->claimed && access(o->path, F_OK) == 0) ||
		asprintf(&path, "%s.XXXXXX", o->path) < 0)
		return had;
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0) {
		if (experiment_write_beginning(x, fd) == 0)
			kept = samples_at(path);
		close(fd);
		if (kept <= had || rename(path, o->path))
			unlink(path);
		else
			o->claimed = true;
	}
	free(path);
	return kept > had && o->claimed ? kept : had;
}

static void keep_beginning(struct collect_output *o, struct experiment *x, struct error *e)
{
	uint64_t kept = replace_by_beginning(o, x);
	const char *remedy = e->errnum == EFBIG ? "; ulimit -f limits the size of files" : "";

	if (kept)
		error_hint(e, "it has %llu of %llu samples%s", (unsigned long long)kept,
			(unsigned long long)experiment_samples_sum(x), remedy);
	else
		collect_output_discard(o);
}

int collect_output_write(
	struct collect_output *o, struct experiment *x, struct error *moved, struct error *e)
{
	struct error first = {0};

	memset(moved, 0, sizeof(*moved));
	if (experiment_write(x, o->path, &first) == 0) {
		o->claimed = true;
		return 0;
	}
	if (first.errnum == EFBIG && write_beyond_limit(o, x))
		return 0;
	if (write_elsewhere(o, x) == 0) {
		*moved = first;
		return 0;
	}
	keep_beginning(o, x, &first);
	*e = first;
	return -1;
}

static int put_earlier(void *what, FILE *out, struct error *e)
{
	char part[65536];
	size_t n;

	while ((n = fread(part, 1, sizeof(part), what)) > 0)
		if (fwrite(part, 1, n, out) != n)
			return error_sys(e, errno, "cannot write");
	return ferror((FILE *)what) ? error_sys(e, errno, "cannot read") : 0;
}

void collect_output_discard(struct collect_output *o)
{
	if (o->claimed &&
		(!o->earlier || file_output(o->path, NULL, put_earlier, o->earlier, NULL)))
		unlink(o->path);
	o->claimed = false;
}

void collect_output_fini(struct collect_output *o)
{
	free(o->prefix);
	free(o->path);
	if (o->earlier)
		fclose(o->earlier);
	memset(o, 0, sizeof(*o));
}
