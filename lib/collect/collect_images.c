/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/collect_images.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collect/vdso.h"
#include "image/archive.h"
#include "image/build_id_cache.h"

/* Processes of an image that are tried, if its file is not found. */
#define MISSES_MOST 8

struct name {
	struct {
		uint64_t path, identity;
	} key;
	uint32_t index;
};

void images_init(struct collect_images *images, const char *archive)
{
	memset(images, 0, sizeof(*images));
	images->archive = archive;
	images->by_name = TABLE_OF(struct name);
	builds_init(&images->builds);
}

/* Does this name of a mapping mean that there is no file? */
static bool image_is_anonymous(const char *name)
{
	static const char *const prefixes[] = {"//anon", "/dev/zero", "/memfd:", "/SYSV",
		"/anon_hugepage", "/i915", "[heap]", "[stack", "[anon", "anon_inode:"};

	if (!name[0])
		return true;
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	return false;
}

/* Room for an image and its name; -1 when memory is out, else 1 if it is new. */
static int image_add(struct collect_images *images, const char *path, uint64_t identity,
	struct collect_image **image, long *index)
{
	struct name *n, key = {.key = {table_hash(path, strlen(path)), identity}};

	n = table_add(&images->by_name, &key.key);
	if (!n)
		return -1;
	if (n->index) {
		*index = n->index - 1;
		*image = &images->list.data[*index];
		return 0;
	}
	*image = vec_push(&images->list);
	if (!*image)
		return -1;
	(*image)->index = -1;
	(*image)->looked = true;
	(*image)->identity.path = strdup(path);
	*index = (long)images->list.count - 1;
	n->index = (uint32_t)images->list.count;
	return (*image)->identity.path ? 1 : -1;
}

static int image_identity_of(const char *path, struct experiment_image *id)
{
	size_t length = 0;
	struct error why;

	if (image_identify(path, id->build_id, &length, &id->size, &id->fingerprint, &why))
		return -1;
	id->build_id_length = (uint32_t)length;
	return 0;
}

static uint64_t stat_ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

/* Names of /proc/PID/map_files and exe are those of the mapped file, whatever it is called now. */
static bool is_mapped_name(const char *path)
{
	if (strncmp(path, "/proc/", 6) != 0)
		return false;
	path += 6 + strspn(path + 6, "0123456789");
	return strncmp(path, "/map_files/", 11) == 0 || strcmp(path, "/exe") == 0;
}

/* The file has the right inode. Is it still what it was when it was mapped? */
static bool image_unchanged(
	const struct collect_image *image, const char *path, const struct stat *st)
{
	if (is_mapped_name(path))
		return !image->mapped || stat_ns(&st->st_mtim) <= image->mapped;
	return image->version == stat_ns(&st->st_ctim);
}

/* Is the open file fd the one that the kernel reported? By its build-id, if known. */
static bool is_the_file(const struct collect_images *images, const struct collect_image *image,
	const char *path, int fd, const struct record_mapping *m)
{
	struct stat st;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	if (!m->inode || m->build_id_length)
		return true;
	return m->inode == (uint64_t)st.st_ino &&
	       (!images->fleeting || image_unchanged(image, path, &st));
}

static bool has_build_id(const struct experiment_image *file, const struct record_mapping *m)
{
	return !m->build_id_length ||
	       (file->build_id_length == m->build_id_length &&
		       memcmp(file->build_id, m->build_id, m->build_id_length) == 0);
}

/* Checks the file at path. 1: it is the one, and image is filled; 0: it is not; -1: memory is
 * out. */
static int try_file(const struct collect_images *images, struct collect_image *image,
	const char *path, const struct record_mapping *m)
{
	struct experiment_image seen = {.path = image->identity.path};
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), rc = 0;
	bool stays = strncmp(path, "/proc/", 6) != 0;
	char opened[32]; /* the path may be another file's meanwhile */

	if (fd < 0)
		return 0;
	if (!is_the_file(images, image, path, fd, m))
		goto out;
	rc = segments_read(&image->segments, fd);
	if (rc < 0 || !image->segments.elf)
		goto out;
	seen.kind = EXPERIMENT_IMAGE_ELF;
	snprintf(opened, sizeof(opened), "/proc/self/fd/%d", fd);
	if (image_identity_of(opened, &seen) || !has_build_id(&seen, m)) {
		segments_fini(&image->segments);
		goto out;
	}
	/* A path in another process's root is gone when that process ends, unless it is held
	 * open. */
	if (asprintf(&image->readable, stays ? "%s" : "/proc/self/fd/%.0s%d", path, fd) < 0)
		image->readable = NULL;
	image->identity = seen;
	rc = image->readable ? 1 : -1;
	if (!stays)
		fd = -1;
out:
	if (fd >= 0)
		close(fd);
	return rc;
}

static bool same_place(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * Finds the file that the process has mapped: under its own name if that is the same file for us;
 * else under /proc/PID/root, which has the process's names; else under /proc/PID/map_files, which
 * has the mapped file even if it was replaced, but needs privileges. 1: found; 0: it is not; -1:
 * memory is out.
 */
static int look_at_file(const struct collect_images *images, struct collect_image *image, pid_t pid,
	const struct record_mapping *m)
{
	struct experiment_image *id = &image->identity;
	char paths[4][512];
	int rc = 0;

	snprintf(paths[0], sizeof(paths[0]), "/proc/%d/root%s", (int)pid, m->path);
	snprintf(paths[1], sizeof(paths[1]), "%s", m->path);
	snprintf(paths[2], sizeof(paths[2]), "/proc/%d/map_files/%llx-%llx", (int)pid,
		(unsigned long long)m->address, (unsigned long long)(m->address + m->length));
	snprintf(paths[3], sizeof(paths[3]), "/proc/%d/exe", (int)pid);
	if (same_place(paths[0], paths[1]))
		paths[0][0] = '\0';
	for (size_t i = 0; i < 4 && rc == 0; i++)
		if (paths[i][0])
			rc = try_file(images, image, paths[i], m);
	if (rc != 0)
		return rc;
	id->kind = m->build_id_length ? EXPERIMENT_IMAGE_ELF : EXPERIMENT_IMAGE_FILE;
	if (m->build_id_length)
		memcpy(id->build_id, m->build_id, m->build_id_length);
	id->build_id_length = (uint32_t)m->build_id_length;
	return 0;
}

/* ---- of the past
 * ------------------------------------------------------------------------------ */

static int look_at_copies(const struct collect_images *images, struct collect_image *image,
	const struct record_mapping *m)
{
	const struct image_search *where = images->past;
	struct image_identity id = {
		.path = m->path, .build_id = m->build_id, .build_id_length = m->build_id_length};
	char *copy = NULL;
	int rc = 0;

	for (size_t i = 0; rc == 0 && where->archives && where->archives[i]; i++) {
		copy = archive_find(where->archives[i], &id, NULL);
		rc = copy ? try_file(images, image, copy, m) : 0;
		free(copy);
	}
	if (rc == 0) {
		copy = build_id_cache_find(where->build_id_cache, &id, "elf");
		rc = copy ? try_file(images, image, copy, m) : 0;
		free(copy);
	}
	return rc;
}

static int look_at_past(const struct collect_images *images, struct collect_image *image,
	const struct record_mapping *m)
{
	const struct image_search *where = images->past;
	char *rooted = NULL;
	int rc = 0;

	if (where->root && *where->root) {
		if (asprintf(&rooted, "%s/%s", where->root, m->path) < 0)
			return -1;
		rc = try_file(images, image, rooted, m);
		free(rooted);
	}
	if (rc == 0)
		rc = try_file(images, image, m->path, m);
	if (rc == 0)
		rc = look_at_copies(images, image, m);
	if (rc == 0) /* not found: the record's data are kept */
		image->identity.kind =
			m->build_id_length ? EXPERIMENT_IMAGE_ELF : EXPERIMENT_IMAGE_FILE;
	return rc < 0 ? -1 : 0;
}

/* Ours is that of the past if its own data agree, or if the kernel is the same. */
static int look_at_past_vdso(
	struct collect_images *images, struct collect_image *image, const struct record_mapping *m)
{
	struct image_identity id = {
		.path = m->path, .build_id = m->build_id, .build_id_length = m->build_id_length};
	struct experiment_image ours = image->identity;
	char *readable = vdso_file();

	if (readable && image_identity_of(readable, &ours) == 0 &&
		(m->build_id_length ? has_build_id(&ours, m) : images->same_kernel)) {
		image->identity = ours;
		image->readable = readable;
		return 0;
	}
	free(readable);
	if (m->build_id_length)
		image->readable = build_id_cache_find(images->past->build_id_cache, &id, "vdso");
	return 0;
}

int images_look(struct collect_images *images, size_t i)
{
	struct collect_image *image = &images->list.data[i];
	uint8_t build_id[EXPERIMENT_BUILD_ID_MAX];
	struct record_mapping m = {.path = image->identity.path,
		.inode = image->inode,
		.build_id = build_id,
		.build_id_length = image->identity.build_id_length};

	if (image->looked || images->fleeting)
		return 0;
	image->looked = true;
	if (images->blind) {
		if (m.build_id_length && image->identity.kind == EXPERIMENT_IMAGE_FILE)
			image->identity.kind = EXPERIMENT_IMAGE_ELF;
		return 0;
	}
	memcpy(build_id, image->identity.build_id, sizeof(build_id));
	if (image->identity.kind == EXPERIMENT_IMAGE_VDSO)
		return look_at_past_vdso(images, image, &m);
	return m.path[0] == '/' ? look_at_past(images, image, &m) : 0;
}

/* The record's data, until the file is sought. */
static void image_remember(struct collect_image *image, const struct record_mapping *m)
{
	static const char deleted[] = " (deleted)";
	struct experiment_image *id = &image->identity;
	size_t length = strlen(id->path);

	if (length > sizeof(deleted) &&
		strcmp(id->path + length - sizeof(deleted) + 1, deleted) == 0)
		id->path[length - sizeof(deleted) + 1] = '\0';
	id->kind = strcmp(id->path, "[vdso]") == 0 ? EXPERIMENT_IMAGE_VDSO : EXPERIMENT_IMAGE_FILE;
	image->looked = false;
	if (m->build_id_length)
		memcpy(id->build_id, m->build_id, m->build_id_length);
	id->build_id_length = (uint32_t)m->build_id_length;
}

/* ---- files of running processes: the process, or its container, may end at any time
 * ------------ */

static void archive(struct collect_images *images, const struct collect_image *image)
{
	const struct experiment_image *id = &image->identity;
	struct image_identity key = {.path = id->path,
		.build_id = id->build_id,
		.build_id_length = id->build_id_length,
		.size = id->size,
		.fingerprint = id->fingerprint};
	struct error why = {0};

	if (!images->archive || id->kind != EXPERIMENT_IMAGE_ELF)
		return;
	if (!image->readable)
		error_set(&why, ERR_NOT_FOUND, "%s does not exist any more", id->path);
	else if (archive_add(images->archive, &key, image->readable, &why) == 0)
		return;
	if (images->unarchived++ == 0)
		images->why = why;
}

static void image_let_go(struct collect_image *image)
{
	int fd;

	if (image->readable && sscanf(image->readable, "/proc/self/fd/%d", &fd) == 1)
		close(fd);
	free(image->readable);
	image->readable = NULL;
}

/* When the file of the mapping was changed last, in ns; 0: the file of this name is another one, or
 * was changed since it was mapped. */
static uint64_t version_of(
	const struct collect_images *images, pid_t pid, const struct record_mapping *m)
{
	char rooted[512];
	struct stat st;
	uint64_t changed;

	if (stat(m->path, &st) || (uint64_t)st.st_ino != m->inode) {
		snprintf(rooted, sizeof(rooted), "/proc/%d/root%s", (int)pid, m->path);
		if (stat(rooted, &st) || (uint64_t)st.st_ino != m->inode)
			return 0;
	}
	changed = stat_ns(&st.st_ctim);
	return images->mapped && changed > images->mapped ? 0 : changed;
}

/* The image's file is not there: it is that of its build-id, if one was read. */
static int image_adopt(const struct collect_images *images, struct collect_image *image)
{
	const struct collect_build *b = builds_find(&images->builds, builds_id(&image->identity));

	image->looked = b != NULL;
	return b ? build_copy(&image->identity, &image->segments, b) : 0;
}

int images_look_now(
	struct collect_images *images, size_t i, pid_t pid, uint64_t begin, uint64_t end)
{
	struct collect_image *image = &images->list.data[i];
	uint8_t build_id[EXPERIMENT_BUILD_ID_MAX];
	struct record_mapping m = {.address = begin,
		.length = end - begin,
		.path = image->identity.path,
		.inode = image->inode,
		.build_id = build_id,
		.build_id_length = image->identity.build_id_length};
	int rc;

	if (image->looked)
		return 0;
	/* where one process has ended, another may have the file still */
	if (image->missed == pid || image->misses >= MISSES_MOST)
		return image_adopt(images, image);
	memcpy(build_id, image->identity.build_id, sizeof(build_id));
	rc = m.path[0] == '/' ? look_at_file(images, image, pid, &m) : 1;
	if (rc < 0)
		return -1;
	image_let_go(image);
	if (rc > 0) {
		image->looked = true;
		return builds_add(&images->builds, &image->identity, &image->segments);
	}
	image->missed = pid;
	image->misses++;
	return image_adopt(images, image);
}

long images_find(struct collect_images *images, pid_t pid, const struct record_mapping *m)
{
	bool nowhere = image_is_anonymous(m->path); /* programs make very many of them */
	bool plain = images->fleeting && !nowhere && !m->build_id_length && m->path[0] == '/';
	uint64_t version = plain ? version_of(images, pid, m) : 0;
	const uint64_t numbers[] = {m->inode, m->generation, version};
	uint64_t identity = m->build_id_length ? table_hash(m->build_id, m->build_id_length)
			    : plain            ? table_hash(numbers, sizeof(numbers))
					       : m->inode ^ 1;
	struct collect_image *image;
	long index;
	int new;

	if (nowhere)
		return images_anonymous(images, pid);
	new = image_add(images, m->path, identity, &image, &index);
	if (new <= 0)
		return new < 0 ? -1 : index;
	image->inode = m->inode;
	if (images->past) {
		image_remember(image, m);
		return index;
	}
	if (strcmp(m->path, "[vdso]") == 0) {
		image->identity.kind = EXPERIMENT_IMAGE_VDSO;
		image->readable = vdso_file();
		if (image->readable)
			image_identity_of(image->readable, &image->identity);
		return index;
	}
	if (images->fleeting) {
		image_remember(image, m);
		image->version = version;
		image->mapped = version ? version : images->mapped;
		return index;
	}
	return m->path[0] == '/' && look_at_file(images, image, pid, m) < 0 ? -1 : index;
}

long images_anonymous(struct collect_images *images, pid_t pid)
{
	struct collect_image *image;
	long index;
	int new = image_add(images, "[anonymous]", (uint64_t)pid, &image, &index);

	if (new > 0) {
		image->identity.kind = EXPERIMENT_IMAGE_ANONYMOUS;
		image->identity.pid = pid;
	}
	return new < 0 ? -1 : index;
}

/* The build-id is the first note of /sys/kernel/notes, which every user may read. */
static void kernel_build_id(struct experiment_image *id)
{
	struct {
		uint32_t name_size, size, type;
		char rest[1024];
	} note;
	FILE *f = fopen("/sys/kernel/notes", "re");
	size_t n = f ? fread(&note, 1, sizeof(note), f) : 0;

	if (f)
		fclose(f);
	if (n < 12 + 4 + 20 || note.name_size != 4 || note.type != 3 ||
		note.size > EXPERIMENT_BUILD_ID_MAX || memcmp(note.rest, "GNU", 4) != 0)
		return;
	memcpy(id->build_id, note.rest + 4, note.size);
	id->build_id_length = note.size;
}

long images_kernel(struct collect_images *images)
{
	struct collect_image *image;
	long index;
	int new = image_add(images, "[kernel]", 0, &image, &index);

	if (new > 0) {
		image->identity.kind = EXPERIMENT_IMAGE_KERNEL;
		if (!images->past)
			kernel_build_id(&image->identity);
	}
	return new < 0 ? -1 : index;
}

long images_register(struct collect_images *images, size_t i, struct experiment *x)
{
	struct collect_image *image = &images->list.data[i];

	if (image->index < 0) {
		image->index = experiment_image(x, &image->identity, NULL);
		archive(images, image);
	}
	return image->index;
}

struct image *images_open(struct collect_images *images, size_t i)
{
	struct collect_image *image = &images->list.data[i];
	const struct experiment_image *id = &image->identity;
	struct image_identity key = {.path = image->readable,
		.build_id = id->build_id,
		.build_id_length = id->build_id_length};
	struct image_search where = {0};
	struct error why;

	if (image->handle || image->refused)
		return image->handle;
	if (image->readable)
		image->handle = image_open(&key, &where, &why);
	image->refused = image->handle == NULL;
	return image->handle;
}

static void image_forget(struct collect_image *image)
{
	if (image->handle)
		image_close(image->handle);
	segments_fini(&image->segments);
	free(image->readable);
	free(image->identity.path);
}

int images_trim(struct collect_images *images, const bool *used, uint32_t *to)
{
	struct table names = TABLE_OF(struct name);
	uint32_t kept = 0;

	for (size_t i = 0; i < images->by_name.count; i++) {
		struct name *n = table_at(&images->by_name, i), *copy;

		if (!n->index || !used[n->index - 1])
			continue;
		copy = table_add(&names, &n->key);
		if (!copy) {
			table_fini(&names);
			return -1;
		}
		copy->index = n->index;
	}
	for (size_t i = 0; i < images->list.count; i++) {
		struct collect_image image = images->list.data[i];

		to[i] = kept;
		if (used[i])
			images->list.data[kept++] = image;
		else
			image_forget(&image);
	}
	images->list.count = kept;
	for (size_t i = 0; i < names.count; i++) {
		struct name *n = table_at(&names, i);

		n->index = to[n->index - 1] + 1;
	}
	table_fini(&images->by_name);
	images->by_name = names;
	return 0;
}

void images_fini(struct collect_images *images)
{
	for (size_t i = 0; i < images->list.count; i++)
		image_forget(&images->list.data[i]);
	vec_fini(&images->list);
	table_fini(&images->by_name);
	builds_fini(&images->builds);
}
