/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json_read.h"
#include "image/fingerprint.h"
#include "optimize/optimize.h"

enum { VERDICT_LARGEST = 1 << 20, IMAGE_LARGEST = 1 << 30 };

static char *beside(const char *path, const char *suffix)
{
	char *text;

	return asprintf(&text, "%s%s", path, suffix) < 0 ? NULL : text;
}

/* What a file is recognised by. */
static int content_mark(const char *path, char mark[40], struct error *e)
{
	size_t length;
	char *bytes = file_read(path, IMAGE_LARGEST, &length, e);

	if (!bytes)
		return -1;
	snprintf(mark, 40, "%016" PRIx64 ":%zx", identify_fingerprint(bytes, length), length);
	free(bytes);
	return 0;
}

int optimize_note(const char *old, const char *new, const struct strbuf *verdict, struct error *e)
{
	char was[40], is[40], *path = beside(new, ".verdict");
	struct file_out f;
	int rc = path ? 0 : error_nomem(e);

	if (rc == 0 &&
		(content_mark(old, was, e) || content_mark(new, is, e) || file_create(&f, path, e)))
		rc = -1;
	else if (rc == 0) {
		fprintf(f.stream,
			"{\"schema\":\"prof.installable/1\",\"old\":\"%s\",\"new\":\"%s\","
			"\"verification\":%s}\n",
			was, is, strbuf_text(verdict));
		rc = file_commit(&f, e);
	}
	free(path);
	return rc;
}

/* The verdict beside new must be of both files as they are. */
static int verdict_check(
	const char *new, const char *image, const struct json_object *all, struct error *e)
{
	char is[40], was[40];

	if (content_mark(new, is, e) || content_mark(image, was, e))
		return -1;
	if (strcmp(json_to_string(json_member(all, "new"), ""), is) != 0)
		return error_set(e, ERR_CONFLICT, "%s is not the file that was verified", new);
	if (strcmp(json_to_string(json_member(json_member(all, "verification"), "verdict"), ""),
		    "accept") != 0)
		return error_set(e, ERR_CONFLICT, "%s was not accepted when it was verified", new);
	if (strcmp(json_to_string(json_member(all, "old"), ""), was) != 0) {
		error_set(e, ERR_CONFLICT, "%s was verified against another file than %s", new,
			image);
		return error_hint(e,
			"prof verify -note %s %s ... compares these; the next time, give prof "
			"optimize -against %s",
			image, new, image);
	}
	return 0;
}

static int verdict_find(const char *new, const char *image, struct error *e)
{
	char *path = beside(new, ".verdict"), *text = NULL;
	struct json_object *all;
	struct error why = {0};
	size_t length;
	int rc;

	if (!path)
		return error_nomem(e);
	text = file_read(path, VERDICT_LARGEST, &length, &why);
	all = text ? json_parse(text, length, path, &why) : NULL;
	if (all) {
		rc = verdict_check(new, image, all, e);
		json_free(all);
	} else {
		error_set(e, ERR_NOT_FOUND, "%s was not verified: %s", new, why.message);
		rc = error_hint(e, "prof verify -note %s %s ... does that", image, new);
	}
	free(text);
	free(path);
	return rc;
}

/* A link with this target appears under a name at once, also where there was another file. */
static int link_over(const char *target, const char *name, struct error *e)
{
	char *temporary = beside(name, ".prof-link");
	int rc = 0;

	if (!temporary)
		return error_nomem(e);
	unlink(temporary);
	if (symlink(target, temporary) || rename(temporary, name)) {
		rc = error_sys(e, errno, "cannot make %s a link", name);
		unlink(temporary);
	}
	free(temporary);
	return rc;
}

/* After a failure: the second name goes if the first one is still there. */
static void unlink_second(const char *image, const char *original)
{
	struct stat a, b;

	if (stat(image, &a) == 0 && stat(original, &b) == 0 && a.st_ino == b.st_ino &&
		a.st_dev == b.st_dev && lstat(image, &a) == 0 && S_ISREG(a.st_mode))
		unlink(original);
}

/* Whether the name is a file of its own, not yet a link to an installed image. */
static int may_install(const char *image, const char *original, struct error *e)
{
	struct stat s;

	if (lstat(image, &s))
		return error_sys(e, errno, "cannot find %s", image);
	if (access(original, F_OK) == 0) {
		error_set(e, ERR_CONFLICT, "%s exists: an image is installed already", original);
		return error_hint(e, "prof optimize -undo %s first", image);
	}
	if (!S_ISREG(s.st_mode))
		return error_set(
			e, ERR_CONFLICT, "%s is not a regular file: name the file itself", image);
	return 0;
}

int optimize_install(const char *new, const char *image, struct error *e)
{
	char *target = realpath(new, NULL), *original = beside(image, ".original");
	int rc = -1;

	if (!target)
		error_sys(e, errno, "cannot find %s", new);
	else if (!original)
		error_nomem(e);
	else if (may_install(image, original, e) == 0 && verdict_find(new, image, e) == 0) {
		/* a second name first, so that the original always has one */
		if (link(image, original))
			error_sys(e, errno, "cannot keep %s as %s", image, original);
		else
			rc = link_over(target, image, e);
		if (rc && e->code != ERR_NONE)
			unlink_second(image, original);
	}
	free(target);
	free(original);
	return rc;
}

int optimize_undo(const char *image, struct error *e)
{
	char *original = beside(image, ".original");
	struct stat s;
	int rc = -1;

	if (!original)
		return error_nomem(e);
	if (lstat(image, &s) == 0 && !S_ISLNK(s.st_mode))
		error_set(e, ERR_CONFLICT, "%s is not an installed image: it is no link", image);
	else if (access(original, F_OK))
		error_set(e, ERR_NOT_FOUND, "%s does not exist: nothing can be undone", original);
	else if (rename(original, image))
		error_sys(e, errno, "cannot rename %s", original);
	else
		rc = 0;
	free(original);
	return rc;
}
