/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "store/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "experiment/file.h"
#include "image/fingerprint.h"
#include "store/private.h"

static const char VERSION[] = "1\n";

char *store_path(const struct store *s, const char *a, const char *b, struct error *e)
{
	char *path;

	if (asprintf(&path, "%s/%s%s%s", s->directory, a, b ? "/" : "", b ? b : "") >= 0)
		return path;
	error_nomem(e);
	return NULL;
}

/* ---- days ---- */

long store_day_number(unsigned day)
{
	struct tm t = {.tm_year = (int)(day / 10000) - 1900,
		.tm_mon = (int)(day / 100 % 100) - 1,
		.tm_mday = (int)(day % 100)};
	time_t seconds;

	if (day < 19700101 || day > 99991231)
		return -1;
	seconds = timegm(&t);
	return store_day_of((long)(seconds / 86400)) == day ? (long)(seconds / 86400) : -1;
}

unsigned store_day_of(long number)
{
	time_t seconds = (time_t)number * 86400;
	struct tm t;

	if (!gmtime_r(&seconds, &t))
		return 0;
	return (unsigned)((t.tm_year + 1900) * 10000 + (t.tm_mon + 1) * 100 + t.tm_mday);
}

/* ---- the directory ---- */

static char *usual_directory(struct error *e)
{
	const char *store = getenv("PERFEX_STORE"), *data = getenv("XDG_DATA_HOME"),
		   *home = getenv("HOME");
	char *path = NULL;
	int n;

	if (store && *store)
		n = asprintf(&path, "%s", store);
	else if (data && *data == '/')
		n = asprintf(&path, "%s/perfex/store", data);
	else if (home && *home == '/')
		n = asprintf(&path, "%s/.local/share/perfex/store", home);
	else {
		error_set(e, ERR_NOT_FOUND, "no directory for the store: HOME is not set");
		error_hint(e, "give one by -store DIR");
		return NULL;
	}
	if (n >= 0)
		return path;
	error_nomem(e);
	return NULL;
}

static int make_directories(char *path, struct error *e)
{
	for (char *at = path; *at; at++)
		if (*at == '/' && at > path) {
			*at = '\0';
			mkdir(path, 0777); /* if this fails, so does the last one */
			*at = '/';
		}
	if (mkdir(path, 0700) && errno != EEXIST)
		return error_sys(e, errno, "cannot make %s", path);
	return 0;
}

static int store_version(const struct store *s, bool make, struct error *e)
{
	char *path = store_path(s, "version", NULL, e), *text;
	struct strbuf version = {0};
	size_t length;
	int rc = path ? 0 : -1;

	if (rc == 0 && access(path, F_OK)) {
		if (errno != ENOENT && errno != ENOTDIR) {
			rc = error_sys(e, errno, "cannot read %s", path);
		} else if (make) {
			strbuf_puts(&version, VERSION);
			rc = store_write(path, &version, e);
			strbuf_fini(&version);
		} else {
			error_set(e, ERR_NOT_FOUND, "%s is not a store: it has no version",
				s->directory);
			rc = error_hint(e, "prof store add FILE makes one");
		}
	} else if (rc == 0) {
		text = file_read_regular(path, 0, &length, e);
		rc = text ? 0 : -1;
		if (text && strcmp(text, VERSION) != 0)
			rc = error_set(e, ERR_UNSUPPORTED,
				"%s is a store of another version, '%.*s'; this program knows "
				"version 1",
				s->directory, (int)strcspn(text, "\n") & 15, text);
		free(text);
	}
	free(path);
	return rc;
}

int store_open(struct store *s, const char *directory, bool make, struct error *e)
{
	struct stat st;

	s->directory = directory ? strdup(directory) : usual_directory(e);
	if (!s->directory)
		return directory ? error_nomem(e) : -1;
	if (!*s->directory) {
		error_set(e, ERR_NOT_FOUND, "the store's directory has an empty name");
		return error_hint(e, "-store DIR takes the path of a directory");
	}
	if (make && make_directories(s->directory, e))
		return -1;
	if (stat(s->directory, &st)) {
		error_sys(e, errno, "there is no store at %s", s->directory);
		return error_hint(e, "prof store add FILE makes one");
	}
	if (!S_ISDIR(st.st_mode)) {
		error_set(e, ERR_CONFLICT, "%s is not a directory", s->directory);
		return error_hint(e, "-store DIR names another place for the store");
	}
	if (st.st_mode & (S_IWGRP | S_IWOTH)) {
		error_set(e, ERR_PERMISSION, "others may write to %s", s->directory);
		return error_hint(e, "chmod 700 %s", s->directory);
	}
	return store_version(s, make, e);
}

void store_close(struct store *s)
{
	free(s->directory);
	s->directory = NULL;
}

/* ---- adding ---- */

char *store_image_id(const struct experiment_image *image)
{
	struct strbuf s = {0};

	if (image->kind == EXPERIMENT_IMAGE_FILE)
		strbuf_puts(&s, STORE_REMOVED);
	else
		for (uint32_t i = 0; i < image->build_id_length; i++)
			strbuf_printf(&s, "%02x", image->build_id[i]);
	if (!s.length)
		strbuf_printf(&s, "size-%llu-%llx", (unsigned long long)image->size,
			(unsigned long long)image->fingerprint);
	return strbuf_take(&s);
}

struct adding {
	const struct store *store;
	unsigned day;
	struct store_batch batch;
};

static int note_path(struct adding *a, const char *id, const struct experiment_image *image,
	uint32_t i, struct error *e)
{
	char *path = store_path(a->store, id, "path", e), *was;
	struct strbuf text = {0};
	size_t length;
	int rc = path ? 0 : -1;

	was = path ? file_read_regular(path, 0, &length, NULL) : NULL;
	strbuf_puts(&text, image->path);
	if (path && (!was || strcmp(was, strbuf_text(&text)) != 0))
		rc = store_batch_add(&a->batch, path, &text, i, e);
	strbuf_fini(&text);
	free(was);
	free(path);
	return rc;
}

static int put_part(
	struct adding *a, const char *id, uint32_t i, const struct strbuf *bytes, struct error *e)
{
	char *name, *path = NULL;
	int rc = -1;

	if (asprintf(&name, "%08u-%016llx.ssexp", a->day,
		    (unsigned long long)identify_fingerprint(bytes->data, bytes->length)) < 0)
		return error_nomem(e);
	path = store_path(a->store, id, name, e);
	if (path)
		rc = access(path, F_OK) == 0 ? 0 : store_batch_add(&a->batch, path, bytes, i, e);
	free(name);
	free(path);
	return rc;
}

/* i: by which store_batch_end names it. */
static int add_part(struct adding *a, const struct experiment_image *image, uint32_t i,
	struct experiment *part, struct error *e)
{
	char *id = store_image_id(image),
	     *directory = id ? store_path(a->store, id, NULL, e) : NULL;
	struct strbuf bytes = {0};
	int rc = directory ? experiment_encode(part, &bytes, e) : id ? -1 : error_nomem(e);

	if (rc == 0 && directory && mkdir(directory, 0700) && errno != EEXIST)
		rc = error_sys(e, errno, "cannot make %s", directory);
	if (rc == 0)
		rc = note_path(a, id, image, i, e);
	if (rc == 0)
		rc = put_part(a, id, i, &bytes, e);
	strbuf_fini(&bytes);
	free(directory);
	free(id);
	return rc;
}

static unsigned day_of(const struct experiment *x, unsigned day)
{
	uint64_t seconds = x->began ? x->began / 1000000000 : (uint64_t)time(NULL);

	return day ? day : store_day_of((long)(seconds / 86400));
}

int store_add_removed(struct store *s, const struct experiment *x, unsigned day, struct error *e)
{
	static const struct experiment_image removed = {
		.kind = EXPERIMENT_IMAGE_FILE, .path = (char *)"[removed files]"};
	struct adding a = {.store = s, .day = day_of(x, day)};
	struct experiment part;
	int rc = store_part_removed(&part, x, e), ended;

	if (rc)
		return rc;
	rc = add_part(&a, &removed, 0, &part, e);
	ended = store_batch_end(&a.batch, NULL, rc ? NULL : e);
	experiment_fini(&part);
	return rc || ended ? -1 : 0;
}

/* 1: it is not an ELF image, or there is nothing of it. */
static int add_image(struct adding *a, const struct store_division *d, uint32_t i, struct error *e)
{
	const struct experiment_image *image = &d->from->images.data[i];
	struct experiment part;
	int rc = image->kind == EXPERIMENT_IMAGE_ELF ? store_part(&part, d, i, e) : 1;

	if (rc)
		return rc;
	rc = add_part(a, image, i, &part, e);
	experiment_fini(&part);
	return rc;
}

int store_add(struct store *s, const struct experiment *x, unsigned day, size_t *images,
	bool *failed, struct error *e)
{
	struct adding a = {.store = s, .day = day_of(x, day)};
	struct store_division d;
	int rc = store_divide(&d, x, e);

	*images = 0;
	for (uint32_t i = 0; i < x->images.count && (rc == 0 || failed); i++) {
		int added = d.from ? add_image(&a, &d, i, e) : -1;

		*images += added == 0;
		if (added < 0 && failed)
			failed[i] = true;
		if (added < 0 ||
			(store_batch_full(&a.batch) && store_batch_end(&a.batch, failed, e)))
			rc = -1;
	}
	/* e keeps an earlier failure */
	if (store_batch_end(&a.batch, failed, rc ? NULL : e))
		rc = -1;
	store_division_fini(&d);
	return rc;
}
