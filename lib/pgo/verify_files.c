/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Step 1: what other programs, and the dynamic linker, see of the file. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/image.h"
#include "pgo/verify_private.h"

static bool both_same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* The first of a's that b lacks; both sorted. */
static const char *lacking(char *const *a, char *const *b)
{
	for (; *a; a++) {
		while (*b && strcmp(*b, *a) < 0)
			b++;
		if (!*b || strcmp(*b, *a) != 0)
			return *a;
	}
	return NULL;
}

static int compare_facts(
	struct verification *v, const struct image_facts *old, const struct image_facts *new)
{
	const char *name = v->request->new, *text;

	if (!new->whole)
		return verify_reason(
			v, "%s is cut short: segments or sections end after the file", name);
	if (new->machine != old->machine || new->class != old->class)
		return verify_reason(v, "%s is for another machine", name);
	if (new->type != old->type)
		return verify_reason(v, "%s is of another type: %s", name,
			new->type == 3 ? "position-independent" : "not position-independent");
	if (!new->entry)
		return verify_reason(v, "%s: its entry is not in executable code", name);
	if (!both_same(new->interpreter, old->interpreter))
		return verify_reason(v, "%s wants another interpreter", name);
	text = lacking(old->libraries, new->libraries);
	if (text)
		return verify_reason(v, "%s does not name the library %s", name, text);
	text = lacking(new->libraries, old->libraries);
	if (text)
		return verify_reason(v, "%s needs another library: %s", name, text);
	text = lacking(old->symbols, new->symbols);
	return text ? verify_reason(v, "%s lacks the dynamic symbol %s", name, text) : 0;
}

static int check_new(struct verification *v, const struct image_facts *old, struct error *e)
{
	struct image_facts new;
	struct stat a, b;
	int rc;

	if (stat(v->request->new, &b))
		return error_sys(e, errno, "cannot find %s", v->request->new);
	if (stat(v->request->old, &a) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino)
		return verify_reason(v, "both names are the same file");
	if (access(v->request->new, X_OK))
		return verify_reason(v, "%s is not executable", v->request->new);
	if (image_facts_read(v->request->new, &new, e)) {
		if (e->code == ERR_NOMEM)
			return -1;
		return verify_reason(v, "%s", e->message);
	}
	rc = compare_facts(v, old, &new);
	image_facts_fini(&new);
	return rc;
}

int verify_files(struct verification *v, struct error *e)
{
	struct image_facts old;
	int rc;

	if (image_facts_read(v->request->old, &old, e))
		return -1;
	rc = check_new(v, &old, e);
	image_facts_fini(&old);
	return rc;
}
