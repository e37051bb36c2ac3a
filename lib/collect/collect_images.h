/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The files that processes have mapped code from, each examined once: at the first mapping, while
 * the process runs and the file is the one it mapped. Containers' files are found through
 * /proc/PID. An image is added to the experiment when it is first sampled.
 *
 * Of a whole system, most images are never sampled, and are not examined (fleeting). When one is
 * sampled, its file may have been replaced: a file with a build-id is distinguished by that, and
 * one without by its inode and the time of its last change, of which note is taken at the mapping.
 * A file that was removed is taken for another one that was read and has its build-id.
 */
#ifndef COLLECT_COLLECT_IMAGES_H
#define COLLECT_COLLECT_IMAGES_H

#include "base/table.h"
#include "base/vec.h"
#include "collect/collect_builds.h"
#include "collect/records.h"
#include "experiment/experiment.h"
#include "image/image.h"

struct collect_image {
	struct experiment_image identity; /* path is ours */
	uint64_t inode;
	uint64_t version; /* fleeting, without build-id: when the file was changed last; 0: not
			     known, the name may be another file's */
	uint64_t mapped;  /* as in collect_images, of the first mapping */
	bool looked;      /* for the file; else the identity is that of the record */
	pid_t missed;     /* the process for which the file was not found; 0: none */
	unsigned misses;
	char *readable; /* a readable path, perhaps in another's root; NULL: none was found */
	struct segments segments;
	long index;           /* in the experiment; -1: not yet there */
	struct image *handle; /* for unwinding, opened when wanted */
	bool refused;         /* it cannot be opened */
};

struct collect_images {
	VEC(struct collect_image) list;
	struct table by_name;
	struct builds builds; /* fleeting */
	const char *archive;  /* to be filled; NULL: none */
	/* The run is past: files are sought here by their recorded identity, when they are first
	 * sampled, and never in /proc. NULL: the processes run now. */
	const struct image_search *past;
	bool blind;        /* nor are they sought here */
	bool same_kernel;  /* the past's is the one that runs now */
	bool fleeting;     /* images come and go: sought when they are sampled, and not held open */
	uint64_t mapped;   /* fleeting: when the mappings were made that are added now, ns since
			      1970; 0: unknown */
	size_t unarchived; /* images that could not be copied */
	struct error why;  /* the first of them */
};

void images_init(struct collect_images *images, const char *archive);
/* The image of a mapping of process pid; its index in list, or -1 when memory is out. */
long images_find(struct collect_images *images, pid_t pid, const struct record_mapping *m);
/* The image of code that process pid has made for itself. */
long images_anonymous(struct collect_images *images, pid_t pid);
/* The kernel's. */
long images_kernel(struct collect_images *images);
/* Seeks the file of an image of the past, if not yet done: needed before anything but its path is
 * used. -1 when memory is out. */
int images_look(struct collect_images *images, size_t i);
/* Seeks the file of an image that process pid has mapped at begin, of fleeting ones: if it is the
 * one that was mapped, the image gets its kind and identity. -1 when memory is out. */
int images_look_now(
	struct collect_images *images, size_t i, pid_t pid, uint64_t begin, uint64_t end);
/* Its number in x; -1 when memory is out. */
long images_register(struct collect_images *images, size_t i, struct experiment *x);
/* Removes all but those that are used: used[i] and to[i] are of image i; to: its new number. -1
 * when memory is out, and nothing is removed. */
int images_trim(struct collect_images *images, const bool *used, uint32_t *to);
/* For unwinding; NULL where it cannot be opened.  Borrowed. */
struct image *images_open(struct collect_images *images, size_t i);
void images_fini(struct collect_images *images);

#endif
