/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ageing: days with many files become one file, days become sums of weeks, old weeks go, and images
 * that were last seen longest ago go when there is more than the quota. A sum is written in three
 * steps: the names of its parts; the sum; then parts are removed, and their names last.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/sort.h"
#include "experiment/merge.h"
#include "image/fingerprint.h"
#include "store/private.h"

struct sweep {
	struct store *store;
	const struct store_policy *policy;
	struct store_swept *swept;
	long today;
};

/* Monday of the week; day 0 of 1970 was a Thursday. */
static long week_of(long day)
{
	return day - (day + 3) % 7;
}

static void remove_part(struct sweep *s, const char *path)
{
	if (unlink(path) == 0)
		s->swept->removed++;
}

/* kind: "", or ".week". */
static int write_sum(struct sweep *s, const struct store_image *image, long day, const char *kind,
	struct experiment *sum, const struct strbuf *names, struct error *e)
{
	struct strbuf bytes = {0};
	char *name = NULL, *path = NULL, *parts = NULL;
	int rc = experiment_encode(sum, &bytes, e);

	if (rc == 0 &&
		asprintf(&name, "%08u%s-%016llx", store_day_of(day), kind,
			(unsigned long long)identify_fingerprint(bytes.data, bytes.length)) < 0) {
		name = NULL;
		rc = error_nomem(e);
	}
	if (rc == 0 &&
		(asprintf(&path, "%s/%s/%s.ssexp", s->store->directory, image->id, name) < 0 ||
			asprintf(&parts, "%s/%s/%s.parts", s->store->directory, image->id, name) <
				0))
		rc = error_nomem(e);
	if (rc == 0)
		rc = store_write(parts, names, e);
	if (rc == 0)
		rc = store_write(path, &bytes, e);
	strbuf_fini(&bytes);
	free(name);
	free(path);
	free(parts);
	return rc;
}

/* Files [first, end) of the image, of one day or week. */
static int fold_files(struct sweep *s, const struct store_image *image, size_t first, size_t end,
	long day, const char *kind, struct error *e)
{
	const char **paths = calloc(end - first + 1, sizeof(*paths));
	struct experiment_merge_report report = {0};
	struct strbuf names = {0};
	struct experiment sum;
	int rc = 0;

	if (!paths)
		return error_nomem(e);
	for (size_t i = first; i < end; i++) {
		paths[i - first] = image->files.data[i].path;
		strbuf_printf(&names, "%s\n", file_base_name(image->files.data[i].path));
	}
	rc = experiment_merge_files(&sum, paths, end - first, 0, NULL, &report, e);
	if (rc == 0) {
		/* a damaged file stays as it is: what can be read of it is read again */
		rc = report.damaged ? 0 : write_sum(s, image, day, kind, &sum, &names, e);
		experiment_fini(&sum);
	}
	if (rc == 0 && !report.damaged)
		s->swept->folded += end - first;
	strbuf_fini(&names);
	free(paths);
	return rc;
}

static int fold_days(struct sweep *s, const struct store_image *image, struct error *e)
{
	const struct store_file *files = image->files.data;

	for (size_t i = 0, end; s->policy->most && i < image->files.count; i = end) {
		for (end = i + 1; end < image->files.count; end++)
			if (files[end].day != files[i].day || files[end].week)
				break;
		if (end - i > s->policy->most && !files[i].week &&
			fold_files(s, image, i, end, store_day_number(files[i].day), "", e))
			return -1;
	}
	return 0;
}

static int fold_weeks(struct sweep *s, const struct store_image *image, struct error *e)
{
	size_t n = image->files.count;

	for (size_t i = 0, end; i < n; i = end) {
		const struct store_file *f = &image->files.data[i];
		long week = week_of(store_day_number(f->day));

		for (end = i + 1; end < n; end++)
			if (week_of(store_day_number(image->files.data[end].day)) != week)
				break;
		if (s->today - (week + 6) <= (long)s->policy->days || end - i < 2)
			continue;
		if (fold_files(s, image, i, end, week, ".week", e))
			return -1;
	}
	return 0;
}

/* A writer that was killed left it: no file takes a day to write. */
static void clear_temporary(int directory, const char *name)
{
	struct stat st;

	if ((strstr(name, ".ssexp.") || strncmp(name, "path.", 5) == 0) &&
		fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_mtime < time(NULL) - 86400)
		unlinkat(directory, name, 0);
}

/* Parts of sums that exist, and then their names. */
static void clear_parts(struct sweep *s, const char *id)
{
	char *directory = store_path(s->store, id, NULL, NULL);
	DIR *d = directory ? opendir(directory) : NULL;

	for (const char *name; d && (name = file_next(d, ""));) {
		size_t n = strlen(name), length;
		char *sum, *path, *text;

		clear_temporary(dirfd(d), name);
		if (n < 7 || strcmp(name + n - 6, ".parts") != 0)
			continue;
		if (asprintf(&sum, "%.*s.ssexp", (int)(n - 6), name) < 0)
			break;
		path = store_path(s->store, id, name, NULL);
		text = path && faccessat(dirfd(d), sum, F_OK, 0) == 0
			       ? file_read_regular(path, 0, &length, NULL)
			       : NULL;
		for (char *rest = text, *at; text && (at = strsep(&rest, "\n"));)
			/* equal contents: the sum of one file may be that file */
			if (*at && !strchr(at, '/') && strcmp(at, sum) != 0 &&
				unlinkat(dirfd(d), at, 0) == 0)
				s->swept->removed++;
		if (path)
			unlink(path);
		free(text);
		free(path);
		free(sum);
	}
	if (d)
		closedir(d);
	free(directory);
}

static int sweep_image(struct sweep *s, const struct store_image *image, struct error *e)
{
	long oldest = s->today - 7 * (long)s->policy->weeks;

	for (size_t i = 0; i < image->files.count; i++)
		if (store_day_number(image->files.data[i].day) < oldest)
			remove_part(s, image->files.data[i].path);
	clear_parts(s, image->id);
	(void)e;
	return 0;
}

static void remove_image(struct sweep *s, const struct store_image *image)
{
	char *path = store_path(s->store, image->id, "path", NULL);

	for (size_t i = 0; i < image->files.count; i++)
		remove_part(s, image->files.data[i].path);
	if (path)
		unlink(path);
	free(path);
	path = store_path(s->store, image->id, NULL, NULL);
	if (path && rmdir(path) == 0)
		s->swept->images++;
	free(path);
}

static bool was_removed(const struct store_image *image)
{
	return strcmp(image->id, STORE_REMOVED) == 0;
}

/* What nothing can be read of any more goes first. */
static int images_by_age(const void *a, const void *b)
{
	const struct store_image *x = a, *y = b;

	return was_removed(y) - was_removed(x) ?: sort_rising(x->last, y->last)
						 ?: strcmp(x->id, y->id);
}

/* What it takes of the disk: whole blocks, and a directory with the path. */
static uint64_t disk_bytes(const struct store_image *image)
{
	const uint64_t block = 4096;
	uint64_t bytes = 2 * block;

	for (size_t i = 0; i < image->files.count; i++)
		bytes += (image->files.data[i].bytes + block - 1) / block * block;
	return bytes;
}

/* Images without files go as well: nothing is known of them any more. */
static int keep_quota(struct sweep *s, struct error *e)
{
	store_images images;
	uint64_t bytes = 0;
	int rc = store_list(s->store, &images, e);

	for (size_t i = 0; i < images.count; i++)
		bytes += disk_bytes(&images.data[i]);
	if (images.count)
		qsort(images.data, images.count, sizeof(*images.data), images_by_age);
	for (size_t i = 0; rc == 0 && i < images.count; i++)
		if (bytes > s->policy->quota || !images.data[i].files.count) {
			bytes -= disk_bytes(&images.data[i]);
			remove_image(s, &images.data[i]);
		}
	s->swept->bytes = bytes;
	store_images_fini(&images);
	return rc;
}

static int each_image(struct sweep *s,
	int (*call)(struct sweep *s, const struct store_image *image, struct error *e),
	struct error *e)
{
	store_images images;
	int rc = store_list(s->store, &images, e);

	for (size_t i = 0; rc == 0 && i < images.count; i++)
		rc = call(s, &images.data[i], e);
	store_images_fini(&images);
	return rc;
}

int store_sweep(
	struct store *s, const struct store_policy *p, struct store_swept *swept, struct error *e)
{
	struct sweep sweep = {s, p, swept, store_day_number(p->today)};
	char *path = store_path(s, ".lock", NULL, e);
	int lock = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1, rc = -1;

	memset(swept, 0, sizeof(*swept));
	if (lock < 0)
		error_sys(e, errno, "cannot open %s", path ? path : s->directory);
	else if (flock(lock, LOCK_EX | LOCK_NB))
		error_set(e, ERR_BUSY, "another process is sweeping %s", s->directory);
	else
		rc = each_image(&sweep, fold_days, e) || each_image(&sweep, sweep_image, e) ||
				     each_image(&sweep, fold_weeks, e) ||
				     each_image(&sweep, sweep_image, e) || keep_quota(&sweep, e)
			     ? -1
			     : 0;
	if (lock >= 0)
		close(lock);
	free(path);
	return rc;
}
