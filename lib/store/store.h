/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The Manager: profiles by image and day, in plain files.
 *
 *   DIR/version                             "1"
 *   DIR/IMAGE/path                          as the image was last called
 *   DIR/IMAGE/YYYYMMDD-HASH.ssexp           the rows of this image in one experiment of that day
 *   DIR/IMAGE/YYYYMMDD.week-HASH.ssexp      the sum of files of the week that begins on that day
 *   DIR/IMAGE/YYYYMMDD[.week]-HASH.parts    names of files that a sum has, while they are removed
 *
 *   DIR/removed/...                         likewise, of all files that were removed unread
 *
 * IMAGE is the build-id in hexadecimal, or "size-SIZE-FINGERPRINT" of an image without one. HASH is
 * of the contents: the same experiment is stored once, and two stores are joined by copying files.
 * Every file is written under another name, synced and renamed. A file that the .parts of an
 * existing sum name is not read, so a crash between writing a sum and removing its parts counts
 * nothing twice. Directories are for their owner alone: addresses show what users do.
 *
 * Of an experiment, samples by address (without call paths), edges, branch records and their
 * tallies are kept, of all threads together. What other images do is left out; branches to and from
 * them go to image 0, address 0.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/vec.h"
#include "experiment/experiment.h"
#include "experiment/file.h"

struct store {
	char *directory;
};

/* directory NULL: $PERFEX_STORE, else $XDG_DATA_HOME/perfex/store or ~/.local/share/perfex/store.
 * make: it is made if it does not exist. -1 with *e set: ERR_NOT_FOUND, ERR_UNSUPPORTED (another
 * version), ERR_PERMISSION (others may write to it). store_close in every case. */
int store_open(struct store *s, const char *directory, bool make, struct error *e);
void store_close(struct store *s);

/* Adds what x has of each ELF image with samples or branches; *images: how many. day: YYYYMMDD,
 * UTC; 0: that on which x began, or today. failed NULL: the first image that cannot be added is the
 * end; else all are tried, and failed, by image and false before, is set where one could not be. */
int store_add(struct store *s, const struct experiment *x, unsigned day, size_t *images,
	bool *failed, struct error *e);
/* Samples of all images that were removed before they could be read (EXPERIMENT_IMAGE_FILE with
 * build-id) go into one place of the store. 1: there are none. */
int store_add_removed(struct store *s, const struct experiment *x, unsigned day, struct error *e);

struct store_file {
	char *path;
	unsigned day; /* its first, YYYYMMDD */
	bool week;    /* a sum */
	uint64_t bytes;
};

struct store_image {
	char *id, *path;              /* path: "" if it is unknown */
	VEC(struct store_file) files; /* that are to be read, by name */
	uint64_t bytes;
	unsigned first, last; /* days */
};

typedef VEC(struct store_image) store_images;

/* All images, by path and id; no file of experiments is read. store_images_fini in every case. */
int store_list(const struct store *s, store_images *images, struct error *e);
void store_images_fini(store_images *images);
/* Of a listed one: does word name it (a build-id's beginning, or a glob for path or base name)? */
bool store_names(const struct store_image *image, const char *word);

/* What files have. */
struct store_sums {
	uint64_t samples, branches, bursts, runs;
	uint64_t followed; /* runs with branch records */
};

/* Adds those of a file. -1 with *e set; *damage: what of it could be read is counted. */
int store_sum_file(const char *path, struct store_sums *sums, struct experiment_damage *damage,
	struct error *e);
/* Of all files of an image. */
int store_sum(const struct store *s, const struct experiment_image *image, struct store_sums *sums,
	struct error *e);

struct store_policy {
	unsigned today; /* YYYYMMDD */
	unsigned days;  /* older files become sums of weeks */
	unsigned most; /* more files of one day become a sum of that day; 0: as many as there are */
	unsigned weeks; /* older ones are removed */
	uint64_t quota; /* bytes on the disk; files that were removed unread go first, then images
			   that were last seen longest ago */
};

struct store_swept {
	size_t folded, removed, images; /* files that became part of sums; removed; whole images */
	uint64_t bytes;                 /* on the disk, after */
};

/* One at a time (ERR_BUSY), beside any number that add. */
int store_sweep(
	struct store *s, const struct store_policy *p, struct store_swept *swept, struct error *e);

/* Days since 1970 of YYYYMMDD, and back; -1: not a day. */
long store_day_number(unsigned day);
unsigned store_day_of(long number);

#endif
